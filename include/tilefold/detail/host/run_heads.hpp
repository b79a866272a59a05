// SPDX-License-Identifier: Apache-2.0
//
// Where runs of equal keys begin, a bit for each item, so that keys are compared once: found in
// chunks by several threads, then walked through in chunks again. Only programs that link the
// library tilefold::host use it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

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

}  // namespace tilefold::detail::host
