// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal neighbouring keys, found, counted and folded in one pass over keys and values. A
// warp looks for the runs that begin in its patch of keys and folds those that end within reach;
// longer ones it lists, open, for a forest. How many runs begin before a block it learns from the
// blocks before it, which the hardware has started earlier (decoupled look-back). Device code.
#pragma once

#include <cstdint>
#include <iterator>

#include <tilefold/detail/cuda/run_stage.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/detail/keyed_items.hpp>

namespace tilefold::detail::cuda {

inline constexpr int patch_rows = 16;
inline constexpr int patch_items = patch_rows * warp_size;
/// A run that does not end within so many items of the patch that it begins in is open.
inline constexpr int reach_items = 3 * patch_items;
/// Items of an open run at least.
inline constexpr int least_open_items = reach_items - patch_items + 1;

inline constexpr int by_key_nt = 128;
inline constexpr int by_key_warps = by_key_nt / warp_size;
inline constexpr int by_key_tile = by_key_warps * patch_items;

/// What is counted of runs that begin in a part of the range.
struct run_count {
  std::int64_t runs;
  std::int64_t open;  // of them
  bool last_is_open;

  /// Of this part and the one to its right.
  __device__ __forceinline__ run_count then(const run_count& right) const {
    return {runs + right.runs, open + right.open,
            right.runs > 0 ? right.last_is_open : last_is_open};
  }
};

/// The count of a block as the blocks after it read it, a word: so that it is there or is not, and
/// nothing else need be ordered.
class run_state {
 public:
  using word = unsigned long long;
  enum kind : unsigned { absent, of_block, up_to_block };

  static constexpr int run_bits = 36;
  static constexpr int open_bits = 25;

  __device__ __forceinline__ explicit run_state(word w) : word_(w) {}
  __device__ __forceinline__ run_state(kind k, const run_count& count)
      : word_(static_cast<word>(count.runs) | static_cast<word>(count.open) << run_bits |
              static_cast<word>(count.last_is_open) << last_bit | static_cast<word>(k) << 62) {}

  __device__ __forceinline__ kind what() const { return static_cast<kind>(word_ >> 62); }
  __device__ __forceinline__ bool last_is_open() const { return (word_ >> last_bit & 1) != 0; }
  __device__ __forceinline__ bool has_runs() const { return (word_ & run_mask) != 0; }
  /// Both counts, to be added as one number.
  __device__ __forceinline__ word counts() const { return word_ & ((word{1} << last_bit) - 1); }
  __device__ __forceinline__ static run_count count_of(word counts, bool last_is_open) {
    return {static_cast<std::int64_t>(counts & run_mask),
            static_cast<std::int64_t>(counts >> run_bits), last_is_open};
  }

  __device__ __forceinline__ static run_state load(const word* from) {
    word w;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return run_state(w);
  }
  __device__ __forceinline__ void store(word* to) const {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word_)
                 : "memory");
  }

 private:
  static constexpr int last_bit = run_bits + open_bits;
  static constexpr word run_mask = (word{1} << run_bits) - 1;
  word word_;
};

// What those counts can hold.
inline constexpr std::int64_t most_keyed_items = std::int64_t{1} << 35;
static_assert(most_keyed_items / least_open_items < std::int64_t{1} << run_state::open_bits);

/// Where blocks meet. Nothing but zeroes in `states` before a launch; all null where one block
/// serves a range in which no run can be open.
struct run_tables {
  run_state::word* states;  // of each block
  // Of each open run: its items, and which of the runs it is.
  std::int64_t* begins;
  std::int64_t* ends;
  std::int64_t* ranks;
  std::int64_t* num_open;
};

