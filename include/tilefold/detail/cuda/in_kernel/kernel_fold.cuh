// SPDX-License-Identifier: Apache-2.0
//
// Folds of values that threads of a user's kernel hold: by the lanes of a warp, and by a block
// through shared memory. The public face is <tilefold/block_fold.cuh>.
#pragma once

#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>

namespace tilefold::detail::cuda {

/// As lane_tree, where the last items may be missing.
template <class Acc>
struct cut_lane_tree {
  /// The node of N items from `at` on: all exist if `Full`, else those before `end`. get(i) may be
  /// called for every i. join's third argument: whether both operands are items.
  template <bool Full, int N, class Get, class Join>
  TILEFOLD_D static Acc cut(int at, int end, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    if constexpr (N == 1) {
      return get(at);
    } else {
      slot<Acc> node;
      node.put(cut<Full, N / 2>(at, end, get, join));
      const Acc right = cut<Full, N / 2>(at + N / 2, end, get, join);
      if (Full || at + N / 2 < end) {
        node.put(join(node.value, right, std::bool_constant < N == 2 > {}));
      }
      return node.value;
    }
  }
};

/// Whether pairs of lanes read the nodes of a block's threads, both lanes the same nodes, so that
/// there are 16 readers: if nodes are small, and none is missing, reading twice as many takes less
/// time than one more shuffle. If nodes may be missing, each read is compared with the count.
constexpr bool pays_to_read_in_pairs(int nt, std::size_t acc_bytes, bool all_there) {
  return acc_bytes == 4 && nt <= 256 && all_there;
}
/// Up to so many bytes of nodes, a lane reads all by itself, which is faster than shuffles.
inline constexpr int lane_nodes_bytes = 128;
/// Bytes of nodes that a lane reads at a time, and folds before it reads more. All at once would
/// take more registers than two blocks of 1024 threads leave on an SM.
inline constexpr int read_bytes_at_once = 64;

/// The border in a kernel of the user's. Its zero is a constant that is never written. The host
/// could write it, so the compiler does not know its value, as it does of special registers.
///
/// Both are templates of the closed type, so that modules without such kernels have no constant: a
/// constant costs every launch of a graph 0.15 to 0.35 us (H200, CUDA 13.0, driver 580).
template <class>
__constant__ unsigned kernel_zero;

template <class T>
TILEFOLD_D border kernel_border() {
  return {kernel_zero<std::void_t<T>>};
}

/// A thread's items of one tree: a value, or an array of neighbouring values.
template <class Items>
struct thread_items {
  using value = Items;
  static constexpr int count = 1;
  TILEFOLD_D static const value& get(const Items& items, int) { return items; }
};
template <class T, int Count>
struct thread_items<T[Count]> {
  static_assert(tree::is_power_of_two(Count),
                "tilefold: a thread's array must hold 1, 2, 4, 8... values: those of any other "
                "number are no node of the tree, which is over the items and not over the threads");
  using value = T;
  static constexpr int count = Count;
  TILEFOLD_D static const value& get(const T (&items)[Count], int i) { return items[i]; }
};

/// Whether such values fold, in type `Named` unless it is void; says in one sentence why not.
template <class Named, class Items, class Op>
constexpr bool folds_in_kernel() {
  using value = typename thread_items<Items>::value;
  constexpr bool on_values = normalized_op<Op>::known || binary_op_on<normalized_op_t<Op>, value> ||
                             binary_op_on<normalized_op_t<Op>, widened_t<value>> ||
                             !std::is_void_v<Named>;
  if constexpr (!detail::is_const<normalized_op_t<Op>, value, value>()) {
    return false;
  } else if constexpr (!on_values) {
    static_assert(on_values, "tilefold: the operator must be callable with two of the values");
    return false;
  } else {
    using accumulator = accumulator_t<Named, Op, value, no_init>;
    constexpr bool trivial = std::is_trivially_copyable_v<accumulator>;
    constexpr bool op = binary_op_on<normalized_op_t<Op>, accumulator>;
    constexpr bool values = converts_to<value, accumulator>;
    static_assert(trivial, "tilefold: values that move between threads must be trivially copyable");
    static_assert(!trivial || op, "tilefold: the operator cannot be called with two accumulators");
    static_assert(!trivial || !op || values,
                  "tilefold: the values do not convert to the accumulator type");
    return trivial && op && values;
  }
}

// As a constant: device code may use its value, but cannot call the function.
template <class Named, class Items, class Op>
inline constexpr bool folds_as_asked = cuda::folds_in_kernel<Named, Items, Op>();

/// How a thread's items are folded.
template <class Named, class Items, class Op>
struct kernel_fold {
  using value = typename thread_items<Items>::value;
  using op = normalized_op_t<Op>;
  using accumulator = accumulator_t<Named, Op, value, no_init>;
  // The last multiplication of a value on its way here must not be fused with op's first addition.
  // Our operators cannot be fused with anything.
  static constexpr bool never_fused =
      normalized_op<Op>::known && op_traits<op, accumulator>::separately_rounded;
  using lift = typed_lift_t<typename normalized_op<Op>::argument, value, accumulator,
                            std::conditional_t<never_fused, as_is, as_computed>>;
  using reducer = closed_reducer<op_reducer<accumulator, op, lift>>;

