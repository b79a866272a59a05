// SPDX-License-Identifier: Apache-2.0
//
// Folds runs of equal neighbouring keys whose heads are known (key_heads.cuh). A warp folds those
// that begin in its patch of items and end within reach; longer ones are listed, open, for a forest
// by who comes to their ends. Device code.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/cuda/key_heads.cuh>
#include <tilefold/detail/cuda/staged_fold.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_stage.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/detail/keyed_items.hpp>

namespace tilefold::detail::cuda {

/// What a lane knows of a patch.
struct patch_heads {
  head_bits mine;
  unsigned reach;  // of the reach_items after it
};
static_assert(reach_items == 2 * part_items && 2 * part_bits == 32);

/// Values of the first level of trees, as a stage that holds accumulators.
template <class Acc, int Capacity>
struct node_stage {
  static constexpr int capacity = Capacity;

  const Acc* nodes;

  template <class Reducer, class Source>
  __device__ __forceinline__ const Acc& lift(const Reducer&, const Source&, int i,
                                             std::int64_t) const {
    return nodes[i];
  }
};

/// One warp's work: the runs that begin in one patch, part by part, the last part first.
template <class Input, class Reducer, class Init, class KeysOut, class Out>
class patch_work {
  using key_type = typename Input::key_type;
  using acc = typename Reducer::accumulator;
  using source_type = typename Input::source_type;
  using stage_type = warp_stage<source_type, stage_capacity<source_type>()>;
  using fold_type = staged_fold<stage_type, source_type, Reducer>;

  // Small accumulators are folded packet by packet, whatever run a packet belongs to. There is room
  // for the packets of so many runs.
  static constexpr bool by_packets = sizeof(acc) <= 8;
  static constexpr int packet = 8;
  static constexpr int packet_runs = 128;
  static constexpr int most_packets = stage_type::capacity / packet + packet_runs;
  struct packet_memory {
    slot<acc> nodes[most_packets];
    unsigned short ends[packet_runs];
  };
  struct nothing {};

 public:
  struct warp_memory {
    stage_type stage;
    std::conditional_t<by_packets, packet_memory, nothing> packets;
    // Of the runs that begin in the part, and then the end of the last one; from the part's start.
    unsigned short starts[part_items + 1];
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

  /// Writes keys and values of the runs, of which there are `runs` >= 1, and `before` in earlier
  /// patches.
  __device__ __forceinline__ void fold_all(std::int64_t before, int runs) {
    std::int64_t rank = before + runs;
    end_ = end_of_last_run();
    while (next_part()) {
      rank -= runs_;
      fold_part(rank);
      end_ = part_ * part_items + start(0);
    }
  }

  /// The first head of the patch; after fold_all().
  __device__ __forceinline__ std::int64_t first_head() const { return begin + end_; }

 private:
  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ __forceinline__ std::int64_t part_begin() const { return begin + part_ * part_items; }
  __device__ __forceinline__ int start(int r) const { return memory.starts[r]; }
  __device__ __forceinline__ int length(int r) const { return start(r + 1) - start(r); }

  // From the patch's start; negative if the end is out of reach.
  __device__ __forceinline__ int end_of_last_run() const {
    const int here = heads_.reach == 0
                         ? reach_items
                         : cuda::item_of_bit(__ffs(static_cast<int>(heads_.reach)) - 1);
    int first = here;
    for (int mask = 1; mask < warp_size; mask *= 2) {
      first = detail::smaller(first, __shfl_xor_sync(full_warp, first, mask));
    }
    const std::int64_t left = input.size - (begin + patch_items);
    if (left < first) first = static_cast<int>(left);
    return first < reach_items ? patch_items + first : -1;
  }

  // ---- parts

  // On to the part before with runs in it, if there is one. Its last run ends at end_, or is open.
  __device__ __forceinline__ bool next_part() {
    unsigned heads = 0;
    unsigned with_heads = 0;
    while (with_heads == 0 && part_ > 0) {
      --part_;
      heads = static_cast<unsigned>(heads_.mine >> (part_ * part_bits)) & ((1u << part_bits) - 1);
      with_heads = __ballot_sync(full_warp, heads != 0);
    }
    if (with_heads == 0) return false;
    __syncwarp();  // everyone has read what was there
    runs_ = list_starts(heads);
    closed_ = end_ < 0 ? runs_ - 1 : runs_;
    if (closed_ == runs_ && lane() == 0) {
      memory.starts[runs_] = static_cast<unsigned short>(end_ - part_ * part_items);
    }
    __syncwarp();
    short_ = are_short(heads) && (closed_ < runs_ || length(runs_ - 1) <= packet);
    return true;
  }