/// The counts of all blocks before this one, to whose states its own is added. One whole warp.
__device__ inline run_count count_before(run_state::word* states, const run_count& mine) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t block = blockIdx.x;
  run_count before{0, 0, false};
  if (gridDim.x == 1) return before;
  if (block > 0) {
    if (lane == 0) run_state(run_state::of_block, mine).store(states + block);
    // Windows of 32 blocks, the nearest first; lane 0 looks at the nearest of each.
    for (std::int64_t nearest = block - 1;; nearest -= warp_size) {
      run_state state(run_state::up_to_block, run_count{0, 0, false});
      if (nearest >= lane) state = run_state::load(states + nearest - lane);
      while (__any_sync(full_warp, state.what() == run_state::absent)) {
        if (nearest >= lane) state = run_state::load(states + nearest - lane);
      }
      const unsigned whole = __ballot_sync(full_warp, state.what() == run_state::up_to_block);
      const int last = whole != 0 ? __ffs(static_cast<int>(whole)) - 1 : warp_size - 1;
      run_state::word counts = lane <= last ? state.counts() : 0;
      for (int mask = 1; mask < warp_size; mask *= 2) {
        counts += __shfl_xor_sync(full_warp, counts, mask);
      }
      const unsigned with_runs = __ballot_sync(full_warp, lane <= last && state.has_runs());
      const unsigned open = __ballot_sync(full_warp, state.last_is_open());
      const bool is_open = with_runs != 0 && (open >> (__ffs(static_cast<int>(with_runs)) - 1) & 1);
      before = run_state::count_of(counts, is_open).then(before);
      if (whole != 0) break;
    }
  }
  if (lane == 0) run_state(run_state::up_to_block, before.then(mine)).store(states + block);
  return before;
}

/// One warp's work: the runs that begin in one patch.
template <class Input, class Reducer, class Init, class KeysOut, class Out>
class patch_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Input::source_type;
  using stage_type = staged::warp_stage<source_type, staged::stage_capacity<source_type>()>;
  using fold_type = staged::staged_fold<stage_type, source_type, Reducer>;

 public:
  struct warp_memory {
    stage_type stage;
    // Of the runs that begin here, and then the end of the last one; from the patch's start.
    unsigned short starts[patch_items + 1];
  };

  __device__ patch_work(const Input& input, const Reducer& reducer, const Init& init,
                        const KeysOut& keys_out, const Out& out, warp_memory& memory,
                        std::int64_t begin)
      : input(input),
        reducer(reducer),
        init(init),
        keys_out(keys_out),
        out(out),
        memory(memory),
        begin(begin) {}

  /// Finds the runs.
  __device__ __forceinline__ run_count find() {
    if (begin >= input.size) return {0, 0, false};
    const bool inside = begin > 0 && begin + patch_items <= input.size;
    const unsigned mine = inside ? my_heads<true>() : my_heads<false>();
    const unsigned lanes_below = (1u << lane()) - 1;
    for (int row = 0; row < patch_rows; ++row) {
      const bool is_head = (mine >> row & 1) != 0;
      const unsigned heads = __ballot_sync(full_warp, is_head);
      if (is_head) {
        memory.starts[runs_ + __popc(heads & lanes_below)] =
            static_cast<unsigned short>(row * warp_size + lane());
      }
      runs_ += __popc(heads);
    }
    closed_ = runs_;
    if (runs_ > 0) {
      const std::int64_t end = end_of_last_run();
      if (end < 0) {
        --closed_;
      } else if (lane() == 0) {
        memory.starts[runs_] = static_cast<unsigned short>(end - begin);
      }
    }
    __syncwarp();
    return {runs_, runs_ - closed_, closed_ < runs_};
  }

  /// Has the first values fetched that fold() needs.
  __device__ __forceinline__ void fetch() {
    if (closed_ > 0) fetched_ = fetch_stretch(0);
  }

  /// Writes the keys of the runs, of which `before` begin in earlier patches, and lists the last
  /// one if it is open.
  __device__ __forceinline__ void write_keys(const run_count& before,
                                             const run_tables& tables) const {
    for (int r = lane(); r < runs_; r += warp_size) {
      *(keys_out + (before.runs + r)) = input.key(begin + memory.starts[r]);
    }
    if (lane() != 0 || runs_ == 0) return;
    if (before.last_is_open) tables.ends[before.open - 1] = begin + memory.starts[0];
    if (closed_ < runs_) {
      tables.begins[before.open] = begin + memory.starts[closed_];
      tables.ranks[before.open] = before.runs + closed_;
    }
  }

  /// Folds the runs that are not open; `rank` of all runs begin in earlier patches.
  __device__ __forceinline__ void fold(std::int64_t rank) {
    for (int r = 0; r < closed_;) {
      if (r > 0) fetched_ = fetch_stretch(r);
      if (fetched_ == r) {
        fold_alone(r, rank);
        ++r;
      } else {
        staged::finish_stage<0>();
        fold_stretch(r, fetched_, rank);
        r = fetched_;
      }
    }
  }

 private:
  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ __forceinline__ int start(int r) const { return memory.starts[r]; }
  __device__ __forceinline__ int length(int r) const { return start(r + 1) - start(r); }

  // Keys that a lane has on their way at once.
  static constexpr int rows_at_once = sizeof(typename Input::key_type) <= 8 ? patch_rows : 2;

  // Bit `row` tells of item `lane` of that row whether a run begins with it. All loads before all
  // ballots, so that they are on their way together.
  template <bool Inside>
  __device__ __forceinline__ unsigned my_heads() const {
    unsigned heads = 0;
#pragma unroll rows_at_once
    for (int row = 0; row < patch_rows; ++row) {
      const std::int64_t j = begin + row * warp_size + lane();
      bool is_head = false;
      if constexpr (Inside) {
        is_head = input.begins_run(j);
      } else if (j < input.size) {
        is_head = j == 0 || input.begins_run(j);
      }
      heads |= static_cast<unsigned>(is_head) << row;
    }
    return heads;
  }

  // Negative if the end is out of reach.
  __device__ __forceinline__ std::int64_t end_of_last_run() const {
    const std::int64_t limit = detail::smaller(begin + reach_items, input.size);
    std::int64_t at = begin + patch_items;
    std::int64_t head = next_head<1>(at, limit);
    for (at += warp_size; head < 0 && at < limit; at += 4 * warp_size) {
      head = next_head<4>(at, limit);
    }
    return head < 0 && limit == input.size ? limit : head;
  }

  // The first head in `Rows` rows of items from `at` on and below `limit`; negative if there is
  // none.
  template <int Rows>
  __device__ __forceinline__ std::int64_t next_head(std::int64_t at, std::int64_t limit) const {
    bool is_head[Rows];
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
      const std::int64_t j = at + row * warp_size + lane();
      is_head[row] = j < limit && input.begins_run(j);
    }
    std::int64_t found = -1;
