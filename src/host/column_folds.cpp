// SPDX-License-Identifier: Apache-2.0
//
// Columns that stand side by side, with vector instructions: a lane is a column, and every lane has
// the same tree, so no lane ever meets another. Compiled once for every instruction set. Must be
// compiled with -ffp-contract=off.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tilefold/detail/host/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/column_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/lane_ops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

// Lanes that are accumulators as they lie in memory.
struct as_they_are : no_conversion {
  template <class D, class V>
  HWY_INLINE static V restore(D, V v) {
    return v;
  }
};

template <class D, class V>
HWY_INLINE void store_first(D d, V v, hn::TFromD<D>* to, std::int64_t n) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, static_cast<std::size_t>(n) * sizeof(hn::TFromD<D>));
}

/// Rows of Raw items, accumulators in memory of type Lane. Convert::convert() makes vectors of
/// items what Op combines, Keys::convert() vectors of accumulators, and Keys::restore()
/// accumulators of what it has combined.
template <class Raw, class Lane, class Op, class Convert, class Keys>
class column_loops {
  using tag = hn::ScalableTag<Lane>;
  using raw_tag = hn::Rebind<Raw, tag>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int run = simd_columns::rows_of_run;

 public:
  static void fold_rows(const void* const* rows, const std::uintptr_t* later, std::int64_t n,
                        std::int64_t width, void* result) {
    Lane* const to = static_cast<Lane*>(result);
    if (n == run) {
      fold(width, to, whole_run{rows, later});
    } else {
      fold(width, to, part_of_run{rows, n});
    }
  }

  static void join(const void* left, const void* right, void* result, std::int64_t width) {
    const tag d;
    const Lane* const a = static_cast<const Lane*>(left);
    const Lane* const b = static_cast<const Lane*>(right);
    Lane* const to = static_cast<Lane*>(result);
    std::int64_t c = 0;
    for (; c + lanes <= width; c += lanes) {
      hn::StoreU(node(hn::LoadU(d, a + c), hn::LoadU(d, b + c)), d, to + c);
    }
    if (c < width) {
      const std::int64_t n = width - c;
      store_first(d, node(load_first(d, a + c, n), load_first(d, b + c, n)), to + c, n);
    }
  }

 private:
  HWY_INLINE static vector combine(vector a, vector b) { return lane_op<Op>::apply(a, b); }
  HWY_INLINE static vector node(vector a, vector b) {
    const tag d;
    return Keys::restore(d, combine(Keys::convert(d, a), Keys::convert(d, b)));
  }

  // A vector of row r from column c on, and its first n items with anything behind them.
  HWY_INLINE static vector load(const void* row, std::int64_t c) {
    const Raw* const first = static_cast<const Raw*>(row);
    return Convert::convert(tag(), read_once(hn::LoadU(raw_tag(), first + c)));
  }
  HWY_INLINE static vector load_some(const void* row, std::int64_t c, std::int64_t n) {
    const Raw* const first = static_cast<const Raw*>(row);
    return Convert::convert(tag(), load_first(raw_tag(), first + c, n));
  }

  template <class Rows>
  HWY_INLINE static void fold(std::int64_t width, Lane* to, const Rows& rows) {
    const tag d;
    std::int64_t c = 0;
    for (; c + lanes <= width; c += lanes) {
      rows.prefetch(c);
      const auto at = [c](const void* row) HWY_ATTR { return load(row, c); };
      hn::StoreU(Keys::restore(d, rows.fold(at)), d, to + c);
    }
    if (c < width) {
      const std::int64_t n = width - c;
      const auto at = [c, n](const void* row) HWY_ATTR { return load_some(row, c, n); };
      store_first(d, Keys::restore(d, rows.fold(at)), to + c, n);
    }
  }

  struct whole_run {
    const void* const* rows;
    const std::uintptr_t* later;

    // A line of each row at a time. May point past an array, harmlessly.
    HWY_INLINE void prefetch(std::int64_t c) const {
      constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(Raw));
      const std::int64_t at = c * static_cast<std::int64_t>(sizeof(Raw));
      if (bytes < 64 && at % 64 != 0) return;
      for (int r = 0; r < run; ++r) {
        hwy::Prefetch(reinterpret_cast<const char*>(later[r] + static_cast<std::uintptr_t>(at)));
      }
    }
    template <class At>
    HWY_INLINE vector fold(const At& at) const {
      return levels<simd_columns::levels_of_run>(at, rows);
    }
    template <int Level, class At>
    HWY_INLINE static vector levels(const At& at, const void* const* first) {
      if constexpr (Level == 0) {
        return at(*first);
      } else {
        const vector left = levels<Level - 1>(at, first);
        return combine(left, levels<Level - 1>(at, first + (1 << (Level - 1))));
      }
    }
  };

  struct part_of_run {
    const void* const* rows;
    std::int64_t n;

    HWY_INLINE void prefetch(std::int64_t) const {}
    template <class At>
    HWY_INLINE vector fold(const At& at) const {
      vector v[run];
      v[0] = at(rows[0]);
      for (std::int64_t r = 1; r < n; ++r) v[r] = at(rows[r]);
      for (std::int64_t count = n; count > 1; count = (count + 1) / 2) {
        for (std::int64_t i = 0; i < count / 2; ++i) v[i] = combine(v[2 * i], v[2 * i + 1]);
        if (count % 2 != 0) v[count / 2] = v[count - 1];
      }
      return v[0];
    }
  };
};

