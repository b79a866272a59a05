// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring trees dealt to the lanes of a warp. Each tree is cut into stretches of Items items,
// here 4. Neighbouring lanes take neighbouring stretches, of as many trees as there are lanes for:
//
//     tree           0            1              2                trees of 6, 3 and 9 items
//     items       0123   45      012     0123   4567    8
//     lane          0     1       2        3      4     5         lane_plan: owner 0 0 1 2 2 2,
//     fold          v     v       v        v      v     v         stretch 0 1 0 0 1 2
//     distance 1    v <---'       |        v <----'     |         by shuffles: the lower lane takes
//     distance 2    |             |        v <----------'         the value as its right operand
//     result      lane 0        lane 2   lane 3
//
// A stretch is an aligned block of its tree, and no value crosses from one tree to another.
#pragma once

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/warp_sums.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/stretches.cuh>

namespace tilefold::detail::cuda {

/// The inclusive sum over the lanes of a warp, all of which take part.
TILEFOLD_D unsigned inclusive_sum(unsigned x) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    // p is whether there is a lane `distance` below this one: shfl itself answers that.
    asm volatile(
        "{ .reg .u32 r; .reg .pred p; shfl.sync.up.b32 r|p, %0, %1, 0, 0xffffffff;"
        " @p add.u32 %0, %0, r; }"
        : "+r"(x)
        : "r"(distance));
  }
  return x;
}

/// As lane_tree, where lanes have different numbers of items.
template <class Acc>
struct lane_trees_of_some {
  /// The node of N items from `at` on, of which items before `end` exist; get() is called for these
  /// alone. No lane has items from `most` on. join(left, right, first item of the right half).
  template <int N, class Get, class Join>
  TILEFOLD_D static Acc within(int at, int end, int most, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    slot<Acc> value;
    if constexpr (N == 1) {
      if (at < end) value.put(get(at));
    } else {
      value.put(within<N / 2>(at, end, most, get, join));
      const int right = at + N / 2;
      if (N <= 4 || right < most) {
        value.put(join(value.value, within<N / 2>(right, end, most, get, join), right));
      }
    }
    return value.value;
  }
};

/// Which lane has which stretch, of as many of the warp's next trees as fit its lanes.
template <int Items>
struct lane_plan {
  static constexpr int most_items = warp_size * Items;
  // In place of a length. A tree for warps or for blocks takes one lane, which stays idle. no_tree
  // would take more lanes than a warp has, so nothing is dealt from there on.
  static constexpr int for_warps = most_items + 1;
  static constexpr int for_blocks = most_items + 2;
  static constexpr int no_tree = most_items + Items + 2;

  int trees;      // how many trees got lanes
  int owner;      // number of this lane's tree among them
  int count;      // items of that tree, or for_warps, for_blocks
  int stretches;  // of that tree, at least one
  int stretch;    // number of this lane's stretch; `stretches` or more if the lane has none

  /// `length` is the number of items of tree number `lane`.
  TILEFOLD_D explicit lane_plan(int length, int lane = lane_of_thread()) {
    // Tree number `lane` takes lanes [end - needed, end).
    const unsigned needed = is_too_long(length) ? 1 : stretches_of(length);
    const unsigned end = cuda::inclusive_sum(needed);
    // Bit l says that a tree begins at lane l; trees that do not fit set none.
    const unsigned heads = cuda::warp_or(end <= warp_size ? 1u << (end - needed) : 0u);
    // Among the heads up to this lane, the highest one is where this lane's tree begins.
    const unsigned up_to_mine = heads & (full_warp >> (warp_size - 1 - lane));
    trees = __popc(heads);
    owner = __popc(up_to_mine) - 1;
    const int first_lane = warp_size - 1 - __clz(static_cast<int>(up_to_mine));
    stretch = lane - first_lane;
    count = __shfl_sync(full_warp, length, owner);
    stretches = is_too_long(count) ? 1 : static_cast<int>(stretches_of(count));
  }

  /// Items of this lane's stretch.
  TILEFOLD_D int available() const {
    return is_too_long(count) ? 0 : detail::bounded(count - stretch * Items, 0, Items);
  }
  TILEFOLD_D bool holds_result() const { return stretch == 0 && !is_too_long(count); }

 private:
  TILEFOLD_D static bool is_too_long(int length) {
    return length == for_warps || length == for_blocks;
  }
  TILEFOLD_D static unsigned stretches_of(int items) {
    return (static_cast<unsigned>(detail::larger(items, 1)) + Items - 1) / Items;
  }
};