  TILEFOLD_D static reducer make(const Op& user_op) {
    cuda::refuse_flush_to_zero();
    return {{detail::normalize(user_op), {}}, cuda::kernel_border<accumulator>()};
  }
};

/// Whether 32 lanes fold values T with `Op` in one instruction: order-free 32-bit operators, sm_80.
template <class Op, class T>
__device__ constexpr bool has_warp_instruction() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return std::integral<T> && sizeof(T) == 4 &&
         (std::same_as<Op, plus> || std::same_as<Op, minimum> || std::same_as<Op, maximum> ||
          std::same_as<Op, minimum_number> || std::same_as<Op, maximum_number> ||
          std::same_as<Op, bit_and> || std::same_as<Op, bit_or> || std::same_as<Op, bit_xor>);
#else
  return false;
#endif
}

template <class Op, class T>
TILEFOLD_D T warp_instruction(T value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using word = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
  const auto w = static_cast<word>(value);
  if constexpr (std::same_as<Op, plus>) {
    return static_cast<T>(__reduce_add_sync(full_warp, static_cast<unsigned>(w)));
  } else if constexpr (std::same_as<Op, minimum> || std::same_as<Op, minimum_number>) {
    return static_cast<T>(__reduce_min_sync(full_warp, w));
  } else if constexpr (std::same_as<Op, maximum> || std::same_as<Op, maximum_number>) {
    return static_cast<T>(__reduce_max_sync(full_warp, w));
  } else if constexpr (std::same_as<Op, bit_and>) {
    return static_cast<T>(__reduce_and_sync(full_warp, static_cast<unsigned>(w)));
  } else if constexpr (std::same_as<Op, bit_or>) {
    return static_cast<T>(__reduce_or_sync(full_warp, static_cast<unsigned>(w)));
  } else {
    return static_cast<T>(__reduce_xor_sync(full_warp, static_cast<unsigned>(w)));
  }
#else
  return value;
#endif
}

/// The fold of the values of the lanes that have one, in one instruction.
template <class Op, class T>
TILEFOLD_D T fold_at_once(const T& mine, bool present) {
  return cuda::warp_instruction<Op>(present ? mine : op_traits<Op, T>::identity());
}

/// The node of a lane's neighbouring items, of which those from `end` on do not exist. It is open
/// to fusion (closed_steps::combine_open()), as items may not be.
template <bool Full, class Reducer, class Acc, int Width>
TILEFOLD_D Acc fold_open(const Reducer& reducer, const registers<Acc, Width>& items, int end) {
  return cut_lane_tree<Acc>::template cut<Full, Width>(
      0, end, [&](int i) { return items[i]; },
      [&](const Acc& a, const Acc& b, auto are_items) {
        if constexpr (decltype(are_items)::value) {
          return reducer.combine_open(a, b);
        } else {
          return reducer.combine_open(reducer.closed(a), reducer.closed(b));
        }
      });
}

