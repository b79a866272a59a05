// SPDX-License-Identifier: Apache-2.0
//
// What a run leaves: of each contestant's repetitions the median one with its quartiles, as a short
// table and as JSON that report.py reads.
#pragma once

#include <benchmark/benchmark.h>

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench {

using description = std::map<std::string, std::string>;

/// Takes part in several runs of Google Benchmark, one after the other.
class results final : public benchmark::BenchmarkReporter {
 public:
  /// `failures`: names of measurements that are left out.
  explicit results(const std::set<std::string>& failures) : failures_(failures) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  /// One line for each shape, mode and n.
  void print_table() const;
  /// Google Benchmark's format; `context` tells of the GPU and of versions, and of this machine
  /// nothing else.
  void write_json(std::ostream& out, const description& context) const;

 private:
  struct entry {
    std::string shape_and_mode, who;
    long long n;
    std::size_t repetitions;
    double median, lower_quartile, upper_quartile;  // microseconds
    double bytes_per_second;
  };

  const std::set<std::string>& failures_;
  std::vector<entry> entries_;
};

}  // namespace bench