  // Returns how many runs begin in the part.
  __device__ __forceinline__ int list_starts(unsigned heads) const {
    const int mine = __popc(heads);
    int up_to = mine;
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const int received = __shfl_up_sync(full_warp, up_to, distance);
      if (lane() >= distance) up_to += received;
    }
    unsigned short* next = memory.starts + (up_to - mine);
    for (unsigned left = heads; left != 0; left &= left - 1) {
      *next++ = static_cast<unsigned short>(lane() * part_bits + __ffs(static_cast<int>(left)) - 1);
    }
    return __shfl_sync(full_warp, up_to, warp_size - 1);
  }

  // Whether it is easily seen that no run of the part has more than a packet's items: each item has
  // a head among the last eight.
  __device__ __forceinline__ bool are_short(unsigned heads) const {
    const unsigned below = __shfl_up_sync(full_warp, heads, 1);
    unsigned near = heads << part_bits | (lane() == 0 ? 0xffffu : below);
    static_assert(packet == 8 && part_bits == 16);
#pragma unroll
    for (int step = 1; step < packet; step *= 2) near |= near << step;
    return __all_sync(full_warp, near >> part_bits == 0xffffu);
  }

  // ---- keys

  // Those of the part's runs. A lane has several on their way.
  __device__ __forceinline__ void write_keys(std::int64_t rank) const {
    constexpr int at_once = sizeof(key_type) <= 8 ? 4 : 1;
    for (int first = lane(); first < runs_; first += at_once * warp_size) {
      slot<key_type> keys[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int r = detail::smaller(first + k * warp_size, runs_ - 1);
        keys[k].put(input.key(part_begin() + start(r)));
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int r = first + k * warp_size;
        if (r < runs_) *(keys_out + (rank + r)) = keys[k].value;
      }
    }
  }

  // ---- folds

  // The part's first run has this rank. Keys are written while values are on their way.
  __device__ __forceinline__ void fold_part(std::int64_t rank) {
    int r = 0;
    do {
      const int fetched = fetch_stretch(r);
      if (r == 0) write_keys(rank);
      if (fetched > r) {
        cuda::finish_stage<0>();
        fold_stretch(r, fetched, rank);
        r = fetched;
      } else if (r < closed_) {
        fold_alone(r, rank);
        ++r;
      }
    } while (r < closed_);
  }

  // As many runs from r on as the stage holds; returns the one after them, r if there are none.
  __device__ __forceinline__ int fetch_stretch(int r) const {
    const int limit = start(r) + stage_type::capacity;
    int low = closed_;
    if (start(closed_) > limit) {
      low = r;
      for (int high = closed_; high - low > 1;) {
        const int middle = (low + high) / 2;
        (start(middle) <= limit ? low : high) = middle;
      }
    }
    if (low > r) memory.stage.fill(input.run(part_begin() + start(r)), start(low) - start(r));
    return low;
  }

  __device__ __forceinline__ void fold_stretch(int first, int last, std::int64_t rank) const {
    const int origin = start(first);
    const source_type source = input.run(part_begin() + origin);
    if (short_) {
      for (int r = first + lane(); r < last; r += warp_size) {
        keep(rank + r, packet_of_items(source, start(r) - origin, length(r), 0));
      }
      return;
    }
    int longest = 0;
    for (int r = first + lane(); r < last; r += warp_size) {
      longest = detail::larger(longest, length(r));
    }
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      longest = detail::larger(longest, __shfl_xor_sync(full_warp, longest, mask));
    }
    if constexpr (by_packets) {
      for (int r = first; r < last; r += packet_runs) {
        fold_packets(source, r, detail::smaller(r + packet_runs, last), origin, longest, rank);
      }
    } else {
      fold_side_by_side(source, first, last, origin, longest, rank);
    }
  }

  // The tree of n <= 4 elements get(i), get(i + 1)...
  template <class Get>
  __device__ __forceinline__ acc few_of(int i, int n, const Get& get) const {
    slot<acc> value;
    value.put(get(i));
    if (n > 1) value.put(reducer.combine(value.value, get(i + 1)));
    if (n > 2) {
      slot<acc> right;
      right.put(get(i + 2));
      if (n > 3) right.put(reducer.combine(right.value, get(i + 3)));
      value.put(reducer.combine(value.value, right.value));
    }
    return value.value;
  }

