// SPDX-License-Identifier: Apache-2.0
//
// How the host executor runs with the library tilefold::host: aligned blocks of the range are
// folded by several threads, with vector instructions where simd.hpp has a fold for them, and their
// values once more by the calling thread. Only programs that link the library may use it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/gathered.hpp>
#include <tilefold/detail/host/moments.hpp>
#include <tilefold/detail/host/places.hpp>
#include <tilefold/detail/host/serial.hpp>
#include <tilefold/detail/host/short_trees.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

/// Memory for the values of blocks of one fold at a time. (Standard containers would do; their
/// headers would make up a good part of the time to compile a reduction.)
class block_room {
 public:
  block_room() = default;
  ~block_room() { release(); }
  block_room(const block_room&) = delete;
  block_room& operator=(const block_room&) = delete;

  /// Makes sure of room for `count` Slots. Where results are written between folds it is called
  /// before the first of them, so that none is written if there is no memory.
  template <class Slot>
  Slot* reserve(std::int64_t count) {
    const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(Slot);
    static_assert(alignof(Slot) <= alignment);
    if (wanted > bytes_) {
      release();
      memory_ = ::operator new(wanted, std::align_val_t{alignment});
      bytes_ = wanted;
    }
    return static_cast<Slot*>(memory_);
  }

 private:
  static constexpr std::size_t alignment = 64;

  void release() {
    if (memory_ != nullptr) ::operator delete(memory_, std::align_val_t{alignment});
    memory_ = nullptr;
    bytes_ = 0;
  }

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The values of blocks, which threads make in any order.
template <class T>
class block_values {
 public:
  block_values(block_room& room, std::int64_t count)
      : slots_(room.reserve<slot>(count)), count_(count) {
    for (std::int64_t i = 0; i < count; ++i) ::new (static_cast<void*>(slots_ + i)) slot;
  }
  ~block_values() {
    for (std::int64_t i = 0; i < count_; ++i) slots_[i].~slot();
  }
  block_values(const block_values&) = delete;
  block_values& operator=(const block_values&) = delete;

  /// Before the first values are made.
  static void reserve(block_room& room, std::int64_t count) { room.reserve<slot>(count); }

  void make(std::int64_t i, T value) const {
    ::new (static_cast<void*>(__builtin_addressof(slots_[i].value))) T(std::move(value));
    slots_[i].made = true;
  }

  const T& operator[](std::int64_t i) const { return slots_[i].value; }

  /// The neighbour tree over the first `count` values, count >= 1, which it uses up: level by
  /// level, in their place. (The fold of items is faster for each; values are few, and every
  /// reduction would compile it once more for them.)
  template <class Reducer>
  T fold(const Reducer& reducer, std::int64_t count) const {
    const closed_steps<Reducer> steps{reducer};
    for (; count > 1; count = (count + 1) / 2) {
      for (std::int64_t i = 0; i < count / 2; ++i) {
        detail::replace(slots_[i].value,
                        steps.combine(slots_[2 * i].value, slots_[2 * i + 1].value));
      }
      if (count % 2 != 0) {
        detail::replace(slots_[count / 2].value, std::move(slots_[count - 1].value));
      }
    }
    return std::move(slots_[0].value);
  }

 private:
  struct slot {
    slot() {}
    ~slot() {
      if (made) value.~T();
    }
    bool made = false;
    union {
      T value;
    };
  };

  slot* slots_;
  std::int64_t count_;
};

/// Some of at most 4096 blocks, which any thread may name.
class block_set {
 public:
  static constexpr std::int64_t most = 4096;

  void add(std::int64_t i) {
    words_[i / 64].fetch_or(std::uint64_t{1} << (i % 64), std::memory_order_relaxed);
  }
  bool has(std::int64_t i) const {
    return (words_[i / 64].load(std::memory_order_relaxed) >> (i % 64) & 1) != 0;
  }

 private:
  std::atomic<std::uint64_t> words_[most / 64]{};
};

/// Where runs of equal keys begin, a bit for each item, so that keys are compared once: found in
/// chunks by several threads, then walked through in chunks again.
class run_heads {
 public:
  static constexpr std::int64_t bits = 64;

