// SPDX-License-Identifier: Apache-2.0
//
// Columns that stand side by side, with vector instructions: a lane is a column, and every lane has
// the same tree, so no lane ever meets another. Compiled once for every instruction set. Must be
// compiled with -ffp-contract=off.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tilefold/detail/host/simd.hpp>
#include <tilefold/reducers/moments.hpp>

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

/// How a run's lanes become accumulators in memory: as they are, or each by Result::of().
struct stored_lanes {
  template <class Lane>
  using type = Lane;

  template <class D, class V>
  HWY_INLINE static void store(D d, V v, hn::TFromD<D>* to) {
    hn::StoreU(v, d, to);
  }
  template <class D, class V>
  HWY_INLINE static void store(D d, V v, hn::TFromD<D>* to, std::int64_t n) {
    store_first(d, v, to, n);
  }
};
template <class Result>
struct stored_results {
  template <class>
  using type = typename Result::type;

  template <class D, class V>
  HWY_INLINE static void store(D d, V v, typename Result::type* to,
                               std::int64_t n = static_cast<std::int64_t>(hn::MaxLanes(D()))) {
    HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
    hn::Store(v, d, lanes);
    for (std::int64_t i = 0; i < n; ++i) to[i] = Result::of(lanes[i]);
  }
};

/// Rows of Raw items, accumulators in memory of type Lane. Convert::convert() makes vectors of
/// items what Op combines, Keys::convert() vectors of accumulators, and Keys::restore()
/// accumulators of what it has combined. A run whose accumulators are not of type Lane is Stored by
/// another way.
template <class Raw, class Lane, class Op, class Convert, class Keys, class Stored = stored_lanes>
class column_loops {
  using stored = typename Stored::template type<Lane>;
  using tag = hn::ScalableTag<Lane>;
  using raw_tag = hn::Rebind<Raw, tag>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int run = simd_columns::rows_of_run;
  // Of longer rows a whole run would not stay in the first-level cache until it is read; there the
  // hardware prefetches well by itself (docs/host.md).
  static constexpr std::int64_t most_columns_ahead = 2048 / sizeof(Raw);

 public:
  static void fold_rows(const void* const* rows, const std::uintptr_t* later, std::int64_t n,
                        std::int64_t width, void* result) {
    stored* const to = static_cast<stored*>(result);
    if (n == run) {
      fold(width, to, whole_run{rows, width <= most_columns_ahead ? later : nullptr});
    } else {
      fold(width, to, part_of_run{rows, n});
    }
  }

  static void join(const void* left, const void* right, void* result, std::int64_t width) {
    const tag d;
    const Lane* const a = static_cast<const Lane*>(left);
    const Lane* const b = static_cast<const Lane*>(right);
    Lane* const to = static_cast<Lane*>(result);
    if (width < lanes) {
      store_first(d, node(load_first(d, a, width), load_first(d, b, width)), to, width);
      return;
    }
    // The last vector overlaps the one before it, which may be stored where it is read.
    const std::int64_t last = width - lanes;
    const vector last_node = node(hn::LoadU(d, a + last), hn::LoadU(d, b + last));
    for (std::int64_t c = 0; c < last; c += lanes) {
      hn::StoreU(node(hn::LoadU(d, a + c), hn::LoadU(d, b + c)), d, to + c);
    }
    hn::StoreU(last_node, d, to + last);
  }

 private:
  HWY_INLINE static vector combine(vector a, vector b) { return lane_op<Op>::apply(a, b); }
  HWY_INLINE static vector node(vector a, vector b) {
    const tag d;
    return Keys::restore(d, combine(Keys::convert(d, a), Keys::convert(d, b)));
  }

  // A vector of a row from column c on, and its first n items with anything behind them.
  HWY_INLINE static vector load(const void* row, std::int64_t c) {
    const Raw* const first = static_cast<const Raw*>(row);
    return Convert::convert(tag(), read_once(hn::LoadU(raw_tag(), first + c)));
  }
  HWY_INLINE static vector load_some(const void* row, std::int64_t n) {
    return Convert::convert(tag(), load_first(raw_tag(), static_cast<const Raw*>(row), n));
  }

  template <class Rows>
  HWY_INLINE static void fold(std::int64_t width, stored* to, const Rows& rows) {
    const tag d;
    if (width < lanes) {
      const auto at = [width](const void* row) HWY_ATTR { return load_some(row, width); };
      Stored::store(d, Keys::restore(d, rows.fold(at)), to, width);
      return;
    }
    const auto fold_from = [&](std::int64_t c) HWY_ATTR {
      const auto at = [c](const void* row) HWY_ATTR { return load(row, c); };
      Stored::store(d, Keys::restore(d, rows.fold(at)), to + c);
    };
    std::int64_t c = 0;
    for (; c + lanes <= width; c += lanes) {
      rows.prefetch(c);
      fold_from(c);
    }
    if (c < width) fold_from(width - lanes);  // once more for some columns
  }

