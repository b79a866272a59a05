// SPDX-License-Identifier: Apache-2.0
//
// One call of several ranks, as a conversation: rounds in which every rank tells all the same
// number of bytes. The first round is alike for every verb, operator and type, so ranks that have
// come to different calls find it out there:
//
//     round 1   a hash of the call's signature, numbers, "I have failed"      agree()
//     round 2   ...what the verb sends, and "I have failed"                   gather()
//               before a long message: whether all have memory for it
//     failed    why, as text: only if somebody has failed                     all of them throw
//
// A rank whose own part throws stays in the conversation to the end of its round, so nobody waits
// for it in vain. Host only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/communicator.hpp>
#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail {

/// What all ranks have said in a round, `bytes` bytes each.
class gathered_bytes {
 public:
  gathered_bytes() = default;
  gathered_bytes(int ranks, std::size_t bytes)
      : data_(static_cast<std::size_t>(ranks) * (bytes + flag)), bytes_(bytes) {}

  std::byte* data() { return data_.data(); }
  const std::byte* of(int rank) const { return start(rank) + flag; }
  bool has_failed(int rank) const { return start(rank)[0] != std::byte{0}; }

  /// Before what a rank says: whether it has failed. As long as any alignment asks for.
  static constexpr std::size_t flag = 16;

 private:
  const std::byte* start(int rank) const {
    return data_.data() + static_cast<std::size_t>(rank) * (bytes_ + flag);
  }

  std::vector<std::byte> data_;
  std::size_t bytes_ = 0;
};

/// Which items of the whole each rank holds.
class rank_parts {
 public:
  explicit rank_parts(const std::vector<std::int64_t>& lengths) {
    begins_.push_back(0);
    for (const std::int64_t length : lengths) {
      if (length > (std::numeric_limits<std::int64_t>::max)() - begins_.back()) {
        throw invalid_range_error("tilefold::ranks: the ranks hold more than 2^63 - 1 items");
      }
      begins_.push_back(begins_.back() + length);
    }
  }
  std::int64_t begin(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  std::int64_t end(int rank) const { return begin(rank + 1); }
  std::int64_t total() const { return begins_.back(); }
  int ranks() const { return static_cast<int>(begins_.size()) - 1; }
  /// Where all begin, and the end of the last, as bytes.
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(begins_)); }

 private:
  std::vector<std::int64_t> begins_;
};

/// The most blocks that a rank has of a sequence.
template <class Blocks>
int most_blocks(const rank_parts& parts) {
  int most = 0;
  for (int r = 0; r < parts.ranks(); ++r) {
    const Blocks blocks{{parts.begin(r), parts.end(r)}};
    most = blocks.count() > most ? blocks.count() : most;
  }
  return most;
}

template <communicator Comm>
class rank_call {
 public:
  /// What a verb may say of a rank's part beside its length.
  using details = std::array<std::int64_t, 4>;

  /// `signature` says which call this is, and must be that of all ranks.
  rank_call(Comm& comm, std::string signature)
      : comm_(comm),
        rank_(comm.rank()),
        size_(comm.size()),
        signature_(std::move(signature)),
        headers_(static_cast<std::size_t>(size_)) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  Comm& comm() const { return comm_; }
  /// Whether this rank's own part has thrown.
  bool has_failed() const { return failure_ != nullptr; }