template <class Raw, class Lane, class Op, class Convert = as_they_are, class Keys = as_they_are>
simd_columns loops() {
  using columns = column_loops<Raw, Lane, Op, Convert, Keys>;
  return {columns::fold_rows, columns::join};
}

template <class Raw, class Lane, class Convert = as_they_are>
simd_columns arithmetic(simd_op op) {
  if (op == simd_op::plus) return loops<Raw, Lane, plus, Convert>();
  if constexpr (sizeof(Lane) >= 4) {
    if (op == simd_op::multiplies) return loops<Raw, Lane, multiplies, Convert>();
  }
  return {};
}

template <class T>
simd_columns selection(simd_op op) {
  switch (op) {
    case simd_op::minimum:
    case simd_op::minimum_number:
      return loops<T, T, minimum>();
    case simd_op::maximum:
    case simd_op::maximum_number:
      return loops<T, T, maximum>();
    default:
      return {};
  }
}

template <class Int, int Significand>
simd_columns float_selection(simd_op op) {
  using nan_high = key_order<Int, Significand, true>;
  using nan_low = key_order<Int, Significand, false>;
  switch (op) {
    case simd_op::minimum:
      return loops<Int, Int, minimum, nan_low, nan_low>();
    case simd_op::maximum:
      return loops<Int, Int, maximum, nan_high, nan_high>();
    case simd_op::minimum_number:
      return loops<Int, Int, minimum, nan_high, nan_high>();
    case simd_op::maximum_number:
      return loops<Int, Int, maximum, nan_low, nan_low>();
    default:
      return {};
  }
}

simd_columns same_type_columns(simd_op op, simd_type type) {
  const bool adds = op == simd_op::plus || op == simd_op::multiplies;
  switch (type) {
    case simd_type::int8:
      return selection<std::int8_t>(op);
    case simd_type::uint8:
      return selection<std::uint8_t>(op);
    case simd_type::int16:
      return selection<std::int16_t>(op);
    case simd_type::uint16:
      return selection<std::uint16_t>(op);
    case simd_type::int32:
      return adds ? arithmetic<std::uint32_t, std::uint32_t>(op) : selection<std::int32_t>(op);
    case simd_type::uint32:
      return adds ? arithmetic<std::uint32_t, std::uint32_t>(op) : selection<std::uint32_t>(op);
    case simd_type::int64:
      return adds ? arithmetic<std::uint64_t, std::uint64_t>(op) : selection<std::int64_t>(op);
    case simd_type::uint64:
      return adds ? arithmetic<std::uint64_t, std::uint64_t>(op) : selection<std::uint64_t>(op);
    case simd_type::float16:
      return float_selection<std::int16_t, 10>(op);
    case simd_type::brain16:
      return float_selection<std::int16_t, 7>(op);
    case simd_type::float32:
      return adds ? arithmetic<float, float>(op) : float_selection<std::int32_t, 23>(op);
    case simd_type::float64:
      return adds ? arithmetic<double, double>(op) : float_selection<std::int64_t, 52>(op);
    default:
      return {};
  }
}

simd_columns widening_columns(simd_op op, simd_type value, simd_type accumulator) {
  using type = simd_type;
  if (accumulator == type::float64 && value == type::float32) {
    return arithmetic<float, double, widening>(op);
  }
  if (accumulator == type::float32 && value == type::float16) {
    return arithmetic<std::uint16_t, float, float16_to_float>(op);
  }
  if (accumulator == type::float32 && value == type::brain16) {
    return arithmetic<std::uint16_t, float, brain16_to_float>(op);
  }
  if (accumulator == type::int32 || accumulator == type::uint32) {
    if (value == type::int8) return arithmetic<std::int8_t, std::int32_t, widening>(op);
    if (value == type::uint8) return arithmetic<std::uint8_t, std::uint32_t, widening>(op);
    if (value == type::int16) return arithmetic<std::int16_t, std::int32_t, widening>(op);
    if (value == type::uint16) return arithmetic<std::uint16_t, std::uint32_t, widening>(op);
  }
  if (accumulator == type::int64 || accumulator == type::uint64) {
    if (value == type::int32) return arithmetic<std::int32_t, std::int64_t, widening>(op);
    if (value == type::uint32) return arithmetic<std::uint32_t, std::uint64_t, widening>(op);
  }
  return {};
}

