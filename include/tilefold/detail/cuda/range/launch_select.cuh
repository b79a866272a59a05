// SPDX-License-Identifier: Apache-2.0
//
// The fold of a reducer that keeps the best few elements (top_k, bottom_k). A warp has one list:
//
//     lane      0      1      2     3   ..  31       an element a lane, the best first
//     list     best   2nd    3rd   ...                lane Size - 1 holds the bound
//     tile     each lane compares the best of its vt items with the bound, and the warp votes:
//                no lane beats it    the next tile
//                a lane does         lanes offer their best items, then their second best...
//     block    here 8 warps: warps 4 to 7 store their lists, warps 0 to 3 merge them; then 2 and 3
//              store, 0 and 1 merge; then 1 stores, 0 merges
//     launch   a partial a block, which is a list; the last block to arrive merges all
//
// If every thread had a list, some thread of the warp would change its list at almost every item.
// The bound of a warp's list is beaten by next to no item once the warp has seen a few thousand. So
// a tile costs a comparison an item and a vote.
#pragma once

#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>

namespace tilefold::detail::cuda {

/// Few large blocks, since the last one merges the lists of all.
constexpr tile_policy select_policy_for(int bytes) { return policy_of(1024, 64, bytes); }
constexpr int min_resident_select_blocks(int nt) { return detail::larger(1024 / nt, 1); }

/// Candidates that a warp inserts one by one. Of more, sorting all lanes' elements is faster.
inline constexpr int most_inserted = 4;

/// The best elements that a warp has been given, best first, one a lane. It keeps 32, of which
/// `Size` count; `Order` says which of two is better. All lanes make every call.
template <class Element, int Size, class Order>
class warp_list {
 public:
  TILEFOLD_D bool is_full() const { return bound_.index != none().index; }
  /// The last element that counts, which others have to beat; of a list not full, worse than any.
  TILEFOLD_D const Element& bound() const { return bound_; }
  TILEFOLD_D bool takes(const Element& element) const { return Order::is_better(element, bound_); }

  /// Adds the elements of those lanes that offer one.
  TILEFOLD_D void add(const Element& element, bool offers) {
    const bool taken = offers & takes(element);
    unsigned left = __ballot_sync(full_warp, taken);
    if (__popc(left) > most_inserted) {
      merge(backwards(cuda::select(taken, element, none())));
    } else if (left != 0) {
#pragma unroll 1
      for (; left != 0; left &= left - 1) {
        insert(cuda::shuffle_from(element, __ffs(static_cast<int>(left)) - 1));
      }
      find_bound();
    }
  }

  /// Writes the elements that count to `items`.
  TILEFOLD_D void store(Element* items) const {
    if (lane() < Size) items[lane()] = mine_;
  }
  /// Adds the elements of a stored list.
  TILEFOLD_D void merge_stored(const Element* items) {
    const int opposite = warp_size - 1 - lane();
    const Element element = items[opposite < Size ? opposite : 0];
    merge(cuda::select(opposite < Size, element, none()));
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  TILEFOLD_D static Element none() { return Order::template none<Element>(); }

  // The better one of my element and that of the lane `step` away, or the other one.
  TILEFOLD_D static Element exchanged(const Element& mine, int step, bool better) {
    const Element other = cuda::shuffle_xor(mine, step);
    return cuda::select(Order::is_better(other, mine) == better, other, mine);
  }

  // The elements of all lanes in order, the worst first: a bitonic sort.
  TILEFOLD_D static Element backwards(Element element) {
#pragma unroll
    for (int size = 2; size <= warp_size; size *= 2) {
#pragma unroll
      for (int step = size / 2; step > 0; step /= 2) {
        element = exchanged(element, step, ((lane() & step) == 0) == ((lane() & size) != 0));
      }
    }
    return element;
  }

  // Adds another list, which is given backwards: the better element of each lane is among the best
  // of both lists, and a bitonic merge puts these in order.
  TILEFOLD_D void merge(const Element& opposite) {
    mine_ = cuda::select(Order::is_better(opposite, mine_), opposite, mine_);
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) {
      mine_ = exchanged(mine_, step, (lane() & step) == 0);
    }
    find_bound();
  }

