// SPDX-License-Identifier: Apache-2.0
//
// tilefold merge: puts parts together, that were made apart, and prints the value of the whole.
#include <utility>

#include "command_parts.hpp"
#include "commands.hpp"
#include "input_error.hpp"
#include "part_merge.hpp"
#include "report.hpp"

namespace tilefold::tool {

namespace {

std::vector<named_part> read_parts(const std::vector<std::string>& files) {
  std::vector<named_part> parts;
  for (const std::string& file : files) {
    try {
      parts.push_back({file, read_part(file)});
    } catch (const input_error& error) {
      throw input_error(one_line(file) + ": " + error.what());
    }
    require_same_reduction(parts.back(), parts.front());
  }
  return parts;
}

}  // namespace

int run_merge(const merge_options& options) {
  if (options.files.empty()) throw input_error("FILE is missing: name the parts to merge");
  for (const std::string& file : options.files) require_other_file("--part", options.part, file);
  const merged_parts merged = merge_parts(read_parts(options.files));
  const part_file& whole = merged.part;
  if (!options.part.empty()) write_part(options.part, whole);
  const part_report report{
      merged.files, options.part, whole.op,    whole.type,
      whole.begin,  whole.end,    whole.total, merged.result ? &*merged.result : nullptr};
  options.json ? print_json(report) : print_text(report);
  return exit_success;
}

}  // namespace tilefold::tool
