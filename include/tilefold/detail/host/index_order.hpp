// SPDX-License-Identifier: Apache-2.0
//
// The positions of items by their index, those of one index in their order: a stable counting sort
// by several threads. It sorts by the upper bits of the index first, in chunks of items, and then
// each of these groups by the lower bits:
//
//     index       2 0 3 1 0 2            2 results a group
//     groups      [0 1 0][2 3 2]         positions 1 3 4, 0 2 5; by chunks of items
//     order       [0 0][1][2 2][3]       positions 1 4 3, 0 5 2; by groups
//     offsets     0 2 3 5 6
//
// So a thread counts and writes within a cache whatever the number of results is. Items that are
// plain memory are sorted themselves, in place of their positions. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

/// Positions in an array of either width. (The type of a fold does not depend on it, so that each
/// is compiled once.)
struct positions_of_either_width {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  const std::uint32_t* narrow;
  const std::uint64_t* wide;

  std::int64_t operator[](std::int64_t k) const {
    return wide == nullptr ? static_cast<std::int64_t>(narrow[k])
                           : static_cast<std::int64_t>(wide[k]);
  }
  std::int64_t operator*() const { return (*this)[0]; }
  friend positions_of_either_width operator+(const positions_of_either_width& it, std::int64_t n) {
    if (it.wide == nullptr) return {it.narrow + n, nullptr};
    return {nullptr, it.wide + n};
  }
};

/// The bits of an item: what a sort moves. Their type does not depend on that of the item.
template <std::size_t Bytes>
struct item_bits {
  char bytes[Bytes];
};

/// Item j, as index_sort asks for it. (A type of its own: a lambda's would differ for each type of
/// indices.)
template <class Item>
struct item_at {
  const Item* items;

  Item operator()(std::int64_t j) const { return items[j]; }
};

/// Memory for `count` values, which are not initialised.
template <class T>
std::unique_ptr<T[]> room_for(std::uint64_t count) {
  return std::unique_ptr<T[]>(new T[count]);
}

/// How the items of a call are cut into chunks and groups.
struct index_groups {
  // A group's counters fit in a first-level cache, as do those of all groups of a chunk.
  static constexpr int group_bits = 11;
  static constexpr std::int64_t most_groups = std::int64_t{1} << group_bits;
  // Fewer items are not worth waking a thread for (docs/host.md).
  static constexpr std::int64_t least_chunk = std::int64_t{1} << 16;

  int shift;                // the bits of an index within its group
  std::int64_t num_groups;  // at most most_groups
  std::int64_t chunk;
  std::int64_t num_chunks;

  index_groups(std::int64_t n, std::int64_t num_results, int threads)
      : shift(detail::larger(tree::ceil_log2(num_results) - group_bits, 0)),
        num_groups(tree::num_blocks(num_results, std::int64_t{1} << shift)),
        chunk(detail::larger(least_chunk, tree::num_blocks(n, std::int64_t{4} * threads))),
        num_chunks(detail::larger(tree::num_blocks(n, chunk), std::int64_t{1})) {}
};

/// The sort, with positions and indices as Words; `num_results` itself stands for an index that is
/// left out.
template <class Word>
class index_sort {
 public:
  index_sort(std::int64_t n, std::int64_t num_results, int threads)
      : n_(n),
        num_results_(num_results),
        cut_(n, num_results, threads),
        bins_(host::room_for<Word>(at(n))),
        bins_by_group_(host::room_for<Word>(at(in_one_step() ? 0 : n))),
        counts_(host::room_for<std::int64_t>(at(cut_.num_chunks * cut_.num_groups))) {}

  /// Reads the indices; index_of(j), below num_results, or num_results, tells that of item j and is
  /// asked once.
  template <class Mode, class IndexOf>
  void read(const Mode& mode, const IndexOf& index_of) {
    mode.for_each(cut_.num_chunks, [&](std::int64_t c) { count(c, index_of); });
  }

  /// Sorts what payload_of(j) tells of each item j, which is asked once, to `sorted`; writes where
  /// the items of each index begin and the last of them end.
  template <class Payload, class Mode, class PayloadOf>
  void write(const Mode& mode, std::int64_t* offsets, const PayloadOf& payload_of,
             Payload* sorted) {
    offsets[num_results_] = place_groups(offsets);
    if (in_one_step()) {
      mode.for_each(cut_.num_chunks, [&](std::int64_t c) {
        write_by_group(c, [&](std::size_t to, std::int64_t j) { sorted[to] = payload_of(j); });
      });
      return;
    }
    const auto by_group = host::room_for<Payload>(at(n_));
    mode.for_each(cut_.num_chunks, [&](std::int64_t c) {
      write_by_group(c, [&](std::size_t to, std::int64_t j) {
        by_group[to] = payload_of(j);
        bins_by_group_[to] = bins_[at(j)];
      });
    });
    const auto sort_one = [&](std::int64_t g) { sort_group(g, offsets, by_group.get(), sorted); };
    if (n_ < index_groups::least_chunk - num_results_) {
      for (std::int64_t g = 0; g < cut_.num_groups; ++g) sort_one(g);
    } else {
      mode.for_each(cut_.num_groups, sort_one);
    }
  }

  /// Sorts positions.
  template <class Mode>
  std::unique_ptr<Word[]> write_positions(const Mode& mode, std::int64_t* offsets) {
    // In two steps the indices have been read by the second.
    auto positions = host::room_for<Word>(at(in_one_step() ? n_ : 0));
    Word* const to = in_one_step() ? positions.get() : bins_.get();
    write(mode, offsets, [](std::int64_t j) { return static_cast<Word>(j); }, to);
    return std::move(in_one_step() ? positions : bins_);
  }

