// SPDX-License-Identifier: Apache-2.0
//
// What Google Benchmark's results become: a short table at the end, and a JSON file that is small
// enough to be kept. Of a contestant's repetitions both keep the median one with its spread.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench {

using description = std::map<std::string, std::string>;

/// The repetition that lies in the middle, with the times of all as counters `fastest` and
/// `slowest`.
benchmark::BenchmarkReporter::Run median_repetition(
    std::vector<benchmark::BenchmarkReporter::Run> runs);

/// Prints, when all is done, one line for each shape, mode and n.
class table_reporter final : public benchmark::BenchmarkReporter {
 public:
  /// `failures`: names of measurements that are left out.
  explicit table_reporter(const std::set<std::string>& failures) : failures_(failures) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  const std::set<std::string>& failures_;
  // shape/mode, then n, then contestant, in microseconds.
  std::map<std::string, std::map<long long, std::map<std::string, double>>> medians_;
};

/// Google Benchmark's JSON, with one entry a contestant and a context that tells of the GPU and of
/// the versions, and of this machine nothing else.
class file_reporter final : public benchmark::JSONReporter {
 public:
  file_reporter(const std::set<std::string>& failures, description context)
      : failures_(failures), context_(std::move(context)) {}
  bool ReportContext(const Context&) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  const std::set<std::string>& failures_;
  description context_;
};

}  // namespace bench