  /// For n >= 1 items in chunks of `chunk`, a multiple of `bits`.
  run_heads(std::int64_t n, std::int64_t chunk)
      : size_(n),
        chunk_(chunk),
        words_(new std::uint64_t[static_cast<std::size_t>(tree::num_blocks(n, bits))]),
        chunks_(new chunk_runs[static_cast<std::size_t>(num_chunks())]) {}

  std::int64_t num_chunks() const { return tree::num_blocks(size_, chunk_); }

  /// Finds the heads of chunk c; begins_run(j) tells of j >= 1.
  template <class BeginsRun>
  void find(std::int64_t c, const BeginsRun& begins_run) {
    const std::int64_t end = end_of(c);
    chunk_runs found{0, 0, 0};
    for (std::int64_t first = c * chunk_; first < end; first += bits) {
      const std::uint64_t word =
          word_at(first, end - first < bits ? end - first : bits, begins_run);
      words_[static_cast<std::size_t>(first / bits)] = word;
      if (found.runs == 0 && word != 0) found.first = first + std::countr_zero(word);
      found.runs += std::popcount(word);
    }
    chunks_[static_cast<std::size_t>(c)] = found;
  }

  /// Once all chunks are done: how many runs there are; says of each chunk how many begin before it
  /// and where the first after it does.
  std::int64_t count() {
    std::int64_t runs = 0;
    for (std::int64_t c = 0; c < num_chunks(); ++c) {
      chunks_[static_cast<std::size_t>(c)].before = runs;
      runs += chunks_[static_cast<std::size_t>(c)].runs;
    }
    std::int64_t next = size_;
    for (std::int64_t c = num_chunks() - 1; c >= 0; --c) {
      const std::int64_t first = chunks_[static_cast<std::size_t>(c)].first;
      chunks_[static_cast<std::size_t>(c)].first = next;
      if (chunks_[static_cast<std::size_t>(c)].runs > 0) next = first;
    }
    return runs;
  }

  /// Then: how many runs begin in chunk c, and the number of the first of them.
  std::int64_t runs(std::int64_t c) const { return chunks_[static_cast<std::size_t>(c)].runs; }
  std::int64_t first_run(std::int64_t c) const {
    return chunks_[static_cast<std::size_t>(c)].before;
  }

  /// Then: calls visit(run, begin, end) for every run that begins in chunk c.
  template <class Visit>
  void visit(std::int64_t c, const Visit& visit) const {
    std::int64_t run = first_run(c);
    std::int64_t begin = -1;
    for (std::int64_t first = c * chunk_; first < end_of(c); first += bits) {
      for (std::uint64_t left = words_[static_cast<std::size_t>(first / bits)]; left != 0;
           left &= left - 1) {
        const std::int64_t head = first + std::countr_zero(left);
        if (begin >= 0) visit(run++, begin, head);
        begin = head;
      }
    }
    if (begin >= 0) visit(run, begin, chunks_[static_cast<std::size_t>(c)].first);
  }

 private:
  struct chunk_runs {
    std::int64_t runs;
    std::int64_t first;   // head in the chunk; after count(), beyond it
    std::int64_t before;  // runs
  };

  // The heads among `count` items from `first` on. Bytes first, which compilers make in vectors.
  template <class BeginsRun>
  static std::uint64_t word_at(std::int64_t first, std::int64_t count,
                               const BeginsRun& begins_run) {
    std::uint8_t is_head[bits] = {};
    if (first > 0 && count == bits) {
      for (int k = 0; k < bits; ++k) is_head[k] = begins_run(first + k);
    } else {
      for (int k = 0; k < count; ++k) is_head[k] = first + k == 0 || begins_run(first + k);
    }
    std::uint64_t word = 0;
    for (int byte = 0; byte < 8; ++byte) {
      // Eight bytes of 0 or 1, the first of them lowest, meet in the uppermost byte.
      std::uint64_t eight = 0;
      for (int k = 0; k < 8; ++k) eight |= std::uint64_t{is_head[8 * byte + k]} << (8 * k);
      word |= (eight * 0x0102040810204080u >> 56) << (8 * byte);
    }
    return word;
  }