  // The tree of n <= 8 elements get(0), get(1)...
  template <class Get>
  __device__ __forceinline__ acc packet_of(int n, const Get& get) const {
    const auto pair = [&](int i) { return reducer.combine(get(i), get(i + 1)); };
    const auto four = [&](int i) { return reducer.combine(pair(i), pair(i + 2)); };
    if (n == packet) return reducer.combine(four(0), four(4));
    const acc left = few_of(0, n, get);
    return n <= 4 ? left : reducer.combine(left, few_of(4, n - 4, get));
  }

  // Of staged items from `at` on, of which the first is number `index` in its run.
  __device__ __forceinline__ acc packet_of_items(const source_type& source, int at, int n,
                                                 std::int64_t index) const {
    return packet_of(n,
                     [&](int i) { return memory.stage.lift(reducer, source, at + i, index + i); });
  }

  // Runs [first, last), at most packet_runs: all packets of eight items side by side, and then of
  // each run its packets.
  __device__ __forceinline__ void fold_packets(const source_type& source, int first, int last,
                                               int origin, int longest, std::int64_t rank) const {
    auto& packets = memory.packets;
    const int count = list_packets(first, last);
    for (int q = lane(); q < count; q += warp_size) {
      const int r = run_of_packet(q, last - first);
      const int begin_of_run = start(first + r);
      const int n = start(first + r + 1) - begin_of_run;
      const int done = (q - first_packet(r)) * packet;
      const acc value = packet_of_items(source, begin_of_run - origin + done,
                                        detail::smaller(n - done, packet), done);
      if (n <= packet) {
        keep(rank + first + r, value);
      } else {
        packets.nodes[q].put(value);
      }
    }
    __syncwarp();
    for (int r = first + lane(); r < last; r += warp_size) {
      const int n = length(r);
      if (n <= packet || n > packet * packet) continue;
      const auto* const nodes = packets.nodes + first_packet(r - first);
      keep(rank + r,
           packet_of((n + packet - 1) / packet, [&](int i) { return acc(nodes[i].value); }));
    }
    if (longest > packet * packet) {
      for (int r = first; r < last; ++r) {
        if (length(r) > packet * packet) fold_nodes(r, first, rank);
      }
    }
    __syncwarp();  // nodes are free again
  }

  // The packets of run r, by all lanes.
  __device__ __forceinline__ void fold_nodes(int r, int first, std::int64_t rank) const {
    using stage = node_stage<acc, most_packets>;
    using nodes_reducer = partials_reducer<Reducer>;
    const stage nodes{&memory.packets.nodes[0].value};
    const int begin_of_run = first_packet(r - first);
    const acc value =
        staged_fold<stage, nothing, nodes_reducer>{nodes, nothing{}, nodes_reducer{reducer}, 0}(
            begin_of_run, memory.packets.ends[r - first] - begin_of_run, lane(), 5);
    if (lane() == 0) keep(rank + r, value);
  }

  // Says of every run of [first, last) how many packets there are up to its end; returns the last.
  __device__ __forceinline__ int list_packets(int first, int last) const {
    int before = 0;
    for (int round = first; round < last; round += warp_size) {
      const int r = round + lane();
      int up_to = r < last ? (length(r) + packet - 1) / packet : 0;
#pragma unroll
      for (int distance = 1; distance < warp_size; distance *= 2) {
        const int received = __shfl_up_sync(full_warp, up_to, distance);
        if (lane() >= distance) up_to += received;
      }
      up_to += before;
      if (r < last) memory.packets.ends[r - first] = static_cast<unsigned short>(up_to);
      before = __shfl_sync(full_warp, up_to, warp_size - 1);
    }
    __syncwarp();
    return before;
  }

  __device__ __forceinline__ int first_packet(int r) const {
    return r == 0 ? 0 : memory.packets.ends[r - 1];
  }

