// SPDX-License-Identifier: Apache-2.0
//
// Whether items are zero, with vector instructions: any, all, how many, and where the first truth
// stands. Only an item's bits are asked, but for a float's sign, so that types of one size share
// their code. Compiled once for every instruction set; simd_folds.cpp chooses among them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <tilefold/detail/host/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/zero_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/simd_folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

// Vectors that are looked at together.
inline constexpr int zero_chains = 8;

/// An array as vectors of U, of whose bits those of Mask say whether an item is zero; an item is
/// one lane or, of Pairs, two.
template <class U, U Mask = std::numeric_limits<U>::max(), bool Pairs = false>
class zero_items {
 public:
  using lane = U;
  using tag = hn::ScalableTag<U>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes_of_item = Pairs ? 2 : 1;
  static constexpr std::int64_t step = hn::MaxLanes(tag());

  explicit zero_items(const void* first) : items_(first, nullptr) {}

  /// The bits of lanes [i, i + step) that count.
  HWY_INLINE vector load(std::int64_t i) const { return counted(items_.load(i)); }
  /// Those of lanes [i, i + n), 0 < n < step, and then `absent`.
  HWY_INLINE vector load_some(std::int64_t i, std::int64_t n, U absent) const {
    const vector present = counted(items_.load_some(i, n, hn::Zero(tag())));
    return hn::IfThenElse(hn::FirstN(tag(), static_cast<std::size_t>(n)), present,
                          hn::Set(tag(), absent));
  }
  HWY_INLINE void prefetch(std::int64_t i) const { items_.template prefetch<zero_chains>(i); }

  /// All ones in the lanes of items that are zero.
  HWY_INLINE static vector zeros(vector v) {
    return hn::VecFromMask(tag(), hn::Eq(v, hn::Zero(tag())));
  }

 private:
  HWY_INLINE static vector counted(vector v) {
    if constexpr (Mask != std::numeric_limits<U>::max()) v = hn::And(v, hn::Set(tag(), Mask));
    if constexpr (Pairs) v = hn::Or(v, hn::Reverse2(tag(), v));
    return v;
  }

  array_items<U, U> items_;
};

/// A search for items that are not zero: vectors are joined, and have one if the joint has one.
template <class Items>
struct search_for_nonzeros {
  using tag = typename Items::tag;
  using vector = typename Items::vector;
  static constexpr typename Items::lane absent = 0;

  HWY_INLINE static vector join(vector a, vector b) { return hn::Or(a, b); }
  HWY_INLINE static bool found(vector v) {
    return !hn::AllFalse(tag(), hn::Ne(v, hn::Zero(tag())));
  }
};

/// A search for zeros, which are the least lanes.
template <class Items>
struct search_for_zeros {
  using tag = typename Items::tag;
  using vector = typename Items::vector;
  static constexpr typename Items::lane absent = 1;

  HWY_INLINE static vector join(vector a, vector b) { return hn::Min(a, b); }
  HWY_INLINE static bool found(vector v) {
    return !hn::AllFalse(tag(), hn::Eq(v, hn::Zero(tag())));
  }
};

/// Where the first vectors are, of n lanes, of which one holds what Search finds, at most
/// zero_chains of them; n if there are none.
template <template <class> class Search, class Items>
HWY_INLINE std::int64_t first_vectors(const Items& items, std::int64_t n) {
  using search = Search<Items>;
  constexpr std::int64_t step = Items::step;
  if (n < step) return search::found(items.load_some(0, n, search::absent)) ? 0 : n;
  // Often the first items decide; a row then costs one line of memory.
  if (search::found(items.load(0))) return 0;
  std::int64_t i = 0;
  for (; i + zero_chains * step <= n; i += zero_chains * step) {
    items.prefetch(i);
    typename Items::vector v[zero_chains];
    for (int k = 0; k < zero_chains; ++k) v[k] = items.load(i + k * step);
    for (int half = zero_chains / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) v[k] = search::join(v[k], v[k + half]);
    }
    if (search::found(v[0])) return i;
  }
  for (; i + step <= n; i += step) {
    if (search::found(items.load(i))) return i;
  }
  // The last vector overlaps the one before it.
  return i < n && search::found(items.load(n - step)) ? n - step : n;
}

template <class Items>
struct any_fold {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    n *= Items::lanes_of_item;
    const bool found = first_vectors<search_for_nonzeros>(Items(first), n) < n;
    std::memcpy(result, &found, sizeof found);
  }
};

template <class Items>
struct all_fold {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    n *= Items::lanes_of_item;
    const bool none = first_vectors<search_for_zeros>(Items(first), n) >= n;
    std::memcpy(result, &none, sizeof none);
  }
};