  std::int64_t end_of(std::int64_t c) const {
    return size_ - c * chunk_ < chunk_ ? size_ : (c + 1) * chunk_;
  }

  std::int64_t size_;
  std::int64_t chunk_;
  std::unique_ptr<std::uint64_t[]> words_;
  std::unique_ptr<chunk_runs[]> chunks_;
};

/// A oneTBB arena of a number of threads, shared by all copies; or none.
class arena_handle {
 public:
  arena_handle() = default;
  explicit arena_handle(int threads);
  arena_handle(const arena_handle& other) : arena_(other.arena_), threads_(other.threads_) {
    if (arena_ != nullptr) retain();
  }
  arena_handle& operator=(arena_handle other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(threads_, other.threads_);
    return *this;
  }
  ~arena_handle() {
    if (arena_ != nullptr) release();
  }

  /// Calls function(context, i) for every i in [0, count), on up to threads() threads; what one of
  /// the calls throws is thrown to the caller.
  void for_each(std::int64_t count, void (*function)(void* context, std::int64_t i),
                void* context) const;

  int threads() const;

 private:
  struct counted_arena;

  void retain() const;
  void release() const;

  counted_arena* arena_ = nullptr;
  int threads_ = 0;
};

class threaded {
 public:
  /// All threads that oneTBB grants the caller: every core, unless the program has said otherwise.
  threaded() = default;
  explicit threaded(int threads) : arena_(threads) {}

  int threads() const { return arena_.threads(); }

  /// Calls body(i) for every i in [0, count), on any thread.
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    if (threads() == 1 || count == 1) {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    } else {
      arena_.for_each(count, &call<Body>, const_cast<Body*>(&body));
    }
  }

  static constexpr bool has_vector_folds = true;

  /// Vector folds of columns, and of deviations and places in them, if there are some.
  static simd_columns columns_of(simd_key key) {
    return find_simd_columns(key.op, key.value, key.accumulator);
  }
  static simd_deviations deviations_of(simd_key key) { return find_simd_deviations(key.value); }
  static simd_places places_of(simd_key key) {
    return find_simd_places(key.op, key.value, key.accumulator);
  }

  /// The fold of elements [0, n), n >= 1, of one sequence of many: by this thread alone where the
  /// sequence is not worth waking another one for.
  template <class Elements, class Reducer>
  typename Reducer::accumulator fold_one_of_many(const Elements& elements, const Reducer& reducer,
                                                 std::int64_t n) const {
    return is_long<Elements>(n) ? fold(elements, reducer, n) : fold_tree(elements, reducer, n);
  }

  /// The fold of elements [0, n), n >= 1.
  template <class Elements, class Reducer>
  typename Reducer::accumulator fold(const Elements& elements, const Reducer& reducer,
                                     std::int64_t n) const {
    block_room room;
    return fold(elements, reducer, n, room);
  }

  /// The fold of elements [0, n), n >= 1, with `room` for the values of blocks.
  template <std::size_t... Index, class... Its, class Reducer>
  typename Reducer::accumulator fold(
      const source_of<std::index_sequence<Index...>, Its...>& elements, const Reducer& reducer,
      std::int64_t n, block_room& room) const {
    using accumulator = typename Reducer::accumulator;
    constexpr simd_key key = range_key_of<Reducer, Its...>;
    if constexpr (worth_asking(key)) {
      if (const simd_fold found = find_simd_fold(key.op, key.value, key.accumulator)) {
        const bound_simd_fold<accumulator> bound(found,
                                                 elements.template iterator<Index>(elements)...);
        return fold_blocks(reducer, n, items_in<Its...>(simd_block_bytes), bound, room);
      }
    }
    constexpr simd_key places = first_place_key<source<Its...>, Reducer>;
    if constexpr (worth_asking(places)) {
      const place_fold<source<Its...>, Reducer> fold(
          find_simd_fold(places.op, places.value, places.accumulator), elements, reducer);
      return fold_blocks(reducer, n, items_in<Its...>(simd_block_bytes), fold, room);
    } else if constexpr (is_gathered<source<Its...>>) {
      const auto fold = gathered_of(elements, reducer);
      return fold_blocks(reducer, n, fold.items_in(simd_block_bytes), fold, room);
    } else if constexpr (folds_exactly<source<Its...>, Reducer>) {
      using exact = exact_fold<source<Its...>, Reducer>;
      const exact fold(elements, reducer, exact_cutter_of<typename exact::terms>());
      return fold_blocks(reducer, n, items_in<Its...>(simd_block_bytes), fold, room);
    } else if constexpr (folds_by_parts<source<Its...>, Reducer>) {
      const auto fold = by_parts(elements, reducer);
      return fold_blocks(reducer, n, items_in<Its...>(simd_block_bytes), fold, room);
    } else if constexpr (has_block_parts<Reducer, Its...>) {
      using statistics = block_fold<source<Its...>, Reducer>;
      const statistics fold(statistics::find(), elements, reducer);
      return fold_blocks(reducer, n, items_in<Its...>(scalar_block_bytes), fold, room);
    } else {
      const scalar_fold fold(elements, reducer);
      return fold_blocks(reducer, n, items_in<Its...>(scalar_block_bytes), fold, room);
    }
  }

