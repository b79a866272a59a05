// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree over floating items with vector instructions. Two neighbouring vectors become
// one by a combine of their even with their odd lanes, which is one level of the tree. Compiled
// once for every instruction set; simd_folds.cpp chooses among them. Must be compiled with
// -ffp-contract=off. Squares for norms are sums of products; what a mean keeps is a sum in double.
#include <cstdint>
#include <cstring>

#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/tree.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/tree_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/lane_ops-inl.hpp"
#include "src/host/merge-inl.hpp"
#include "src/host/simd_folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

struct vector_plus {
  static constexpr float identity = -0.0f;
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Add(a, b);
  }
};

struct vector_multiplies {
  static constexpr float identity = 1.0f;
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// Complex numbers of two floats, which move as doubles do.
struct vector_plus_of_pairs {
  static constexpr double identity = __builtin_bit_cast(double, 0x8000000080000000);
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    const hn::DFromV<V> d;
    const hn::Repartition<float, decltype(d)> parts;
    return hn::BitCast(d, hn::Add(hn::BitCast(parts, a), hn::BitCast(parts, b)));
  }
};

/// Their products have no identity.
struct vector_multiplies_of_pairs : lane_op<multiplies_pairs> {};

/// One fold: Items says what vector i of the input is, Op combines.
template <class Items, class Op>
class tree_fold {
 public:
  static void run(const void* first, const void* second, std::int64_t n, void* result) {
    const tree_fold items(Items(first, second));
    lane value;
    if constexpr (requires { Op::identity; }) {
      value = items.fold(n);
    } else {
      value = items.fold_without_identity(0, n);
    }
    std::memcpy(result, &value, sizeof value);
  }

