// SPDX-License-Identifier: Apache-2.0
//
// What mean and variance of whole blocks of the tree are made of, with vector instructions: the sum
// and the sum of squared deviations, each node merged from two equal halves as moments.hpp merges
// them; and in the same pass the extremes. Compiled once for every instruction set. Must be
// compiled with -ffp-contract=off.
#include <cstdint>
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

/// The least and the greatest of the vectors that a fold comes by, where all items are finite. That
/// -0 is below +0 instructions do not see; a zero's sign is looked up afterwards.
template <class T>
class extremes {
  using tag = hn::ScalableTag<T>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes = hn::MaxLanes(tag());

 public:
  explicit extremes(const T* items)
      : items_(items, nullptr), first_(hn::Set(tag(), *items)), least_(first_), greatest_(first_) {}

  HWY_INLINE void see(vector a, vector b) {
    least_ = hn::Min(least_, hn::Min(a, b));
    greatest_ = hn::Max(greatest_, hn::Max(a, b));
  }

  /// For n items that nobody else comes by.
  HWY_INLINE void see_all(std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += lanes) see(first_, load(i, n));
  }

  /// Of the first n items, which have been seen.
  HWY_INLINE void store(std::int64_t n, T* least, T* greatest) const {
    *least = hn::GetLane(hn::MinOfLanes(tag(), least_));
    *greatest = hn::GetLane(hn::MaxOfLanes(tag(), greatest_));
    set_signs(n, least, greatest);
  }

  /// Of extremes of the first n items that are zeros.
  HWY_INLINE void set_signs(std::int64_t n, T* least, T* greatest) const {
    if (*least == 0 || *greatest == 0) look_up_signs(n, least, greatest);
  }

 private:
  HWY_INLINE vector load(std::int64_t i, std::int64_t n) const {
    return n - i < lanes ? items_.load_some(i, n - i, first_) : items_.load(i);
  }

  // All items are on the same side of a zero that is an extreme, or zeros.
  void look_up_signs(std::int64_t n, T* least, T* greatest) const {
    vector any = first_;
    vector all = first_;
    for (std::int64_t i = 0; i < n; i += lanes) {
      any = hn::Or(any, load(i, n));
      all = hn::And(all, load(i, n));
    }
    const hn::RebindToSigned<tag> bits;
    const auto zero = hn::Zero(bits);
    const bool any_negative = !hn::AllFalse(bits, hn::Lt(hn::BitCast(bits, any), zero));
    const bool all_negative = hn::AllTrue(bits, hn::Lt(hn::BitCast(bits, all), zero));
    if (*least == 0) *least = any_negative ? -T{0} : T{0};
    if (*greatest == 0) *greatest = all_negative ? -T{0} : T{0};
  }

  array_items<T, T> items_;
  vector first_, least_, greatest_;
};