/// The tree over one node a lane (stripe_merge.cuh).
template <int Width, bool Full, class Reducer, int Lanes = warp_size>
class lane_nodes_fold : stripe_fold<1, Width, Full, Reducer, Lanes, stripes_of::many_trees> {
  using base = stripe_fold<1, Width, Full, Reducer, Lanes, stripes_of::many_trees>;
  using acc = typename base::acc;
  using base::count_, base::first_, base::lane_, base::members, base::reducer_;
  using base::lane_bits, base::levels_at_once;

 public:
  using base::base;

  /// The node in every lane, where each 2^FirstBit neighbours hold the same
  /// `value`, which may be open to fusion. Lanes without items, at the end, may be missing.
  template <int FirstBit>
  TILEFOLD_D acc fold(const acc& value) const {
    if constexpr (FirstBit == lane_bits) {
      return reducer_.closed(value);
    } else if constexpr (Full && Reducer::commutative && !Reducer::combine_may_fuse) {
      return this->template fold_lane_bits<FirstBit>(value);
    } else {
      return reducer_.closed(fold_down<FirstBit>(value));
    }
  }

 private:
  // The node, open to fusion, in the lower lanes: mine is always the left operand, so nothing is
  // selected, and it is closed to fusion while its copy travels. Lanes where no node starts compute
  // folds that are not used. At the last level every lane receives both operands, which replaces
  // one more shuffle of the result.
  template <int FirstBit>
  TILEFOLD_D acc fold_down(const acc& value) const {
    registers<acc, 1> node;
    node.put(0, value);
#pragma unroll levels_at_once
    for (int step = 1 << FirstBit; step < Lanes / 2; step *= 2) {
      const acc right = cuda::shuffle_down<Lanes>(node[0], step, members());
      const int right_first = first_ + (lane_ + step) * Width;
      if (lane_ + step < Lanes && (Full || right_first < count_)) {
        node.put(0, reducer_.combine_open(reducer_.closed(node[0]), right));
      }
    }
    const acc right = cuda::shuffle_from<Lanes>(node[0], Lanes / 2, members());
    node.put(0, cuda::shuffle_from<Lanes>(node[0], 0, members()));
    if (Full || first_ + Lanes / 2 * Width < count_) {
      node.put(0, reducer_.combine_open(node[0], right));
    }
    return node[0];
  }
};

/// `Folds` trees side by side over what `Lanes` lanes hold; lane l's items of each tree start at
/// item first + l * (its items). Not full, the trees end at item `count`.
template <class Reducer, class Items, int Folds, int Lanes>
class lanes_fold {
  using acc = typename Reducer::accumulator;
  using op = decltype(Reducer::op);
  static constexpr int vt = thread_items<Items>::count;

 public:
  const Reducer& reducer;
  int lane;  // among the `Lanes`, which are the `members` of their warp
  unsigned members;

  /// Node k in every lane with lane % 2^ceil_log2(Folds) == k. With several folds all `Lanes` must
  /// be there; with one, lanes at the end may be missing if they have no items.
  template <bool Full>
  TILEFOLD_D acc fold(const Items* values, int first, int count) const {
    registers<acc, Folds> nodes;
#pragma unroll
    for (int k = 0; k < Folds; ++k) {
      nodes.put(k, thread_node<Full>(values[k], first + lane * vt, count));
    }
    if constexpr (Folds == 1 && Lanes == warp_size && cuda::has_warp_instruction<op, acc>()) {
      return cuda::fold_at_once<op>(nodes[0], Full || first + lane * vt < count);
    } else if constexpr (Folds == 1) {
      return lane_nodes_fold<vt, Full, Reducer, Lanes>(reducer, first, count, lane, members)
          .template fold<0>(nodes[0]);
    } else {
      if constexpr (vt > 1) {
#pragma unroll
        for (int k = 0; k < Folds; ++k) nodes.put(k, reducer.closed(nodes[k]));
      }
      return stripe_fold<Folds, vt, Full, Reducer, Lanes, stripes_of::many_trees>(
                 reducer, first, count, lane, members)
          .fold_each(nodes);
    }
  }

