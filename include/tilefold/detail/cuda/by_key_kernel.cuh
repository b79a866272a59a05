// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal neighbouring keys, found, counted and folded in one pass over keys and values. A
// warp looks for the runs that begin in its patch of keys and folds those that end within reach;
// longer ones it lists, open, for a forest. How many runs begin before a block it learns from the
// blocks before it, which the hardware has started earlier (decoupled look-back). Device code.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/cuda/staged_fold.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_stage.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/detail/keyed_items.hpp>

namespace tilefold::detail::cuda {

// A lane looks at four neighbouring keys at a time, and at the first of the four in 16 of a part.
inline constexpr int quad_items = 4;
inline constexpr int part_quads = 4;  // of each lane
inline constexpr int row_items = quad_items * warp_size;
inline constexpr int part_items = part_quads * row_items;
inline constexpr int patch_parts = 4;
inline constexpr int patch_items = patch_parts * part_items;
/// A run that does not end within so many items after the patch that it begins in is open.
inline constexpr int reach_items = 1024;
/// Items of an open run at least.
inline constexpr int least_open_items = reach_items + 1;

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

/// What a warp finds in the states of 128 blocks, each lane in those of four.
struct window_count {
  run_state::word counts;  // of the lane's blocks, up to the first that counts all before it
  bool has_runs;
  bool last_is_open;
  bool is_whole;  // whether there was such a one
  bool is_there;  // whether all of them were

  /// `nearest` is the block that the lane begins with, going down.
  __device__ __forceinline__ static window_count load(const run_state::word* states,
                                                      std::int64_t nearest) {
    window_count found{0, false, false, false, true};
    const run_state nothing(run_state::up_to_block, run_count{0, 0, false});
    run_state all[blocks]{nothing, nothing, nothing, nothing};
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
      if (nearest >= i) all[i] = run_state::load(states + nearest - i);
    }
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
      if (found.is_whole) break;
      found.is_there &= all[i].what() != run_state::absent;
      found.is_whole = all[i].what() == run_state::up_to_block;
      if (!found.has_runs) found.last_is_open = all[i].last_is_open();
      found.has_runs |= all[i].has_runs();
      found.counts += all[i].counts();
    }
    return found;
  }

  static constexpr int blocks = 4;
};

/// The counts of all blocks before this one, to whose states its own is added. One whole warp.
__device__ __forceinline__ run_count count_before(run_state::word* states, const run_count& mine) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t block = blockIdx.x;
  run_count before{0, 0, false};
  if (gridDim.x == 1) return before;
  if (block > 0) {
    if (lane == 0) run_state(run_state::of_block, mine).store(states + block);
    // The nearest blocks first; lane 0 looks at the nearest of each window.
    for (std::int64_t nearest = block - 1;; nearest -= warp_size * window_count::blocks) {
      window_count found;
      unsigned whole = 0;
      unsigned needed = 0;
      do {
        found = window_count::load(states, nearest - lane * window_count::blocks);
        whole = __ballot_sync(full_warp, found.is_whole && found.is_there);
        // Up to the first lane that knows all before it.
        needed = whole == 0 ? full_warp : whole ^ (whole - 1);
      } while ((__ballot_sync(full_warp, !found.is_there) & needed) != 0);
      const bool counts_here = (needed >> lane & 1) != 0;
      run_state::word counts = counts_here ? found.counts : 0;
      for (int mask = 1; mask < warp_size; mask *= 2) {
        counts += __shfl_xor_sync(full_warp, counts, mask);
      }
      const unsigned with_runs = __ballot_sync(full_warp, counts_here && found.has_runs);
      const unsigned open = __ballot_sync(full_warp, found.last_is_open);
      const bool is_open = (open & with_runs & (0 - with_runs)) != 0;
      before = run_state::count_of(counts, is_open).then(before);
      if (whole != 0) break;
    }
  }
  if (lane == 0) run_state(run_state::up_to_block, before.then(mine)).store(states + block);
  return before;
}

/// Four neighbouring keys that one lane loads at once, if `Keys` is a pointer to such as fit.
template <class Keys>
inline constexpr bool loads_key_quads = false;
template <class Key>
inline constexpr bool loads_key_quads<Key*> = std::is_trivially_copyable_v<Key> &&
                                              sizeof(Key) <= 8 && alignof(Key) == sizeof(Key);