/// The same of many arrays of 2^Level items, one after the other: a vector of arrays at once.
template <class T, int Level>
class row_extremes {
  using tag = hn::ScalableTag<T>;
  using vector = hn::Vec<tag>;
  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);

  struct node {
    vector least, greatest;
  };

 public:
  /// Of as many arrays as lanes.
  HWY_INLINE static void store(const T* items, T* least, T* greatest) {
    const tag d;
    const node all = fold<Level>(items);
    hn::StoreU(all.least, d, least);
    hn::StoreU(all.greatest, d, greatest);
    const auto zero = hn::Zero(d);
    if (hn::AllFalse(d, hn::Or(hn::Eq(all.least, zero), hn::Eq(all.greatest, zero)))) return;
    for (std::int64_t k = 0; k < lanes; ++k) {
      extremes<T>(items + (k << Level))
          .set_signs(std::int64_t{1} << Level, least + k, greatest + k);
    }
  }

 private:
  template <int Up>
  HWY_INLINE static node fold(const T* items) {
    const tag d;
    if constexpr (Up == 0) {
      const vector v = read_once(hn::LoadU(d, items));
      return {v, v};
    } else if constexpr (Up > lane_levels) {
      // Whole vectors of one array come first.
      constexpr int vectors = 1 << (Up - lane_levels);
      vector least[lanes];
      vector greatest[lanes];
      for (std::int64_t k = 0; k < lanes; ++k) {
        least[k] = greatest[k] = hn::LoadU(d, items + k * vectors * lanes);
        for (std::int64_t i = 1; i < vectors; ++i) {
          const vector v = hn::LoadU(d, items + (k * vectors + i) * lanes);
          least[k] = hn::Min(least[k], v);
          greatest[k] = hn::Max(greatest[k], v);
        }
      }
      return merge_all<lane_levels>(least, greatest);
    } else {
      return merge(fold<Up - 1>(items), fold<Up - 1>(items + (lanes << (Up - 1))));
    }
  }

  template <int Up>
  HWY_INLINE static node merge_all(const vector* least, const vector* greatest) {
    if constexpr (Up == 0) {
      return {*least, *greatest};
    } else {
      constexpr int half = 1 << (Up - 1);
      return merge(merge_all<Up - 1>(least, greatest),
                   merge_all<Up - 1>(least + half, greatest + half));
    }
  }

  HWY_INLINE static node merge(const node& a, const node& b) {
    const tag d;
    return {hn::Min(hn::ConcatEven(d, b.least, a.least), hn::ConcatOdd(d, b.least, a.least)),
            hn::Max(hn::ConcatEven(d, b.greatest, a.greatest),
                    hn::ConcatOdd(d, b.greatest, a.greatest))};
  }
};

/// For those who do not ask.
struct no_extremes {
  template <class V>
  HWY_INLINE void see(V, V) {}
  HWY_INLINE void see_all(std::int64_t) {}
};

/// In every lane a node of the tree.
///
/// Of floats the squared deviations are in units of the weight that the node was merged with. Those
/// are powers of two and nothing can overflow, so the bits are the same and a product is saved.
template <class Raw>
struct moment_node {
  using tag = hn::ScalableTag<double>;
  using vector = hn::Vec<tag>;
  static constexpr bool in_units = sizeof(Raw) < sizeof(double);

  vector sum, deviations;

  // Between nodes of as many items each.
  static constexpr double weight_of(std::int64_t items) { return 0.5 / static_cast<double>(items); }

  static constexpr double unit_of(std::int64_t items) {
    return in_units ? weight_of(items / 2) : 1.0;
  }

  /// Of single items, which have no deviations.
  HWY_INLINE static moment_node of_pair(vector left, vector right) {
    return {hn::Add(left, right), spread<0>(left, right)};
  }

  /// Of nodes of 2^Level items. A lane may have its left one in `right`: sums commute, and so do
  /// squares of distances.
  template <int Level>
  HWY_INLINE static moment_node of_two(const moment_node& left, const moment_node& right) {
    const vector both = hn::Add(left.deviations, right.deviations);
    const vector more = spread<Level>(left.sum, right.sum);
    // Twice a number is exact, so that this rounds once, fused or not.
    return {hn::Add(left.sum, right.sum),
            in_units ? hn::MulAdd(both, hn::Set(tag(), 2.0), more) : hn::Add(both, more)};
  }

 private:
  template <int Level>
  HWY_INLINE static vector spread(vector left, vector right) {
    const vector gap = hn::Sub(right, left);
    const vector weight = hn::Set(tag(), weight_of(std::int64_t{1} << Level));
    return hn::Mul(in_units ? gap : hn::Mul(gap, weight), gap);
  }
};

// The pairs of doubles that stand at Half of the 128-bit blocks of a and b: pair by pair, those of
// a in the even lanes. Of four blocks the even ones come first, and then the odd ones.
template <int Half, class D, class V>
HWY_INLINE V halves_of_blocks(D d, V a, V b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  constexpr int h = Half;
  const __m512i order = _mm512_setr_epi64(h, 8 + h, 4 + h, 12 + h, 2 + h, 10 + h, 6 + h, 14 + h);
  return V{_mm512_permutex2var_pd(a.raw, order, b.raw)};
#else
  static_assert(hn::MaxLanes(D()) <= 4);
  return Half == 0 ? hn::InterleaveLower(d, a, b) : hn::InterleaveUpper(d, a, b);
#endif
}