simd_columns find_columns(simd_op op, simd_type value, simd_type accumulator) {
  return value == accumulator ? same_type_columns(op, value)
                              : widening_columns(op, value, accumulator);
}

/// Where the item stands that counts, of floats as keys: Op is minimum or maximum.
template <class Op, class Keys, class Int>
class place_loops {
  using tag = hn::ScalableTag<Int>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());

 public:
  static void run(const void* const* rows, std::int64_t n, std::int64_t width, std::int64_t first,
                  void* keys, void* places) {
    const tag d;
    Int* const best = static_cast<Int*>(keys);
    Int* const place = static_cast<Int*>(places);
    std::int64_t c = 0;
    for (; c + many * lanes <= width; c += many * lanes) {
      go_down<many>(rows, n, first, c, best + c, place + c);
    }
    for (; c + lanes <= width; c += lanes) go_down<1>(rows, n, first, c, best + c, place + c);
    if (c == width) return;
    const std::int64_t rest = width - c;
    vector key = load_first(d, best + c, rest);
    vector row = load_first(d, place + c, rest);
    for (std::int64_t r = 0; r < n; ++r) {
      const vector items = load_first(d, static_cast<const Int*>(rows[r]) + c, rest);
      take(Keys::convert(d, items), number_of(first + r), key, row);
    }
    store_first(d, key, best + c, rest);
    store_first(d, row, place + c, rest);
  }

 private:
  // Vectors side by side, so that the latency of a comparison does not count.
  static constexpr int many = 4;

  HWY_INLINE static vector number_of(std::int64_t row) {
    return hn::Set(tag(), static_cast<Int>(row));
  }

  template <int Vectors>
  HWY_INLINE static void go_down(const void* const* rows, std::int64_t n, std::int64_t first,
                                 std::int64_t c, Int* best, Int* place) {
    const tag d;
    vector key[Vectors];
    vector row[Vectors];
    for (int k = 0; k < Vectors; ++k) {
      key[k] = hn::LoadU(d, best + k * lanes);
      row[k] = hn::LoadU(d, place + k * lanes);
    }
    for (std::int64_t r = 0; r < n; ++r) {
      const Int* const items = static_cast<const Int*>(rows[r]) + c;
      const vector number = number_of(first + r);
      for (int k = 0; k < Vectors; ++k) {
        const vector some = read_once(hn::LoadU(d, items + k * lanes));
        take(Keys::convert(d, some), number, key[k], row[k]);
      }
    }
    for (int k = 0; k < Vectors; ++k) {
      hn::StoreU(key[k], d, best + k * lanes);
      hn::StoreU(row[k], d, place + k * lanes);
    }
  }

  HWY_INLINE static void take(vector key, vector number, vector& best, vector& place) {
    const auto before = std::is_same_v<Op, maximum> ? hn::Gt(key, best) : hn::Gt(best, key);
    best = hn::IfThenElse(before, key, best);
    place = hn::IfThenElse(before, number, place);
  }
};

template <class Int, int Significand>
simd_places places_of(simd_op op) {
  using nan_high = key_order<Int, Significand, true>;
  using nan_low = key_order<Int, Significand, false>;
  switch (op) {
    case simd_op::minimum:
      return place_loops<minimum, nan_low, Int>::run;
    case simd_op::maximum:
      return place_loops<maximum, nan_high, Int>::run;
    case simd_op::minimum_number:
      return place_loops<minimum, nan_high, Int>::run;
    case simd_op::maximum_number:
      return place_loops<maximum, nan_low, Int>::run;
    default:
      return nullptr;
  }
}

simd_places find_places(simd_op op, simd_type value) {
  if (value == simd_type::float32) return places_of<std::int32_t, 23>(op);
  if (value == simd_type::float64) return places_of<std::int64_t, 52>(op);
  return nullptr;
}

#else

simd_columns find_columns(simd_op, simd_type, simd_type) { return {}; }
simd_places find_places(simd_op, simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_columns);
HWY_EXPORT(find_places);

simd_columns find_simd_columns(simd_op op, simd_type value, simd_type accumulator) {
  return HWY_DYNAMIC_DISPATCH(find_columns)(op, value, accumulator);
}

simd_places find_simd_places(simd_op op, simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_places)(op, value);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
