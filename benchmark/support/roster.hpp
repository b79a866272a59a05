// SPDX-License-Identifier: Apache-2.0
//
// All measurements of a program: chosen by name, run in random order, with a record of what failed.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "contestant.hpp"
#include "session.hpp"
#include "timing.hpp"

namespace bench {

struct selection {
  bool quick = false;
  std::string filter;  // a regular expression that the name must contain; "-..." must not
};

/// One contestant at one n.
struct measurement {
  std::string shape, mode, who;
  index n;
  int iterations;
  /// Makes its input, unless the one before has left it there, and says what is to be timed.
  std::function<timed_work()> prepare;
  /// Neighbours of one group share an input that is dear to make. Turns are taken within a group.
  std::string group;

  /// shape/mode/who/n, as the report splits it.
  std::string name() const;
};

class roster {
 public:
  roster(session& gpu, selection choice);

  session& gpu() const { return gpu_; }
  /// Whether fewer sizes are asked for.
  bool quick() const { return choice_.quick; }
  bool passes(const std::string& name) const;

  /// Enters a measurement if its name passes; whether it does.
  bool enter(measurement m);
  /// Enters one that others are compared with, whatever its name.
  void enter_ceiling(measurement m) { all_.push_back(std::move(m)); }

  /// Runs them group by group, the repetitions of a group in random order.
  void run(int repetitions, benchmark::BenchmarkReporter& reporter);

  std::size_t size() const { return all_.size(); }
  /// Names of what had an error or a wrong result so far.
  const std::set<std::string>& failures() const { return failures_; }

 private:
  void add_to_benchmarks(const measurement& m);
  void take_turn(benchmark::State& state, const measurement& m);
  void show_progress(const std::string& name);

  session& gpu_;
  selection choice_;
  std::vector<measurement> all_;
  std::set<std::string> checked_, failures_;
  std::size_t turns_taken_ = 0;
  std::size_t turns_due_ = 0;
};

}  // namespace bench