  /// Calls keep(i, fold of tree i) or, for an empty tree, none(i), for every tree of a forest; on
  /// any thread, in any order.
  template <class Forest, class Reducer, class Keep, class Empty>
  void fold_forest(const Forest& forest, const Reducer& reducer, const Keep& keep,
                   const Empty& none) const {
    using elements = typename Forest::source_type;
    const std::int64_t trees = forest.size();
    if (trees == 0) return;
    const tree_by_tree<Forest, Reducer> fold_one(forest, reducer);
    const std::int64_t block = trees_per_block(forest, fold_one.item_bytes());
    const std::int64_t count = tree::num_blocks(trees, block);
    using tree_elements = decltype(forest.tree(0));
    const simd_short_fold short_fold = host::find_short_fold_of<tree_elements, Reducer>();
    // Trees that all threads shall share come afterwards, one by one.
    block_set has_long;
    block_room room;
    if (may_have_long(forest)) reserve<typename Reducer::accumulator>(room);
    auto one_block = [&](std::int64_t b) {
      bool found_long = false;
      const auto not_short = [&](std::int64_t i) {
        const std::int64_t n = forest.count(i);
        if (n <= 0) {
          none(i);
        } else if (is_long<elements>(n)) {
          found_long = true;
        } else {
          keep(i, fold_one(i, n));
        }
      };
      std::int64_t first = b * block;
      const std::int64_t last = first + block < trees ? first + block : trees;
      if (host::fold_equal_short_trees<Reducer>(short_fold, forest, first, last, keep)) return;
      first = host::fold_short_rows(forest, reducer, first, last, keep);
      short_trees_of<tree_elements, Reducer, Keep, decltype(not_short)> gathered(short_fold, keep,
                                                                                 not_short, first);
      gathered.fold_all(forest, first, last);
      if (found_long) has_long.add(b);
    };
    for_each(count, one_block);
    for (std::int64_t b = 0; b < count; ++b) {
      if (!has_long.has(b)) continue;
      for (std::int64_t i = b * block; i < trees && i < (b + 1) * block; ++i) {
        const std::int64_t n = forest.count(i);
        if (is_long<elements>(n)) keep(i, fold(forest.tree(i), reducer, n, room));
      }
    }
  }

