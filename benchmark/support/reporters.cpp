// SPDX-License-Identifier: Apache-2.0
#include "reporters.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <ostream>

namespace bench {

namespace {

using run = benchmark::BenchmarkReporter::Run;

std::string short_name(const run& r) { return r.run_name.function_name + "/" + r.run_name.args; }

// Google Benchmark reports the aggregates of repetitions in a call of their own.
bool is_repetitions(const std::vector<run>& runs) {
  return !runs.empty() && runs.front().run_type == run::RT_Iteration;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= ' ') result += c;
  }
  return result + '"';
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  return text;
}

}  // namespace

run median_repetition(std::vector<run> runs) {
  std::sort(runs.begin(), runs.end(), [](const run& a, const run& b) {
    return a.GetAdjustedRealTime() < b.GetAdjustedRealTime();
  });
  run median = runs[runs.size() / 2];
  median.counters["lower_quartile"] = runs[runs.size() / 4].GetAdjustedRealTime();
  median.counters["upper_quartile"] = runs[runs.size() - 1 - runs.size() / 4].GetAdjustedRealTime();
  return median;
}

void table_reporter::ReportRuns(const std::vector<Run>& runs) {
  if (!is_repetitions(runs) || failures_.contains(short_name(runs.front()))) return;
  const run median = median_repetition(runs);
  const std::string& name = median.run_name.function_name;
  const auto slash = name.rfind('/');
  medians_[name.substr(0, slash)][std::stoll(median.run_name.args)][name.substr(slash + 1)] =
      median.GetAdjustedRealTime();
}

void table_reporter::Finalize() {
  std::printf("median microseconds\n");
  for (const auto& [what, sizes] : medians_) {
    for (const auto& [n, contestants] : sizes) {
      std::printf("%-28s %10lld", what.c_str(), n);
      for (const auto& [who, time] : contestants) std::printf("  %s %.4g", who.c_str(), time);
      std::printf("\n");
    }
  }
}

bool file_reporter::ReportContext(const Context&) {
  std::ostream& out = GetOutputStream();
  out << "{\n  \"context\": {\n    \"date\": " << quoted(now());
  for (const auto& [name, value] : context_)
    out << ",\n    " << quoted(name) << ": " << quoted(value);
  out << "\n  },\n  \"benchmarks\": [\n";
  return true;
}

void file_reporter::ReportRuns(const std::vector<Run>& runs) {
  if (!is_repetitions(runs) || failures_.contains(short_name(runs.front()))) return;
  JSONReporter::ReportRuns({median_repetition(runs)});
}

}  // namespace bench