  struct whole_run {
    const void* const* rows;
    const std::uintptr_t* later;  // or null

    // A line of each row at a time. May point past an array, harmlessly.
    HWY_INLINE void prefetch(std::int64_t c) const {
      if (later == nullptr) return;
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

/// Runs whose lanes become results of another type, and the join of such results by Join.
template <class Raw, class Lane, class Op, class Convert, class Result, class Join>
simd_columns result_loops() {
  using type = typename Result::type;
  using runs = column_loops<Raw, Lane, Op, Convert, as_they_are, stored_results<Result>>;
  return {runs::fold_rows, column_loops<type, type, Join, as_they_are, as_they_are>::join};
}

/// A lane as a 64-bit integer, modulo 2^64.
struct wide_result {
  using type = std::uint64_t;
  template <class Lane>
  static type of(Lane lane) {
    return static_cast<type>(static_cast<std::int64_t>(lane));
  }
};

/// Sums in 64 bits of integers whose run has a sum of twice their size.
template <class Raw>
simd_columns wide_sums() {
  return result_loops<Raw, hwy::MakeWide<Raw>, plus, widening, wide_result, plus>();
}

struct widening_of_small {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<hwy::MakeNarrow<hn::TFromD<D>>, D>(), v));
  }
};
template <class Raw, class Wide>
simd_columns wide_products() {
  return loops<Raw, Wide, multiplies, widening_of_small>();
}

/// Two lanes a column.
template <class Real>
struct pair_columns {
  using parts = column_loops<Real, Real, plus, as_they_are, as_they_are>;

  static void fold_rows(const void* const* rows, const std::uintptr_t* later, std::int64_t n,
                        std::int64_t width, void* result) {
    parts::fold_rows(rows, later, n, 2 * width, result);
  }
  static void join(const void* left, const void* right, void* result, std::int64_t width) {
    parts::join(left, right, result, 2 * width);
  }
};
template <class Real>
simd_columns pair_sums() {
  return {pair_columns<Real>::fold_rows, pair_columns<Real>::join};
}

// The bits of an item by which it is not zero.
template <auto Mask>
struct telling_bits {
  template <class D, class V>
  HWY_INLINE static V convert(D d, V v) {
    return hn::And(v, hn::Set(d, Mask));
  }
};
// All ones if an item is zero.
template <auto Mask>
struct zero_bits {
  template <class D, class V>
  HWY_INLINE static V convert(D d, V v) {
    return hn::VecFromMask(d, hn::Eq(telling_bits<Mask>::convert(d, v), hn::Zero(d)));
  }
};
// 1 if an item is not zero.
template <auto Mask>
struct one_unless_zero {
  template <class D, class V>
  HWY_INLINE static V convert(D d, V v) {
    return hn::Add(zero_bits<Mask>::convert(d, v), hn::Set(d, hn::TFromD<D>{1}));
  }
};

struct some_bits {
  using type = std::uint8_t;
  template <class Lane>
  static type of(Lane lane) {
    return lane != 0 ? 1 : 0;
  }
};
template <class Result = std::uint8_t>
struct no_bits {
  using type = Result;
  template <class Lane>
  static type of(Lane lane) {
    return lane == 0 ? 1 : 0;
  }
};

/// Whether items are zero, of whose bits those of Mask say it.
template <auto Mask>
simd_columns questions(simd_op op) {
  using lane = std::remove_const_t<decltype(Mask)>;
  switch (op) {
    case simd_op::any:
      return result_loops<lane, lane, bit_or, telling_bits<Mask>, some_bits, bit_or>();
    case simd_op::all:
      return result_loops<lane, lane, bit_or, zero_bits<Mask>, no_bits<>, bit_and>();
    default:
      return result_loops<lane, lane, plus, one_unless_zero<Mask>, wide_result, plus>();
  }
}

/// Accumulators 0 and 1 of whatever bytes.
struct byte_truth : no_conversion {
  template <class D, class V>
  HWY_INLINE static V restore(D d, V v) {
    return hn::Min(v, hn::Set(d, hn::TFromD<D>{1}));
  }
};
simd_columns questions_of_bytes(simd_op op) {
  using byte = std::uint8_t;
  if (op == simd_op::any) return loops<byte, byte, maximum, as_they_are, byte_truth>();
  if (op == simd_op::all) return loops<byte, byte, minimum, as_they_are, byte_truth>();
  return questions<byte{0xff}>(op);
}