  /// The node of one thread's items, the first being number `first`; of several open to fusion.
  template <bool Full>
  TILEFOLD_D acc thread_node(const Items& items, int first, int count) const {
    registers<acc, vt> lifted;
#pragma unroll
    for (int j = 0; j < vt; ++j) {
      if (Full || first + j < count) {
        lifted.put(j, reducer.lift(thread_items<Items>::get(items, j)));
      }
    }
    return cuda::fold_open<Full>(reducer, lifted, count - first);
  }
};

/// The tree over nodes in the lanes of a warp, each in 2^FirstBit neighbouring ones, for all of
/// them. Not full, lanes from `count` on have no node.
template <int FirstBit, bool Full, class Reducer>
TILEFOLD_D typename Reducer::accumulator fold_nodes_of_lanes(
    const Reducer& reducer, const typename Reducer::accumulator& mine, int lane, int count) {
  using acc = typename Reducer::accumulator;
  using op = decltype(Reducer::op);
  if constexpr (cuda::has_warp_instruction<op, acc>()) {
    static_assert(FirstBit == 0);
    return cuda::fold_at_once<op>(mine, Full || lane < count);
  } else {
    return lane_nodes_fold<1, Full, Reducer>(reducer, 0, count, lane).template fold<FirstBit>(mine);
  }
}

/// The result of a fold: of no items the identity, if there is one.
template <bool Full, class Reducer>
TILEFOLD_D typename Reducer::result kernel_result(const Reducer& reducer,
                                                  const typename Reducer::accumulator& folded,
                                                  int count) {
  using acc = typename Reducer::accumulator;
  using op = decltype(Reducer::op);
  if constexpr (!Full && has_identity<op, acc>) {
    const acc nothing = op_traits<op, acc>::identity();
    return reducer.project(cuda::select(count > 0, folded, nothing));
  } else {
    return reducer.project(folded);
  }
}

TILEFOLD_D unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// The `Folds` trees of a logical warp, `Lanes` neighbouring lanes; `count` items in each.
template <int Lanes, int Folds, bool Full, class Items, class Op>
TILEFOLD_D auto fold_warp(const Items* values, int count, const Op& op) {
  static_assert(tree::is_power_of_two(Lanes) && Lanes >= 2 && Lanes <= warp_size,
                "tilefold: a warp_fold takes 2, 4, 8, 16 or 32 lanes");
  static_assert(
      Folds <= Lanes,
      "tilefold: lane k is to hold result k, so a warp_fold_each takes no more folds than "
      "lanes");
  using types = kernel_fold<void, Items, Op>;
  const auto reducer = types::make(op);
  const unsigned lane = cuda::lane_id() % Lanes;
  using lanes_of = lanes_fold<typename types::reducer, Items, Folds, Lanes>;
  // Logical warps that are here together need not be told apart, which takes longer than the fold.
  if (Lanes == warp_size || __activemask() == full_warp) {
    const lanes_of lanes{reducer, static_cast<int>(lane), full_warp};
    return cuda::kernel_result<Full>(reducer, lanes.template fold<Full>(values, 0, count), count);
  }
  const unsigned members = (full_warp >> (warp_size - Lanes)) << (cuda::lane_id() - lane);
  const lanes_of lanes{reducer, static_cast<int>(lane), members};
  return cuda::kernel_result<Full>(reducer, lanes.template fold<Full>(values, 0, count), count);
}

/// The power of two at or above x.
TILEFOLD_HD constexpr int rounded_up(int x) { return 1 << tree::ceil_log2(x); }