 private:
  using tag = typename Items::tag;
  using lane = hn::TFromD<tag>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);

  // The vectors of a group fold into one in registers; the groups of a block into one in the
  // first-level cache. A block is a whole number of cycles (merge-inl.hpp).
  static constexpr int group_level = lane_levels >= 4 ? 4 : 3;
  static constexpr int block_level = (5 + lane_levels) / lane_levels * lane_levels;
  static constexpr int group = 1 << group_level;
  static constexpr int groups_per_block = 1 << (block_level - group_level);
  static constexpr std::int64_t group_items = group * lanes;
  static constexpr std::int64_t block = groups_per_block * group_items;

  explicit tree_fold(Items items) : items_(items) {}

  HWY_INLINE static vector identity() { return hn::Set(tag(), static_cast<lane>(Op::identity)); }

  HWY_INLINE static lane combine(lane a, lane b) {
    return hn::GetLane(Op::apply(hn::Set(tag(), a), hn::Set(tag(), b)));
  }

  template <int Level>
  HWY_INLINE static vector merge(vector a, vector b) {
    return Op::apply(even_lanes<Level>(tag(), a, b), odd_lanes<Level>(tag(), a, b));
  }

  // The node over 2^Level vectors from item i on. Left before right, so that memory is read in
  // ascending order, for which hardware prefetches.
  template <int Level>
  HWY_INLINE vector fold_vectors(std::int64_t i) const {
    if constexpr (Level == 0) {
      return items_.load(i);
    } else {
      const vector left = fold_vectors<Level - 1>(i);
      const vector right = fold_vectors<Level - 1>(i + (lanes << (Level - 1)));
      return merge<Level - 1>(left, right);
    }
  }

  // The same of n items, of which more may be missing than are there. No branch depends on n.
  template <int Level>
  HWY_INLINE vector fold_some_vectors(std::int64_t i, std::int64_t n) const {
    if constexpr (Level == 0) {
      return items_.load_some(i, n < 0 ? 0 : n < lanes ? n : lanes, identity());
    } else {
      constexpr std::int64_t half = lanes << (Level - 1);
      const vector left = fold_some_vectors<Level - 1>(i, n);
      const vector right = fold_some_vectors<Level - 1>(i + half, n - half);
      return merge<Level - 1>(left, right);
    }
  }

  // The next level over `count` nodes of `Level`, in their place; returns how many there are. For
  // an absent right operand stands a vector of identities: op(x, identity) has the bits of x.
  template <int Level>
  HWY_INLINE static int merge_nodes(vector* v, int count) {
    if (count % 2 != 0) v[count++] = identity();
    for (int i = 0; i < count / 2; ++i) v[i] = merge<Level>(v[2 * i], v[2 * i + 1]);
    return count / 2;
  }
  template <int Level, int End>
  HWY_INLINE static vector fold_nodes(vector* v, int count) {
    if constexpr (Level == End) {
      return v[0];
    } else {
      return fold_nodes<Level + 1, End>(v, merge_nodes<Level>(v, count));
    }
  }

  // The value of `count` nodes of `Level` that are all of a tree.
  template <int Level>
  HWY_INLINE static lane fold_tree(vector* v, int count) {
    if constexpr (Level < block_level) {
      if (count > 1) return fold_tree<Level + 1>(v, merge_nodes<Level>(v, count));
    }
    return fold_lanes<Level, Level + lane_levels>(v[0]);
  }

  // Fewer items than a group, at least one.
  HWY_NOINLINE vector fold_partial_group(std::int64_t first, std::int64_t n) const {
    items_.prefetch_some(first, n);
    if constexpr (Items::masks) {
      constexpr int half_level = group_level - 1;
      if (n > group_items / 2) return fold_some_vectors<group_level>(first, n);
      return merge<half_level>(fold_some_vectors<half_level>(first, n), identity());
    }
    vector v[group + 1];
    int count = 0;
    for (; n >= lanes; n -= lanes, first += lanes) v[count++] = items_.load(first);
    if (n > 0) v[count++] = items_.load_some(first, n, identity());
    return fold_nodes<0, group_level>(v, count);
  }

  // Of a vector of nodes of `Level`, beside itself; so in the end every lane has all of it.
  template <int Level, int End>
  HWY_INLINE static lane fold_lanes(vector v) {
    if constexpr (Level == End) {
      return hn::GetLane(v);
    } else {
      return fold_lanes<Level + 1, End>(merge<Level>(v, v));
    }
  }

  // At most a block.
  HWY_INLINE lane fold_block(std::int64_t first, std::int64_t n) const {
    vector v[groups_per_block + 1];
    int count = 0;
    for (; n >= group_items; n -= group_items, first += group_items) {
      items_.template prefetch<group>(first);
      v[count++] = fold_vectors<group_level>(first);
    }
    if (n > 0) v[count++] = fold_partial_group(first, n);
    return fold_tree<group_level>(v, count);
  }

  // Items as split by the tree. Only powers of two, from a vector to a group, are vectors.
  lane fold_without_identity(std::int64_t first, std::int64_t n) const {
    lane value;
    if (n == 1) {  // of a complex number, which need not lie as its lane would
      std::memcpy(&value, items_.data() + first, sizeof value);
      return value;
    }
    if (fold_power<group_level>(first, n, value)) return value;
    const std::int64_t split = tree::left_size(n);
    const lane left = fold_without_identity(first, split);
    return combine(left, fold_without_identity(first + split, n - split));
  }
  template <int Level>
  HWY_INLINE bool fold_power(std::int64_t first, std::int64_t n, lane& value) const {
    if (n == lanes << Level) {
      value = fold_lanes<Level, Level + lane_levels>(fold_vectors<Level>(first));
      return true;
    }
    if constexpr (Level > 0) return fold_power<Level - 1>(first, n, value);
    return false;
  }

  lane fold(std::int64_t n) const {
    // The values of finished blocks that wait for their right neighbour: one per level.
    lane waiting[64];
    int depth = 0;
    std::int64_t first = 0;
    for (; n - first >= block; first += block) {
      lane value = fold_block(first, block);
      for (std::int64_t i = first / block; i & 1; i >>= 1) value = combine(waiting[--depth], value);
      waiting[depth++] = value;
    }
    lane value = first < n ? fold_block(first, n - first) : waiting[--depth];
    while (depth > 0) value = combine(waiting[--depth], value);
    return value;
  }

  Items items_;
};