#pragma unroll
    for (int row = Rows - 1; row >= 0; --row) {
      const unsigned heads = __ballot_sync(full_warp, is_head[row]);
      if (heads != 0) found = at + row * warp_size + __ffs(static_cast<int>(heads)) - 1;
    }
    return found;
  }

  // As many runs from r on as the stage holds; returns the one after them, r if there are none.
  __device__ __forceinline__ int fetch_stretch(int r) {
    const int limit = start(r) + stage_type::capacity;
    int low = closed_;
    if (start(closed_) > limit) {
      low = r;
      for (int high = closed_; high - low > 1;) {
        const int middle = (low + high) / 2;
        (start(middle) <= limit ? low : high) = middle;
      }
    }
    if (low > r) memory.stage.fill(input.run(begin + start(r)), start(low) - start(r));
    return low;
  }

  // Longer runs get the whole warp each.
  static constexpr int longest_shared = 64;

  __device__ __forceinline__ void fold_stretch(int first, int last, std::int64_t rank) const {
    const int origin = start(first);
    const source_type source = input.run(begin + origin);
    const fold_type fold{memory.stage, source, reducer, 0};
    int longest = 0;
    bool any_long = false;
    for (int r = first + lane(); r < last; r += warp_size) {
      const int n = length(r);
      any_long |= n > longest_shared;
      if (n <= longest_shared) longest = detail::larger(longest, n);
    }
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      longest = detail::larger(longest, __shfl_xor_sync(full_warp, longest, mask));
    }
    if (longest > 0) fold_short(fold, first, last, origin, longest, rank);
    if (__any_sync(full_warp, any_long)) fold_long(fold, first, last, origin, rank);
  }

  // Several runs side by side.
  __device__ __forceinline__ void fold_short(const fold_type& fold, int first, int last, int origin,
                                             int longest, std::int64_t rank) const {
    const int bits = lane_bits_for(last - first, longest);
    const int lane_of_run = lane() & ((1 << bits) - 1);
    for (int round = first; round < last; round += warp_size >> bits) {
      const int r = round + (lane() >> bits);
      int n = r < last ? length(r) : 0;
      if (n > longest_shared) n = 0;
      const acc value = fold(n > 0 ? start(r) - origin : 0, n, lane_of_run, bits);
      if (n > 0 && lane_of_run == 0) keep(rank + r, value);
    }
  }

  // One after the other.
  __device__ __forceinline__ void fold_long(const fold_type& fold, int first, int last, int origin,
                                            std::int64_t rank) const {
    for (int round = first; round < last; round += warp_size) {
      const bool is_long = round + lane() < last && length(round + lane()) > longest_shared;
      for (unsigned left = __ballot_sync(full_warp, is_long); left != 0; left &= left - 1) {
        const int r = round + __ffs(static_cast<int>(left)) - 1;
        const acc value = fold(start(r) - origin, length(r), lane(), 5);
        if (lane() == 0) keep(rank + r, value);
      }
    }
  }

  // The binary logarithm of the lanes per run that take the fewest steps: about one per item of
  // the longest run, and some for each round of runs.
  __device__ __forceinline__ static int lane_bits_for(int runs, int longest) {
    int best = 0;
    int fewest = 1 << 30;
#pragma unroll
    for (int bits = 0; bits <= 5; ++bits) {
      const int rounds = ((runs << bits) + warp_size - 1) / warp_size;
      const int steps = rounds * ((longest >> bits) + 8 + bits);
      best = steps < fewest ? bits : best;
      fewest = detail::smaller(fewest, steps);
    }
    return best;
  }

  // A run that is longer than the stage, in aligned blocks.
  __device__ __forceinline__ void fold_alone(int r, std::int64_t rank) const {
    constexpr int block = 1 << tree::floor_log2(stage_type::capacity);
    const source_type run = input.run(begin + start(r));
    const int count = length(r);
    warp_stack<Reducer> stack(reducer);
    for (int done = 0; done < count; done += block) {
      const source_type part = detail::starting_at(run, done);
      const int items = detail::smaller(block, count - done);
      memory.stage.fill(part, items);
      staged::finish_stage<0>();
      stack.push(fold_type{memory.stage, part, reducer, done}(0, items, lane(), 5));
    }
    const acc value = stack.value();
    if (lane() == 0) keep(rank + r, value);
  }

  __device__ __forceinline__ void keep(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }

  const Input& input;
  const Reducer& reducer;
  const Init& init;
  const KeysOut& keys_out;
  const Out& out;
  warp_memory& memory;
  const std::int64_t begin;
  int runs_ = 0;
  int closed_ = 0;   // of them
  int fetched_ = 0;  // the run after those whose values are in the stage
};

