// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a piece by kernels from whose results their values follow (block_rule in piece.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "pieces.hpp"

namespace tilefold::capi {

/// From here on a block is a range by itself, at the speed of ranges; shorter ones are segments.
inline constexpr std::int64_t least_range_of_piece = std::int64_t{1} << 20;

/// Adds a block of `size` items that follow, by its result.
inline void append_result(tilefold_piece& piece, const void* result, std::int64_t size) {
  std::vector<std::byte> value(static_cast<std::size_t>(piece.kind->value_bytes));
  piece.kind->blocks.write(result, size, value.data());
  piece.state->append_value(value.data(), size);
}

/// Adds n >= 1 items to a piece; they are folded when this returns. `kernel` is that of its rule.
/// `exec` gives memory that it writes and the host reads (pinned_array).
template <class Exec>
void append_by_results(Exec& exec, const basic_kernel<Exec>& kernel, tilefold_piece& piece,
                       const void* items, std::int64_t n,
                       std::int64_t least_range = least_range_of_piece) {
  const std::int64_t begin = piece.state->end();
  const auto count = static_cast<int>(piece.kind->num_values(begin, begin + n));
  const auto size = [&](int i) { return piece.kind->block_size(begin, begin + n, i); };
  const std::int64_t bytes = piece.kind->blocks.result_bytes;
  // Where blocks begin, and behind a multiple of 16 bytes their results.
  const std::int64_t begins = (count + 2) / 2 * 2;
  auto* const offsets =
      exec.template pinned_array<std::int64_t>(begins + count * ((bytes + 7) / 8));
  auto* const results = reinterpret_cast<char*>(offsets + begins);
  offsets[0] = 0;
  for (int i = 0; i < count; ++i) offsets[i + 1] = offsets[i] + size(i);

  const auto fold = [&](int first, int last) {
    job call;
    call.items = items;
    call.type = piece.type;
    call.segments = last - first;
    call.offsets = {offsets, 0, 64, first};
    if (last - first == 1) {
      call.items = static_cast<const char*>(items) + offsets[first] * bytes_of(piece.type);
      call.offsets = {nullptr, size(first), 0};
      call.is_range = true;
    }
    call.results = results + first * bytes;
    call.plan.out = {1, {call.segments}, {1}};
    kernel.fold(exec, call);
  };
  int done = 0;
  for (int i = 0; i < count; ++i) {
    if (size(i) < least_range) continue;
    if (done < i) fold(done, i);
    fold(i, i + 1);
    done = i + 1;
  }
  if (done < count) fold(done, count);
  exec.synchronize();
  for (int i = 0; i < count; ++i) {
    capi::append_result(piece, results + i * bytes, size(i));
  }
}

}  // namespace tilefold::capi
