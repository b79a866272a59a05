// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <cuda/version>

#include "contest.hpp"
#include "reporters.hpp"

#if defined(TILEFOLD_OTHER_PEERS)
#include "../peers/other/entry.hpp"
#endif

namespace bench {

namespace {

struct options {
  selection choice;
  bool has_file = false;
  std::vector<std::string> passed_on;  // to Google Benchmark
};

options read_options(int argc, char** argv) {
  options result;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view filter = "--benchmark_filter=";
    if (argument == "--quick") {
      result.choice.quick = true;
    } else if (argument.starts_with(filter)) {
      result.choice.filter = argument.substr(filter.size());
    } else {
      result.has_file |= argument.starts_with("--benchmark_out=");
      result.passed_on.emplace_back(argument);
    }
  }
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
bool initialize(char* program, const options& given, int& repetitions) {
  std::vector<std::string> texts{
      program, "--benchmark_enable_random_interleaving=true",
      "--benchmark_repetitions=" + std::to_string(given.choice.quick ? 5 : 15)};
  texts.insert(texts.end(), given.passed_on.begin(), given.passed_on.end());
  constexpr std::string_view flag = "--benchmark_repetitions=";
  std::vector<char*> arguments;
  for (std::string& text : texts) {
    if (text.starts_with(flag)) repetitions = std::atoi(text.c_str() + flag.size());
    arguments.push_back(text.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data(), print_usage);
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

description describe(const session& gpu, const options& given, int repetitions) {
  description context = gpu.describe();
  context["cccl"] = std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                    "." + std::to_string(CCCL_PATCH_VERSION);
#if defined(TILEFOLD_OTHER_PEERS)
  context["other_cccl"] = tilefold_other_cccl();
#endif
  context["repetitions"] = std::to_string(repetitions);
  context["suite"] = given.choice.quick ? "quick" : "full";
  return context;
}

void join_other_peers() {
#if defined(TILEFOLD_OTHER_PEERS)
  for (const auto& [shape, contestants] : tilefold_other_peers()) {
    auto& joined = peers()[shape];
    joined.insert(joined.end(), contestants.begin(), contestants.end());
  }
#endif
}

int run(int argc, char** argv, add_shapes* add) {
  const options given = read_options(argc, argv);
  int repetitions = 0;
  if (!initialize(argv[0], given, repetitions)) return 1;
  session gpu;
  join_other_peers();
  shapes all;
  add(all, gpu.stream());
  shapes reads;
  for (const memory place : every_memory) reads.push_back(plain_read(place));
  const std::vector<measurement> chosen = select(all, reads, gpu, given.choice);
  if (chosen.empty()) {
    throw std::runtime_error("no benchmark is named like '" + given.choice.filter + "'");
  }
  outcome result;
  result.repetitions_due = static_cast<int>(chosen.size()) * repetitions;
  enter(chosen, gpu, given.choice.quick, result);
  table_reporter table(result.failures);
  file_reporter file(result.failures, describe(gpu, given, repetitions));
  benchmark::RunSpecifiedBenchmarks(&table, given.has_file ? &file : nullptr);
  benchmark::Shutdown();
  if (result.failures.empty()) return 0;
  std::fprintf(stderr, "%s: %zu of %zu measurements failed and are left out\n", argv[0],
               result.failures.size(), chosen.size());
  return 1;
}

}  // namespace

int run_program(int argc, char** argv, add_shapes* add) {
  try {
    return run(argc, argv, add);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
    return 1;
  }
}

}  // namespace bench
