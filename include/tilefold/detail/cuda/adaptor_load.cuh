// SPDX-License-Identifier: Apache-2.0
//
// Loads through adaptors: thrust's zip and transform iterators, recognised by their members. The
// iterators underneath are read, in packets if they are pointers. Then the tuple is made, or the
// function called, from the items in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/root_pointer.hpp>

namespace tilefold::detail::cuda {

template <class It>
concept transforming_iterator = requires(const It& it) {
  typename std::iter_value_t<std::remove_cvref_t<decltype(it.base())>>;
  it.functor();
};

// ---- what lies underneath, as the pointer that it is if it is one

template <class It>
TILEFOLD_HD auto as_pointer_if_one(const It& it) {
  if constexpr (unwraps_to_pointer<It>) {
    return try_unwrap_contiguous_iterator(it);
  } else {
    return it;
  }
}

template <transforming_iterator It>
TILEFOLD_HD auto underneath(const It& it) {
  return cuda::as_pointer_if_one(it.base());
}
template <std::size_t Index, zipped_iterators It>
TILEFOLD_HD auto underneath(const It& it) {
  return cuda::as_pointer_if_one(get<Index>(it.get_iterator_tuple()));
}

template <class It>
using transformed_t = decltype(cuda::underneath(std::declval<const It&>()));
template <class It, std::size_t Index>
using zipped_t = decltype(cuda::underneath<Index>(std::declval<const It&>()));
template <class It>
using zipped_indices = std::make_index_sequence<std::tuple_size<
    std::remove_cvref_t<decltype(std::declval<const It&>().get_iterator_tuple())>>::value>;

// ---- widths and sizes

template <transforming_iterator It>
inline constexpr int item_bytes_of<It> = item_bytes_of<transformed_t<It>>;
template <transforming_iterator It>
inline constexpr int iterator_width<It> = iterator_width<transformed_t<It>>;

template <class It, std::size_t... Index>
constexpr int zipped_item_bytes(std::index_sequence<Index...>) {
  return (item_bytes_of<zipped_t<It, Index>> + ...);
}
template <class It, std::size_t... Index>
constexpr int zipped_width(std::index_sequence<Index...>) {
  return detail::larger(iterator_width<zipped_t<It, Index>>...);
}
template <zipped_iterators It>
inline constexpr int item_bytes_of<It> = cuda::zipped_item_bytes<It>(zipped_indices<It>{});
template <zipped_iterators It>
inline constexpr int iterator_width<It> = cuda::zipped_width<It>(zipped_indices<It>{});

// ---- the loads

/// The function is called once for each item that exists, when it is asked for.
template <transforming_iterator It, int Rows, int Width>
class lane_items<It, Rows, Width> {
  using items = lane_items<transformed_t<It>, Rows, Width>;
  using item = std::iter_value_t<transformed_t<It>>;

 public:
  __device__ static bool overreads(const It& it) { return items::overreads(cuda::underneath(it)); }
  __device__ __forceinline__ void load_rows(const It& it, std::int64_t first) {
    adaptor_ = &it;
    items_.load_rows(cuda::underneath(it), first);
  }
  __device__ __forceinline__ void load_part(const It& it, std::int64_t first, int r,
                                            int available) {
    adaptor_ = &it;
    items_.load_part(cuda::underneath(it), first, r, available);
  }
  __device__ __forceinline__ std::iter_value_t<It> get(int r, int j) const {
    const item& value = items_.get(r, j);
    return static_cast<std::iter_value_t<It>>(adaptor_->functor()(value));
  }

 private:
  const It* adaptor_;
  items items_;
};

template <class It, class Indices, int Rows, int Width>
class zipped_lane_items;

template <class It, std::size_t... Index, int Rows, int Width>
class zipped_lane_items<It, std::index_sequence<Index...>, Rows, Width>
    : items_leaf<Index, lane_items<zipped_t<It, Index>, Rows, Width>>... {
  template <std::size_t I>
  using leaf = items_leaf<I, lane_items<zipped_t<It, I>, Rows, Width>>;

 public:
  __device__ static bool overreads(const It& it) {
    return (lane_items<zipped_t<It, Index>, Rows, Width>::overreads(cuda::underneath<Index>(it)) ||
            ...);
  }
  __device__ __forceinline__ void load_rows(const It& it, std::int64_t first) {
    (leaf<Index>::items.load_rows(cuda::underneath<Index>(it), first), ...);
  }
  __device__ __forceinline__ void load_part(const It& it, std::int64_t first, int r,
                                            int available) {
    (leaf<Index>::items.load_part(cuda::underneath<Index>(it), first, r, available), ...);
  }
  __device__ __forceinline__ std::iter_value_t<It> get(int r, int j) const {
    return std::iter_value_t<It>(leaf<Index>::items.get(r, j)...);
  }
};

template <zipped_iterators It, int Rows, int Width>
class lane_items<It, Rows, Width> : public zipped_lane_items<It, zipped_indices<It>, Rows, Width> {
};

}  // namespace tilefold::detail::cuda