/// Blocks of the tree, by groups of vectors that are folded in registers.
template <class Raw, class Extremes>
class moment_fold {
  using node = moment_node<Raw>;
  using tag = typename node::tag;
  using vector = typename node::vector;
  using raw_tag = hn::ScalableTag<Raw>;
  using raw_vector = hn::Vec<raw_tag>;

  static constexpr bool widened = sizeof(Raw) < sizeof(double);
  static constexpr std::int64_t lanes = hn::MaxLanes(tag());
  static constexpr int lane_levels = tree::floor_log2(lanes);
  static constexpr std::int64_t raw_lanes = hn::MaxLanes(raw_tag());
  // From which level on neighbours are in neighbouring lanes, or where merge-inl.hpp has them.
  static constexpr int ordered_level = !widened ? 0 : lanes == 8 ? 4 : lanes == 4 ? 3 : 2;
  // A group is 2^group_level vectors of doubles: enough for their latencies to hide each other.
  static constexpr int group_level = 4;
  static constexpr std::int64_t group_items = lanes << group_level;
  static constexpr int half_group_level = group_level - 1;
  static constexpr std::int64_t block = most_block_bytes / sizeof(Raw);
  static constexpr int block_level = tree::floor_log2(block);

 public:
  static constexpr std::int64_t least_items = group_items / 2;

  /// A power of two items, from least_items on.
  HWY_INLINE static block_moments run(const Raw* first, std::int64_t n, Extremes& extremes) {
    moment_fold fold(first, extremes);
    block_moments result;
    if (n < group_items) {
      result = fold_lanes<half_group_level>(fold.fold_group<half_group_level>(0));
    } else {
      node v[block / group_items];
      int count = 0;
      for (std::int64_t i = 0; i < n; i += group_items) {
        v[count++] = fold.fold_group<group_level>(i);
      }
      result = fold_nodes<group_level>(v, count);
    }
    extremes = fold.extremes_;
    return result;
  }

  /// Arrays of 2^Level items, one after the other, that are folded together: each becomes a lane.
  template <int Level>
  static constexpr std::int64_t rows_at_once =
      lanes << (Level < group_level ? group_level - Level : 0);

  /// The moments of so many. Array k is in lane lane_of_row[k] of all vectors.
  template <int Level>
  HWY_INLINE static void run_rows(const Raw* first, const std::int32_t* lane_of_row,
                                  Extremes& extremes, block_moments* results) {
    constexpr std::int64_t rows = rows_at_once<Level>;
    constexpr int groups = Level < group_level ? 1 : 1 << (Level - group_level);
    constexpr int vectors = static_cast<int>(rows / lanes);
    // What is read of a group at first has two levels, or one.
    constexpr int most = Level < group_level ? 1 << (group_level - (widened ? 2 : 1)) : groups;
    moment_fold fold(first, extremes);
    node v[most];
    if constexpr (Level < group_level) {
      fold.template fold_group_to<Level>(0, v);
    } else {
      for (int k = 0; k < groups; ++k) v[k] = fold.fold_group<group_level>(k * group_items);
      v[0] = merge_all<group_level, Level>(v);
    }
    HWY_ALIGN double sums[rows];
    HWY_ALIGN double deviations[rows];
    for (int k = 0; k < vectors; ++k) {
      const auto unit = hn::Set(tag(), node::unit_of(std::int64_t{1} << Level));
      hn::Store(v[k].sum, tag(), sums + k * lanes);
      hn::Store(hn::Mul(v[k].deviations, unit), tag(), deviations + k * lanes);
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      results[k] = {sums[lane_of_row[k]], deviations[lane_of_row[k]]};
    }
  }