  // The first of `runs` runs whose packets end beyond q.
  __device__ __forceinline__ int run_of_packet(int q, int runs) const {
    int low = 0;
    for (int high = runs - 1; low < high;) {
      const int middle = (low + high) / 2;
      if (memory.packets.ends[middle] > q) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // Large accumulators: several runs side by side, and those that are longer than this one after
  // the other.
  static constexpr int longest_shared = 64;

  __device__ __forceinline__ void fold_side_by_side(const source_type& source, int first, int last,
                                                    int origin, int longest,
                                                    std::int64_t rank) const {
    const fold_type fold{memory.stage, source, reducer, 0};
    const int bits = lane_bits_for(last - first, detail::smaller(longest, longest_shared));
    const int lane_of_run = lane() & ((1 << bits) - 1);
    for (int round = first; round < last; round += warp_size >> bits) {
      const int r = round + (lane() >> bits);
      int n = r < last ? length(r) : 0;
      if (n > longest_shared) n = 0;
      const acc value = fold(n > 0 ? start(r) - origin : 0, n, lane_of_run, bits);
      if (n > 0 && lane_of_run == 0) keep(rank + r, value);
    }
    if (longest <= longest_shared) return;
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
    const source_type run = input.run(part_begin() + start(r));
    const int count = length(r);
    warp_stack<Reducer> stack(reducer);
    for (int done = 0; done < count; done += block) {
      const source_type part = detail::starting_at(run, done);
      const int items = detail::smaller(block, count - done);
      memory.stage.fill(part, items);
      cuda::finish_stage<0>();
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

  const patch_heads heads_;
  // The part whose runs are listed, how many they are, and how many of them are not open.
  int part_ = patch_parts;
  int runs_ = 0;
  int closed_ = 0;
  bool short_ = false;  // none of those has more than a packet's items
  int end_ = 0;  // of the last run before the next part's, from the patch's start; or negative
};

/// The heads of patch `patch` of tables with a word for each lane of `num` patches.
__device__ __forceinline__ patch_heads load_heads(const head_bits* heads, std::int64_t patch,
                                                  std::int64_t num) {
  const head_bits* const mine = heads + patch * warp_size + lane_of_thread();
  return {patch < num ? mine[0] : 0, patch + 1 < num ? static_cast<unsigned>(mine[warp_size]) : 0u};
}

/// Warps share the patches of a range whose heads stand in `tables`.
template <class Build, class Input, class Reducer, class Init, class KeysOut, class Out>
__global__ void __launch_bounds__(by_key_nt, sizeof(typename Reducer::accumulator) > 8 ? 5 : 6)
    runs_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out,
                run_tables tables) {
  using work_type = patch_work<Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  cuda::wait_for_previous_launch();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t step = std::int64_t{gridDim.x} * by_key_warps;
  std::int64_t patch = std::int64_t{blockIdx.x} * by_key_warps + warp;
  patch_heads next = cuda::load_heads(tables.heads, patch, tables.num_patches);
  for (; patch < tables.num_patches; patch += step) {
    const patch_heads heads = next;
    next = cuda::load_heads(tables.heads, patch + step, tables.num_patches);
    if (__all_sync(full_warp, heads.mine == 0)) continue;
    const head_count before = tables.before(patch);
    work_type work(input, reducer, init, keys_out, out, memory[warp].value, tables.begin(patch),
                   heads);
    work.fold_all(before.runs, count_heads(heads.mine).runs);
    if (lane_of_thread() == 0) {
      tables.list_if_open(before, work.first_head(), [&] {
        return atomicAdd(reinterpret_cast<unsigned long long*>(tables.num_open), 1ull);
      });
    }
  }
}

/// One block finds and folds all runs of a range in which none can be open.
template <class Build, class Input, class Reducer, class Init, class KeysOut, class Out,
          class CountOut>
__global__ void __launch_bounds__(by_key_nt, sizeof(typename Reducer::accumulator) > 8 ? 5 : 6)
    short_runs_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out,
                      CountOut num_runs_out, std::int64_t origin) {
  using work_type = patch_work<Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  __shared__ head_bits heads[by_key_warps * warp_size];
  __shared__ int runs_of_warp[by_key_warps];
  cuda::wait_for_previous_launch();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t begin = origin + warp * patch_items;
  heads[threadIdx.x] = head_finder<Input>{input}.of_patch(begin);
  __syncthreads();
  const patch_heads mine = cuda::load_heads(heads, warp, by_key_warps);
  const int runs = cuda::count_heads(mine.mine).runs;
  if (lane_of_thread() == 0) runs_of_warp[warp] = runs;
  work_type work(input, reducer, init, keys_out, out, memory[warp].value, begin, mine);
  __syncthreads();
  std::int64_t before = 0;
  for (int w = 0; w < warp; ++w) before += runs_of_warp[w];
  if (runs > 0) work.fold_all(before, runs);
  if (threadIdx.x + 1 == by_key_nt) cuda::write(num_runs_out, before + runs);
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
