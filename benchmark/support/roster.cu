// SPDX-License-Identifier: Apache-2.0
#include "roster.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <utility>

#include "attempt.hpp"

namespace bench {

std::string measurement::name() const {
  return shape + "/" + mode + "/" + who + "/" + std::to_string(n);
}

roster::roster(session& gpu, selection choice) : gpu_(gpu), choice_(std::move(choice)) {}

bool roster::passes(const std::string& name) const {
  const bool negative = choice_.filter.starts_with('-');
  const std::regex pattern(choice_.filter.substr(negative ? 1 : 0));
  return std::regex_search(name, pattern) != negative;
}

bool roster::enter(measurement m) {
  if (!passes(m.name())) return false;
  all_.push_back(std::move(m));
  return true;
}

void roster::run(int repetitions, benchmark::BenchmarkReporter& reporter) {
  turns_due_ = all_.size() * static_cast<std::size_t>(repetitions);
  for (auto first = all_.begin(); first != all_.end();) {
    const auto last = std::find_if(first, all_.end(),
                                   [&](const measurement& m) { return m.group != first->group; });
    for (; first != last; ++first) add_to_benchmarks(*first);
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();
  }
}

void roster::add_to_benchmarks(const measurement& m) {
  const std::string name = m.shape + "/" + m.mode + "/" + m.who;
  benchmark::RegisterBenchmark(name.c_str(),
                               [this, &m](benchmark::State& state) { take_turn(state, m); })
      ->Arg(m.n)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(m.iterations);
}

void roster::take_turn(benchmark::State& state, const measurement& m) {
  const bool well = attempt(state, m.name(), failures_, [&] {
    const timed_work work = m.prepare();
    if (work.check && checked_.insert(m.name()).second) work.check();
    measure(state, gpu_, work);
  });
  // After some errors nothing works any more: then the run ends here.
  if (!well) check(cudaDeviceSynchronize(), "the GPU is lost");
  show_progress(m.name());
}

void roster::show_progress(const std::string& name) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  static std::size_t shown = 0;
  ++turns_taken_;
  const std::size_t percent = 100 * turns_taken_ / std::max<std::size_t>(turns_due_, 1);
  if (terminal) {
    std::fprintf(stderr, "\r%3zu%%  %-60.60s", percent, name.c_str());
    if (turns_taken_ == turns_due_) std::fputc('\n', stderr);
  } else if (percent >= shown + 5) {
    shown = percent;
    std::fprintf(stderr, "%3zu%%  %s\n", percent, name.c_str());
  }
}

}  // namespace bench