 private:
  // Each group is one index.
  bool in_one_step() const { return cut_.shift == 0; }

  std::int64_t end_of(std::int64_t c) const { return detail::smaller(n_, (c + 1) * cut_.chunk); }
  std::int64_t* counts_of(std::int64_t c) { return counts_.get() + c * cut_.num_groups; }

  template <class IndexOf>
  void count(std::int64_t c, const IndexOf& index_of) {
    std::int64_t* const counts = counts_of(c);
    for (std::int64_t g = 0; g < cut_.num_groups; ++g) counts[g] = 0;
    for (std::int64_t j = c * cut_.chunk; j < end_of(c); ++j) {
      const std::int64_t bin = index_of(j);
      bins_[at(j)] = static_cast<Word>(bin);
      if (bin < num_results_) ++counts[bin >> cut_.shift];
    }
  }

  // Makes of the counts where each chunk writes its items of each group. Notes where the groups
  // begin in `offsets`, at their first index; returns the number of items that are not left out.
  std::int64_t place_groups(std::int64_t* offsets) {
    std::int64_t next = 0;
    for (std::int64_t g = 0; g < cut_.num_groups; ++g) {
      offsets[g << cut_.shift] = next;
      for (std::int64_t c = 0; c < cut_.num_chunks; ++c) {
        const std::int64_t count = counts_of(c)[g];
        counts_of(c)[g] = next;
        next += count;
      }
    }
    return next;
  }

  template <class Place>
  void write_by_group(std::int64_t c, const Place& place) {
    std::int64_t* const next = counts_of(c);
    for (std::int64_t j = c * cut_.chunk; j < end_of(c); ++j) {
      const auto bin = static_cast<std::int64_t>(bins_[at(j)]);
      if (bin >= num_results_) continue;
      place(at(next[bin >> cut_.shift]++), j);
    }
  }

  template <class Payload>
  void sort_group(std::int64_t g, std::int64_t* offsets, const Payload* by_group, Payload* sorted) {
    const std::int64_t first_bin = g << cut_.shift;
    const std::int64_t bins =
        detail::smaller(num_results_ - first_bin, std::int64_t{1} << cut_.shift);
    const std::int64_t begin = offsets[first_bin];
    // Where the last chunk would write the next item.
    const std::int64_t end = counts_of(cut_.num_chunks - 1)[g];
    std::int64_t* const next = offsets + first_bin;
    const auto bin_of = [&](std::int64_t k) {
      return static_cast<std::int64_t>(bins_by_group_[at(k)]) - first_bin;
    };
    for (std::int64_t b = 0; b < bins; ++b) next[b] = 0;
    for (std::int64_t k = begin; k < end; ++k) ++next[bin_of(k)];
    std::int64_t sum = begin;
    for (std::int64_t b = 0; b < bins; ++b) sum += std::exchange(next[b], sum);
    for (std::int64_t k = begin; k < end; ++k) {
      sorted[next[bin_of(k)]++] = by_group[k];
    }
    // Each place is the end of its index now.
    for (std::int64_t b = bins - 1; b > 0; --b) next[b] = next[b - 1];
    next[0] = begin;
  }

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t n_;
  std::int64_t num_results_;
  index_groups cut_;
  std::unique_ptr<Word[]> bins_;
  std::unique_ptr<Word[]> bins_by_group_;
  std::unique_ptr<std::int64_t[]> counts_;
};

/// The items of one call in the order of their indices: memory that lives until they are folded.
template <class Mode>
class index_order {
 public:
  /// Sorts positions as index_sort does, on as many threads as an executor has.
  template <class IndexOf>
  void sort(std::int64_t n, std::int64_t num_results, int threads, const IndexOf& index_of) {
    with_sort(n, num_results, threads, index_of,
              [&](auto& sort) { keep(sort.write_positions(mode_, offsets_.get())); });
  }

  /// Sorts `items`, of any type of as many bytes as Item, to `sorted`.
  template <class Item, class IndexOf>
  void sort_items(std::int64_t n, std::int64_t num_results, int threads, const IndexOf& index_of,
                  const Item* items, Item* sorted) {
    with_sort(n, num_results, threads, index_of,
              [&](auto& sort) { sort.write(mode_, offsets_.get(), item_at<Item>{items}, sorted); });
  }

  positions_of_either_width positions() const { return {narrow_.get(), wide_.get()}; }
  const std::int64_t* offsets() const { return offsets_.get(); }

 private:
  template <class IndexOf, class Write>
  void with_sort(std::int64_t n, std::int64_t num_results, int threads, const IndexOf& index_of,
                 const Write& write) {
    constexpr std::int64_t most = (std::numeric_limits<std::uint32_t>::max)();
    // The threads of the executor, whose own arena stays with it.
    if (threads != mode_.threads()) mode_ = Mode(threads);
    offsets_ = host::room_for<std::int64_t>(static_cast<std::uint64_t>(num_results) + 1);
    const auto run = [&](auto sort) {
      sort.read(mode_, index_of);
      write(sort);
    };
    if (n <= most && num_results <= most) {
      run(index_sort<std::uint32_t>(n, num_results, threads));
    } else {
      run(index_sort<std::uint64_t>(n, num_results, threads));
    }
  }

  void keep(std::unique_ptr<std::uint32_t[]> positions) { narrow_ = std::move(positions); }
  void keep(std::unique_ptr<std::uint64_t[]> positions) { wide_ = std::move(positions); }

  Mode mode_;
  std::unique_ptr<std::int64_t[]> offsets_;
  std::unique_ptr<std::uint32_t[]> narrow_;
  std::unique_ptr<std::uint64_t[]> wide_;
};

}  // namespace tilefold::detail::host