  /// Calls keep_key(r, j) with the first item j of every run r, and keep(r, fold of the run); on
  /// any thread, in any order. Returns the number of runs.
  template <class Items, class Reducer, class KeepKey, class Keep>
  std::int64_t fold_runs(const Items& items, const Reducer& reducer, const KeepKey& keep_key,
                         const Keep& keep) const {
    using elements = typename Items::source_type;
    const simd_short_fold short_fold = host::find_short_fold_of<elements, Reducer>();
    const auto skip = [](std::int64_t) {};
    using gathered = short_trees_of<elements, Reducer, Keep, decltype(skip)>;
    const auto fold_run = [&](gathered& short_runs, std::int64_t run, std::int64_t begin,
                              std::int64_t end) {
      short_runs.add(run, items.run(begin), end - begin);
      if (end - begin > short_fold.most_items) {
        keep(run, fold_tree(items.run(begin), reducer, end - begin));
      }
    };
    std::int64_t chunk = keys_per_chunk;
    if (threads() == 1 || items.size < min_blocks * chunk) {
      gathered short_runs(short_fold, keep, skip, 0);
      const std::int64_t runs =
          detail::visit_runs(items, [&](std::int64_t run, std::int64_t begin, std::int64_t end) {
            keep_key(run, begin);
            fold_run(short_runs, run, begin, end);
          });
      short_runs.finish(runs);
      return runs;
    }
    while (tree::num_blocks(items.size, chunk) > max_blocks) chunk *= 2;
    run_heads heads(items.size, chunk);
    for_each(heads.num_chunks(), [&](std::int64_t c) {
      heads.find(c, [&](std::int64_t j) { return items.begins_run(j); });
    });
    const std::int64_t runs = heads.count();
    // A long run that leaves its chunk all threads shall share, afterwards.
    const auto is_shared = [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
      return end - c * chunk > chunk && is_long<elements>(end - begin);
    };
    block_set has_shared;
    block_room room;
    if (is_long<elements>(items.size)) reserve<typename Reducer::accumulator>(room);
    for_each(heads.num_chunks(), [&](std::int64_t c) {
      bool found = false;
      gathered short_runs(short_fold, keep, skip, heads.first_run(c));
      heads.visit(c, [&](std::int64_t run, std::int64_t begin, std::int64_t end) {
        keep_key(run, begin);
        if (is_shared(c, begin, end)) {
          found = true;
          short_runs.add(run, items.run(begin), end - begin);
        } else {
          fold_run(short_runs, run, begin, end);
        }
      });
      short_runs.finish(heads.first_run(c) + heads.runs(c));
      if (found) has_shared.add(c);
    });
    for (std::int64_t c = 0; c < heads.num_chunks(); ++c) {
      if (!has_shared.has(c)) continue;
      heads.visit(c, [&](std::int64_t run, std::int64_t begin, std::int64_t end) {
        if (is_shared(c, begin, end)) {
          keep(run, fold(items.run(begin), reducer, end - begin, room));
        }
      });
    }
    return runs;
  }

 private:
  template <class Body>
  static void call(void* body, std::int64_t i) {
    (*static_cast<const Body*>(body))(i);
  }

  // So that what is read of a chunk twice is still in a cache of its core, unless keys are large.
  static constexpr std::int64_t keys_per_chunk = std::int64_t{1} << 14;

  // A block is worth a task (1 to 4 us), and a range of fewer than eight is not worth waking a
  // thread for, which takes about 20 us (docs/host.md).
  static constexpr std::int64_t simd_block_bytes = std::int64_t{1} << 17;
  static constexpr std::int64_t scalar_block_bytes = std::int64_t{1} << 16;
  static constexpr std::int64_t min_blocks = 8;

  // So many that short trees are folded together and are worth a task, unless every thread would
  // not find work to the end.
  template <class Forest>
  std::int64_t trees_per_block(const Forest& forest, std::int64_t item_bytes) const {
    constexpr std::int64_t task_bytes = std::int64_t{1} << 15;
    const std::int64_t trees = forest.size();
    std::int64_t tasks = std::int64_t{32} * threads();
    if constexpr (Forest::in_one_range) {
      const std::int64_t bytes = (forest.first(trees) - forest.first(0)) * item_bytes;
      if (bytes < simd_block_bytes && trees <= most_trees) return trees;
      tasks = detail::smaller(tasks, detail::larger(bytes, std::int64_t{0}) / task_bytes + 1);
    }
    return detail::larger(detail::smaller(tree::num_blocks(trees, tasks), most_trees),
                          tree::num_blocks(trees, max_blocks));
  }
  static constexpr std::int64_t most_trees = 4096;

  // Shorter trees are not worth the call of a vector fold.
  static constexpr std::int64_t least_simd_items = 32;