  // All that are worse than the new one move a lane up.
  TILEFOLD_D void insert(const Element& added) {
    const unsigned behind = __ballot_sync(full_warp, Order::is_better(added, mine_));
    const int place = warp_size - __popc(behind);
    const Element before = cuda::shuffle_from(mine_, lane() - 1);
    mine_ = cuda::select(lane() > place, before, cuda::select(lane() == place, added, mine_));
  }

  TILEFOLD_D void find_bound() { bound_ = cuda::shuffle_from(mine_, Size - 1); }

  Element mine_ = none();
  Element bound_ = none();
};

/// One warp's part of the tiles of its block. `Elements` lifts an item to an element of the lists.
template <tile_policy Policy, int Size, class Source, class Elements>
class select_fold {
  using element = typename Elements::accumulator;
  using ranking = typename element::ranking;
  using key = typename ranking::key;
  static constexpr int width = packet_width_of<Policy.vt>(static_cast<const Source*>(nullptr));
  static constexpr int stripes = Policy.vt / width;
  using stripes_type = lane_stripes<Source, stripes, width>;

 public:
  using list_type = warp_list<element, Size, decltype(Elements::reducer)>;

  /// The list of this warp after all n >= 1 items.
  TILEFOLD_D static list_type fold(const Source& source, const Elements& elements, std::int64_t n) {
    select_fold mine{source, elements};
    const std::int64_t overread = stripes_type::overreads(source) ? width : 0;
    const std::int64_t tiles = n < overread ? 0 : (n - overread) / Policy.tile();
#pragma unroll 1
    for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) mine.add_tile(t * Policy.tile());
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll 1
    for (std::int64_t warp_first = tiles * Policy.tile() + std::int64_t{blockIdx.x} * blockDim.x +
                                   static_cast<int>(threadIdx.x) - lane;
         warp_first < n; warp_first += step) {
      const bool exists = warp_first + lane < n;
      mine.list_.add(source.lift(elements, exists ? warp_first + lane : warp_first), exists);
    }
    return mine.list_;
  }

 private:
  TILEFOLD_D select_fold(const Source& source, const Elements& elements)
      : elements_(elements), source_(source) {}

  // Elements in the list have lower indices, so an item equal to the bound does not beat it.
  TILEFOLD_D void add_tile(std::int64_t tile_first) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t first = tile_first + warp * (warp_size * Policy.vt) + lane * width;
    stripes_type loaded;
    loaded.load_all(source_, first);
    key best = key_of(loaded, 0);
#pragma unroll
    for (int i = 1; i < Policy.vt; ++i) {
      const key k = key_of(loaded, i);
      best = ranking::before(k, best) ? k : best;
    }
    const bool found = !list_.is_full() || ranking::before(best, list_.bound().key);
    if (__any_sync(full_warp, found)) add_best(loaded, first);
  }

  TILEFOLD_D key key_of(const stripes_type& loaded, int i) const {
    return loaded.lift(elements_, i / width, i % width).key;
  }

  // Each lane offers its best item, then its second best...: so few items are inserted in vain.
  TILEFOLD_D void add_best(const stripes_type& loaded, std::int64_t first) {
    using set = std::conditional_t<(Policy.vt > 32), std::uint64_t, std::uint32_t>;
    set left = ~set{0};
#pragma unroll 1
    for (;;) {
      key best = ranking::last_key;
      int place = -1;
      int candidates = 0;
      // From the last item on, so that of equal keys the first item is kept.
#pragma unroll
      for (int i = Policy.vt - 1; i >= 0; --i) {
        const key k = key_of(loaded, i);
        const bool is_left = (left >> i & 1) != 0;
        if (is_left & !ranking::before(list_.bound().key, k)) ++candidates;
        const bool is_best = is_left & !ranking::before(best, k);
        best = is_best ? k : best;
        place = is_best ? i : place;
      }
      const std::int64_t at = first + place / width * (warp_size * width) + place % width;
      const element offered{best, cuda::index_of(source_, at)};
      const bool offers = (place >= 0) & list_.takes(offered);
      list_.add(offered, offers);
      if (!__any_sync(full_warp, offers & (candidates > 1))) return;
      left &= ~(set{offers} << (place & (Policy.vt - 1)));
    }
  }

  const Elements& elements_;
  const Source& source_;
  list_type list_;
};

