// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <utility>

namespace bench {

namespace {

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

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

void results::ReportRuns(const std::vector<Run>& runs) {
  // Aggregates of repetitions are reported in a call of their own.
  if (runs.empty() || runs.front().run_type != Run::RT_Iteration) return;
  const auto& name = runs.front().run_name;
  if (failures_.contains(name.function_name + "/" + name.args)) return;
  std::vector<const Run*> ordered;
  for (const Run& run : runs) ordered.push_back(&run);
  std::sort(ordered.begin(), ordered.end(), [](const Run* a, const Run* b) {
    return a->GetAdjustedRealTime() < b->GetAdjustedRealTime();
  });
  const auto time_of = [&](std::size_t i) { return ordered[i]->GetAdjustedRealTime(); };
  const std::size_t count = ordered.size();
  const auto slash = name.function_name.rfind('/');
  entries_.push_back({name.function_name.substr(0, slash), name.function_name.substr(slash + 1),
                      std::stoll(name.args), count, time_of(count / 2), time_of(count / 4),
                      time_of(count - 1 - count / 4),
                      ordered[count / 2]->counters.at("bytes_per_second")});
}

void results::print_table() const {
  std::map<std::pair<std::string, long long>, std::map<std::string, double>> medians;
  for (const entry& e : entries_) medians[{e.shape_and_mode, e.n}][e.who] = e.median;
  std::printf("median microseconds\n");
  for (const auto& [row, contestants] : medians) {
    std::printf("%-28s %10lld", row.first.c_str(), row.second);
    for (const auto& [who, time] : contestants) std::printf("  %s %.4g", who.c_str(), time);
    std::printf("\n");
  }
}

void results::write_json(std::ostream& out, const description& context) const {
  out << "{\n  \"context\": {\n    \"date\": " << quoted(now());
  for (const auto& [name, value] : context)
    out << ",\n    " << quoted(name) << ": " << quoted(value);
  out << "\n  },\n  \"benchmarks\": [";
  const char* separator = "\n";
  for (const entry& e : entries_) {
    const std::string name = quoted(e.shape_and_mode + "/" + e.who + "/" + std::to_string(e.n));
    out << separator << "    {\"name\": " << name << ", \"run_name\": " << name
        << ", \"run_type\": \"iteration\", \"repetitions\": " << e.repetitions
        << ", \"time_unit\": \"us\", \"real_time\": " << number(e.median)
        << ", \"lower_quartile\": " << number(e.lower_quartile)
        << ", \"upper_quartile\": " << number(e.upper_quartile)
        << ", \"bytes_per_second\": " << number(e.bytes_per_second) << "}";
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
}

}  // namespace bench
