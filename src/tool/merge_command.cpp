// SPDX-License-Identifier: Apache-2.0
//
// tilefold merge: puts parts together, that were made apart, and prints the value of the whole.
#include <algorithm>
#include <utility>

#include <tilefold/error.hpp>

#include "backend.hpp"
#include "command_parts.hpp"
#include "commands.hpp"
#include "input_error.hpp"
#include "part_file.hpp"
#include "piece_task.hpp"
#include "report.hpp"

namespace tilefold::tool {

namespace {

struct named_part {
  std::string file;
  part_file part;
};

std::string named(const part_file& part) {
  std::string text(row_of(part.op).name);
  if (runs_on_host_only(part.op)) text += " " + std::to_string(part.k);
  return text + " of " + std::to_string(part.total) + " items of " +
         std::string(row_of(part.type).name);
}

// In the order of their items.
std::vector<named_part> read_parts(const std::vector<std::string>& files) {
  std::vector<named_part> parts;
  for (const std::string& file : files) {
    try {
      parts.push_back({file, read_part(file)});
    } catch (const input_error& error) {
      throw input_error(one_line(file) + ": " + error.what());
    }
    const part_file& part = parts.back().part;
    if (part.is_checkpoint()) {
      throw input_error(one_line(file) + ": is a checkpoint, which its own reduction goes on from");
    }
    if (named(part) != named(parts.front().part)) {
      throw input_error(one_line(file) + ": is a part of " + named(part) + ", but " +
                        one_line(files.front()) + " is one of " + named(parts.front().part));
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const named_part& a, const named_part& b) {
    return std::pair(a.part.begin, a.part.end) < std::pair(b.part.begin, b.part.end);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].part.begin != parts[i - 1].part.end) {
      throw input_error(one_line(parts[i - 1].file) + " ends at item " +
                        std::to_string(parts[i - 1].part.end) + ", but " + one_line(parts[i].file) +
                        " begins at item " + std::to_string(parts[i].part.begin));
    }
  }
  return parts;
}

}  // namespace

int run_merge(const merge_options& options) {
  if (options.files.empty()) throw input_error("FILE is missing: name the parts to merge");
  for (const std::string& file : options.files) require_other_file("--part", options.part, file);
  const std::vector<named_part> parts = read_parts(options.files);
  part_file merged = parts.front().part;
  merged.end = parts.back().part.end;
  piece_task task{merged.begin, merged.end, 1};
  std::vector<std::string> files;
  for (const named_part& part : parts) {
    task.parts.push_back(part.part.piece);
    files.push_back(part.file);
  }
  // All items are in the pieces, so none is read.
  fold_job job{merged.op, merged.type, nullptr, 0, 1, false, merged.k, files.front()};
  job.pieces = &task;
  const fold_result result = make_host_backend(1)->run(job);
  if (!options.part.empty()) {
    merged.piece = std::move(task.piece);
    write_part(options.part, merged);
  }
  const part_report report{
      files,        options.part, merged.op,    merged.type,
      merged.begin, merged.end,   merged.total, task.has_value ? &result : nullptr};
  options.json ? print_json(report) : print_text(report);
  return exit_success;
}

}  // namespace tilefold::tool
