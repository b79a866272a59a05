// SPDX-License-Identifier: Apache-2.0
//
// Folds runs of equal neighbouring keys. Their heads are known (heads_kernel.cuh), or found here if
// one block can fold all items. A warp folds the runs that begin in its patch:
//
//     items          | span 0 of the patch | span 1 of the patch | 1024 items of reach | ...
//     runs           |aa|b|cccc|ddddddddddddddd|e|fffffffffffffffffffff|ggg|h ...
//     warp           e f of span 1, then a b c d of span 0; not g h, which begin in the next patch
//     1 to 8 items   a lane folds a run; items come through shared memory (value_ring.cuh)
//     more           dealt to lanes (lane_plan.cuh); all runs are, if items are large
//     some structs   all runs are dealt, and come through a ring (keys/value_ring.cuh): the next
//                    deals' items are on their way while one is folded
//     open           f, if it ended behind the reach: listed for a forest by the warp in whose
//                    patch the next run begins
//
// A last run that is open is listed by heads_kernel.
#pragma once

#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/fold/staged_stripes.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/keys/heads_kernel.cuh>
#include <tilefold/detail/cuda/keys/tuning_keys.cuh>
#include <tilefold/detail/cuda/keys/value_ring.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/cuda/load/staged.cuh>

namespace tilefold::detail::cuda {

/// A lane's heads of a patch.
struct patch_heads {
  head_bits mine;
  unsigned reach;       // of the reach_items after it
  head_bits later = 0;  // of the patch's items behind them, which are another warp's
};
static_assert(reach_items == 2 * quarter_items && 2 * quarter_bits == 32);

/// Whether values come through a ring: structs in memory, with accumulators as large, if that pays.
template <class Source, class Reducer>
inline constexpr bool folds_from_ring = false;
template <class T, class Reducer>
inline constexpr bool folds_from_ring<source_of<std::index_sequence<0>, T*>, Reducer> =
    holds_structs<source_of<std::index_sequence<0>, T*>> && !sums_exactly<Reducer> &&
    pays_to_fold_from_ring(sizeof(T), alignof(T), sizeof(typename Reducer::accumulator));

/// How values come: in `items` items a lane, and through `ring_type`.
template <class Source, bool FromRing>
struct values_by_key {
  static constexpr int items = stretch_items<Source>;
  using ring_type = no_value_ring;
};
template <class T>
struct values_by_key<source_of<std::index_sequence<0>, T*>, true> {
  static constexpr int items = ring_stretch_items(static_cast<int>(sizeof(T)));
  using ring_type = value_ring<T, items>;
  using stream_type = value_stream<T, items>;
};

/// One warp's work: the runs that begin in one patch, span by span, the last span first; or only
/// the runs that begin in `Share` items of it, a span, while other warps fold the others.
template <int Share, class Input, class Reducer, class Init, class KeysOut, class Out>
class patch_work {
  using key_type = typename Input::key_type;
  using acc = typename Reducer::accumulator;
  using source_type = typename Input::source_type;
  static constexpr bool shares = Share < patch_items;
  static constexpr bool from_ring = folds_from_ring<source_type, Reducer>;
  using values = values_by_key<source_type, from_ring>;
  static constexpr int items = values::items;
  using plan_type = lane_plan<items>;
  using fold_type = stretch_fold<source_type, Reducer, folds_stretches<source_type, Reducer>, false,
                                 lifts_stretches<source_type, Reducer>, items>;

  // Runs of up to short_run_items items are short: a lane folds one, out of shared memory. Longer
  // runs are dealt to lanes; if items are large, all runs are.
  static constexpr int span_quarters = span_items / quarter_items;
  // Exact sums of short runs, too, are faster in neighbouring lanes (exact_narrow.cuh).
  static constexpr bool stages =
      staged_bytes<source_type> <= most_by_key_staged_bytes && !sums_exactly<Reducer>;
  static constexpr int most_items_of_lane = stages ? short_run_items : 0;
  // Longer runs of a span at most.
  static constexpr int most_longer_runs =
      from_ring ? 1
      : stages  ? (span_items + short_run_items) / (short_run_items + 1)
                : span_items;
  using stage_type = warp_stage<source_type, stages ? span_items + short_run_items : 1>;

 public:
  struct warp_memory : values::ring_type {
    stage_type stage;
    // Where the runs of the span begin, and then the end of the last one; from the span's start.
    unsigned short starts[span_items + 1];
    unsigned short longer_runs[most_longer_runs];
  };