/// The list of all warps of a block, in its first one. `lists` is shared memory for as many lists
/// as half of the warps, and free again afterwards.
template <class Acc, class List>
TILEFOLD_D void merge_warps(List& list, slot<Acc>* lists) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
#pragma unroll 1
  for (int half = static_cast<int>(blockDim.x) / warp_size / 2; half > 0; half /= 2) {
    if (warp >= half && warp < 2 * half) list.store(lists[warp - half].value.item);
    __syncthreads();
    if (warp < half) list.merge_stored(lists[warp].value.item);
    __syncthreads();
  }
}

/// The fold of n >= 1 items. `Elements` lifts an item to one element of Reducer's accumulators.
/// More than one block need memory for a partial each and an arrival counter. Blocks have a power
/// of two of warps, Nt threads where n is a tile or more.
template <class Build, int Nt, int Vt, class Source, class Reducer, class Elements, class Init,
          class Out>
__global__ void __launch_bounds__(Nt, min_resident_select_blocks(Nt))
    select_kernel(Source source, Reducer reducer, Elements elements, Init init, Out out,
                  std::int64_t n, scratch<typename Reducer::accumulator> memory) {
  using acc = typename Reducer::accumulator;
  constexpr int warps = Nt / warp_size;
  __shared__ slot<acc> lists[detail::larger(warps / 2, 1)];
  __shared__ bool completed;
  cuda::wait_for_previous_launch();
  const unsigned warp = threadIdx.x / warp_size;
  auto list =
      select_fold<tile_policy{Nt, Vt}, acc::size, Source, Elements>::fold(source, elements, n);
  cuda::merge_warps(list, lists);
  if (gridDim.x > 1) {
    if (warp == 0) list.store(memory.partials[blockIdx.x].item);
    __syncwarp();
    if (!cuda::arrive(memory.arrivals, 1, gridDim.x, completed)) return;
    decltype(list) all;
#pragma unroll 1
    for (unsigned b = warp; b < gridDim.x; b += warps) all.merge_stored(memory.partials[b].item);
    cuda::merge_warps(all, lists);
    list = all;
  }
  if (warp != 0) return;
  list.store(lists[0].value.item);
  __syncwarp();
  if (threadIdx.x == 0) cuda::write(out, detail::finish(reducer, init, lists[0].value));
}

/// Launches the fold of a range by lists, in at most `most_blocks` blocks.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class WorkspaceFor>
void launch_select(const range_job<Source, Reducer, Init, Out>& job, std::int64_t most_blocks,
                   const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  using elements = closed_reducer<decltype(job.reducer.of_one())>;
  static known_kernel known;
  const auto kernel = known.on(job.gpu,
                               &select_kernel<Build, Policy.nt, Policy.vt, Source,
                                              closed_reducer<Reducer>, elements, Init, Out>,
                               "select_kernel", Policy.nt, starts::early);
  const std::int64_t blocks =
      kernel.most(detail::smaller(most_blocks, tree::num_blocks(job.n, Policy.tile())));
  scratch<acc> memory{};
  if (blocks > 1) {
    memory = scratch_in<acc>(
        workspace_for({blocks * static_cast<std::int64_t>(sizeof(acc)), arrival_bytes}));
  }
  // No more warps than there are stripes for.
  const int nt = job.n < Policy.nt ? threads_for(job.n, 1) : Policy.nt;
  kernel.launch(grid_shape{blocks, nt}, job.stream, job.source, job.reducer,
                elements{job.reducer.of_one(), {0u}}, job.init, job.out, job.n, memory);
}

template <class Reducer>
struct select_launch {
  template <class Build, class Policy, class Source, class Init, class Out, class WorkspaceFor>
  static void run(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
    constexpr int bytes = item_bytes<Source>;
    if constexpr (std::is_same_v<Policy, default_policy>) {
      constexpr tile_policy tiles = policy_for(bytes, sizeof(typename Reducer::accumulator));
      // No more blocks than there is workspace for by default.
      const std::int64_t most =
          job.n <= short_policy_for(bytes).tile()
              ? 1
              : detail::smaller(most_short_blocks, tree::num_blocks(job.n, tiles.tile()));
      cuda::launch_select<Build, select_policy_for(bytes)>(job, most, workspace_for);
    } else {
      constexpr tile_policy policy{Policy::value.nt, detail::smaller(Policy::value.vt, 64)};
      cuda::launch_select<Build, policy>(job, job.n, workspace_for);
    }
  }
};

}  // namespace tilefold::detail::cuda