/// The length of a tree of `count` items as lane_plan<Items> takes it.
template <int Items>
TILEFOLD_D int planned_length(std::int64_t count, std::int64_t longest_for_warp) {
  if (count > lane_plan<Items>::most_items) {
    return count > longest_for_warp ? lane_plan<Items>::for_blocks : lane_plan<Items>::for_warps;
  }
  return static_cast<int>(detail::larger(count, std::int64_t{0}));
}

/// Trees [begin, end), as far as there are lanes, which know one each. All lanes make every call.
template <class Forest, int Items>
class lane_trees {
 public:
  int length;  // items of the lane's tree, as lane_plan takes it

  TILEFOLD_D lane_trees(const Forest& forest, int begin, int end, std::int64_t longest_for_warp)
      : length(lane_plan<Items>::no_tree), count_(0), first_(0) {
    const int t = begin + lane_of_thread();
    if (t >= end) return;
    count_ = forest.count(t);
    if constexpr (Forest::in_one_range) first_ = forest.first(t);
    length = cuda::planned_length<Items>(count_, longest_for_warp);
  }
  /// The tree that lane `owner` knows: number begin + owner of the forest.
  TILEFOLD_D typename Forest::source_type tree(const Forest& forest, int begin, int owner) const {
    if constexpr (Forest::in_one_range) {
      return detail::starting_at(forest.source, cuda::shuffle_from(first_, owner));
    } else {
      return forest.tree(begin + owner);
    }
  }
  /// The number of its items.
  TILEFOLD_D std::int64_t count(int owner) const { return cuda::shuffle_from(count_, owner); }

 private:
  std::int64_t count_;
  std::int64_t first_;  // of trees in one range
};

/// Whether lanes fold long stretches by themselves, one packet after the other.
template <class Source, class Reducer>
inline constexpr bool folds_stretches =
    pays_to_fold_stretches(item_bytes<Source>, sizeof(typename Reducer::accumulator));

/// Whether such lanes lift all of a stretch at once where the stretches of all lanes are whole.
template <class Source, class Reducer>
inline constexpr bool lifts_stretches =
    folds_stretches<Source, Reducer> && requires { requires Reducer::lifts_packets; };

/// Items of a lane's stretch where trees are dealt to lanes.
template <class Source, class Reducer, class Init>
inline constexpr int dealt_items = stretch_items<Source>;
template <class Source, class Reducer, class Init>
  requires writes_exact_sums<Reducer, Init>
inline constexpr int dealt_items<Source, Reducer, Init> =
    exact_stretch_items_for(item_bytes<Source>);

// Exact sums of trees by lanes and by warps. Defined in exact_lanes.cuh, which reducers/exact.hpp
// includes. Left undefined here, so that a missing include is a compile error.
template <class Reducer>
struct exact_lanes;

/// Stretches of a tree, or of a block of it, in neighbouring lanes, all of which take part in every
/// call. `ByPackets`: a lane folds its stretch packet after packet, not all of it unrolled;
/// `AtOnce` as of lifts_stretches, `Fresh` as of load_vector() (stretches.cuh).
template <class Source, class Reducer, bool ByPackets = folds_stretches<Source, Reducer>,
          bool Fresh = false, bool AtOnce = lifts_stretches<Source, Reducer>,
          int Items = stretch_items<Source>>
class stretch_fold {
  using acc = typename Reducer::accumulator;
  static constexpr int items = Items;
  static constexpr int levels_at_once = unrolled_levels<acc>;
  friend exact_lanes<Reducer>;

 public:
  /// Folds the trees of a plan.
  TILEFOLD_D stretch_fold(const Reducer& reducer, const lane_plan<items>& plan)
      : reducer_(&reducer),
        stretch_(plan.stretch),
        stretches_(plan.stretches),
        available_(plan.available()),
        items_behind_(plan.count - (plan.stretch + 1) * items) {}

  /// Folds one aligned block of `count` items, of which the lanes take as many as they can.
  TILEFOLD_D stretch_fold(const Reducer& reducer, int lane, int count)
      : reducer_(&reducer),
        stretch_(lane),
        stretches_(detail::smaller((count + items - 1) / items, warp_size)),
        available_(detail::bounded(count - lane * items, 0, items)),
        items_behind_(count - (lane + 1) * items) {}