  __device__ patch_work(const Input& input, const Reducer& reducer, const Init& init,
                        const KeysOut& keys_out, const Out& out, warp_memory& memory,
                        std::int64_t begin, const patch_heads& heads)
      : input(input),
        reducer(reducer),
        init(init),
        keys_out(keys_out),
        out(out),
        memory(memory),
        begin(begin),
        heads_(heads) {}

  /// Writes keys and values of the runs, of which there are `runs` >= 1, and `before` earlier ones.
  TILEFOLD_D void fold_runs(std::int64_t before, int runs) {
    std::int64_t rank = before + runs;
    end_ = end_of_last_run();
    while (next_span()) {
      rank -= runs_;
      if constexpr (from_ring) {
        deal_runs_of_ring(rank);
      } else {
        fold_span(rank);
      }
      end_ = span_ * span_items + start(0);
    }
  }

  /// The first head of the patch; after fold_runs().
  TILEFOLD_D std::int64_t first_head() const { return begin + end_; }

 private:
  TILEFOLD_D static int lane() { return lane_of_thread(); }
  TILEFOLD_D std::int64_t span_begin() const { return begin + span_ * span_items; }
  TILEFOLD_D int start(int r) const { return memory.starts[r]; }
  TILEFOLD_D int length(int r) const { return start(r + 1) - start(r); }

  // Where the patch's last run ends, from the patch's start; negative if that is out of reach.
  TILEFOLD_D int end_of_last_run() const {
    const bool is_here = shares && __any_sync(full_warp, heads_.later != 0);
    const int none = is_here ? patch_items : reach_items;
    const head_bits heads = is_here ? heads_.later : heads_.reach;
    int first = heads == 0 ? none : cuda::item_of_bit(__ffsll(static_cast<long long>(heads)) - 1);
    for (int mask = 1; mask < warp_size; mask *= 2) {
      first = detail::smaller(first, __shfl_xor_sync(full_warp, first, mask));
    }
    if (is_here) return first;
    const std::int64_t left = input.size - (begin + patch_items);
    if (left < first) first = static_cast<int>(left);
    return first < reach_items ? patch_items + first : -1;
  }

  // ---- spans

  // Goes to the next span that has runs, from the last span down; false if there is none. The
  // span's last run ends at end_, or is open.
  TILEFOLD_D bool next_span() {
    unsigned heads[span_quarters];
    unsigned with_heads = 0;
    while (with_heads == 0 && span_ > 0) {
      --span_;
      unsigned any = 0;
#pragma unroll
      for (int p = 0; p < span_quarters; ++p) {
        heads[p] =
            static_cast<unsigned>(heads_.mine >> ((span_ * span_quarters + p) * quarter_bits)) &
            ((1u << quarter_bits) - 1);
        any |= heads[p];
      }
      with_heads = __ballot_sync(full_warp, any != 0);
    }
    if (with_heads == 0) return false;
    __syncwarp();  // all lanes have read the span before
    runs_ = 0;
#pragma unroll
    for (int p = 0; p < span_quarters; ++p) {
      runs_ += list_starts(heads[p], p * quarter_items, memory.starts + runs_);
    }
    closed_ = end_ < 0 ? runs_ - 1 : runs_;
    if (closed_ == runs_ && lane() == 0) {
      memory.starts[runs_] = static_cast<unsigned short>(end_ - span_ * span_items);
    }
    __syncwarp();
    if constexpr (stages) {
      all_short_ = closed_ < runs_ || length(runs_ - 1) <= short_run_items;
#pragma unroll
      for (int p = 0; p < span_quarters; ++p) {
        all_short_ = all_short_ && are_short(heads[p], p == 0 ? ~0u : heads[p == 0 ? 0 : p - 1]);
      }
    }
    return true;
  }

  // Lists the starts of runs in the quarter from item `first` of the span on; returns their number.
  TILEFOLD_D int list_starts(unsigned heads, int first, unsigned short* starts) const {
    const int mine = __popc(heads);
    int up_to = mine;
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const int received = __shfl_up_sync(full_warp, up_to, distance);
      if (lane() >= distance) up_to += received;
    }
    unsigned short* next = starts + (up_to - mine);
    first += lane() * quarter_bits - 1;  // __ffs() counts bits from 1
    for (unsigned left = heads; left != 0; left &= left - 1) {
      *next++ = static_cast<unsigned short>(first + __ffs(static_cast<int>(left)));
    }
    return __shfl_sync(full_warp, up_to, warp_size - 1);
  }