 private:
  moment_fold(const Raw* first, const Extremes& extremes)
      : items_(first, nullptr), extremes_(extremes) {}

  // Level by level, so that no merge waits for the one before.
  template <int Level>
  HWY_INLINE node fold_group(std::int64_t first) {
    items_.template prefetch<(lanes << Level) / raw_lanes>(first);
    if constexpr (widened) {
      return fold_floats<Level>(first);
    } else {
      return fold_doubles<Level>(first);
    }
  }

  // A group as nodes of 2^Level items, in more than one vector.
  template <int Level>
  HWY_INLINE void fold_group_to(std::int64_t first, node* v) {
    items_.template prefetch<(lanes << group_level) / raw_lanes>(first);
    if constexpr (widened) {
      fold_fours<group_level>(first, v);
      merge_levels<2, Level, 1 << (group_level - 2)>(v);
    } else {
      fold_pairs<group_level>(first, v);
      merge_levels<1, Level, 1 << (group_level - 1)>(v);
    }
  }

  template <int Level>
  HWY_INLINE node fold_floats(std::int64_t first) {
    node four[1 << (Level - 2)];
    fold_fours<Level>(first, four);
    return merge_all<2, Level>(four);
  }

  template <int Level>
  HWY_INLINE void fold_fours(std::int64_t first, node* four) {
    constexpr int columns = 1 << Level;
    vector column[columns];
    HWY_UNROLL(2) for (int k = 0; k < columns; k += 8) load_columns(first + k * lanes, column + k);
    node pair[columns / 2];
    HWY_UNROLL(8) for (int k = 0; k < columns / 2; ++k) {
      pair[k] = node::of_pair(column[2 * k], column[2 * k + 1]);
    }
    HWY_UNROLL(4) for (int k = 0; k < columns / 4; ++k) {
      four[k] = node::template of_two<1>(pair[2 * k], pair[2 * k + 1]);
    }
  }

  // The next 8 vectors of doubles, neighbours in the same lane of 4 vectors.
  HWY_INLINE void load_columns(std::int64_t i, vector* column) {
    const raw_tag d;
    const raw_vector a = items_.load(i);
    const raw_vector b = items_.load(i + raw_lanes);
    extremes_.see(a, b);
    const raw_vector a2 = items_.load(i + 2 * raw_lanes);
    const raw_vector b2 = items_.load(i + 3 * raw_lanes);
    extremes_.see(a2, b2);
    // The floats of each block of four are transposed with those of the other three.
    const auto ab_lower = hn::BitCast(tag(), hn::InterleaveLower(d, a, b));
    const auto ab_upper = hn::BitCast(tag(), hn::InterleaveUpper(d, a, b));
    const auto ab2_lower = hn::BitCast(tag(), hn::InterleaveLower(d, a2, b2));
    const auto ab2_upper = hn::BitCast(tag(), hn::InterleaveUpper(d, a2, b2));
    const vector row[4] = {halves_of_blocks<0>(tag(), ab_lower, ab2_lower),
                           halves_of_blocks<1>(tag(), ab_lower, ab2_lower),
                           halves_of_blocks<0>(tag(), ab_upper, ab2_upper),
                           halves_of_blocks<1>(tag(), ab_upper, ab2_upper)};
    const hn::Half<raw_tag> half;
    HWY_UNROLL(4) for (int k = 0; k < 4; ++k) {
      const raw_vector floats = hn::BitCast(d, row[k]);
      column[k] = hn::PromoteTo(tag(), hn::LowerHalf(half, floats));
      column[4 + k] = hn::PromoteTo(tag(), hn::UpperHalf(half, floats));
    }
  }

  template <int Level>
  HWY_INLINE node fold_doubles(std::int64_t first) {
    node pair[1 << (Level - 1)];
    fold_pairs<Level>(first, pair);
    return merge_all<1, Level>(pair);
  }

