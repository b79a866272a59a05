// SPDX-License-Identifier: Apache-2.0
//
// What mean and variance of whole blocks of the tree are made of, with vector instructions: the sum
// and the sum of squared deviations, each node merged from two equal halves as moments.hpp merges
// them. Compiled once for every instruction set. Must be compiled with -ffp-contract=off.
#include <cstdint>

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

/// Items says what vector i of the input is.
template <class Items>
class moment_fold {
  using tag = typename Items::tag;
  using vector = hn::Vec<tag>;
  struct node {
    vector sum, deviations;
  };

  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);
  // The vectors of a group fold into one in registers; a whole number of cycles (merge-inl.hpp).
  static constexpr int group_level = 6;
  static_assert(group_level % lane_levels == 0);
  static constexpr int group = 1 << group_level;
  static constexpr std::int64_t group_items = group * lanes;

 public:
  static void run(const void* first, std::int64_t n, block_moments* result) {
    const moment_fold fold{Items(first, nullptr)};
    // The values of finished groups that wait for their right neighbour: one per level.
    block_moments waiting[64];
    int depth = 0;
    for (std::int64_t i = 0; i < n; i += group_items) {
      fold.items_.template prefetch<group>(i);
      block_moments value = fold.fold_group(i);
      double weight = 0.5 / static_cast<double>(group_items);
      for (std::int64_t g = i / group_items; g & 1; g >>= 1, weight *= 0.5) {
        value = merge(waiting[--depth], value, weight);
      }
      waiting[depth++] = value;
    }
    *result = waiting[0];
  }

 private:
  explicit moment_fold(Items items) : items_(items) {}

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
    const vector weight = hn::Set(d, 0.5 / static_cast<double>(std::int64_t{1} << Level));
    const vector spread = hn::Mul(hn::Mul(gap, weight), gap);
    if constexpr (Level == 0) {
      return {hn::Add(left, right), spread};  // single items have no spread
    } else {
      const vector both = hn::Add(even_lanes<Cycle>(d, a.deviations, b.deviations),
                                  odd_lanes<Cycle>(d, a.deviations, b.deviations));
      return {hn::Add(left, right), hn::Add(both, spread)};
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
      return fold_lanes<Levels - 1>(merge<group_level + done, group_level + done>(v, v));
    }
  }

  HWY_INLINE block_moments fold_group(std::int64_t first) const {
    const node v = fold_lanes<lane_levels>(fold_vectors<group_level>(first));
    return {hn::GetLane(v.sum), hn::GetLane(v.deviations)};
  }

  Items items_;
};

moment_fold_function find_moments(simd_type value) {
  if (value == simd_type::float32) return moment_fold<array_items<float, double, widening>>::run;
  if (value == simd_type::float64) return moment_fold<array_items<double, double>>::run;
  return nullptr;
}

#else

moment_fold_function find_moments(simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_moments);

moment_fold_function find_moment_fold(simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_moments)(value);
}

}  // namespace tilefold::detail::host
#endif