  // Whether all runs of a quarter are short: each item has a head among itself and the 7 before.
  // `near` has the heads of the lane below, then the lane's; each head spreads to the next seven.
  TILEFOLD_D bool are_short(unsigned heads, unsigned before) const {
    const bool is_last = lane() == warp_size - 1;
    const unsigned below =
        __shfl_sync(full_warp, is_last ? before : heads, (lane() + warp_size - 1) % warp_size);
    unsigned near = heads << quarter_bits | (below & ((1u << quarter_bits) - 1));
    static_assert(short_run_items == 8 && quarter_bits == 16);
#pragma unroll
    for (int step = 1; step < short_run_items; step *= 2) near |= near << step;
    return __all_sync(full_warp, near >> quarter_bits == 0xffffu);
  }

  // ---- keys

  // Writes the keys of the span's runs. A lane loads several before it writes them.
  TILEFOLD_D void write_keys(std::int64_t rank) const {
    constexpr int at_once = sizeof(key_type) <= 8 ? 8 : 1;
    for (int first = lane(); first < runs_; first += at_once * warp_size) {
      slot<key_type> keys[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int r = detail::smaller(first + k * warp_size, runs_ - 1);
        keys[k].put(input.key(span_begin() + start(r)));
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int r = first + k * warp_size;
        if (r < runs_) *(keys_out + (rank + r)) = detail::output_key<KeysOut>(keys[k].value);
      }
    }
  }

  // ---- folds

  // Folds a span whose first run has this rank. Keys are written while values are on their way.
  TILEFOLD_D void fold_span(std::int64_t rank) {
    const int num_longer = all_short_ ? 0 : list_longer_runs();
    const bool any_short = num_longer < closed_;
    const int origin = start(0);
    const source_type source = input.run(span_begin() + origin);
    if (stages && any_short) {
      memory.stage.fill(source,
                        detail::smaller(start(closed_), span_items + short_run_items) - origin);
    }
    write_keys(rank);
    if (stages && any_short) {
      cuda::finish_stage<0>();
      for (int r = lane(); r < closed_; r += warp_size) {
        const int n = length(r);
        if (n <= short_run_items) write_run(rank + r, node_of_short(source, start(r) - origin, n));
      }
    }
    if constexpr (writes_exact_sums<Reducer, Init>) {
      sum_longer_runs(num_longer, rank);
    } else {
      deal_longer_runs(num_longer, rank);
    }
  }

  // Lists the runs that are too long for one lane; returns how many there are.
  TILEFOLD_D int list_longer_runs() const {
    int num = 0;
    for (int round = 0; round < closed_; round += warp_size) {
      const int r = round + lane();
      const bool is_longer = r < closed_ && length(r) > most_items_of_lane;
      const unsigned all = __ballot_sync(full_warp, is_longer);
      if (is_longer) {
        memory.longer_runs[num + __popc(all & ((1u << lane()) - 1))] =
            static_cast<unsigned short>(r);
      }
      num += __popc(all);
    }
    __syncwarp();
    return num;
  }

  // Whether loads may reach 16 items beyond the runs of the span, before and after.
  TILEFOLD_D bool is_inner() const {
    return span_begin() >= load_bytes && span_begin() + start(closed_) + load_bytes <= input.size;
  }

  TILEFOLD_D void deal_longer_runs(int num, std::int64_t rank) const {
    const bool inner = is_inner();
    deal_runs(
        num, rank, [&](int i) { return int{memory.longer_runs[i]}; },
        [&](fold_type& fold, int r, int done, int) {
          fold.load(input.run(span_begin() + start(r)), done, inner);
        });
  }

  // Deals all runs out of a ring: the items of the next deals are on their way while one is folded.
  TILEFOLD_D void deal_runs_of_ring(std::int64_t rank) const {
    if (closed_ == 0) return write_keys(rank);
    const int origin = start(0);
    const source_type source = input.run(span_begin() + origin);
    typename values::ring_type& ring = memory;
    typename values::stream_type stream(ring, source_type::template iterator<0>(source),
                                        start(closed_) - origin);
    write_keys(rank);
    deal_runs(
        closed_, rank, [](int i) { return i; },
        [&](fold_type& fold, int r, int done, int end) {
          stream.wait();
          fold.load_ring(ring, stream.at(start(r) - origin + done), stream.at(end - origin));
          stream.next(end - origin);
        });
  }