/// Readers of the nodes of a block's threads: lanes of the first warp, or pairs of lanes.
template <int Nt, class Acc, bool Full>
inline constexpr int best_readers =
    pays_to_read_in_pairs(Nt, sizeof(Acc), Full) ? warp_size / 2 : warp_size;

/// How the nodes of a block's threads lie in shared memory, where each of `Readers` in the first
/// warp reads the nodes of neighbours in 16-byte loads: load k of all of them is a stripe,
/// and gaps are between stripes, so that neither the lanes that read nor the threads that write
/// meet in a bank. The size is the same for any number of readers.
template <int Nt, class Acc, int Readers = warp_size>
struct thread_places {
  static constexpr int bytes = static_cast<int>(sizeof(Acc));
  // Words of other sizes would share banks; and large ones take too much memory.
  static constexpr bool usable = Nt > warp_size && (bytes == 4 || bytes == 8);
  static constexpr int readers = Readers;
  static constexpr int of_reader = usable ? rounded_up(Nt) / readers : 1;
  static constexpr int width =
      detail::smaller(of_reader, load_bytes / detail::smaller(bytes, load_bytes));
  static constexpr int loads = of_reader / width;
  // Nodes of a stripe that the threads write whose words are stored at once.
  static constexpr int written = 128 / bytes / of_reader * width;
  static constexpr int pitch = readers * width + detail::larger(written, width);
  using load = packet<width * bytes>;
  static constexpr int words = usable ? loads * pitch * bytes / 4 : 0;

  TILEFOLD_D static unsigned place(unsigned thread) {
    return thread % of_reader / width * pitch + thread / of_reader * width + thread % width;
  }
};

/// Shared memory of a block's folds: each warp's node of each tree, or of a single tree each
/// thread's. Words, because shared memory wants types without a constructor; the nodes of a
/// tree are whole 16-byte loads, where one lane reads them.
template <int Nt, class Acc, int Folds>
struct block_nodes {
  static constexpr int num_warps = (Nt + warp_size - 1) / warp_size;
  using places = thread_places<Nt, Acc>;
  static constexpr int words_of_warps = Folds * rounded_up(num_warps) * words<Acc>::count;
  alignas(16) unsigned word[detail::larger(words_of_warps, places::words)];

  /// The warps' nodes of tree `tree`.
  TILEFOLD_D words<Acc>* of_warps(int tree) {
    return reinterpret_cast<words<Acc>*>(word) + tree * rounded_up(num_warps);
  }
  TILEFOLD_D Acc* of_threads() { return reinterpret_cast<Acc*>(word); }
};

/// The `Folds` trees of a block of Nt threads, which bring `Items` to each.
template <int Nt, int Folds, bool Full, class Reducer, class Items>
class threads_fold {
  using acc = typename Reducer::accumulator;
  using op = decltype(Reducer::op);
  static constexpr int vt = thread_items<Items>::count;
  static constexpr int lanes = detail::smaller(warp_size, rounded_up(Nt));
  static constexpr int num_warps = (Nt + warp_size - 1) / warp_size;
  static constexpr int warp_items = lanes * vt;
  static constexpr bool whole_warps = Nt % lanes == 0;
  static constexpr bool one_instruction = Folds == 1 && cuda::has_warp_instruction<op, acc>();
  static constexpr bool shuffles_nodes =
      Folds == 1 && num_warps * int{sizeof(acc)} > lane_nodes_bytes;
  using lanes_of_warp = lanes_fold<Reducer, Items, Folds, lanes>;
  static constexpr int readers = one_instruction ? warp_size : best_readers<Nt, acc, Full>;
  using places = thread_places<Nt, acc, readers>;
  static_assert(places::words == thread_places<Nt, acc>::words);

 public:
  __device__ threads_fold(const Reducer& reducer, int count)
      : reducer_(reducer), count_(count), thread_(linear_thread()) {}

