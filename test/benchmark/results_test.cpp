// SPDX-License-Identifier: Apache-2.0
//
// benchmark/support/results.hpp: medians and quartiles of repetitions in any order, over several
// runs of Google Benchmark, without what failed. No GoogleTest: Google Benchmark runs and reports.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../benchmark/support/results.hpp"

namespace {

/// Repetition i takes microseconds[i]; an iteration moves 4000 bytes.
void enter(const std::string& name, const std::vector<double>& microseconds) {
  int turn = 0;
  const auto body = [=](benchmark::State& state) mutable {
    const double time = microseconds[static_cast<std::size_t>(turn++) % microseconds.size()];
    for (auto _ : state) state.SetIterationTime(1e-6 * time);
    state.SetBytesProcessed(state.iterations() * 4000);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Arg(1000)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(2)
      ->Repetitions(static_cast<int>(microseconds.size()));
}

int missing(const std::string& text, const std::string& part, bool expected = true) {
  if ((text.find(part) != std::string::npos) == expected) return 0;
  std::printf("%s '%s' in\n%s\n", expected ? "no" : "unexpected", part.c_str(), text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::set<std::string> failures{"shape/graph/fails/1000"};
  bench::results found(failures);
  enter("shape/graph/ours", {9, 1, 4, 2, 100, 3, 8, 5});
  enter("shape/graph/fails", {1, 1});
  benchmark::RunSpecifiedBenchmarks(&found);
  benchmark::ClearRegisteredBenchmarks();
  enter("shape/graph/theirs", {16, 16, 16});
  benchmark::RunSpecifiedBenchmarks(&found);
  benchmark::Shutdown();

  std::ostringstream out;
  found.write_json(out, {{"device", "a \"GPU\""}});
  const std::string json = out.str();
  // Ordered: 1 2 3 4 5 8 9 100.
  return missing(json,
                 R"("run_name": "shape/graph/ours/1000", "run_type": "iteration", )"
                 R"("repetitions": 8, "time_unit": "us", "real_time": 5, )"
                 R"("lower_quartile": 3, "upper_quartile": 8, "bytes_per_second": 800000000})") +
         missing(json, R"("shape/graph/theirs/1000", "run_type": "iteration", "repetitions": 3, )"
                       R"("time_unit": "us", "real_time": 16,)") +
         missing(json, R"("device": "a \"GPU\"")") + missing(json, "fails", false);
}
