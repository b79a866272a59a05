// SPDX-License-Identifier: Apache-2.0
//
// A reduction in chunks, of which pieces can be kept: for arrays that are larger than memory, parts
// of arrays, and work that may be interrupted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <tilefold/piece.hpp>

#include "input_error.hpp"

namespace tilefold::tool {

struct named_piece {
  std::vector<std::byte> bytes;
  std::string name{};  // of the file that has it, for messages
};

struct piece_task {
  std::int64_t begin;  // which of the job's items to fold
  std::int64_t end;
  std::int64_t chunk;                // items at a time
  std::vector<named_piece> parts{};  // pieces to go on from, one after the other

  /// Is told before the first chunk how many items the parts hold already.
  std::function<void(std::int64_t done)> begins = [](std::int64_t) {};

  /// Is told after each chunk how many items are done, and how to get the piece of them.
  std::function<void(std::int64_t done, const std::function<std::vector<std::byte>()>& piece)>
      advanced = [](std::int64_t, const auto&) {};

  std::vector<std::byte> piece{};  // what came of it
  bool has_value = false;  // whether it begins at 0 and has items; else what run() returns is none
};

/// The fold of items [task.begin, task.end) from `first` on; of no items at 0 the value of nothing,
/// if there is one.
template <class Executor, class Items, class Op>
auto run(piece_task& task, const Executor& executor, const Items& first, const Op& op,
         bool empty_has_value) {
  piece<std::iter_value_t<Items>, Op> whole(op, task.begin);
  for (std::size_t i = 0; i < task.parts.size(); ++i) {
    const auto part =
        reading_bytes([&] { return whole.from_bytes(task.parts[i].bytes); }, task.parts[i].name);
    if (i == 0) {
      whole = part;
    } else {
      whole.merge(part);
    }
  }
  task.begins(whole.end() - task.begin);
  while (whole.end() < task.end) {
    const std::int64_t at = whole.end();
    const std::int64_t now = std::min(task.chunk, task.end - at);
    whole.append(executor, first + at, first + (at + now));
    task.advanced(whole.end() - task.begin, [&] { return whole.to_bytes(); });
  }
  task.piece = whole.to_bytes();
  task.has_value = whole.begin() == 0 && whole.num_blocks() > 0;
  const bool is_nothing = whole.begin() == 0 && whole.end() == 0 && empty_has_value;
  return task.has_value || is_nothing ? whole.value() : decltype(whole.value()){};
}

}  // namespace tilefold::tool
