// SPDX-License-Identifier: Apache-2.0
//
// The blocks of very many ranks, put together by merges of neighbours: nobody receives those of
// all. Parts that lie one after the other are one longer part, whose blocks are few again:
//
//     rank      0     1     2     3     4     5
//     step 1    0 <-- 1     2 <-- 3     4 <-- 5        each sends the blocks of what it has
//     step 2    0 <-------- 2           4
//     step 4    0 <-------------------- 4
//     back      the list of the whole goes the same ways, from the left to the right
//
// With it travels the number of the first rank that has failed. Host only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>

namespace tilefold::detail {

/// A communicator that sends from one rank to another, as well.
template <class Comm>
concept sends_to_ranks =
    requires(Comm& comm, int rank, const void* from, void* to, std::size_t bytes) {
      comm.send(rank, from, bytes);
      comm.receive(rank, to, bytes);
    };

/// The number of blocks of all ranks from which on merges are faster than a gather of the blocks.
/// Counted by benchmark/ranks/scaling: 27 to 100 ranks with uneven parts, 1290 with a block each.
template <class Comm>
constexpr std::int64_t least_merged_blocks() {
  if constexpr (requires { Comm::least_merged_blocks; }) return Comm::least_merged_blocks;
  return 1500;
}

/// What goes from rank to rank: who has failed (the number of ranks if nobody), and the blocks of a
/// part. All know how many those are.
template <class Reducer>
class blocks_message {
 public:
  using list = block_list<Reducer>;
  using accumulator = typename list::accumulator;

  blocks_message(std::int64_t begin, std::int64_t end)
      : begin_(begin),
        end_(end),
        values_(static_cast<std::size_t>(typename list::blocks_type{{begin, end}}.count()) *
                sizeof(accumulator)) {}

  void write(int failed, const list& blocks) {
    const std::int64_t said = failed;
    std::memcpy(bytes_.data(), &said, head);
    // Where somebody has failed there are no such blocks.
    const auto values = blocks.values().bytes();
    std::fill_n(bytes_.data() + head, values_, std::byte{0});
    if (values.size() == values_ && values_ > 0) {
      std::memcpy(bytes_.data() + head, values.data(), values_);
    }
  }
  int failed() const {
    std::int64_t said = 0;
    std::memcpy(&said, bytes_.data(), head);
    return static_cast<int>(said);
  }
  list blocks() const { return list::from(begin_, end_, bytes_.data() + head); }

  std::byte* data() { return bytes_.data(); }
  std::size_t size() const { return head + values_; }

 private:
  static constexpr std::size_t head = sizeof(std::int64_t);

  std::int64_t begin_;
  std::int64_t end_;
  std::size_t values_;
  // No memory is asked for, which one rank alone might not get.
  std::array<std::byte, head + static_cast<std::size_t>(list::most) * sizeof(accumulator)> bytes_;
};

/// The list of all ranks' blocks, on every rank; `own` are those of this one's part. What a rank
/// throws on the way is told to all, as in every round of a call.
template <class Reducer, class Call>
block_list<Reducer> merge_blocks(Call& call, const rank_parts& parts, const Reducer& reducer,
                                 const block_list<Reducer>& own) {
  using message = blocks_message<Reducer>;
  const int rank = call.rank();
  const int ranks = call.size();
  const auto end_of = [&](int behind) { return parts.begin((std::min)(behind, ranks)); };
  block_list<Reducer> all = own;
  int failed = call.has_failed() ? rank : ranks;
  // If another rank has left, those that wait for this one are told before this one throws.
  std::exception_ptr broken;
  const auto reach = [&](const auto& talk) {
    try {
      talk();
    } catch (...) {
      if (broken == nullptr) broken = std::current_exception();
      failed = (std::min)(failed, rank);
    }
  };
  int step = 1;
  for (; step < ranks && rank % (2 * step) == 0; step *= 2) {
    if (rank + step >= ranks) continue;
    message next(parts.begin(rank + step), end_of(rank + 2 * step));
    reach([&] {
      call.comm().receive(rank + step, next.data(), next.size());
      failed = (std::min)(failed, next.failed());
    });
    if (failed < ranks) continue;
    call.try_to([&] { all.append(reducer, next.blocks()); });
    if (call.has_failed()) failed = rank;
  }
  message whole(0, parts.total());
  if (rank > 0) {
    message mine(parts.begin(rank), end_of(rank + step));
    mine.write(failed, all);
    reach([&] {
      call.comm().send(rank - step, mine.data(), mine.size());
      call.comm().receive(rank - step, whole.data(), whole.size());
    });
  }
  if (rank == 0 || broken != nullptr) whole.write(failed, all);
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step >= ranks) continue;
    reach([&] { call.comm().send(rank + step, whole.data(), whole.size()); });
  }
  if (broken != nullptr) std::rethrow_exception(broken);
  if (whole.failed() < ranks) call.throw_failure_of(whole.failed());
  return whole.blocks();
}

}  // namespace tilefold::detail
