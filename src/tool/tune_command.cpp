// SPDX-License-Identifier: Apache-2.0
//
// tilefold tune: measures tile policies on this machine's GPU, prints a table for each item type
// and op, and writes a header with the fastest.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "backend.hpp"
#include "commands.hpp"
#include "input_error.hpp"
#include "tuning.hpp"

namespace tilefold::tool {

namespace {

// The rows that the user named, each once.
template <class Rows>
auto find_all(const Rows& rows, const std::vector<std::string>& names, const std::string& what,
              const std::string& known) {
  std::vector<decltype(rows[0].id)> found;
  for (const std::string& name : names) {
    const auto id = find_by_name(rows, name);
    if (!id || !can_tune(*id)) {
      throw input_error("cannot tune for " + what + " " + in_quotes(name) + "; known: " + known);
    }
    if (std::find(found.begin(), found.end(), *id) == found.end()) found.push_back(*id);
  }
  return found;
}

// Before minutes are spent on measuring.
void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw input_error("--out: " + one_line(path) + " is a directory");
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, ignored)) {
    throw input_error("--out: there is no directory " + one_line(folder.string()));
  }
}

std::unique_ptr<tuner> require_tuner() {
  try {
    return make_cuda_tuner();
  } catch (const no_gpu_error& reason) {
    throw input_error(std::string("tune needs a GPU: ") + message_of(reason));
  }
}

std::string today() {
  const std::time_t seconds = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&seconds));
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw input_error("cannot write " + one_line(path));
}

bool all_same_bits(const tuning& measured) {
  return std::all_of(measured.policies.begin(), measured.policies.end(),
                     [](const policy_timing& timing) { return timing.same_bits; });
}

}  // namespace

int run_tune(const tune_options& options) {
  const auto types = find_all(dtype_rows, options.types, "type", tunable_types());
  const auto ops = find_all(op_rows, options.ops, "op", tunable_ops());
  if (!options.out.empty()) require_writable(options.out);
  const std::unique_ptr<tuner> gpu = require_tuner();
  std::cout << gpu->device() << ", driver " << gpu->driver() << ", cold input, medians\n";
  std::vector<tuning> all;
  bool same_bits = true;
  for (const dtype type : types) {
    for (const op_kind op : ops) {
      all.push_back(gpu->measure(type, op, options.quick));
      print_table(std::cout, all.back());
      std::cout.flush();
      same_bits = same_bits && all_same_bits(all.back());
    }
  }
  if (!options.out.empty()) {
    write_text(options.out, policy_header({gpu->device(), gpu->driver(), today()}, all));
    std::cout << "wrote " << one_line(options.out) << '\n';
  }
  return same_bits ? exit_success : exit_wrong;
}

}  // namespace tilefold::tool