  template <std::size_t... Index, class... Its>
  static constexpr std::int64_t long_items(
      const source_of<std::index_sequence<Index...>, Its...>*) {
    return min_blocks * items_in<Its...>(simd_block_bytes);
  }
  template <class Elements>
  static bool is_long(std::int64_t n) {
    return n >= long_items(static_cast<const Elements*>(nullptr));
  }

  // Whether a tree may be long, as far as is known without looking at each.
  template <class Forest>
  static bool may_have_long(const Forest& forest) {
    if constexpr (Forest::in_one_range) {
      return is_long<typename Forest::source_type>(forest.first(forest.size()) - forest.first(0));
    } else {
      return true;
    }
  }

  // How the terms of an exact sum are cut on this machine.
  template <class Terms>
  static exact_cutter exact_cutter_of() {
    const exact_cutter found = find_exact_cutter(Terms::term, simd_type_of<typename Terms::item>());
    return found.block != 0 ? found : Terms::plain_cutter();
  }

  struct tree_of_part {
    template <class Source, class Part>
    auto operator()(const Source& elements, const Part& part, std::int64_t first,
                    std::int64_t n) const {
      return fold_tree(detail::starting_at(elements, first), part, n);
    }
  };
  static constexpr tree_of_part fold_part{};
  template <class Source, class Reducer>
  static parts_fold<Source, Reducer, tree_of_part> by_parts(const Source& elements,
                                                            const Reducer& reducer) {
    return {elements, reducer, fold_part};
  }

  struct tree_of_array {
    template <class Source, class Reducer>
    auto operator()(const Source& elements, const Reducer& reducer, std::int64_t n) const {
      return fold_tree(elements, reducer, n);
    }
  };
  static constexpr tree_of_array fold_array{};
  template <class Source, class Reducer>
  static gathered_fold<Source, Reducer, tree_of_array> gathered_of(const Source& elements,
                                                                   const Reducer& reducer) {
    return {elements, reducer, fold_array};
  }

  static simd_fold find(simd_key key) { return find_simd_fold(key.op, key.value, key.accumulator); }

  // A tree of at least one element on the calling thread.
  template <std::size_t... Index, class... Its, class Reducer>
  static typename Reducer::accumulator fold_tree(
      const source_of<std::index_sequence<Index...>, Its...>& elements, const Reducer& reducer,
      std::int64_t n) {
    using accumulator = typename Reducer::accumulator;
    constexpr simd_key key = range_key_of<Reducer, Its...>;
    if constexpr (worth_asking(key)) {
      const simd_fold fold = host::found_once([] { return find(range_key_of<Reducer, Its...>); });
      if (fold != nullptr && n >= least_simd_items) {
        return bound_simd_fold<accumulator>(fold, elements.template iterator<Index>(elements)...)(
            0, n);
      }
    }
    constexpr simd_key places = first_place_key<source<Its...>, Reducer>;
    if constexpr (worth_asking(places)) {
      const simd_fold found =
          host::found_once([] { return find(first_place_key<source<Its...>, Reducer>); });
      return place_fold<source<Its...>, Reducer>(found, elements, reducer)(0, n);
    } else if constexpr (is_gathered<source<Its...>>) {
      if (n >= least_simd_items) return gathered_of(elements, reducer)(0, n);
    } else if constexpr (folds_exactly<source<Its...>, Reducer>) {
      using exact = exact_fold<source<Its...>, Reducer>;
      const exact_cutter cutter =
          host::found_once([] { return exact_cutter_of<typename exact::terms>(); });
      return exact(elements, reducer, cutter)(0, n);
    } else if constexpr (folds_by_parts<source<Its...>, Reducer>) {
      return by_parts(elements, reducer)(0, n);
    } else if constexpr (has_block_parts<Reducer, Its...>) {
      using statistics = block_fold<source<Its...>, Reducer>;
      const block_functions functions = host::found_once([] { return statistics::find(); });
      return statistics(functions, elements, reducer)(0, n);
    }
    return host::fold(elements, reducer, 0, n);
  }

  // Folds one tree of a forest at a time, on the calling thread. For trees in an array the
  // precompiled fold is looked for once.
  template <class Forest, class Reducer>
  class tree_by_tree {
    using elements = typename Forest::source_type;
    using accumulator = typename Reducer::accumulator;