  // Deals `num` runs, of which the i-th is number run_of(i) of the span. load(fold, r, done, end)
  // fetches a lane's items of run r from its item `done` on; the lanes' items are those before
  // item `end` of the span.
  template <class RunOf, class Load>
  TILEFOLD_D void deal_runs(int num, std::int64_t rank, const RunOf& run_of,
                            const Load& load) const {
    // A run with too many items for the lanes is dealt in aligned blocks, once it is the first one.
    warp_stack<Reducer> nodes(reducer);
    int done = 0;
    for (int first = 0; first < num;) {
      const int i = first + lane();
      const int count = i < num ? length(run_of(i)) : plan_type::no_tree;
      const int left = __shfl_sync(full_warp, count, 0) - done;
      const bool is_cut = left + done > plan_type::most_items;
      const int cut = detail::smaller(left, plan_type::most_items);
      const bool is_dealt = is_cut ? lane() == 0 : count <= plan_type::most_items;
      const plan_type dealt(!is_dealt ? plan_type::no_tree : is_cut ? cut : count);
      const int r = run_of(first + dealt.owner);
      fold_type fold(reducer, dealt);
      load(fold, r, done,
           is_cut ? start(r) + done + cut : start(run_of(first + dealt.trees - 1) + 1));
      const acc value = fold.fold();
      if (!is_cut) {
        if (dealt.holds_result()) write_run(rank + r, value);
        first += dealt.trees;
        continue;
      }
      nodes.push(cuda::shuffle_from(value, 0));
      done += plan_type::most_items;
      if (left > plan_type::most_items) continue;
      const acc all = nodes.value();
      if (lane() == 0) write_run(rank + r, all);
      nodes.clear();
      done = 0;
      ++first;
    }
  }

  // Deals the listed runs for exact sums. Runs too long for the lanes are the warp's.
  TILEFOLD_D void sum_longer_runs(int num, std::int64_t rank) const {
    const bool inner = is_inner();
    for (int first = 0; first < num;) {
      const int i = first + lane();
      const int count = i < num ? length(memory.longer_runs[i]) : plan_type::no_tree;
      const int longest = __shfl_sync(full_warp, count, 0);
      if (longest > plan_type::most_items) {
        const int r = memory.longer_runs[first];
        cuda::write_exact_sum(input.run(span_begin() + start(r)), reducer, init, out + (rank + r),
                              std::int64_t{longest});
        ++first;
        continue;
      }
      const plan_type dealt(count <= plan_type::most_items ? count : plan_type::no_tree);
      const int r = memory.longer_runs[first + dealt.owner];
      exact_lanes<Reducer>::write(input.run(span_begin() + start(r)), reducer, init, unfinished{},
                                  out + (rank + r), dealt, inner);
      first += dealt.trees;
    }
  }

  // The tree of n <= 8 staged items from `at` on.
  TILEFOLD_D acc node_of_short(const source_type& source, int at, int n) const {
    return lane_tree<acc>::template first<short_run_items>(
        0, n, [&](int i) { return memory.stage.lift_from(reducer, source, at + i, i); },
        [&](const acc& a, const acc& b) { return reducer.combine(a, b); });
  }

  TILEFOLD_D void write_run(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }

  const Input& input;
  const Reducer& reducer;
  const Init& init;
  const KeysOut& keys_out;
  const Out& out;
  warp_memory& memory;
  const std::int64_t begin;

  const patch_heads heads_;
  int span_ = patch_quarters / span_quarters;  // whose runs are listed
  int runs_ = 0;                               // of the span
  int closed_ = 0;                             // those of its runs that are not open
  bool all_short_ = false;
  int end_ = 0;  // where the next span's last run ends, from the patch's start; negative if open
};

/// The heads of patch `patch` of tables with a word for each lane of `num` patches.
TILEFOLD_D patch_heads load_heads(const head_bits* heads, std::int64_t patch, std::int64_t num) {
  const head_bits* const mine = heads + patch * warp_size + lane_of_thread();
  return {mine[0], patch + 1 < num ? static_cast<unsigned>(mine[warp_size]) : 0u};
}

template <class Input, class Reducer>
inline constexpr int resident_by_key_blocks = min_resident_by_key_blocks(
    sizeof(typename Reducer::accumulator), folds_from_ring<typename Input::source_type, Reducer>);

/// A warp's share of the heads that heads_kernel has found.
struct listed_share {
  const run_tables& tables;
  std::int64_t begin;  // of the patch
  patch_heads heads;
  head_count before;  // the patch
  int earlier;        // runs of the patch

  TILEFOLD_D std::int64_t runs_before() const { return before.runs + earlier; }
  TILEFOLD_D int runs() const { return cuda::count_heads(heads.mine).runs; }

  /// Lists the run before the patch if it is open. `head`: the patch's first one.
  TILEFOLD_D void finish(std::int64_t head) const {
    if (lane_of_thread() == 0 && earlier == 0) {
      tables.list_if_open(before, head, [&] {
        return atomicAdd(reinterpret_cast<unsigned long long*>(tables.num_open), 1ull);
      });
    }
  }
};