  template <int Level>
  HWY_INLINE void fold_pairs(std::int64_t first, node* pair) {
    constexpr int pairs = 1 << (Level - 1);
    HWY_UNROLL(8) for (int k = 0; k < pairs; ++k) {
      const vector a = items_.load(first + 2 * k * lanes);
      const vector b = items_.load(first + (2 * k + 1) * lanes);
      extremes_.see(a, b);
      pair[k] = node::of_pair(even_lanes<0>(tag(), a, b), odd_lanes<0>(tag(), a, b));
    }
  }

  // The same level by level in the place of `Count` vectors, which need not end in one.
  template <int Level, int End, int Count>
  HWY_INLINE static void merge_levels(node* v) {
    if constexpr (Level < End) {
      HWY_UNROLL(4) for (int k = 0; k < Count / 2; ++k) v[k] = merge<Level>(v[2 * k], v[2 * k + 1]);
      merge_levels<Level + 1, End, Count / 2>(v);
    }
  }

  template <int Level, int End>
  HWY_INLINE static node merge_all(const node* v) {
    if constexpr (Level == End) {
      return v[0];
    } else {
      constexpr int count = 1 << (End - Level - 1);
      node merged[count];
      HWY_UNROLL(4) for (int k = 0; k < count; ++k) {
        merged[k] = merge<Level>(v[2 * k], v[2 * k + 1]);
      }
      return merge_all<Level + 1, End>(merged);
    }
  }

  // Nodes of 2^Level items.
  template <int Level>
  HWY_INLINE static node merge(const node& a, const node& b) {
    const tag d;
    if constexpr (Level >= ordered_level) {
      constexpr int cycle = Level - ordered_level;
      return node::template of_two<Level>(
          {even_lanes<cycle>(d, a.sum, b.sum), even_lanes<cycle>(d, a.deviations, b.deviations)},
          {odd_lanes<cycle>(d, a.sum, b.sum), odd_lanes<cycle>(d, a.deviations, b.deviations)});
    } else if constexpr (Level == 3) {
      // Neighbours are the halves of a vector. One half of these shuffles only blends.
      return node::template of_two<Level>({hn::ConcatUpperLower(d, b.sum, a.sum),
                                           hn::ConcatUpperLower(d, b.deviations, a.deviations)},
                                          {hn::ConcatLowerUpper(d, b.sum, a.sum),
                                           hn::ConcatLowerUpper(d, b.deviations, a.deviations)});
    } else {
      return node::template of_two<Level>(a, b);
    }
  }

  // `count` neighbouring vectors of nodes of 2^Level items.
  template <int Level>
  static block_moments fold_nodes(node* v, int count) {
    if constexpr (Level + lane_levels < block_level) {
      if (count > 1) {
        for (int k = 0; k < count / 2; ++k) v[k] = merge<Level>(v[2 * k], v[2 * k + 1]);
        return fold_nodes<Level + 1>(v, count / 2);
      }
    }
    return fold_lanes<Level>(v[0]);
  }

  template <int Level, int Levels = lane_levels>
  HWY_INLINE static block_moments fold_lanes(const node& v) {
    if constexpr (Levels == 0) {
      constexpr double unit = node::unit_of(std::int64_t{1} << Level);
      return {hn::GetLane(v.sum), hn::GetLane(v.deviations) * unit};
    } else {
      return fold_lanes<Level + 1, Levels - 1>(merge<Level>(v, v));
    }
  }

  array_items<Raw, Raw> items_;
  Extremes extremes_;
};

/// Many arrays of 8 to 64 items at once.
template <class Raw>
class moments_of_rows {
  using vectors = moment_fold<Raw, no_extremes>;
  static constexpr int least_level = 3;
  static constexpr int most_level = 6;

 public:
  static std::int64_t run(const void* first, std::int64_t length, std::int64_t n,
                          block_moments* results, void* least, void* greatest) {
    return of_length<least_level>(static_cast<const Raw*>(first), length, n, results,
                                  static_cast<Raw*>(least), static_cast<Raw*>(greatest));
  }