    static constexpr simd_key key = array_key<elements, Reducer>;
    static constexpr bool in_array =
        worth_asking(key) && requires(const Forest& forest, const elements& source) {
          forest.first(0);
          host::array_of<key>(source);
        };

   public:
    tree_by_tree(const Forest& forest, const Reducer& reducer)
        : forest_(forest), reducer_(reducer) {
      if constexpr (in_array) {
        const item_array array = host::array_of<key>(forest.source);
        fold_ = {find(array.key), array};
      }
    }

    /// As a measure of what an item costs: those of the array if vectors fold it, else of what is
    /// read from it.
    std::int64_t item_bytes() const {
      if constexpr (in_array) {
        if (fold_.exists()) return host::array_of<key>(forest_.source).item_bytes;
      }
      return sizeof_item(static_cast<const elements*>(nullptr));
    }

    /// Tree i, of n >= 1 elements.
    accumulator operator()(std::int64_t i, std::int64_t n) const {
      if constexpr (in_array) {
        if (fold_.exists() && n >= least_simd_items) return fold_(forest_.first(i), n);
      }
      return fold_tree(forest_.tree(i), reducer_, n);
    }

   private:
    template <std::size_t... Index, class... Its>
    static constexpr std::int64_t sizeof_item(
        const source_of<std::index_sequence<Index...>, Its...>*) {
      return detail::larger(static_cast<std::int64_t>(sizeof(std::iter_value_t<Its>))...);
    }

    const Forest& forest_;
    const Reducer& reducer_;
    bound_simd_fold<accumulator> fold_{nullptr, item_array{}};
  };

  // A power of two.
  template <class It, class...>
  static constexpr std::int64_t items_in(std::int64_t bytes) {
    const auto size = static_cast<std::int64_t>(sizeof(std::iter_value_t<It>));
    return size < bytes ? std::int64_t{1} << tree::floor_log2(bytes / size) : 1;
  }

  // Enough blocks for every thread to find work to the end, few enough for the last fold; and for
  // their values to stay in a cache, in memory that is not fetched from the system each time.
  static constexpr std::int64_t max_blocks = block_set::most;
  template <class Acc>
  static constexpr std::int64_t max_blocks_of =
      detail::larger(std::int64_t{512}, detail::smaller(max_blocks, (std::int64_t{1} << 16) /
                                                                        std::int64_t{sizeof(Acc)}));

  // For folds of any length.
  template <class Acc>
  void reserve(block_room& room) const {
    if (threads() > 1) block_values<Acc>::reserve(room, max_blocks_of<Acc>);
  }

  template <class Reducer, class Fold>
  typename Reducer::accumulator fold_blocks(const Reducer& reducer, std::int64_t n,
                                            std::int64_t block, const Fold& fold,
                                            block_room& room) const {
    if (n < min_blocks * block || threads() == 1) return fold(std::int64_t{0}, n);
    using accumulator = typename Reducer::accumulator;
    if constexpr (fold_traits<Reducer>::settles) {
      // An early answer is not worth waking threads for.
      if (auto value = fold(std::int64_t{0}, block); reducer.settled(value)) return value;
    }
    while (tree::num_blocks(n, block) > max_blocks_of<accumulator>) block *= 2;
    const std::int64_t count = tree::num_blocks(n, block);
    const block_values<accumulator> values(room, count);
    std::atomic<bool> settled{false};
    auto one_block = [&](std::int64_t i) {
      const std::int64_t first = i * block;
      std::int64_t size = n - first < block ? n - first : block;
      if constexpr (fold_traits<Reducer>::settles) {
        // One element stands for a block that is not needed any more.
        if (settled.load(std::memory_order_relaxed)) size = 1;
      }
      auto value = fold(first, size);
      if constexpr (fold_traits<Reducer>::settles) {
        if (reducer.settled(value)) settled.store(true, std::memory_order_relaxed);
      }
      values.make(i, std::move(value));
    };
    arena_.for_each(count, &call<decltype(one_block)>, &one_block);
    return values.fold(reducer, count);
  }

  arena_handle arena_;
};

}  // namespace tilefold::detail::host