  /// Does this rank's own part. If it throws, all ranks are told in the next round, and what
  /// follows here is left out.
  template <class Work>
  void try_to(const Work& work) {
    if (failure_ != nullptr) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  /// All ranks' numbers. Throws rank_mismatch_error if they are in different calls; one that has
  /// failed may not know in which it would be.
  std::vector<std::int64_t> agree(std::int64_t number, const details& more = {}) {
    const header own{detail::fnv1a(signature_), static_cast<std::uint64_t>(number),
                     failure_ != nullptr ? 1u : 0u, more};
    comm_.all_gather(&own, headers_.data(), sizeof(header));
    std::vector<bool> who;
    std::vector<std::int64_t> numbers;
    const header* first = nullptr;  // of those that have not failed
    const header* unlike = nullptr;
    for (const header& other : headers_) {
      who.push_back(other.failed != 0);
      numbers.push_back(static_cast<std::int64_t>(other.number));
      if (who.back()) continue;
      if (first == nullptr) first = &other;
      if (unlike == nullptr && other.signature != first->signature) unlike = &other;
    }
    if (unlike != nullptr) throw_mismatch(first - headers_.data(), unlike - headers_.data());
    if (std::find(who.begin(), who.end(), true) != who.end()) throw_failure(who);
    return numbers;
  }

  /// What a rank has said beside its number when they agreed.
  const details& more_of(int rank) const { return headers_[static_cast<std::size_t>(rank)].more; }

  /// `bytes` bytes of all ranks; this rank's are what write(place) writes, unless it has failed. A
  /// rank that has no memory for long messages tells the others before they are sent.
  template <class Write>
  gathered_bytes gather(std::size_t bytes, const Write& write) {
    gathered_bytes all;
    std::vector<std::byte> own;
    try {
      all = gathered_bytes(size_, bytes);
      own.resize(bytes + gathered_bytes::flag);
    } catch (...) {
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    if (bytes > longest_untold / static_cast<std::size_t>(size_)) {
      tell_whether_failed();
    } else if (own.empty()) {
      std::rethrow_exception(failure_);
    }
    try_to([&] { write(own.data() + gathered_bytes::flag); });
    own[0] = std::byte{failure_ != nullptr};
    comm_.all_gather(own.data(), all.data(), own.size());
    std::vector<bool> who;
    for (int r = 0; r < size_; ++r) who.push_back(all.has_failed(r));
    if (std::find(who.begin(), who.end(), true) != who.end()) throw_failure(who);
    return all;
  }

  /// A round for that alone: throws if a rank has failed. What they said when they agreed stays.
  void tell_whether_failed() {
    std::vector<header> said(static_cast<std::size_t>(size_));
    said.swap(headers_);
    agree(0);
    headers_.swap(said);
  }

  /// Throws what all ranks throw if the first of them that has failed is `rank`, as all know.
  [[noreturn]] void throw_failure_of(int rank) {
    std::vector<bool> who(static_cast<std::size_t>(size_));
    who[static_cast<std::size_t>(rank)] = true;
    throw_failure(who);
  }

 private:
  struct header {
    std::uint64_t signature;
    std::uint64_t number;
    std::uint64_t failed;
    details more;
  };
  static constexpr std::size_t text_bytes = 512;
  // Bytes of all ranks together for which a round more would be long.
  static constexpr std::size_t longest_untold = std::size_t{1} << 20;
  using text = std::array<char, text_bytes>;

  // What every rank says of itself.
  std::vector<std::string> tell(const std::string& own) {
    text mine{};
    std::memcpy(mine.data(), own.data(), (std::min)(own.size(), text_bytes - 1));
    std::vector<text> all(static_cast<std::size_t>(size_));
    comm_.all_gather(mine.data(), all.data(), text_bytes);
    std::vector<std::string> said;
    for (const text& t : all) said.emplace_back(t.data());
    return said;
  }

  [[noreturn]] void throw_mismatch(std::ptrdiff_t rank, std::ptrdiff_t other) {
    const auto said = tell(signature_);
    throw rank_mismatch_error("tilefold::ranks: the ranks are in different calls: rank " +
                              std::to_string(rank) + " in " + said[static_cast<std::size_t>(rank)] +
                              ", rank " + std::to_string(other) + " in " +
                              said[static_cast<std::size_t>(other)]);
  }

  [[noreturn]] void throw_failure(const std::vector<bool>& who) {
    const auto said = tell(own_message());
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    const auto first = std::find(who.begin(), who.end(), true) - who.begin();
    throw rank_error("tilefold::ranks: rank " + std::to_string(first) +
                         " has failed: " + said[static_cast<std::size_t>(first)],
                     static_cast<int>(first));
  }

  std::string own_message() const {
    if (failure_ == nullptr) return {};
    try {
      std::rethrow_exception(failure_);
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "an exception of an unknown type";
    }
  }

  Comm& comm_;
  int rank_;
  int size_;
  std::string signature_;
  std::vector<header> headers_;
  std::exception_ptr failure_;
};

}  // namespace tilefold::detail
