// SPDX-License-Identifier: Apache-2.0
//
// benchmark/support/attempt.hpp: repetitions that fail before, within and after others, beside
// which the program goes on and other benchmarks are measured. No GoogleTest: Google Benchmark
// would end the whole program.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../benchmark/support/attempt.hpp"

namespace {

constexpr int repetitions = 5;

enum class place { nowhere, before_the_loop, in_the_loop };

std::set<std::string> failures;
std::map<std::string, int> measured;  // repetitions that began to measure

void enter(const std::string& name, place where, int failing_repetition) {
  const auto body = [=](benchmark::State& state) {
    const auto measure = [&] {
      const bool fails = ++measured[name] == failing_repetition;
      if (fails && where == place::before_the_loop) throw std::runtime_error("before");
      int iteration = 0;
      for (auto _ : state) {
        if (fails && where == place::in_the_loop && ++iteration == 2) {
          throw std::runtime_error("within");
        }
        state.SetIterationTime(1e-3);
      }
    };
    bench::attempt(state, name, failures, measure);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseManualTime()
      ->Iterations(3)
      ->Repetitions(repetitions);
}

/// Counts the repetitions that come to an end.
class counter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& r : runs) reported[r.run_name.function_name] += r.run_type == Run::RT_Iteration;
  }
  std::map<std::string, int> reported;
};

int wrong(const std::string& what, int got, int expected) {
  if (got == expected) return 0;
  std::printf("%s: %d, expected %d\n", what.c_str(), got, expected);
  return 1;
}

}  // namespace

int main() {
  enter("sound", place::nowhere, 0);
  const std::map<std::string, int> fails_at{{"first", 1}, {"second", 2}, {"last", repetitions}};
  for (const auto& [name, repetition] : fails_at) {
    enter(name + "_before", place::before_the_loop, repetition);
    enter(name + "_within", place::in_the_loop, repetition);
  }
  counter counts;
  benchmark::RunSpecifiedBenchmarks(&counts);
  int errors = wrong("repetitions of what is sound", measured["sound"], repetitions) +
               wrong("failures", static_cast<int>(failures.size()), 6);
  for (const auto& [name, repetition] : fails_at) {
    for (const std::string& full_name : {name + "_before", name + "_within"}) {
      errors += wrong(full_name + " reported", counts.reported[full_name], repetitions);
      errors += wrong(full_name + " measured", measured[full_name], repetition);
      errors += failures.contains(full_name) ? 0 : 1;
    }
  }
  errors += wrong("sound reported", counts.reported["sound"], repetitions);
  return errors == 0 ? 0 : 1;
}