/// Products of bytes as 1 or, if they are 0, 0.
simd_columns products_of_truths() {
  using byte = std::uint8_t;
  return result_loops<byte, byte, bit_or, zero_bits<byte{0xff}>, no_bits<std::uint64_t>, bit_and>();
}

simd_columns question_columns(simd_op op, simd_type value) {
  switch (bytes_of(value)) {
    case 1:
      return questions_of_bytes(op);
    case 2:
      return value == simd_type::float16 || value == simd_type::brain16
                 ? questions<std::uint16_t{0x7fff}>(op)
                 : questions<std::uint16_t{0xffff}>(op);
    case 4:
      return value == simd_type::float32 ? questions<std::uint32_t{0x7fffffff}>(op)
                                         : questions<std::uint32_t{0xffffffff}>(op);
    case 8:
      if (value == simd_type::complex64) return questions<std::uint64_t{0x7fffffff7fffffff}>(op);
      return value == simd_type::float64 ? questions<std::uint64_t{0x7fffffffffffffff}>(op)
                                         : questions<~std::uint64_t{0}>(op);
    default:
      return {};
  }
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
    case simd_type::complex64:
      if (op == simd_op::multiplies) return loops<double, double, multiplies_pairs>();
      return op == simd_op::plus ? pair_sums<float>() : simd_columns{};
    case simd_type::complex128:
      return op == simd_op::plus ? pair_sums<double>() : simd_columns{};
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
    if (op == simd_op::plus) {
      if (value == type::int8) return wide_sums<std::int8_t>();
      if (value == type::uint8) return wide_sums<std::uint8_t>();
      if (value == type::int16) return wide_sums<std::int16_t>();
      if (value == type::uint16) return wide_sums<std::uint16_t>();
    }
    if (op == simd_op::multiplies) {
      if (value == type::boolean || value == type::truth) return products_of_truths();
      if (value == type::int8) return wide_products<std::int8_t, std::int64_t>();
      if (value == type::uint8) return wide_products<std::uint8_t, std::uint64_t>();
      if (value == type::int16) return wide_products<std::int16_t, std::int64_t>();
      if (value == type::uint16) return wide_products<std::uint16_t, std::uint64_t>();
    }
    if (value == type::int32) return arithmetic<std::int32_t, std::int64_t, widening>(op);
    if (value == type::uint32) return arithmetic<std::uint32_t, std::uint64_t, widening>(op);
  }
  return {};
}

simd_columns find_columns(simd_op op, simd_type value, simd_type accumulator) {
  if (op == simd_op::any || op == simd_op::all) {
    return accumulator == simd_type::boolean ? question_columns(op, value) : simd_columns{};
  }
  if (op == simd_op::count) {
    return accumulator == simd_type::int64 ? question_columns(op, value) : simd_columns{};
  }
  return value == accumulator ? same_type_columns(op, value)
                              : widening_columns(op, value, accumulator);
}

/// What a variance keeps of columns of Raw items, which Convert makes doubles.
template <class Raw, class Convert>
class deviation_loops {
  using tag = hn::ScalableTag<double>;
  using raw_tag = hn::Rebind<Raw, tag>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int run = simd_columns::rows_of_run;

  struct node {
    vector sum;
    vector deviations;
  };

 public:
  static void fold_rows(const void* const* rows, std::int64_t n, std::int64_t width, double* to) {
    std::int64_t c = 0;
    for (; c + lanes <= width; c += lanes) {
      const auto item = [rows, c](std::int64_t r) HWY_ATTR {
        return hn::LoadU(raw_tag(), static_cast<const Raw*>(rows[r]) + c);
      };
      store(n == run ? whole_run<simd_columns::levels_of_run>(item, 0) : part_of_run(item, n), to,
            width, c, lanes);
    }
    if (c == width) return;
    const auto item = [rows, c, width](std::int64_t r) HWY_ATTR {
      return load_first(raw_tag(), static_cast<const Raw*>(rows[r]) + c, width - c);
    };
    store(part_of_run(item, n), to, width, c, width - c);
  }

  static void join(const double* left, std::int64_t left_rows, const double* right,
                   std::int64_t right_rows, std::int64_t width, double* to) {
    const node_gap gap =
        detail::gap_between(static_cast<double>(left_rows), static_cast<double>(right_rows));
    for (std::int64_t c = 0; c < width; c += lanes) {
      const std::int64_t n = width - c < lanes ? width - c : lanes;
      store(joined(loaded(left, width, c, n), loaded(right, width, c, n), gap), to, width, c, n);
    }
  }