template <class Items>
simd_fold tree_fold_by_op(simd_op op) {
  if (op == simd_op::plus) return tree_fold<Items, vector_plus>::run;
  if (op == simd_op::multiplies) return tree_fold<Items, vector_multiplies>::run;
  return nullptr;
}

simd_fold find_tree_fold(simd_op op, simd_type value, simd_type accumulator) {
  using type = simd_type;
  if (op == simd_op::dot) {
    return value == type::float32 ? tree_fold<product_items<float>, vector_plus>::run
                                  : tree_fold<product_items<double>, vector_plus>::run;
  }
  if (op == simd_op::plus && value == type::complex64 && accumulator == type::complex64) {
    return tree_fold<array_items<double, double>, vector_plus_of_pairs>::run;
  }
  if (op == simd_op::multiplies && value == type::complex64 && accumulator == type::complex64) {
    return tree_fold<array_items<double, double>, vector_multiplies_of_pairs>::run;
  }
  if (accumulator == type::float64) {
    if (value == type::float64) return tree_fold_by_op<array_items<double, double>>(op);
    if (value == type::float32) return tree_fold_by_op<array_items<float, double, widening>>(op);
  }
  if (accumulator == type::float32) {
    if (value == type::float32) return tree_fold_by_op<array_items<float, float>>(op);
    if (value == type::float16)
      return tree_fold_by_op<array_items<std::uint16_t, float, float16_to_float>>(op);
    if (value == type::brain16)
      return tree_fold_by_op<array_items<std::uint16_t, float, brain16_to_float>>(op);
  }
  return nullptr;
}

/// Squares of doubles, as scaled_squares. While no item of a block has a square that leaves the
/// range of doubles, all of them are ordinary, and their sum is a dot product.
class double_squares {
 public:
  using squares = scaled_squares;

  static squares of(const void* first, std::int64_t n) {
    const auto* const items = static_cast<const double*>(first);
    squares waiting[64];
    int depth = 0;
    std::int64_t done = 0;
    for (; n - done >= block; done += block) {
      squares value = of_block(items + done, block);
      for (std::int64_t i = done / block; i & 1; i >>= 1) {
        value = squares::sum(waiting[--depth], value);
      }
      waiting[depth++] = value;
    }
    squares value = done < n ? of_block(items + done, n - done) : waiting[--depth];
    while (depth > 0) value = squares::sum(waiting[--depth], value);
    return value;
  }

 private:
  // 16 KiB, which stay in the first-level cache from the look to the fold.
  static constexpr std::int64_t block = 2048;

  static squares of_block(const double* items, std::int64_t n) {
    if (!all_ordinary(items, n)) {
      return host::fold(source<const double*>{{items}},
                        bound_reducer<reducers::l2, as_is, double>{{}, {}}, 0, n);
    }
    double total;
    tree_fold<product_items<double>, vector_plus>::run(items, items, n, &total);
    return {total, 0.0, 0.0};
  }

  // Zeros are: their squares are zeros, wherever they are kept.
  static bool all_ordinary(const double* items, std::int64_t n) {
    using tag = hn::ScalableTag<double>;
    const tag d;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(tag()));
    constexpr std::int64_t at_once = 4;
    const array_items<double, double> array(items, nullptr);
    const auto least = hn::Set(d, scaled_squares::least_ordinary);
    const auto greatest = hn::Set(d, scaled_squares::greatest_ordinary);
    const auto ordinary = [&](auto v) HWY_ATTR {
      const auto size = hn::Abs(v);
      return hn::Or(hn::And(hn::Ge(size, least), hn::Le(size, greatest)), hn::Eq(v, hn::Zero(d)));
    };
    std::int64_t i = 0;
    for (; i + at_once * lanes <= n; i += at_once * lanes) {
      array.template prefetch<at_once>(i);
      const auto first = hn::And(ordinary(array.load(i)), ordinary(array.load(i + lanes)));
      const auto second =
          hn::And(ordinary(array.load(i + 2 * lanes)), ordinary(array.load(i + 3 * lanes)));
      if (!hn::AllTrue(d, hn::And(first, second))) return false;
    }
    for (; i < n; ++i) {
      if (!scaled_squares::is_ordinary(items[i])) return false;
    }
    return true;
  }
};

