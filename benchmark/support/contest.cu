// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <regex>
#include <set>

#include "attempt.hpp"
#include "graph.hpp"

namespace bench {

namespace {

// ---- which measurements there are

std::vector<index> powers(int first, int last, int step) {
  std::vector<index> sizes;
  for (int e = first; e <= last; e += step) sizes.push_back(index{1} << e);
  return sizes;
}

std::vector<index> sizes_of(const shape& what, mode how, bool quick) {
  if (!what.sizes.empty()) {
    if (!quick || what.sizes.size() == 1) return what.sizes;
    return {what.sizes.front(), what.sizes.back()};
  }
  switch (how) {
    case mode::graph:
      return quick ? powers(12, 28, 4) : powers(10, 30, 2);
    case mode::hot:
      return quick ? powers(12, 20, 4) : powers(10, 22, 2);
    case mode::stream:
      return quick ? powers(12, 24, 4) : powers(10, 26, 2);
    case mode::sync:
      return {1000, 100'000, 1'000'000};
  }
  return {};
}

bool takes_part(const contestant& who, mode how) {
  return static_cast<bool>(how == mode::sync ? who.blocking : who.enqueue);
}

// What is long has less spread.
int iterations(const measurement& m, bool quick) {
  if (m.how == mode::sync) return 50;
  return m.what->bytes(m.n) > index{1} << 28 ? 2 : (quick ? 3 : 5);
}

// Larger inputs would need more memory than they tell.
constexpr index most_bytes = index{8} << 30;

class name_filter {
 public:
  explicit name_filter(const std::string& text)
      : negative_(text.starts_with('-')), pattern_(text.substr(negative_ ? 1 : 0)) {}
  bool passes(const std::string& name) const {
    return std::regex_search(name, pattern_) != negative_;
  }

 private:
  bool negative_;
  std::regex pattern_;
};

// ---- one measurement

class runner {
 public:
  runner(const measurement& m, session& gpu) : m_(m), gpu_(gpu) {}

  void run(benchmark::State& state) {
    if (m_.how == mode::sync) {
      run_blocking(state);
    } else {
      run_launches(state);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * m_.what->bytes(m_.n));
  }

 private:
  void run_launches(benchmark::State& state) {
    const int launches = gpu_.launches(*m_.what, m_.n);
    const windows input = gpu_.input(*m_.what, m_.n, m_.how == mode::hot ? 1 : launches);
    learn(input);
    const auto enqueue = [&] {
      for (int i = 0; i < launches; ++i) m_.who->enqueue(gpu_.call(input[i], m_.n, i));
    };
    // Outside the capture first: code is loaded and workspaces grow on first use.
    enqueue();
    check(cudaStreamSynchronize(gpu_.stream()), "the first launches");
    if (m_.how == mode::stream) {
      time_launches(state, launches, input.count, enqueue);
    } else {
      const graph whole(gpu_.stream(), enqueue);
      whole.launch(gpu_.stream());
      time_launches(state, launches, input.count, [&] { whole.launch(gpu_.stream()); });
    }
  }

  template <class Launch>
  void time_launches(benchmark::State& state, int launches, int windows, Launch launch) {
    for (auto _ : state) {
      gpu_.spoil_results();
      if (m_.how != mode::hot) gpu_.flush_l2();
      // A host that launches while the flush still runs would hide what its launches cost.
      if (m_.how == mode::stream) {
        check(cudaStreamSynchronize(gpu_.stream()), "cudaStreamSynchronize");
      }
      state.SetIterationTime(1e-6 * gpu_.microseconds(launch) / launches);
      const char* results = gpu_.fetch_results();
      for (int i = 0; i < launches; ++i)
        judge_result(results + i * session::slot_bytes, i % windows);
    }
  }

  void run_blocking(benchmark::State& state) {
    const windows input = gpu_.input(*m_.what, m_.n, 1);
    learn(input);
    const fold_call call = gpu_.host_call(input[0], m_.n);
    for (int i = 0; i < 3; ++i) m_.who->blocking(call);
    for (auto _ : state) {
      gpu_.spoil_results();
      check(cudaStreamSynchronize(gpu_.stream()), "cudaStreamSynchronize");
      const auto begin = std::chrono::steady_clock::now();
      m_.who->blocking(call);
      const auto end = std::chrono::steady_clock::now();
      state.SetIterationTime(std::chrono::duration<double>(end - begin).count());
      judge_result(call.out, 0);
    }
  }

  void learn(const windows& input) {
    for (int i = 0; i < input.count; ++i) m_.what->rules->learn(gpu_.call(input[i], m_.n, 0), i);
  }

  void judge_result(const void* got, int window) {
    if (!m_.who->has_value) return;
    const std::string error = m_.what->rules->error(got, m_.n, window, *m_.who);
    if (!error.empty()) throw std::runtime_error("wrong result: " + error);
  }

  const measurement& m_;
  session& gpu_;
};

void show_progress(const outcome& so_far, const std::string& name) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  const int percent = 100 * so_far.repetitions_done / std::max(so_far.repetitions_due, 1);
  static int shown = -5;
  if (terminal) {
    std::fprintf(stderr, "\r%3d%%  %-60.60s", percent, name.c_str());
    if (so_far.repetitions_done == so_far.repetitions_due) std::fputc('\n', stderr);
  } else if (percent >= shown + 5) {
    shown = percent;
    std::fprintf(stderr, "%3d%%  %s\n", percent, name.c_str());
  }
}

void run_one(benchmark::State& state, const measurement& m, session& gpu, outcome& result) {
  if (!attempt(state, m.name(), result.failures, [&] { runner(m, gpu).run(state); })) {
    // After some errors nothing works any more: then the run ends here.
    check(cudaDeviceSynchronize(), "the GPU is lost");
  }
  ++result.repetitions_done;
  show_progress(result, m.name());
}

}  // namespace

std::string measurement::name() const {
  return what->name + "/" + name_of(how) + "/" + who->name + "/" + std::to_string(n);
}

std::vector<measurement> select(const shapes& all, const shapes& reads, const session& gpu,
                                const selection& choice) {
  const name_filter filter(choice.filter);
  std::vector<measurement> chosen;
  std::map<memory, std::set<std::pair<mode, index>>> read_bytes;
  for (const shape& what : all) {
    for (const mode how : what.modes) {
      for (const index n : sizes_of(what, how, choice.quick)) {
        if (what.bytes(n) > most_bytes || !gpu.fits(what, n)) continue;
        for (const contestant& who : what.contestants) {
          const measurement m{&what, &who, how, n};
          if (!takes_part(who, how) || n > who.most_items || !filter.passes(m.name())) continue;
          chosen.push_back(m);
          read_bytes[what.place].insert({how, what.bytes(n)});
        }
      }
    }
  }
  for (const shape& read : reads) {
    for (const auto& [how, bytes] : read_bytes[read.place]) {
      for (const contestant& who : read.contestants) {
        if (takes_part(who, how)) chosen.push_back({&read, &who, how, bytes / read.item_bytes});
      }
    }
  }
  return chosen;
}

void enter(const std::vector<measurement>& all, session& gpu, bool quick, outcome& result) {
  for (const measurement& m : all) {
    const std::string name = m.what->name + "/" + name_of(m.how) + "/" + m.who->name;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&m, &gpu, &result](benchmark::State& state) { run_one(state, m, gpu, result); })
        ->Arg(m.n)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(iterations(m, quick));
  }
}

}  // namespace bench