 private:
  HWY_INLINE static node loaded(const double* from, std::int64_t width, std::int64_t c,
                                std::int64_t n) {
    const tag d;
    if (n == lanes) return {hn::LoadU(d, from + c), hn::LoadU(d, from + width + c)};
    return {load_first(d, from + c, n), load_first(d, from + width + c, n)};
  }
  HWY_INLINE static void store(const node& v, double* to, std::int64_t width, std::int64_t c,
                               std::int64_t n) {
    const tag d;
    if (n == lanes) {
      hn::StoreU(v.sum, d, to + c);
      hn::StoreU(v.deviations, d, to + width + c);
    } else {
      store_first(d, v.sum, to + c, n);
      store_first(d, v.deviations, to + width + c, n);
    }
  }

  HWY_INLINE static node joined(const node& a, const node& b, const node_gap& gap) {
    const tag d;
    const vector distance = gap.even ? hn::Sub(b.sum, a.sum)
                                     : hn::Sub(hn::Div(b.sum, hn::Set(d, gap.right_count)),
                                               hn::Div(a.sum, hn::Set(d, gap.left_count)));
    const vector between = hn::Mul(hn::Mul(distance, hn::Set(d, gap.weight)), distance);
    return {hn::Add(a.sum, b.sum), hn::Add(hn::Add(a.deviations, b.deviations), between)};
  }

  template <class Item>
  HWY_INLINE static node leaf(const Item& item, std::int64_t r) {
    const vector x = Convert::convert(tag(), item(r));
    return {x, hn::Sub(x, x)};
  }
  template <int Level, class Item>
  HWY_INLINE static node whole_run(const Item& item, std::int64_t first) {
    if constexpr (Level == 0) {
      return leaf(item, first);
    } else {
      constexpr int half = 1 << (Level - 1);
      const node left = whole_run<Level - 1>(item, first);
      return joined(left, whole_run<Level - 1>(item, first + half),
                    detail::gap_between(half, half));
    }
  }
  template <class Item>
  HWY_INLINE static node part_of_run(const Item& item, std::int64_t n) {
    node v[run];
    double rows[run];
    for (std::int64_t r = 0; r < n; ++r) {
      v[r] = leaf(item, r);
      rows[r] = 1.0;
    }
    for (std::int64_t count = n; count > 1; count = (count + 1) / 2) {
      for (std::int64_t i = 0; i < count / 2; ++i) {
        v[i] = joined(v[2 * i], v[2 * i + 1], detail::gap_between(rows[2 * i], rows[2 * i + 1]));
        rows[i] = rows[2 * i] + rows[2 * i + 1];
      }
      if (count % 2 != 0) {
        v[count / 2] = v[count - 1];
        rows[count / 2] = rows[count - 1];
      }
    }
    return v[0];
  }
};

struct truth_to_double {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    const hn::Rebind<std::uint8_t, D> bytes;
    return integer_to_double::convert(d, hn::Min(v, hn::Set(bytes, std::uint8_t{1})));
  }
};

template <class Raw, class Convert = integer_to_double>
simd_deviations deviations_by() {
  using loops = deviation_loops<Raw, Convert>;
  return {loops::fold_rows, loops::join};
}

simd_deviations find_deviations(simd_type value) {
  switch (value) {
    case simd_type::boolean:
    case simd_type::truth:
      return deviations_by<std::uint8_t, truth_to_double>();
    case simd_type::int8:
      return deviations_by<std::int8_t>();
    case simd_type::uint8:
      return deviations_by<std::uint8_t>();
    case simd_type::int16:
      return deviations_by<std::int16_t>();
    case simd_type::uint16:
      return deviations_by<std::uint16_t>();
    case simd_type::int32:
      return deviations_by<std::int32_t>();
    case simd_type::uint32:
      return deviations_by<std::uint32_t>();
    case simd_type::int64:
      return deviations_by<std::int64_t>();
    case simd_type::uint64:
      return deviations_by<std::uint64_t>();
    case simd_type::float16:
      return deviations_by<std::uint16_t, narrow_to_double<float16_to_float>>();
    case simd_type::brain16:
      return deviations_by<std::uint16_t, narrow_to_double<brain16_to_float>>();
    case simd_type::float32:
      return deviations_by<float, widening>();
    case simd_type::float64:
      return deviations_by<double, no_conversion>();
    default:
      return {};
  }
}