 private:
  template <int Level>
  static std::int64_t of_length(const Raw* first, std::int64_t length, std::int64_t n,
                                block_moments* results, Raw* least, Raw* greatest) {
    if (length == std::int64_t{1} << Level) return fold<Level>(first, n, results, least, greatest);
    if constexpr (Level < most_level) {
      return of_length<Level + 1>(first, length, n, results, least, greatest);
    } else {
      return 0;
    }
  }

  template <int Level>
  HWY_NOINLINE static std::int64_t fold(const Raw* first, std::int64_t n, block_moments* results,
                                        Raw* least, Raw* greatest) {
    constexpr std::int64_t at_once = vectors::template rows_at_once<Level>;
    constexpr std::int64_t raw_lanes = hn::MaxLanes(hn::ScalableTag<Raw>());
    constexpr std::int64_t step = at_once > raw_lanes ? at_once : raw_lanes;
    const auto lanes = host::found_once([] { return lanes_of_rows<Level>(); });
    no_extremes none;
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
      for (std::int64_t k = i; k < i + step; k += at_once) {
        vectors::template run_rows<Level>(first + (k << Level), lanes.of_row, none, results + k);
      }
      for (std::int64_t k = i; k < i + step; k += raw_lanes) {
        row_extremes<Raw, Level>::store(first + (k << Level), least + k, greatest + k);
      }
    }
    return i;
  }

  // Which lane has a row depends on how many levels there have been. So rows are folded whose
  // items are their numbers.
  template <int Level>
  struct lanes_of_rows {
    static constexpr std::int64_t rows = vectors::template rows_at_once<Level>;
    std::int32_t of_row[rows];

    lanes_of_rows() {
      Raw numbers[rows << Level];
      for (std::int64_t i = 0; i < rows << Level; ++i) numbers[i] = static_cast<Raw>(i >> Level);
      std::int32_t in_order[rows];
      for (std::int64_t k = 0; k < rows; ++k) in_order[k] = static_cast<std::int32_t>(k);
      block_moments in_lanes[rows];
      no_extremes none;
      vectors::template run_rows<Level>(numbers, in_order, none, in_lanes);
      for (std::int64_t k = 0; k < rows; ++k) {
        const auto row = static_cast<std::int64_t>(in_lanes[k].sum) >> Level;
        of_row[row] = static_cast<std::int32_t>(k);
      }
    }
  };
};

/// Any power of two items up to a block.
template <class Raw>
class moments_of_block {
 public:
  static void run(const void* first, std::int64_t n, block_moments* result) {
    no_extremes none;
    *result = fold(static_cast<const Raw*>(first), n, none);
  }

  static void run_with_extremes(const void* first, std::int64_t n, block_moments* result,
                                void* least, void* greatest) {
    extremes<Raw> found(static_cast<const Raw*>(first));
    *result = fold(static_cast<const Raw*>(first), n, found);
    found.store(n, static_cast<Raw*>(least), static_cast<Raw*>(greatest));
  }

 private:
  template <class Extremes>
  HWY_INLINE static block_moments fold(const Raw* first, std::int64_t n, Extremes& extremes) {
    using vectors = moment_fold<Raw, Extremes>;
    if (n >= vectors::least_items) return vectors::run(first, n, extremes);
    extremes.see_all(n);
    return fold_few<vectors::least_items>(first, n);
  }

  template <std::int64_t few>
  static block_moments fold_few(const Raw* items, std::int64_t n) {
    if (n <= 0) __builtin_unreachable();
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

block_functions find_block_folds(simd_type value) {
  if (value == simd_type::float32) {
    return {moments_of_block<float>::run, moments_of_block<float>::run_with_extremes,
            moments_of_rows<float>::run};
  }
  if (value == simd_type::float64) {
    return {moments_of_block<double>::run, moments_of_block<double>::run_with_extremes,
            moments_of_rows<double>::run};
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
