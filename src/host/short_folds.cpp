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
  static constexpr int most_levels = 3;
  static constexpr int most_packed_level = 7;
  // What a second-level cache holds besides.
  static constexpr std::uintptr_t most_bytes_ahead = std::uintptr_t{1} << 18;

 public:
  static constexpr int most_items = lanes << most_levels;

  static void run(const void* const* arrays, const std::int32_t* counts, std::int64_t n,
                  void* results) {
    std::int32_t least = counts[0];
    std::int32_t most = counts[0];
    for (std::int64_t i = 1; i < n; ++i) {
      least = counts[i] < least ? counts[i] : least;
      most = counts[i] > most ? counts[i] : most;
    }
    if (most == 0) return;
    T* const out = static_cast<T*>(results);
    const std::int64_t done = least == most ? fold_in_a_row(arrays, most, n, out) : 0;
    if (done == n) return;
    short_fold all{arrays + done, counts + done, n - done, out + done};
    // Besides what is left of a size: stores of whole vectors may reach beyond the end.
    std::int32_t list[most_short_arrays + 2 * hn::MaxLanes(hn::ScalableTag<std::int32_t>())];
    all.template fold_sizes<0>(least, most, list, 0);
    all.prefetch(all.end_);
  }

  static void run_equal(const void* first, std::int64_t length, std::int64_t n, void* results) {
    const T* items = static_cast<const T*>(first);
    T* out = static_cast<T*>(results);
    const std::int64_t done = fold_powers<1>(items, length, n, out);
    if (done == n) return;
    const void* arrays[most_short_arrays];
    std::int32_t counts[most_short_arrays] = {};
    for (std::int64_t i = done; i < n; ++i) {
      arrays[i - done] = items + i * length;
      counts[i - done] = static_cast<std::int32_t>(length);
    }
    run(arrays, counts, n - done, out + done);
  }

 private:
  short_fold(const void* const* arrays, const std::int32_t* counts, std::int64_t n, T* out)
      : arrays_(arrays), counts_(counts), n_(n), out_(out) {
    const auto first = reinterpret_cast<std::uintptr_t>(arrays[0]);
    const auto last = reinterpret_cast<std::uintptr_t>(arrays[n - 1]);
    if (last < first || last - first > most_bytes_ahead) return;
    ahead_ = last;
    end_ = last + (last - first);
    step_ = (last - first) * lanes / static_cast<std::uintptr_t>(n) + 64;
  }

  // Arrays of one length, if they lie one after the other; returns how many have been folded.
  static std::int64_t fold_in_a_row(const void* const* arrays, std::int64_t length, std::int64_t n,
                                    T* out) {
    const auto bytes = static_cast<std::uintptr_t>(length) * sizeof(T);
    bool all = true;
    for (std::int64_t i = 1; i < n; ++i) {
      all &= reinterpret_cast<std::uintptr_t>(arrays[i]) ==
             reinterpret_cast<std::uintptr_t>(arrays[i - 1]) + bytes;
    }
    return all ? fold_powers<1>(static_cast<const T*>(arrays[0]), length, n, out) : 0;
  }

  // Arrays often lie one after the other, and so do those of the next call: asks for as many bytes
  // as lie between these, a share with each group. What this call reads was asked for by the last
  // one; it is not read in order.
  HWY_INLINE void prefetch() { prefetch(ahead_ + step_ < end_ ? ahead_ + step_ : end_); }
  HWY_INLINE void prefetch(std::uintptr_t end) {
    for (; ahead_ < end; ahead_ += 64) hwy::Prefetch(reinterpret_cast<const char*>(ahead_));
  }

  // Arrays of 2^Level items or of a higher power of two are that many levels of the tree over all
  // items. As many as make whole vectors of results; returns how many.
  template <int Level>
  static std::int64_t fold_powers(const T* items, std::int64_t length, std::int64_t n, T* out) {
    if (length == std::int64_t{1} << Level) return fold_packed<Level>(items, n, out);
    if constexpr (Level < most_packed_level) {
      return fold_powers<Level + 1>(items, length, n, out);
    } else {
      return 0;
    }
  }
  template <int Level>
  HWY_NOINLINE static std::int64_t fold_packed(const T* items, std::int64_t n, T* out) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const T* const first = items + (i << Level);
      prefetch_lines(first, sizeof(vector) << Level);
      hn::StoreU(fold_whole<Level>(first), tag(), out + i);
    }
    return i;
  }
  template <int Level>
  HWY_INLINE static vector fold_whole(const T* first) {
    const tag d;
    if constexpr (Level == 0) {
      return read_once(hn::LoadU(d, first));
    } else if constexpr (Level > lane_levels) {
      constexpr int levels = Level - lane_levels;
      return fold_lanes([&](int k) { return fold_whole<levels>(first + (k * lanes << levels)); });
    } else {
      const vector left = fold_whole<Level - 1>(first);
      const vector right = fold_whole<Level - 1>(first + (lanes << (Level - 1)));
      return Op::apply(hn::ConcatEven(d, right, left), hn::ConcatOdd(d, right, left));
    }
  }

  // A whole cycle of merges over as many vectors as there are lanes. A loop makes them: all in one
  // expression would be as fast, and take compilers minutes.
  template <class Make>
  HWY_INLINE static vector fold_lanes(const Make& make) {
    vector v[lanes];
    for (int k = 0; k < lanes; ++k) v[k] = make(k);
    return merge_all<lane_levels>([&](int k) { return v[k]; });
  }

  // The node over 2^Level vectors, of make(first) on.
  template <int Level, class Make>
  HWY_INLINE static vector merge_all(const Make& make, int first = 0) {
    if constexpr (Level == 0) {
      return make(first);
    } else {
      // Shuffles do not mind what the bits mean.
      const hn::RebindToFloat<tag> df;
      const auto a = hn::BitCast(df, merge_all<Level - 1>(make, first));
      const auto b = hn::BitCast(df, merge_all<Level - 1>(make, first + (1 << (Level - 1))));
      return Op::apply(hn::BitCast(tag(), even_lanes<Level - 1>(df, a, b)),
                       hn::BitCast(tag(), odd_lanes<Level - 1>(df, a, b)));
    }
  }

  // The `listed` ones in `list`, and all that need 2^Vectors vectors or more. A group does as much
  // work for each array as for its longest, so they are folded by size, and what is left of a size
  // goes with the next one.
  template <int Vectors>
  HWY_NOINLINE void fold_sizes(std::int32_t least, std::int32_t most, std::int32_t* list,
                               std::int64_t listed) {
    constexpr int items = lanes << Vectors;
    constexpr int fewer = Vectors == 0 ? 0 : items / 2;
    if constexpr (Vectors == 0) {
      if (most <= items || are_few_longer(items)) {
        // Without a list; what this makes of longer ones is replaced.
        fold_all<Vectors>();
        if (most > items) fold_sizes<Vectors + 1>(least, most, list, 0);
        return;
      }
    }
    if (least > fewer && most <= items) {
      fold_all<Vectors>();
      return;
    }
    listed += list_arrays(fewer, items, list + listed);
    std::int64_t i = 0;
    for (; i + lanes <= listed; i += lanes) fold_some<Vectors>(list + i, lanes);
    if (most <= items) {
      if (i < listed) fold_some<Vectors>(list + i, listed - i);
    } else if constexpr (Vectors < most_levels) {
      for (int k = 0; k < lanes; ++k) list[k] = list[i + k];
      fold_sizes<Vectors + 1>(least, most, list, listed - i);
    }
  }

  template <int Vectors>
  HWY_INLINE void fold_all() {
    std::int64_t i = 0;
    for (; i + lanes <= n_; i += lanes) {
      prefetch();
      const auto number = [=](int k) { return i + k; };
      hn::StoreU(fold_group<Vectors>(number), tag(), out_ + i);
    }
    if (i == n_) return;
    std::int32_t rest[lanes];
    for (int k = 0; k < lanes; ++k) rest[k] = static_cast<std::int32_t>(i + k);
    fold_some<Vectors>(rest, n_ - i);
  }

  // Whether few enough arrays have more items that it costs less to fold these twice than to list
  // the others.
  bool are_few_longer(std::int32_t items) const {
    std::int32_t longer = 0;
    for (std::int64_t i = 0; i < n_; ++i) longer += counts_[i] > items ? 1 : 0;
    return longer * 8 <= n_;
  }

  // The numbers of the arrays with more than `above` and up to `most` items.
  std::int64_t list_arrays(std::int32_t above, std::int32_t most, std::int32_t* list) const {
    const hn::ScalableTag<std::int32_t> d;
    constexpr std::int64_t step = hn::MaxLanes(d);
    std::size_t count = 0;
    for (std::int64_t i = 0; i < n_; i += step) {
      const auto items = hn::MaskedLoad(
          hn::FirstN(d, static_cast<std::size_t>(n_ - i < step ? n_ - i : step)), d, counts_ + i);
      const auto listed =
          hn::AndNot(hn::Gt(items, hn::Set(d, most)), hn::Gt(items, hn::Set(d, above)));
      count +=
          hn::CompressStore(hn::Iota(d, static_cast<std::int32_t>(i)), listed, d, list + count);
    }
    return static_cast<std::int64_t>(count);
  }

  // The listed arrays, at most as many as lanes. Beside fewer stands the last one again.
  template <int Vectors>
  HWY_INLINE void fold_some(std::int32_t* list, std::int64_t n) {
    prefetch();
    for (std::int64_t k = n; k < lanes; ++k) list[k] = list[n - 1];
    HWY_ALIGN T values[lanes];
    const auto number = [=](int k) { return list[k]; };
    hn::Store(fold_group<Vectors>(number), tag(), values);
    for (int k = 0; k < lanes; ++k) out_[list[k]] = values[k];
  }

  // The values of as many arrays as lanes, of up to 2^Vectors vectors each.
  template <int Vectors, class Number>
  HWY_INLINE vector fold_group(const Number& number) const {
    const auto make = [&](int k) {
      const auto i = number(k);
      return fold_vectors<Vectors>(static_cast<const T*>(arrays_[i]), counts_[i]);
    };
    if constexpr (Vectors == 0) {
      return merge_all<lane_levels>(make);
    } else {
      return fold_lanes(make);
    }
  }

  // The node over 2^Level vectors, of which `n` items exist, lanes in order. Absent operands are
  // identities: op(x, identity) has the bits of x.
  template <int Level>
  HWY_INLINE static vector fold_vectors(const T* first, std::int64_t n) {
    const tag d;
    if constexpr (Level == 0) {
      const std::int64_t present = n < 0 ? 0 : n < lanes ? n : lanes;
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
  std::int64_t n_;
  T* out_;
  std::uintptr_t ahead_ = 0;
  std::uintptr_t end_ = 0;
  std::uintptr_t step_ = 0;
};

template <class T>
simd_short_fold short_fold_by_op(simd_op op) {
  if (op == simd_op::plus) {
    using fold = short_fold<T, lane_sum<T>>;
    return {fold::run, fold::run_equal, fold::most_items};
  }
  if (op == simd_op::multiplies) {
    using fold = short_fold<T, lane_product<T>>;
    return {fold::run, fold::run_equal, fold::most_items};
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