  /// Loads this lane's items of the block that begins with item `first` of `tree`. `inner` says
  /// that loads may reach 16 bytes beyond them, before and after.
  TILEFOLD_D void load(const Source& tree, std::int64_t first, bool inner) {
    items_.load(tree, first + stretch_ * items, available_, inner);
  }
  /// Loads this lane's items out of a ring (value_ring.cuh), in which the tree, or the aligned
  /// block of it, begins with byte `at`. Items before byte `end` are there.
  template <class Ring>
  TILEFOLD_D void load_ring(const Ring& ring, int at, int end) {
    items_.load_ring(ring, at + stretch_ * items * item_bytes<Source>, end);
  }
  /// Whether the tree has 16 bytes before and after this lane's items.
  TILEFOLD_D bool is_inner() const {
    return stretch_ > 0 && items_behind_ * least_item_bytes<Source> >= load_bytes;
  }

  /// The value of this lane's tree, if the lane has its first stretch and the tree has items.
  TILEFOLD_D acc fold() {
    items_.settle();
    if constexpr (sums_exactly<Reducer>) {
      slot<acc> sum;
      if (sum_exactly(sum)) return sum.value;
    }
    const int most_items = cuda::warp_max(available_);
    const int most_stretches = cuda::warp_max(stretches_);
    slot<acc> value;
    if constexpr (ByPackets) {
      value.put(packets(most_items));
#pragma unroll 1
      for (int distance = 1; distance < most_stretches; distance *= 2) meet(value, distance);
    } else {
      value.put(node<items>(0, most_items));
#pragma unroll levels_at_once
      for (int distance = 1; distance < warp_size; distance *= 2) {
        if (distance >= most_stretches) break;
        meet(value, distance);
      }
    }
    return value.value;
  }

  /// This lane's summands of an exact sum; -0 in place of items that do not exist.
  TILEFOLD_D auto summands() {
    items_.settle();
    return settled_summands();
  }
  /// Calls use(window) with the exact sum of this lane's tree, where fold() has a value. False, and
  /// nothing is done, if some sum of the warp does not fit a narrow_window.
  template <class Use>
  TILEFOLD_D bool visit_narrow_sum(const Use& use) {
    return exact_lanes<Reducer>::visit_narrow(*this, use);
  }

  /// The node of a stripe of which every lane has all items, in every lane.
  TILEFOLD_D acc fold_whole_stripe() {
    items_.settle();
    if constexpr (counts_and_sums<Reducer>) {
      const sums_of_means<Reducer> sums{*reducer_};
      registers<double, 1> mine;
      mine.put(0, lane_tree<double>::template whole<items>(
                      0, [&](int i) { return items_.lift(sums, i); },
                      [&](double a, double b) { return sums.combine(a, b); }));
      const double sum = stripe_fold<1, items, true, sums_of_means<Reducer>>(sums, 0, 0).fold(mine);
      slot<acc> all;
      if (sums.put(all, warp_size * items, sum)) return all.value;
    }
    registers<acc, 1> node;
    node.put(0, whole<items>());
    return stripe_fold<1, items, true, Reducer>(*reducer_, 0, 0).fold(node);
  }

 private:
  TILEFOLD_D bool sum_exactly(slot<acc>& result) const {
    return exact_lanes<Reducer>::sum(*this, result);
  }

  TILEFOLD_D auto settled_summands() const {
    using lifts_type = closed_reducer<decltype(reducer_->of_summands())>;
    const lifts_type lifts{reducer_->of_summands(), reducer_->closing};
    registers<typename lifts_type::accumulator, items> mine;
    if (__all_sync(full_warp, available_ == items)) {
#pragma unroll
      for (int i = 0; i < items; ++i) mine.put(i, items_.lift(lifts, i));
      return mine;
    }
    const unsigned there = (1u << available_) - 1;  // bit i: item i exists
#pragma unroll
    for (int i = 0; i < items; ++i) {
      mine.put(
          i, (there >> i & 1) != 0 ? items_.lift(lifts, i) : -typename lifts_type::accumulator{0});
    }
    return mine;
  }

  // Joins nodes of `distance` stretches each. A node of 2 * distance stretches begins at a multiple
  // of as many; the join is of equals if all items of its right half exist.
  TILEFOLD_D void meet(slot<acc>& value, int distance) const {
    const acc received = cuda::shuffle_down(value.value, distance);
    if ((stretch_ & (2 * distance - 1)) == 0 && stretches_ - stretch_ > distance) {
      value.put(join(value.value, received, items_behind_ >= (2 * distance - 1) * items));
    }
  }