/// Where the item stands that counts, of Raw items as keys: Op is minimum or maximum.
template <class Op, class Keys, class Raw, class Int>
class place_loops {
  using tag = hn::ScalableTag<Int>;
  using raw_tag = hn::Rebind<Raw, tag>;
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
      const auto items = load_first(raw_tag(), static_cast<const Raw*>(rows[r]) + c, rest);
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
      const Raw* const items = static_cast<const Raw*>(rows[r]) + c;
      const vector number = number_of(first + r);
      for (int k = 0; k < Vectors; ++k) {
        const auto some = read_once(hn::LoadU(raw_tag(), items + k * lanes));
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

/// Where NaNs count, and where they do not, in floats as keys.
template <class Int, int Significand>
simd_places places_of_floats(simd_op op) {
  using nan_high = key_order<Int, Significand, true>;
  using nan_low = key_order<Int, Significand, false>;
  switch (op) {
    case simd_op::minimum:
      return place_loops<minimum, nan_low, Int, Int>::run;
    case simd_op::maximum:
      return place_loops<maximum, nan_high, Int, Int>::run;
    case simd_op::minimum_number:
      return place_loops<minimum, nan_high, Int, Int>::run;
    case simd_op::maximum_number:
      return place_loops<maximum, nan_low, Int, Int>::run;
    default:
      return nullptr;
  }
}

/// Integers as keys of their own type or of 64 bits.
struct integer_key {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    using item = hn::TFromV<V>;
    if constexpr (sizeof(item) == sizeof(hn::TFromD<D>)) {
      return v;
    } else if constexpr (sizeof(item) < 4) {
      return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
    } else if constexpr (std::is_signed_v<item>) {
      return hn::PromoteTo(d, v);
    } else {
      return hn::BitCast(d, hn::PromoteTo(hn::Rebind<std::uint64_t, D>(), v));
    }
  }
};
struct truth_key {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    const hn::Rebind<std::uint8_t, D> bytes;
    return integer_key::convert(d, hn::Min(v, hn::Set(bytes, std::uint8_t{1})));
  }
};

template <class Raw, class Int, class Keys = integer_key>
simd_places places_of_integers(simd_op op) {
  const bool least = op == simd_op::minimum || op == simd_op::minimum_number;
  return least ? place_loops<minimum, Keys, Raw, Int>::run
               : place_loops<maximum, Keys, Raw, Int>::run;
}

simd_places find_places(simd_op op, simd_type value, simd_type key) {
  using type = simd_type;
  if (value == key) {
    if (value == type::float32) return places_of_floats<std::int32_t, 23>(op);
    if (value == type::float64) return places_of_floats<std::int64_t, 52>(op);
    if (value == type::uint64) return places_of_integers<std::uint64_t, std::uint64_t>(op);
    if (value == type::int32) return places_of_integers<std::int32_t, std::int32_t>(op);
    if (value == type::uint32) return places_of_integers<std::uint32_t, std::uint32_t>(op);
  }
  if (key != type::int64) return nullptr;
  switch (value) {
    case type::truth:
      return places_of_integers<std::uint8_t, std::int64_t, truth_key>(op);
    case type::int8:
      return places_of_integers<std::int8_t, std::int64_t>(op);
    case type::uint8:
      return places_of_integers<std::uint8_t, std::int64_t>(op);
    case type::int16:
      return places_of_integers<std::int16_t, std::int64_t>(op);
    case type::uint16:
      return places_of_integers<std::uint16_t, std::int64_t>(op);
    case type::int32:
      return places_of_integers<std::int32_t, std::int64_t>(op);
    case type::uint32:
      return places_of_integers<std::uint32_t, std::int64_t>(op);
    case type::int64:
      return places_of_integers<std::int64_t, std::int64_t>(op);
    default:
      return nullptr;
  }
}

#else

simd_columns find_columns(simd_op, simd_type, simd_type) { return {}; }
simd_deviations find_deviations(simd_type) { return {}; }
simd_places find_places(simd_op, simd_type, simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_columns);
HWY_EXPORT(find_deviations);
HWY_EXPORT(find_places);

simd_columns find_simd_columns(simd_op op, simd_type value, simd_type accumulator) {
  return HWY_DYNAMIC_DISPATCH(find_columns)(op, value, accumulator);
}

simd_deviations find_simd_deviations(simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_deviations)(value);
}

simd_places find_simd_places(simd_op op, simd_type value, simd_type key) {
  return HWY_DYNAMIC_DISPATCH(find_places)(op, value, key);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
