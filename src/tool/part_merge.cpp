// SPDX-License-Identifier: Apache-2.0
//
// Sorts parts by their items, and folds their pieces on the host.
#include "part_merge.hpp"

#include <algorithm>
#include <utility>

#include "input_error.hpp"
#include "piece_task.hpp"

namespace tilefold::tool {

namespace {

std::string named(const part_file& part) {
  std::string text(row_of(part.op).name);
  if (runs_on_host_only(part.op)) text += " " + std::to_string(part.k);
  return text + " of " + std::to_string(part.total) + " items of " +
         std::string(row_of(part.type).name);
}

void require_neighbours(const named_part& left, const named_part& right) {
  if (right.part.begin == left.part.end) return;
  throw input_error(one_line(left.file) + " ends at item " + std::to_string(left.part.end) +
                    ", but " + one_line(right.file) + " begins at item " +
                    std::to_string(right.part.begin));
}

}  // namespace

void require_same_reduction(const named_part& part, const named_part& first) {
  if (part.part.is_checkpoint()) {
    throw input_error(one_line(part.file) +
                      ": is a checkpoint, which its own reduction goes on from");
  }
  if (named(part.part) != named(first.part)) {
    throw input_error(one_line(part.file) + ": is a part of " + named(part.part) + ", but " +
                      one_line(first.file) + " is one of " + named(first.part));
  }
}

merged_parts merge_parts(std::vector<named_part> parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const named_part& a, const named_part& b) {
    return std::pair(a.part.begin, a.part.end) < std::pair(b.part.begin, b.part.end);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) require_neighbours(parts[i - 1], parts[i]);
  merged_parts merged{parts.front().part, {}, std::nullopt};
  part_file& whole = merged.part;
  whole.end = parts.back().part.end;
  piece_task task{whole.begin, whole.end, 1};
  for (named_part& part : parts) {
    task.parts.push_back({std::move(part.part.piece), part.file});
    merged.files.push_back(std::move(part.file));
  }
  // All items are in the pieces, so none is read.
  fold_job job{whole.op, whole.type, nullptr, 0, 1, false, whole.k, merged.files.front()};
  job.pieces = &task;
  fold_result result = make_host_backend(1)->run(job);
  whole.piece = std::move(task.piece);
  if (task.has_value) merged.result = std::move(result);
  return merged;
}

}  // namespace tilefold::tool