  TILEFOLD_D acc join(const acc& left, const acc& right, bool equal) const {
    if constexpr (fold_traits<Reducer>::joins_equals) {
      if (equal) return reducer_->combine_equals(left, right);
    }
    return reducer_->combine(left, right);
  }

  // The node of the lane's stretch four items at a time, so that few large accumulators are alive
  // at once. No lane has more than `most` items.
  TILEFOLD_D acc packets(int most) {
    if constexpr (AtOnce) {
      if (__all_sync(full_warp, available_ == 0 || available_ == items)) return whole_stretch();
    }
    constexpr int packet = 4;
    static_assert(items == 2 * packet || items == 4 * packet);
    slot<acc> half;
    slot<acc> value;
#pragma unroll 1
    for (int first = 0; first < most; first += packet) {
      const int left = available_ - first;
      if (left > 0) {
        slot<acc> mine;
        mine.put(left >= packet ? whole<packet>() : up_to_three(left));
        const bool is_right = (first & packet) != 0;
        value.put(is_right ? join(value.value, mine.value, left >= packet) : mine.value);
        if (first == packet) half.put(value.value);
        items_.template drop<packet>(left);
      }
    }
    if (available_ <= 2 * packet) return value.value;
    return join(half.value, value.value, available_ == items);
  }

  // The node of a whole stretch, lifted at once as by single folds.
  TILEFOLD_D acc whole_stretch() const {
    using value = std::remove_cvref_t<decltype(items_.template item<0>(0))>;
    value values[items];
#pragma unroll
    for (int j = 0; j < items; ++j) values[j] = items_.template item<0>(j);
    return reducer_->lift_packet(values);
  }

  // The node of the next N items of the stretch, which all exist.
  template <int N>
  TILEFOLD_D acc whole() const {
    return lane_tree<acc>::template whole<N>(
        0, [&](int i) { return items_.lift(*reducer_, i); },
        [&](const acc& a, const acc& b) { return join(a, b, true); });
  }

  // The node of the next one to three items of the stretch.
  TILEFOLD_D acc up_to_three(int count) const {
    slot<acc> value;
    value.put(items_.lift(*reducer_, 0));
    if (count > 1) value.put(join(value.value, items_.lift(*reducer_, 1), true));
    if (count > 2) value.put(join(value.value, items_.lift(*reducer_, 2), false));
    return value.value;
  }

  // The node of N items from item `first` of the stretch on, of which those before available_
  // exist. No lane has more than `most` items.
  template <int N>
  TILEFOLD_D acc node(int first, int most) const {
    return lane_trees_of_some<acc>::template within<N>(
        first, available_, most, [&](int i) { return items_.lift(*reducer_, i); },
        [&](const acc& a, const acc& b, int right) {
          return cuda::combine<false>(*reducer_, a, b, right, available_);
        });
  }

  const Reducer* reducer_;
  int stretch_;
  int stretches_;
  int available_;
  int items_behind_;  // in the tree or block
  lane_stretches<Source, items, Fresh> items_;
};

/// Writes the results of a plan's trees whose exact sums are not narrow, by whole states. `tree`
/// and `out` are of this lane's tree; `empty` is the result of a tree without items.
template <class Source, class Reducer, int Items, class Init, class Empty, class Out>
TILEFOLD_D void write_wide_sums(const Source& tree, const Reducer& reducer, const Init& init,
                                const Empty& empty, const Out& out, const lane_plan<Items>& plan,
                                bool inner) {
  stretch_fold<Source, Reducer, folds_stretches<Source, Reducer>, false,
               lifts_stretches<Source, Reducer>, Items>
      fold(reducer, plan);
  fold.load(tree, 0, inner);
  const auto value = fold.fold();
  if (!plan.holds_result()) return;
  if (plan.count > 0) {
    cuda::write(out, detail::finish(reducer, init, value));
  } else if constexpr (!std::is_same_v<Empty, unfinished>) {
    cuda::write(out, detail::result_of_nothing(reducer, empty));
  }
}

/// write_wide_sums() as a function call, so that rare code takes no registers of common code.
template <class Source, class Reducer, int Items, class Init, class Empty, class Out>
__device__ TILEFOLD_APART void write_wide_sums_apart(Source tree, Reducer reducer, Init init,
                                                     Empty empty, Out out, lane_plan<Items> plan,
                                                     bool inner) {
  cuda::write_wide_sums(tree, reducer, init, empty, out, plan, inner);
}

}  // namespace tilefold::detail::cuda