struct float_squares {
  using squares = plain_squares;
  static squares of(const void* first, std::int64_t n) {
    squares result;
    tree_fold<wide_square_items, vector_plus>::run(first, nullptr, n, &result.total);
    return result;
  }
};

template <class Fold>
void fold_squares(const void* first, const void*, std::int64_t n, void* result) {
  const auto value = Fold::of(first, n);
  std::memcpy(result, &value, sizeof value);
}
template <class Fold>
void fold_counted_squares(const void* first, const void*, std::int64_t n, void* result) {
  const counted_squares<typename Fold::squares> value{static_cast<double>(n), Fold::of(first, n)};
  std::memcpy(result, &value, sizeof value);
}

template <class T, class Conversion = integer_to_double>
void counted_sum(const void* first, const void*, std::int64_t n, void* result) {
  double value[2] = {static_cast<double>(n), 0.0};
  tree_fold<array_items<T, double, Conversion>, vector_plus>::run(first, nullptr, n, value + 1);
  std::memcpy(result, &value, sizeof value);
}

simd_fold find_counted_sum(simd_type value) {
  switch (value) {
    case simd_type::int8:
      return counted_sum<std::int8_t>;
    case simd_type::uint8:
      return counted_sum<std::uint8_t>;
    case simd_type::int16:
      return counted_sum<std::int16_t>;
    case simd_type::uint16:
      return counted_sum<std::uint16_t>;
    case simd_type::int32:
      return counted_sum<std::int32_t>;
    case simd_type::uint32:
      return counted_sum<std::uint32_t>;
    case simd_type::int64:
      return counted_sum<std::int64_t>;
    case simd_type::uint64:
      return counted_sum<std::uint64_t>;
    case simd_type::float16:
      return counted_sum<std::uint16_t, narrow_to_double<float16_to_float>>;
    case simd_type::brain16:
      return counted_sum<std::uint16_t, narrow_to_double<brain16_to_float>>;
    case simd_type::float32:
      return counted_sum<float, widening>;
    case simd_type::float64:
      return counted_sum<double, no_conversion>;
    default:
      return nullptr;
  }
}

simd_fold find_square_fold(simd_op op, simd_type value) {
  const bool counted = op == simd_op::counted_squares;
  if (value == simd_type::float64) {
    return counted ? fold_counted_squares<double_squares> : fold_squares<double_squares>;
  }
  if (value == simd_type::float32) {
    return counted ? fold_counted_squares<float_squares> : fold_squares<float_squares>;
  }
  return nullptr;
}

#else

simd_fold find_tree_fold(simd_op, simd_type, simd_type) { return nullptr; }
simd_fold find_square_fold(simd_op, simd_type) { return nullptr; }
simd_fold find_counted_sum(simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_tree_fold);
HWY_EXPORT(find_square_fold);
HWY_EXPORT(find_counted_sum);

simd_fold tree_fold_for(simd_op op, simd_type value, simd_type accumulator) {
  return HWY_DYNAMIC_DISPATCH(find_tree_fold)(op, value, accumulator);
}

simd_fold square_fold_for(simd_op op, simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_square_fold)(op, value);
}

simd_fold counted_sum_for(simd_type value) { return HWY_DYNAMIC_DISPATCH(find_counted_sum)(value); }

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
