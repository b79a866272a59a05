// SPDX-License-Identifier: Apache-2.0
//
// Many short arrays at once: as many as a vector has lanes, side by side. Each array's vectors fold
// into one; then neighbouring vectors, of one array each, merge as neighbours do in tree_folds.cpp,
// and what is left is a vector with one result in each lane. So no instruction depends on the
// lengths but the masks that cut the vectors. Compiled once for every instruction set. Must be
// compiled with -ffp-contract=off.
#include <cstdint>
#include <cstring>

#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/short_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/merge-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

// Loads that read nothing where their mask says so; elsewhere the folds of single arrays do.
#if TILEFOLD_SIMD_TARGET && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct lane_sum {
  static T identity() { return static_cast<T>(-0.0f); }
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Add(a, b);
  }
};

template <class T>
struct lane_product {
  static T identity() { return T{1}; }
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class T, class Op>
class short_fold {
  using tag = hn::ScalableTag<T>;
  using vector = hn::Vec<tag>;

  static constexpr int lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);
  static constexpr int most_levels = 4;

 public:
  static constexpr int most_items = lanes << most_levels;

  static void run(const void* const* arrays, const std::int32_t* counts, std::int64_t n,
                  void* results) {
    T* out = static_cast<T*>(results);
    for (; n >= lanes; n -= lanes, arrays += lanes, counts += lanes, out += lanes) {
      hn::StoreU(fold_group(arrays, counts), tag(), out);
    }
    if (n > 0) fold_some(arrays, counts, n, out);
  }

 private:
  // Fewer arrays than lanes: beside them stand arrays without items.
  HWY_NOINLINE static void fold_some(const void* const* arrays, const std::int32_t* counts,
                                     std::int64_t n, T* out) {
    const void* all_arrays[lanes];
    std::int32_t all_counts[lanes];
    for (int i = 0; i < lanes; ++i) {
      all_arrays[i] = arrays[i < n ? i : 0];
      all_counts[i] = i < n ? counts[i] : 0;
    }
    HWY_ALIGN T values[lanes];
    hn::Store(fold_group(all_arrays, all_counts), tag(), values);
    std::memcpy(out, values, static_cast<std::size_t>(n) * sizeof(T));
  }

  HWY_INLINE static vector fold_group(const void* const* arrays, const std::int32_t* counts) {
    std::int32_t most = counts[0];
    for (int i = 1; i < lanes; ++i) most = counts[i] > most ? counts[i] : most;
    const short_fold group{arrays, counts};
    if (most <= lanes) return group.fold_arrays<lane_levels, 0>(0);
    if (most <= 2 * lanes) return group.fold_arrays<lane_levels, 1>(0);
    if (most <= 4 * lanes) return group.fold_arrays<lane_levels, 2>(0);
    if (most <= 8 * lanes) return group.fold_arrays<lane_levels, 3>(0);
    return group.fold_arrays<lane_levels, most_levels>(0);
  }

  short_fold(const void* const* arrays, const std::int32_t* counts)
      : arrays_(arrays), counts_(counts) {}

  // The values of 2^Level arrays from number `i` on, of up to 2^Vectors vectors each.
  template <int Level, int Vectors>
  HWY_INLINE vector fold_arrays(int i) const {
    if constexpr (Level == 0) {
      return fold_vectors<Vectors>(static_cast<const T*>(arrays_[i]), counts_[i]);
    } else {
      const vector left = fold_arrays<Level - 1, Vectors>(i);
      const vector right = fold_arrays<Level - 1, Vectors>(i + (1 << (Level - 1)));
      // Shuffles do not mind what the bits mean.
      const hn::RebindToFloat<tag> df;
      const auto a = hn::BitCast(df, left);
      const auto b = hn::BitCast(df, right);
      return Op::apply(hn::BitCast(tag(), even_lanes<Level - 1>(df, a, b)),
                       hn::BitCast(tag(), odd_lanes<Level - 1>(df, a, b)));
    }
  }

  // The node over 2^Level vectors, of which `n` items exist, lanes in order. Absent operands are
  // identities: op(x, identity) has the bits of x.
  template <int Level>
  HWY_INLINE static vector fold_vectors(const T* first, std::int64_t n) {
    const tag d;
    if constexpr (Level == 0) {
      const std::int64_t present = n < 0 ? 0 : n < lanes ? n : lanes;
      prefetch_lines(first, sizeof(vector));
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(present));
      return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, first), hn::Set(d, Op::identity()));
    } else {
      constexpr int half = lanes << (Level - 1);
      const vector left = fold_vectors<Level - 1>(first, n);
      const vector right = fold_vectors<Level - 1>(first + half, n - half);
      return Op::apply(hn::ConcatEven(d, right, left), hn::ConcatOdd(d, right, left));
    }
  }

  const void* const* arrays_;
  const std::int32_t* counts_;
};

template <class T>
simd_short_fold short_fold_by_op(simd_op op) {
  if (op == simd_op::plus) {
    using fold = short_fold<T, lane_sum<T>>;
    return {fold::run, fold::most_items};
  }
  if (op == simd_op::multiplies) {
    using fold = short_fold<T, lane_product<T>>;
    return {fold::run, fold::most_items};
  }
  return {};
}

simd_short_fold find_short_folds(simd_op op, simd_type value, simd_type accumulator) {
  if (value != accumulator) return {};
  if (value == simd_type::float32) return short_fold_by_op<float>(op);
  if (value == simd_type::float64) return short_fold_by_op<double>(op);
  // Integers wrap, whatever their sign.
  if (op != simd_op::plus) return {};
  if (value == simd_type::int32 || value == simd_type::uint32) {
    return short_fold_by_op<std::uint32_t>(op);
  }
  if (value == simd_type::int64 || value == simd_type::uint64) {
    return short_fold_by_op<std::uint64_t>(op);
  }
  return {};
}

#else

simd_short_fold find_short_folds(simd_op, simd_type, simd_type) { return {}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_short_folds);

simd_short_fold find_short_fold(simd_op op, simd_type value, simd_type accumulator) {
  return HWY_DYNAMIC_DISPATCH(find_short_folds)(op, value, accumulator);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