  /// Tree k's result in every thread t of the first warp with t % 2^ceil_log2(Folds) == k. A
  /// barrier stands between the writes to `nodes` and the reads.
  template <class Nodes>
  TILEFOLD_D acc fold(const Items* values, Nodes& nodes) const {
    if constexpr (num_warps == 1 && (whole_warps || Folds == 1)) {
      return result(is_whole(0) ? my_lanes().template fold<true>(values, 0, count_)
                                : my_lanes().template fold<false>(values, 0, count_));
    } else if constexpr (Folds == 1 && places::usable) {
      const acc mine = my_lanes().template thread_node<Full>(values[0], thread_ * vt, count_);
      ::new (static_cast<void*>(nodes.of_threads() + places::place(thread_))) acc(mine);
      const bool in_first = is_first_warp<!one_instruction>();
      __syncthreads();
      return in_first ? result(fold_by_readers(nodes)) : mine;
    } else {
      const acc mine = put_warp_node(values, nodes);
      const bool in_first = is_first_warp<shuffles_nodes>();
      __syncthreads();
      return in_first ? result(fold_nodes(nodes)) : mine;
    }
  }

 private:
  // The thread's number as the hardware counts: a warp is 32 neighbouring threads in this order.
  TILEFOLD_D static unsigned linear_thread() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  TILEFOLD_D int warp() const { return static_cast<int>(thread_ / warp_size); }
  TILEFOLD_D int lane() const { return static_cast<int>(thread_ % warp_size); }
  TILEFOLD_D bool is_whole(int warp) const {
    return (Full && whole_warps) || (warp + 1) * warp_items <= count_;
  }
  TILEFOLD_D lanes_of_warp my_lanes() const { return {reducer_, lane(), full_warp}; }
  // By a vote before shuffles: the compiler knows that its result is uniform in the warp, and need
  // not prepare shuffles for lanes that took another branch.
  template <bool Shuffles>
  TILEFOLD_D bool is_first_warp() const {
    return Shuffles ? __all_sync(full_warp, warp() == 0) : warp() == 0;
  }
  TILEFOLD_D acc result(const acc& folded) const {
    return cuda::kernel_result<Full>(reducer_, folded, count_);
  }

  // The tree over the threads' nodes: each reader's, then the lanes.
  template <class Nodes>
  TILEFOLD_D acc fold_by_readers(Nodes& nodes) const {
    constexpr bool full_lanes =
        Full && (Nt + places::of_reader - 1) / places::of_reader == places::readers;
    constexpr int each = warp_size / places::readers;
    const int present = Full ? Nt : (count_ + vt - 1) / vt;
    const acc node = node_of_reader(nodes, lane() / each, present);
    return cuda::fold_nodes_of_lanes<tree::floor_log2(each), full_lanes>(
        reducer_, node, lane(), (present + places::of_reader - 1) / places::of_reader * each);
  }

  // The node of all that a reader reads, open to fusion unless it is a single thread's node.
  template <class Nodes>
  TILEFOLD_D acc node_of_reader(Nodes& nodes, int reader, int present) const {
    constexpr bool full = Full && Nt == rounded_up(Nt);
    constexpr int at_once =
        detail::smaller(places::of_reader, read_bytes_at_once / int{sizeof(acc)});
    const int end = present - reader * places::of_reader;
    return cut_lane_tree<acc>::template cut<full, places::of_reader / at_once>(
        0, (end + at_once - 1) / at_once,
        [&](int k) { return node_of_some<full, at_once>(nodes, reader, k * at_once, end); },
        [&](const acc& a, const acc& b, auto) {
          return reducer_.combine_open(reducer_.closed(a), reducer_.closed(b));
        });
  }

  // The node of `Number` of the nodes that a reader reads, from its node `at` on.
  template <bool AllThere, int Number, class Nodes>
  TILEFOLD_D acc node_of_some(Nodes& nodes, int reader, int at, int end) const {
    registers<acc, Number> mine;
#pragma unroll
    for (int k = 0; k < Number / places::width; ++k) {
      struct items {
        acc item[places::width];
      };
      const auto* from =
          nodes.of_threads() + (at / places::width + k) * places::pitch + reader * places::width;
      const auto loaded =
          __builtin_bit_cast(items, *reinterpret_cast<const typename places::load*>(from));
#pragma unroll
      for (int j = 0; j < places::width; ++j) mine.put(k * places::width + j, loaded.item[j]);
    }
    return cuda::fold_open<AllThere>(reducer_, mine, end - at);
  }

