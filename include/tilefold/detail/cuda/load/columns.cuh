// SPDX-License-Identifier: Apache-2.0
//
// Items of trees that stand side by side, as the columns of a matrix do. A bundle is the
// neighbouring columns that one load brings; a thread holds several items of each.
//
//     items 0   thread 0: [a0 b0 c0 d0]   thread 1: [e0 f0 g0 h0]     bundles of 4 columns
//     items 1             [a1 b1 c1 d1]             [e1 f1 g1 h1]
//     items 2 ...
//
// Of a single column whose items lie one after the other, a load brings several items.
#pragma once

#include <tilefold/detail/cuda/load/elements.cuh>

namespace tilefold::detail::cuda {

/// `Items` items of each of the `Width` columns of a bundle, in a thread. `load_one` loads items
/// number r, `load_all` all of them.
template <class It, int Items, int Width>
class column_items {
  using value = std::iter_value_t<It>;
  static constexpr int bytes = Items * static_cast<int>(sizeof(value));

 public:
  TILEFOLD_D void load_all(const It& it, std::int64_t offset, std::int64_t) {
    static_assert(Width == 1);
    if constexpr (loads_packets<It> && bytes % load_bytes == 0 && load_bytes % sizeof(value) == 0) {
      struct {
        packet<load_bytes> packets[bytes / load_bytes];
      } loaded;
      struct values {
        value item[Items];
      };
      const auto* const from = reinterpret_cast<const packet<load_bytes>*>(it + offset);
#pragma unroll
      for (int i = 0; i < bytes / load_bytes; ++i) loaded.packets[i] = from[i];
      const values items = __builtin_bit_cast(values, loaded);
#pragma unroll
      for (int r = 0; r < Items; ++r) values_.put(r, items.item[r]);
    } else {
#pragma unroll
      for (int r = 0; r < Items; ++r) load_one(it, offset + r, r, 0);
    }
  }
  TILEFOLD_D void load_one(const It& it, std::int64_t offset, int r, std::int64_t) {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      values_.put(r * Width + j, detail::element(it, offset + j));
    }
  }
  TILEFOLD_D const value& get(int r, int j) const { return values_[r * Width + j]; }

 private:
  registers<value, Items * Width> values_;
};

/// Whether a bundle is one load.
template <class T, int Width>
inline constexpr bool is_one_load =
    (Width > 1) && (Width * sizeof(T) <= load_bytes) && packs_into_loads<T, Width>;

template <class T, int Items, int Width>
  requires is_one_load<T, Width>
class column_items<T*, Items, Width> {
  using value = std::remove_cv_t<T>;
  using bundle = cuda::packet_of<T, Width>;

 public:
  TILEFOLD_D void load_one(T* p, std::int64_t offset, int r, std::int64_t) {
    bundles_[r] = *reinterpret_cast<const bundle*>(p + offset);
  }
  TILEFOLD_D value get(int r, int j) const { return cuda::item_of<value, Width>(bundles_[r], j); }

 private:
  bundle bundles_[Items];
};

// An element's index is its place in its column.
template <int Items, int Width>
class column_items<index_iterator, Items, Width> {
 public:
  TILEFOLD_D void load_all(const index_iterator&, std::int64_t, std::int64_t index) {
    first_ = index;
  }
  TILEFOLD_D void load_one(const index_iterator&, std::int64_t, int r, std::int64_t index) {
    first_ = index - r;
  }
  TILEFOLD_D std::int64_t get(int r, int) const { return first_ + r; }

 private:
  std::int64_t first_;
};

/// Items per bundle of one iterator; indices fit any.
template <class It>
inline constexpr int column_width_of = 1;
template <class T>
inline constexpr int column_width_of<T*> =
    loads_packets<T*> && load_bytes % sizeof(T) == 0 ? load_bytes / static_cast<int>(sizeof(T)) : 1;
template <>
inline constexpr int column_width_of<index_iterator> = load_bytes;

/// Items per bundle of all iterators of a source.
template <class Source>
inline constexpr int column_width = 1;
template <std::size_t... Index, class... Its>
inline constexpr int column_width<source_of<std::index_sequence<Index...>, Its...>> = [] {
  int width = load_bytes;
  ((width = detail::smaller(width, column_width_of<Its>)), ...);
  return width;
}();
template <adaptor It>
inline constexpr int column_width_of<It> = column_width<underneath_t<It>>;

template <int Items, int Width>
struct column_holders : in_registers {
  template <class It>
  using of = column_items<It, Items, Width>;
};

/// `Items` items of a bundle of `Width` columns, of every iterator of a source.
template <class Source, int Items, int Width>
using column_bundles = elements_of<Source, column_holders<Items, Width>>;

/// Calls visit(iterator) for each iterator that items are held of; visit returns whether to go on.
template <class It, class Visit>
bool visit_held(const It& it, const Visit& visit);
template <std::size_t... Index, class... Its, class Visit>
bool visit_held(const source_of<std::index_sequence<Index...>, Its...>& from, const Visit& visit) {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;
  return (cuda::visit_held(source_type::template iterator<Index>(from), visit) && ...);
}
template <class It, class Visit>
bool visit_held(const It& it, const Visit& visit) {
  if constexpr (adaptor<It>) {
    return cuda::visit_held(cuda::underneath(it), visit);
  } else {
    return visit(it);
  }
}

}  // namespace tilefold::detail::cuda