template <class Key>
struct key_quad {
  Key key[quad_items];
};
template <class Key>
using key_packet = packet<static_cast<int>(sizeof(key_quad<Key>))>;

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
                        std::int64_t begin)
      : input(input),
        reducer(reducer),
        init(init),
        keys_out(keys_out),
        out(out),
        memory(memory),
        begin(begin) {}

  /// Finds the runs, and has the first values fetched that finish() needs.
  __device__ __forceinline__ run_count find() {
    if (begin >= input.size) return {0, 0, false};
    int runs = 0;
#pragma unroll
    for (int p = 0; p < patch_parts; ++p) {
      const std::int64_t first = begin + p * part_items;
      const bool inside = first > 0 && first + part_items <= input.size;
      const unsigned heads = inside ? heads_inside(first) : heads_at_an_edge(first);
      heads_ |= static_cast<unsigned long long>(heads) << (p * part_bits);
      runs += __popc(heads);
    }
    for (int mask = 1; mask < warp_size; mask *= 2) runs += __shfl_xor_sync(full_warp, runs, mask);
    if (runs == 0) return {0, 0, false};
    end_ = end_of_last_run();
    const bool open = end_ < 0;
    next_part();
    return {runs, open ? 1 : 0, open};
  }

  /// Writes keys and values of the runs, `before` all those of earlier patches; lists the last one
  /// if it is open.
  __device__ __forceinline__ void finish(const run_count& before, const run_count& mine,
                                         const run_tables& tables) {
    if (mine.runs == 0) return;
    std::int64_t rank = before.runs + mine.runs;
    do {
      rank -= runs_;
      for (int r = lane(); r < runs_; r += warp_size) {
        *(keys_out + (rank + r)) = input.key(part_begin() + start(r));
      }
      if (closed_ < runs_ && lane() == 0) {
        tables.begins[before.open] = part_begin() + start(closed_);
        tables.ranks[before.open] = rank + closed_;
      }
      fold(rank);
      end_ = part_ * part_items + start(0);
    } while (next_part());
    if (before.last_is_open && lane() == 0) tables.ends[before.open - 1] = begin + end_;
  }

 private:
  static constexpr int part_bits = quad_items * part_quads;

  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ __forceinline__ std::int64_t part_begin() const { return begin + part_ * part_items; }
  __device__ __forceinline__ int start(int r) const { return memory.starts[r]; }
  __device__ __forceinline__ int length(int r) const { return start(r + 1) - start(r); }

  // ---- heads: bit q * 4 + i tells of item i of the lane's quad in row q whether a run begins
  // there

  __device__ __forceinline__ unsigned heads_inside(std::int64_t first) const {
    if constexpr (loads_key_quads<std::remove_const_t<decltype(Input::keys)>>) {
      return heads_of_quads(first);
    } else {
      unsigned heads = 0;
      constexpr int at_once = sizeof(key_type) <= 8 ? part_quads : 1;
#pragma unroll at_once
      for (int q = 0; q < part_quads; ++q) {
#pragma unroll
        for (int i = 0; i < quad_items; ++i) {
          const bool is_head = input.begins_run(first + q * row_items + lane() * quad_items + i);
          heads |= static_cast<unsigned>(is_head) << (q * quad_items + i);
        }
      }
      return heads;
    }
  }

  __device__ __forceinline__ unsigned heads_at_an_edge(std::int64_t first) const {
    unsigned heads = 0;
#pragma unroll 1
    for (int bit = 0; bit < part_bits; ++bit) {
      const std::int64_t j =
          first + bit / quad_items * row_items + lane() * quad_items + bit % quad_items;
      const bool is_head = j == 0 || (j > 0 && j < input.size && input.begins_run(j));
      heads |= static_cast<unsigned>(is_head) << bit;
    }
    return heads;
  }

  // The key before a quad is the last one of the lane below, or of the last lane in the row before.
  __device__ __forceinline__ unsigned heads_of_quads(std::int64_t first) const {
    using quad = key_quad<key_type>;
    const auto* const rows =
        reinterpret_cast<const key_packet<key_type>*>(input.keys + first) + lane();
    key_packet<key_type> loaded[part_quads];
#pragma unroll
    for (int q = 0; q < part_quads; ++q) loaded[q] = rows[q * warp_size];
    const bool is_last = lane() == warp_size - 1;
    slot<key_type> before_part;
    if (is_last) before_part.put(input.key(first - 1));
    unsigned heads = 0;
#pragma unroll
    for (int q = 0; q < part_quads; ++q) {
      const quad keys = __builtin_bit_cast(quad, loaded[q]);
      const quad row_before = __builtin_bit_cast(quad, loaded[q == 0 ? 0 : q - 1]);
      const key_type& before_row = q == 0 ? before_part.value : row_before.key[quad_items - 1];
      const key_type before =
          shuffle_from<warp_size>(cuda::select(is_last, before_row, keys.key[quad_items - 1]),
                                  (lane() + warp_size - 1) % warp_size, full_warp);
#pragma unroll
      for (int i = 0; i < quad_items; ++i) {
        const key_type& left = i == 0 ? before : keys.key[i == 0 ? 0 : i - 1];
        const bool is_same = static_cast<bool>(input.equal(left, keys.key[i]));
        heads |= static_cast<unsigned>(!is_same) << (q * quad_items + i);
      }
    }
    return heads;
  }

  // From the patch's start; negative if the end is out of reach.
  __device__ __forceinline__ int end_of_last_run() const {
    std::int64_t at = begin + patch_items;
    const std::int64_t limit = detail::smaller(at + reach_items, input.size);
    std::int64_t head = next_head<1>(at, limit);
    for (at += warp_size; head < 0 && at < limit; at += 4 * warp_size) {
      head = next_head<4>(at, limit);
    }
    if (head < 0 && limit == input.size) head = limit;
    return head < 0 ? -1 : static_cast<int>(head - begin);
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

  // ---- parts

  // On to the part before with runs in it, if there is one. Its last run ends at end_, or is open.
  __device__ __forceinline__ bool next_part() {
    unsigned heads = 0;
    unsigned with_heads = 0;
    while (with_heads == 0 && part_ > 0) {
      --part_;
      heads = static_cast<unsigned>(heads_ >> (part_ * part_bits)) & ((1u << part_bits) - 1);
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
    fetched_ = closed_ > 0 ? fetch_stretch(0) : 0;
    return true;
  }

  // Returns how many runs begin in the part. Counts of four rows are added up side by side, a byte
  // each.
  __device__ __forceinline__ int list_starts(unsigned heads) const {
    unsigned mine = 0;
#pragma unroll
    for (int q = 0; q < part_quads; ++q) {
      mine |= static_cast<unsigned>(__popc(heads >> (q * quad_items) & 15)) << (q * 8);
    }
    unsigned up_to = mine;
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const unsigned received = __shfl_up_sync(full_warp, up_to, distance);
      if (lane() >= distance) up_to += received;
    }
    const unsigned totals = __shfl_sync(full_warp, up_to, warp_size - 1);
    const unsigned below = up_to - mine;
    int before_row = 0;
#pragma unroll
    for (int q = 0; q < part_quads; ++q) {
      int r = before_row + static_cast<int>(below >> (q * 8) & 255);
      const int first = q * row_items + lane() * quad_items;
      for (unsigned left = heads >> (q * quad_items) & 15; left != 0; left &= left - 1) {
        memory.starts[r++] = static_cast<unsigned short>(first + __ffs(static_cast<int>(left)) - 1);
      }
      before_row += static_cast<int>(totals >> (q * 8) & 255);
    }
    return before_row;
  }

  // ---- folds

  // Folds the runs of the part that are not open; the part's first has this rank.
  __device__ __forceinline__ void fold(std::int64_t rank) {
    for (int r = 0; r < closed_;) {
      if (r > 0) fetched_ = fetch_stretch(r);
      if (fetched_ == r) {
        fold_alone(r, rank);
        ++r;
      } else {
        cuda::finish_stage<0>();
        fold_stretch(r, fetched_, rank);
        r = fetched_;
      }
    }
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
    int longest = 0;
    for (int r = first + lane(); r < last; r += warp_size) {
      longest = detail::larger(longest, length(r));
    }
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      longest = detail::larger(longest, __shfl_xor_sync(full_warp, longest, mask));
    }
    if (longest <= packet) {
      for (int r = first + lane(); r < last; r += warp_size) {
        keep(rank + r, packet_of_items(source, start(r) - origin, length(r), 0));
      }
    } else if constexpr (by_packets) {
      for (int r = first; r < last; r += packet_runs) {
        fold_packets(source, r, detail::smaller(r + packet_runs, last), origin, longest, rank);
      }
    } else {
      fold_side_by_side(source, first, last, origin, longest, rank);
    }
  }

  // The tree of n <= 8 elements get(i).
  template <class Get>
  __device__ __forceinline__ acc packet_of(int n, const Get& get) const {
    const auto pair = [&](int i) { return reducer.combine(get(i), get(i + 1)); };
    const auto four = [&](int i) { return reducer.combine(pair(i), pair(i + 2)); };
    if (n == packet) return reducer.combine(four(0), four(4));
    const int rest = n & 4;
    slot<acc> value;
    if ((n & 2) != 0) {
      value.put(pair(rest));
      if ((n & 1) != 0) value.put(reducer.combine(value.value, get(rest + 2)));
    } else if ((n & 1) != 0) {
      value.put(get(rest));
    }
    if (rest == 0) return value.value;
    const acc left = four(0);
    return n == 4 ? left : reducer.combine(left, value.value);
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

  unsigned long long heads_ = 0;  // of all parts
  // The part whose runs are listed, how many they are, and how many of them are not open.
  int part_ = patch_parts;
  int runs_ = 0;
  int closed_ = 0;
  int fetched_ = 0;  // the run after those whose values are in the stage
  int end_ = 0;      // of the last run before the next part's, from the patch's start; or negative
};

/// The first patch begins with item `origin` <= 0, so that quads of keys lie aligned.
template <class Build, class Input, class Reducer, class Init, class KeysOut, class Out,
          class CountOut>
__global__ void __launch_bounds__(by_key_nt, sizeof(typename Reducer::accumulator) > 8 ? 5 : 6)
    by_key_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out,
                  CountOut num_runs_out, run_tables tables, std::int64_t origin) {
  using work_type = patch_work<Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  __shared__ run_count of_warp[by_key_warps];
  __shared__ run_count before_block;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  work_type work(input, reducer, init, keys_out, out, memory[warp].value,
                 origin + (std::int64_t{blockIdx.x} * by_key_warps + warp) * patch_items);
  const run_count found = work.find();
  if (threadIdx.x % warp_size == 0) of_warp[warp] = found;
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
  work.finish(before, found, tables);
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
