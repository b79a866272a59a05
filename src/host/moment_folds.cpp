// SPDX-License-Identifier: Apache-2.0
//
// What mean and variance of whole blocks of the tree are made of, with vector instructions: the sum
// and the sum of squared deviations, each node merged from two equal halves as moments.hpp merges
// them; and the extremes. Compiled once for every instruction set. Must be compiled with
// -ffp-contract=off.
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <tilefold/detail/host/moments.hpp>
#include <tilefold/tree.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/moment_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/merge-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

/// Groups of 2^GroupLevel vectors of Raw, folded in double.
template <class Raw, int GroupLevel>
class moment_fold {
  static constexpr bool widened = sizeof(Raw) < sizeof(double);
  using conversion = std::conditional_t<widened, widening, no_conversion>;
  using items_type = array_items<Raw, double, conversion>;
  using tag = typename items_type::tag;
  using vector = hn::Vec<tag>;
  // Of floats: squared deviations in units of the weight that the node was merged with. Those are
  // powers of two and nothing can overflow, so the bits are the same and a product is saved.
  struct node {
    vector sum, deviations;
  };

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);
  // The vectors of a group fold into one in registers; a whole number of cycles (merge-inl.hpp).
  static_assert(GroupLevel % lane_levels == 0);
  static constexpr int group = 1 << GroupLevel;

 public:
  static constexpr std::int64_t group_items = group * lanes;

  /// A power of two groups.
  static void run(const void* first, std::int64_t n, block_moments* result) {
    const moment_fold fold{items_type(first, nullptr)};
    // The values of finished groups that wait for their right neighbour: one per level.
    block_moments waiting[64];
    int depth = 0;
    for (std::int64_t i = 0; i < n; i += group_items) {
      fold.items_.template prefetch<group>(i);
      block_moments value = fold.fold_group(i);
      double weight = weight_of(group_items);
      for (std::int64_t g = i / group_items; g & 1; g >>= 1, weight *= 0.5) {
        value = merge(waiting[--depth], value, weight);
      }
      waiting[depth++] = value;
    }
    *result = waiting[0];
  }

 private:
  explicit moment_fold(items_type items) : items_(items) {}

  // Between nodes of as many items each.
  static constexpr double weight_of(std::int64_t items) { return 0.5 / static_cast<double>(items); }

  static block_moments merge(const block_moments& a, const block_moments& b, double weight) {
    const double gap = b.sum - a.sum;
    return {a.sum + b.sum, (a.deviations + b.deviations) + (gap * weight) * gap};
  }

  // Nodes of 2^Level items each, in pairs of lanes, Cycle levels after lanes were in order.
  template <int Level, int Cycle>
  HWY_INLINE static node merge(const node& a, const node& b) {
    const tag d;
    const vector left = even_lanes<Cycle>(d, a.sum, b.sum);
    const vector right = odd_lanes<Cycle>(d, a.sum, b.sum);
    const vector gap = hn::Sub(right, left);
    const vector weight = hn::Set(d, widened ? 1.0 : weight_of(std::int64_t{1} << Level));
    const vector spread = hn::Mul(widened ? gap : hn::Mul(gap, weight), gap);
    if constexpr (Level == 0) {
      return {hn::Add(left, right), spread};  // single items have no spread
    } else {
      const vector both = hn::Add(even_lanes<Cycle>(d, a.deviations, b.deviations),
                                  odd_lanes<Cycle>(d, a.deviations, b.deviations));
      // Twice a number is exact, so that this rounds once, fused or not.
      return {hn::Add(left, right),
              widened ? hn::MulAdd(both, hn::Set(d, 2.0), spread) : hn::Add(both, spread)};
    }
  }

  template <int Level>
  HWY_INLINE node fold_vectors(std::int64_t i) const {
    if constexpr (Level == 0) {
      const vector items = items_.load(i);
      return {items, items};
    } else {
      const node left = fold_vectors<Level - 1>(i);
      const node right = fold_vectors<Level - 1>(i + (lanes << (Level - 1)));
      return merge<Level - 1, Level - 1>(left, right);
    }
  }

  template <int Levels>
  HWY_INLINE static node fold_lanes(const node& v) {
    if constexpr (Levels == 0) {
      return v;
    } else {
      constexpr int done = lane_levels - Levels;
      return fold_lanes<Levels - 1>(merge<GroupLevel + done, GroupLevel + done>(v, v));
    }
  }

  HWY_INLINE block_moments fold_group(std::int64_t first) const {
    const node v = fold_lanes<lane_levels>(fold_vectors<GroupLevel>(first));
    constexpr double unit = widened ? weight_of(group_items / 2) : 1.0;
    return {hn::GetLane(v.sum), hn::GetLane(v.deviations) * unit};
  }

  items_type items_;
};

