// SPDX-License-Identifier: Apache-2.0
//
// tilefold on a GPU against what a user would pick instead, all in one run: cub and thrust of the
// toolkit (and of another CCCL, if built with one) and, as the ceiling, kernels that only read. The
// turns of all contestants are scattered over the run; every timed result is checked.
//
//     tilefold_gpu_benchmark [--quick] [--benchmark_filter=<regex>] [--benchmark_out=<file>.json]
//
// Names are shape/mode/contestant/n; see mode in support/shape.hpp. Progress goes to stderr, a
// table of medians to stdout. report.py makes tables and plots of the JSON file. The exit code is 1
// if anything failed or was wrong.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <cuda/version>

#include "support/contest.hpp"
#include "support/reporters.hpp"

#if defined(TILEFOLD_OTHER_PEERS)
#include "peers/other/entry.hpp"
#endif

namespace {

struct options {
  bench::selection choice;
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
      "tilefold_gpu_benchmark [--quick] [--benchmark_filter=<regex>] [--benchmark_out=<file>]\n"
      "                       [--benchmark_repetitions=<number>] [--benchmark_list_tests]\n\n"
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

bench::description describe(const bench::session& gpu, const options& given, int repetitions) {
  bench::description context = gpu.describe();
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
    auto& joined = bench::peers()[shape];
    joined.insert(joined.end(), contestants.begin(), contestants.end());
  }
#endif
}

bench::shapes all_shapes(cudaStream_t stream) {
  bench::shapes all;
  for (const auto add :
       {bench::add_sums, bench::add_narrow_sums, bench::add_extremes, bench::add_misaligned,
        bench::add_operators, bench::add_structs, bench::add_iterators, bench::add_transforms,
        bench::add_memory, bench::add_ladder}) {
    add(all, stream);
  }
  bench::add_blocks(all);
  return all;
}

int run(int argc, char** argv) {
  const options given = read_options(argc, argv);
  int repetitions = 0;
  if (!initialize(argv[0], given, repetitions)) return 1;
  bench::session gpu;
  join_other_peers();
  const bench::shapes all = all_shapes(gpu.stream());
  bench::shapes reads;
  for (const bench::memory place : bench::every_memory) reads.push_back(bench::plain_read(place));
  const std::vector<bench::measurement> chosen = bench::select(all, reads, gpu, given.choice);
  if (chosen.empty()) {
    throw std::runtime_error("no benchmark is named like '" + given.choice.filter + "'");
  }
  bench::outcome result;
  result.repetitions_due = static_cast<int>(chosen.size()) * repetitions;
  bench::enter(chosen, gpu, given.choice.quick, result);
  bench::table_reporter table(result.failures);
  bench::file_reporter file(result.failures, describe(gpu, given, repetitions));
  benchmark::RunSpecifiedBenchmarks(&table, given.has_file ? &file : nullptr);
  benchmark::Shutdown();
  if (result.failures.empty()) return 0;
  std::fprintf(stderr, "tilefold_gpu_benchmark: %zu of %zu measurements failed and are left out\n",
               result.failures.size(), chosen.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tilefold_gpu_benchmark: %s\n", failure.what());
    return 1;
  }
}