  template <class Nodes>
  TILEFOLD_D acc put_warp_node(const Items* values, Nodes& nodes) const {
    const int first = warp() * warp_items;
    slot<acc> mine;
    if (is_whole(warp())) {
      mine.put(my_lanes().template fold<true>(values, first, count_));
    } else if (Folds == 1 || whole_warps || warp() < Nt / warp_size) {
      mine.put(my_lanes().template fold<false>(values, first, count_));
    } else {
      return put_nodes_of_missing_lanes(values, nodes, first);
    }
    if (lane() < Folds) nodes.of_warps(lane())[warp()] = cuda::to_words(mine.value);
    return mine.value;
  }

  // One tree at a time, because missing lanes could not keep a tree as fold_each() halves lanes.
  template <class Nodes>
  TILEFOLD_D acc put_nodes_of_missing_lanes(const Items* values, Nodes& nodes, int first) const {
    const lanes_fold<Reducer, Items, 1, lanes> one{reducer_, lane(), full_warp};
    slot<acc> mine;
#pragma unroll
    for (int k = 0; k < Folds; ++k) {
      mine.put(one.template fold<false>(values + k, first, count_));
      if (lane() == 0) nodes.of_warps(k)[warp()] = cuda::to_words(mine.value);
    }
    return mine.value;
  }

  template <class Nodes>
  TILEFOLD_D acc fold_nodes(Nodes& nodes) const {
    const int num_nodes = Full ? num_warps : (count_ + warp_items - 1) / warp_items;
    if constexpr (shuffles_nodes) {
      constexpr int each = warp_size / rounded_up(num_warps);
      constexpr bool full = Full && num_warps == rounded_up(num_warps);
      const acc node = from_words<acc>(nodes.of_warps(0)[lane() / each]);
      return cuda::fold_nodes_of_lanes<tree::floor_log2(each), full>(reducer_, node, lane(),
                                                                     num_nodes * each);
    } else {
      const int tree = detail::smaller(lane() % rounded_up(Folds), Folds - 1);
      const words<acc>* const of_warps = nodes.of_warps(tree);
      const auto get = [&](int w) { return from_words<acc>(of_warps[w]); };
      const auto join = [&](const acc& a, const acc& b, auto...) { return reducer_.combine(a, b); };
      if constexpr (Full) {
        return lane_tree<acc>::template first<rounded_up(num_warps)>(0, num_warps, get, join);
      } else {
        __builtin_assume(num_nodes <= num_warps);  // so nodes behind the last are not read
        return cut_lane_tree<acc>::template cut<false, rounded_up(num_warps)>(0, num_nodes, get,
                                                                              join);
      }
    }
  }

  const Reducer& reducer_;
  const int count_;
  const unsigned thread_;
};

/// The `Folds` trees of a block; `count` items in each.
template <int Nt, int Folds, bool Full, class Items, class Op, class Acc, int MostFolds>
TILEFOLD_D auto fold_block(block_nodes<Nt, Acc, MostFolds>& nodes, const Items* values, int count,
                           const Op& op) {
  static_assert(Folds <= MostFolds,
                "tilefold: the storage is for fewer folds: block_storage<Nt, Acc, Folds>");
  static_assert(
      Folds <= warp_size && Folds <= Nt,
      "tilefold: thread k of the first warp is to hold result k, so a block_fold_each takes "
      "no more folds than that has threads");
  using types = kernel_fold<Acc, Items, Op>;
  const auto reducer = types::make(op);
  const threads_fold<Nt, Folds, Full, typename types::reducer, Items> threads(reducer, count);
  return threads.fold(values, nodes);
}

}  // namespace tilefold::detail::cuda