template <class Build, class Input, class Reducer, class Init, class KeysOut, class Out,
          class CountOut>
__global__ void __launch_bounds__(by_key_nt, sizeof(typename Reducer::accumulator) > 8 ? 5 : 8)
    by_key_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out,
                  CountOut num_runs_out, run_tables tables) {
  using work_type = patch_work<Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  __shared__ run_count of_warp[by_key_warps];
  __shared__ run_count before_block;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  work_type work(input, reducer, init, keys_out, out, memory[warp].value,
                 (std::int64_t{blockIdx.x} * by_key_warps + warp) * patch_items);
  const run_count found = work.find();
  if (threadIdx.x % warp_size == 0) of_warp[warp] = found;
  work.fetch();
  __syncthreads();
  if (warp == 0) {
    run_count of_block = of_warp[0];
    for (int w = 1; w < by_key_warps; ++w) of_block = of_block.then(of_warp[w]);
    const run_count before = cuda::count_before(tables.states, of_block);
    if (threadIdx.x == 0) before_block = before;
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) {
      const run_count all = before.then(of_block);
      cuda::write(num_runs_out, all.runs);
      if (tables.num_open != nullptr) *tables.num_open = all.open;
      if (all.last_is_open) tables.ends[all.open - 1] = input.size;
    }
  }
  __syncthreads();
  run_count before = before_block;
  for (int w = 0; w < warp; ++w) before = before.then(of_warp[w]);
  work.write_keys(before, tables);
  work.fold(before.runs);
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

/// Where their values go: an output iterator that steps through ranks.
template <class Out>
struct ranked_output {
  using value_type = typename value_of_output<Out>::type;

  Out out;
  const std::int64_t* ranks;

  __device__ ranked_output operator+(std::int64_t i) const { return {out, ranks + i}; }
  __device__ decltype(auto) operator*() const { return *(out + *ranks); }
};

}  // namespace tilefold::detail::cuda