/// Any power of two items.
template <class Raw>
class moments_of_block {
  static constexpr int lane_levels = tree::floor_log2(hn::MaxLanes(hn::ScalableTag<double>()));
  using large = moment_fold<Raw, 6>;
  using small = moment_fold<Raw, 6 - lane_levels>;
  static constexpr std::int64_t few = small::group_items;

 public:
  static void run(const void* first, std::int64_t n, block_moments* result) {
    if (n >= large::group_items) {
      large::run(first, n, result);
    } else if (n >= few) {
      small::run(first, n, result);
    } else {
      *result = fold_few(static_cast<const Raw*>(first), n);
    }
  }

 private:
  static block_moments fold_few(const Raw* items, std::int64_t n) {
    double sums[few];
    double deviations[few] = {};
    for (std::int64_t i = 0; i < n; ++i) sums[i] = static_cast<double>(items[i]);
    double weight = 0.5;
    for (std::int64_t nodes = n / 2; nodes > 0; nodes /= 2, weight *= 0.5) {
      for (std::int64_t i = 0; i < nodes; ++i) {
        const double gap = sums[2 * i + 1] - sums[2 * i];
        sums[i] = sums[2 * i] + sums[2 * i + 1];
        deviations[i] = (deviations[2 * i] + deviations[2 * i + 1]) + (gap * weight) * gap;
      }
    }
    return {sums[0], deviations[0]};
  }
};

/// The least and the greatest of floating items that are all finite, -0 below +0.
template <class Int>
class extreme_fold {
  using tag = hn::ScalableTag<Int>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int chains = 4;

 public:
  static void run(const void* first, std::int64_t n, void* least, void* greatest) {
    const array_items<Int, Int> items(first, nullptr);
    Int any;
    std::memcpy(&any, first, sizeof any);
    const vector absent = hn::Set(tag(), any);
    vector low[chains], high[chains];
    for (int k = 0; k < chains; ++k) low[k] = high[k] = key(absent);
    std::int64_t i = 0;
    for (; i + chains * lanes <= n; i += chains * lanes) {
      for (int k = 0; k < chains; ++k) add(key(items.load(i + k * lanes)), low[k], high[k]);
    }
    for (; i + lanes <= n; i += lanes) add(key(items.load(i)), low[0], high[0]);
    if (i < n) add(key(items.load_some(i, n - i, absent)), low[0], high[0]);
    for (int k = 1; k < chains; ++k) {
      low[0] = hn::Min(low[0], low[k]);
      high[0] = hn::Max(high[0], high[k]);
    }
    store(hn::MinOfLanes(tag(), low[0]), least);
    store(hn::MaxOfLanes(tag(), high[0]), greatest);
  }

 private:
  // Integers in the order of the values: its own inverse.
  HWY_INLINE static vector key(vector bits) {
    const vector magnitude = hn::Set(tag(), std::numeric_limits<Int>::max());
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), magnitude));
  }
  HWY_INLINE static void add(vector v, vector& low, vector& high) {
    low = hn::Min(low, v);
    high = hn::Max(high, v);
  }
  HWY_INLINE static void store(vector v, void* result) {
    const Int bits = hn::GetLane(key(v));
    std::memcpy(result, &bits, sizeof bits);
  }
};

block_functions find_block_folds(simd_type value) {
  if (value == simd_type::float32) {
    return {moments_of_block<float>::run, extreme_fold<std::int32_t>::run};
  }
  if (value == simd_type::float64) {
    return {moments_of_block<double>::run, extreme_fold<std::int64_t>::run};
  }
  return {};
}

#else

block_functions find_block_folds(simd_type) { return {}; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_block_folds);

block_functions find_block_functions(simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_block_folds)(value);
}

}  // namespace tilefold::detail::host
#endif
