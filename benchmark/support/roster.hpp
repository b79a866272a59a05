// SPDX-License-Identifier: Apache-2.0
//
// Measurements of contests that are not one fold: entered into Google Benchmark one by one under
// names as report.py splits them, with a record of what failed.
#pragma once

#include <benchmark/benchmark.h>

#include <set>
#include <string>

#include "attempt.hpp"
#include "contestant.hpp"

namespace bench {

class roster {
 public:
  /// Enters measure(state) as shape/mode/who/n, of `iterations` iterations. The roster must outlive
  /// the run.
  template <class Measure>
  void enter(const std::string& shape, const std::string& mode, const std::string& who, index n,
             int iterations, Measure measure) {
    const std::string name = shape + "/" + mode + "/" + who;
    const std::string full_name = name + "/" + std::to_string(n);
    const auto body = [this, full_name, measure](benchmark::State& state) {
      std::fprintf(stderr, "\r%-60s", full_name.c_str());
      attempt(state, full_name, failures_, [&] { measure(state); });
    };
    benchmark::RegisterBenchmark(name.c_str(), body)
        ->Arg(n)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(iterations);
  }

  /// The names of what failed so far.
  const std::set<std::string>& failures() const { return failures_; }

 private:
  std::set<std::string> failures_;
};

}  // namespace bench