template <int Share, class Input>
TILEFOLD_D listed_share take_share(const run_tables& tables, const Input&) {
  constexpr int shares = patch_items / Share;
  const int warp = warp_of_thread();
  const std::int64_t share = std::int64_t{blockIdx.x} * by_key_warps + warp;
  const std::int64_t patch = share / shares;
  patch_heads heads = cuda::load_heads(tables.heads, patch, tables.num_patches);
  const head_count before = tables.before(patch);
  int earlier = 0;
  if constexpr (shares > 1) {
    constexpr int bits = 64 / shares;
    const int bit = static_cast<int>(share % shares) * bits;
    const head_bits all = heads.mine;
    const head_bits before_share = all & ((head_bits{1} << bit) - 1);
    heads.mine = all & (~head_bits{0} >> (64 - bits) << bit);
    heads.later = all & ~(before_share | heads.mine);
    earlier = cuda::count_heads(before_share).runs;
  }
  return {tables, tables.begin(patch), heads, before, earlier};
}

/// The heads of a range in which no run can be open: its only block finds them.
template <class CountOut>
struct heads_of_block {
  CountOut num_runs_out;
  std::int64_t origin;
};

struct found_share {
  std::int64_t begin;
  patch_heads heads;
  std::int64_t before;
  int runs_here;

  TILEFOLD_D std::int64_t runs_before() const { return before; }
  TILEFOLD_D int runs() const { return runs_here; }
  TILEFOLD_D void finish(std::int64_t) const {}
};

template <int Share, class Input, class CountOut>
TILEFOLD_D found_share take_share(const heads_of_block<CountOut>& range, const Input& input) {
  static_assert(Share == patch_items);
  __shared__ head_bits heads[by_key_warps * warp_size];
  __shared__ int runs_of_warp[by_key_warps];
  const int warp = warp_of_thread();
  const std::int64_t begin = range.origin + warp * patch_items;
  heads[threadIdx.x] = head_finder<Input>{input}.of_patch(begin);
  __syncthreads();
  const patch_heads mine = cuda::load_heads(heads, warp, by_key_warps);
  const int runs = cuda::count_heads(mine.mine).runs;
  if (lane_of_thread() == 0) runs_of_warp[warp] = runs;
  __syncthreads();
  std::int64_t before = 0;
  for (int w = 0; w < warp; ++w) before += runs_of_warp[w];
  if (threadIdx.x + 1 == by_key_nt) cuda::write(range.num_runs_out, before + runs);
  return {begin, mine, before, runs};
}

/// Folds the runs of a range; a warp takes those that begin in `Share` items, which are a patch or
/// a span. `Heads`: where they begin, run_tables or heads_of_block.
template <class Build, int Share, class Heads, class Input, class Reducer, class Init,
          class KeysOut, class Out>
__global__ void __launch_bounds__(by_key_nt, (resident_by_key_blocks<Input, Reducer>))
    runs_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out, Heads heads) {
  using work_type = patch_work<Share, Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  cuda::wait_for_previous_launch();
  const auto share = cuda::take_share<Share>(heads, input);
  if (__all_sync(full_warp, share.heads.mine == 0)) return;
  work_type work(input, reducer, init, keys_out, out, memory[warp_of_thread()].value, share.begin,
                 share.heads);
  work.fold_runs(share.runs_before(), share.runs());
  share.finish(work.first_head());
}

/// The open runs, of which only the GPU knows how many there are.
template <class Source>
struct open_runs : segment_forest<Source, const std::int64_t*, const std::int64_t*> {
  const std::int64_t* num_open;
  std::int64_t skipped;

  __device__ std::int64_t size() const { return *num_open - skipped; }
  __device__ open_runs from(std::int64_t i) const {
    return {{this->source, this->begins + i, this->ends + i, 0}, num_open, skipped + i};
  }
};

template <class Out>
struct value_of_output {
  using type = void;
};
template <has_value_type Out>
struct value_of_output<Out> {
  using type = std::iter_value_t<Out>;
};

/// Where the values of open runs go: an output iterator that steps through ranks.
template <class Out>
struct ranked_output {
  using value_type = typename value_of_output<Out>::type;

  Out out;
  const std::int64_t* ranks;

  __device__ ranked_output operator+(std::int64_t i) const { return {out, ranks + i}; }
  __device__ decltype(auto) operator*() const { return *(out + *ranks); }
};

}  // namespace tilefold::detail::cuda
