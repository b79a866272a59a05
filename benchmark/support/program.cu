// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <cuda/version>

#include "results.hpp"

#if defined(TILEFOLD_OTHER_PEERS)
#include "other_cccl.hpp"
#endif

namespace bench {

namespace {

struct options {
  selection choice;
  std::string file;
  int repetitions = 0;
  std::vector<std::string> passed_on;  // to Google Benchmark
};

/// Whether `argument` is `flag` with a value, which goes to `value`.
bool has_value(std::string_view argument, std::string_view flag, std::string& value) {
  if (!argument.starts_with(flag)) return false;
  value = argument.substr(flag.size());
  return true;
}

options read_options(int argc, char** argv) {
  options result;
  std::string repetitions;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      result.choice.quick = true;
    } else if (!has_value(argument, "--benchmark_filter=", result.choice.filter) &&
               !has_value(argument, "--benchmark_out=", result.file) &&
               !has_value(argument, "--benchmark_repetitions=", repetitions)) {
      result.passed_on.emplace_back(argument);
    }
  }
  result.repetitions =
      repetitions.empty() ? (result.choice.quick ? 5 : 15) : std::atoi(repetitions.c_str());
  if (result.repetitions < 1) throw std::runtime_error("no repetitions: '" + repetitions + "'");
  return result;
}

void print_usage() {
  std::printf(
      "[--quick] [--benchmark_filter=<regex>] [--benchmark_out=<file>]\n"
      "[--benchmark_repetitions=<number>] [--benchmark_list_tests]\n\n"
      "--quick: fewer sizes and repetitions, under two minutes. The names that the filter sees "
      "are\n"
      "shape/mode/contestant/n; kernels that only read come along with whatever passes.\n");
}

/// False if an argument is unknown. The command line overrides what is set here.
bool initialize(char* program, const options& given) {
  std::vector<std::string> texts{program, "--benchmark_enable_random_interleaving=true",
                                 "--benchmark_repetitions=" + std::to_string(given.repetitions)};
  texts.insert(texts.end(), given.passed_on.begin(), given.passed_on.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data(), print_usage);
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

description describe(const session& gpu, const options& given) {
  description context = gpu.describe();
  context["cccl"] = std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                    "." + std::to_string(CCCL_PATCH_VERSION);
#if defined(TILEFOLD_OTHER_PEERS)
  context["other_cccl"] = tilefold_other_cccl();
#endif
  context["repetitions"] = std::to_string(given.repetitions);
  context["suite"] = given.choice.quick ? "quick" : "full";
  return context;
}

void write_file(const std::string& path, const results& found, const description& context) {
  std::ofstream file(path);
  found.write_json(file, context);
  if (!file.flush()) throw std::runtime_error("cannot write '" + path + "'");
}

int run(int argc, char** argv, enter_all* enter) {
  const options given = read_options(argc, argv);
  if (!initialize(argv[0], given)) return 1;
#if defined(TILEFOLD_OTHER_PEERS)
  join_other_peers();
#endif
  session gpu;
  roster all(gpu, given.choice);
  enter(all);
  if (all.size() == 0) {
    throw std::runtime_error("no benchmark is named like '" + given.choice.filter + "'");
  }
  results found(all.failures());
  all.run(given.repetitions, found);
  benchmark::Shutdown();
  found.print_table();
  if (!given.file.empty()) write_file(given.file, found, describe(gpu, given));
  if (all.failures().empty()) return 0;
  std::fprintf(stderr, "%s: %zu of %zu measurements failed and are left out\n", argv[0],
               all.failures().size(), all.size());
  return 1;
}

}  // namespace

int run_program(int argc, char** argv, enter_all* enter) {
  try {
    return run(argc, argv, enter);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
    return 1;
  }
}

}  // namespace bench