template <class Items>
struct count_fold {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    const std::int64_t count =
        n - zeros(Items(first), n * Items::lanes_of_item) / Items::lanes_of_item;
    std::memcpy(result, &count, sizeof count);
  }

 private:
  using lane = typename Items::lane;
  using tag = typename Items::tag;
  using vector = typename Items::vector;
  static constexpr std::int64_t step = Items::step;
  static constexpr int chains = 4;

  // Of lanes.
  HWY_INLINE static std::int64_t zeros(const Items& items, std::int64_t n) {
    std::int64_t total = 0;
    std::int64_t i = 0;
    while (i + chains * step <= n) {
      // As many as a lane counts.
      constexpr std::int64_t most =
          std::numeric_limits<lane>::max() < 4096
              ? static_cast<std::int64_t>(std::numeric_limits<lane>::max())
              : 4096;
      const std::int64_t left = (n - i) / (chains * step);
      const std::int64_t end = i + (left < most ? left : most) * chains * step;
      vector v[chains];
      for (vector& chain : v) chain = hn::Zero(tag());
      for (; i < end; i += chains * step) {
        items.prefetch(i);
        // All ones are -1.
        for (int k = 0; k < chains; ++k)
          v[k] = hn::Sub(v[k], Items::zeros(items.load(i + k * step)));
      }
      for (const vector& chain : v) total += sum(chain);
    }
    vector rest = hn::Zero(tag());
    for (; i + step <= n; i += step) rest = hn::Sub(rest, Items::zeros(items.load(i)));
    if (i < n) rest = hn::Sub(rest, Items::zeros(items.load_some(i, n - i, 1)));
    return total + sum(rest);
  }

  HWY_INLINE static std::int64_t sum(vector v) {
    if constexpr (sizeof(lane) == 1) {
      const hn::Repartition<std::uint64_t, tag> d64;
      return sum_of(d64, hn::SumsOf8(v));
    } else {
      return sum_of(tag(), v);
    }
  }
  template <class D, class V>
  HWY_INLINE static std::int64_t sum_of(D d, V v) {
    HWY_ALIGN hn::TFromD<D> values[hn::MaxLanes(D())];
    hn::Store(v, d, values);
    std::int64_t total = 0;
    for (const auto value : values) total += static_cast<std::int64_t>(value);
    return total;
  }
};

// What reducers::mean keeps of truths: all their partial sums are integers, and exact.
template <class Items>
struct counted_truths {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    std::int64_t count;
    count_fold<Items>::run(first, nullptr, n, &count);
    const double value[2] = {static_cast<double>(n), static_cast<double>(count)};
    std::memcpy(result, &value, sizeof value);
  }
};

// The product of truths, as 1 and 0.
template <class Items>
struct product_of_truths {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    const std::int64_t all = first_vectors<search_for_zeros>(Items(first), n) < n ? 0 : 1;
    std::memcpy(result, &all, sizeof all);
  }
};

// The key of the first truth, or untruth, and its index; of the first item if there is none.
template <bool Truth>
struct first_truth {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    using items = zero_items<std::uint8_t>;
    const typename items::tag d;
    const auto* const bytes = static_cast<const std::uint8_t*>(first);
    std::int64_t i = Truth ? first_vectors<search_for_nonzeros>(items(first), n)
                           : first_vectors<search_for_zeros>(items(first), n);
    for (; i + items::step <= n; i += items::step) {
      const auto zeros = hn::Eq(items(first).load(i), hn::Zero(d));
      const std::intptr_t at = hn::FindFirstTrue(d, Truth ? hn::Not(zeros) : zeros);
      if (at < 0) continue;
      i += at;
      break;
    }
    while (i < n && (bytes[i] != 0) != Truth) ++i;
    const bool found = i < n;
    const std::int64_t value[2] = {found == Truth ? 1 : 0, found ? i : 0};
    std::memcpy(result, &value, sizeof value);
  }
};

template <template <class> class Fold>
simd_fold fold_of_width(simd_type value) {
  using type = simd_type;
  switch (value) {
    case type::boolean:
    case type::int8:
    case type::uint8:
    case type::truth:
      return Fold<zero_items<std::uint8_t>>::run;
    case type::int16:
    case type::uint16:
      return Fold<zero_items<std::uint16_t>>::run;
    case type::int32:
    case type::uint32:
      return Fold<zero_items<std::uint32_t>>::run;
    case type::int64:
    case type::uint64:
      return Fold<zero_items<std::uint64_t>>::run;
    case type::float16:
    case type::brain16:
      return Fold<zero_items<std::uint16_t, 0x7fff>>::run;
    case type::float32:
      return Fold<zero_items<std::uint32_t, 0x7fffffff>>::run;
    case type::float64:
      return Fold<zero_items<std::uint64_t, 0x7fffffffffffffff>>::run;
    case type::complex64:
      return Fold<zero_items<std::uint64_t, 0x7fffffff7fffffff>>::run;
    case type::complex128:
      return Fold<zero_items<std::uint64_t, 0x7fffffffffffffff, true>>::run;
    default:
      return nullptr;
  }
}

simd_fold find_zero_fold(simd_op op, simd_type value) {
  switch (op) {
    case simd_op::any:
      return fold_of_width<any_fold>(value);
    case simd_op::all:
      return fold_of_width<all_fold>(value);
    case simd_op::count:
      return fold_of_width<count_fold>(value);
    case simd_op::counted_sum:
      return value == simd_type::truth || value == simd_type::boolean
                 ? counted_truths<zero_items<std::uint8_t>>::run
                 : nullptr;
    case simd_op::multiplies:
      return product_of_truths<zero_items<std::uint8_t>>::run;
    case simd_op::first_minimum:
      return value == simd_type::truth ? first_truth<false>::run : nullptr;
    case simd_op::first_maximum:
      return value == simd_type::truth ? first_truth<true>::run : nullptr;
    default:
      return nullptr;
  }
}

#else

simd_fold find_zero_fold(simd_op, simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_zero_fold);

simd_fold zero_fold_for(simd_op op, simd_type value) {
  return HWY_DYNAMIC_DISPATCH(find_zero_fold)(op, value);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
