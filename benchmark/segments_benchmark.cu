// SPDX-License-Identifier: Apache-2.0
//
// Many results on a GPU, sums of floats above all, against their peers: segments of one length and
// of offsets, rows of halves, statistics by segment, runs of keys, columns and middle axes.
//
//     tilefold_segments_benchmark [--benchmark_filter=<regex>] [--benchmark_out=<file>.json]
//
// Names are shape/mode/contestant/n, for report.py; n is the items of a segment, a row or a run,
// the width of a matrix.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <cuda/version>

#include "axis_contest.hpp"
#include "segment_peers/peer.hpp"
#include "segment_rows.hpp"
#include "segment_statistics.hpp"
#include "segment_sums.hpp"
#include "segments_by_key.hpp"
#include "support/reporters.hpp"
#include "support/roster.hpp"
#include "support/session.hpp"

#if defined(TILEFOLD_OTHER_PEERS)
#include "segment_peers/other/entry.hpp"
#endif

namespace {

bench::description describe(const bench::session& gpu, const std::string& repetitions) {
  bench::description context = gpu.describe();
  context["repetitions"] = repetitions;
  context["cccl"] = std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                    "." + std::to_string(CCCL_PATCH_VERSION);
#if defined(TILEFOLD_OTHER_PEERS)
  context["other_cccl"] = tilefold_other_cccl();
#endif
  return context;
}

void join_other_peers() {
#if defined(TILEFOLD_OTHER_PEERS)
  for (const bench::segments_peer& peer : tilefold_other_segments_peers()) {
    bench::segments_peers().push_back(peer);
  }
#endif
}

int run(int argc, char** argv) {
  std::vector<std::string> texts{argv[0], "--benchmark_repetitions=5"};
  texts.insert(texts.end(), argv + 1, argv + argc);
  const std::string flag = "--benchmark_repetitions=";
  std::string repetitions;
  bool has_file = false;
  std::vector<char*> arguments;
  for (std::string& text : texts) {
    if (text.starts_with(flag)) repetitions = text.substr(flag.size());
    has_file |= text.starts_with("--benchmark_out=");
    arguments.push_back(text.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  bench::session gpu;
  join_other_peers();
  bench::roster all;
  const auto items = bench::segment_items(gpu);
  bench::enter_segment_sums(all, gpu, items);
  bench::enter_segment_statistics(all, gpu, items);
  bench::enter_segment_rows(all, gpu);
  bench::enter_by_key_contests(all, gpu, items);
  bench::enter_axis_contests(all, gpu);
  bench::table_reporter table(all.failures());
  bench::file_reporter file(all.failures(), describe(gpu, repetitions));
  benchmark::RunSpecifiedBenchmarks(&table, has_file ? &file : nullptr);
  // What they hold goes before the GPU does.
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
  return all.failures().empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tilefold_segments_benchmark: %s\n", failure.what());
    return 1;
  }
}
