// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <chrono>

#include "graph.hpp"
#include "session.hpp"

namespace bench {

namespace {

/// Times every iteration by time(), in microseconds for all calls together.
template <class Time>
void iterate(benchmark::State& state, const timed_work& work, Time time) {
  for (auto _ : state) {
    if (work.before) work.before();
    state.SetIterationTime(1e-6 * time() / work.calls);
    if (work.after) work.after();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * work.bytes);
}

void wait(const session& gpu, const char* what) {
  check(cudaStreamSynchronize(gpu.stream()), what);
}

void measure_by_host(benchmark::State& state, session& gpu, const timed_work& work) {
  using clock = std::chrono::steady_clock;
  iterate(state, work, [&] {
    wait(gpu, "before a call");
    const clock::time_point begin = clock::now();
    work.enqueue();
    return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
  });
}

void measure_in_stream(benchmark::State& state, session& gpu, const timed_work& work) {
  iterate(state, work, [&] {
    if (work.flush) gpu.flush_l2();
    // A host that launches while the flush still runs would hide what its launches cost.
    wait(gpu, "before the calls");
    return gpu.microseconds(work.enqueue);
  });
}

void measure_in_graph(benchmark::State& state, session& gpu, const timed_work& work) {
  const graph whole(gpu.stream(), work.enqueue);
  whole.launch(gpu.stream());
  iterate(state, work, [&] {
    if (work.flush) gpu.flush_l2();
    return gpu.microseconds([&] { whole.launch(gpu.stream()); });
  });
}

}  // namespace

void measure(benchmark::State& state, session& gpu, const timed_work& work) {
  // Without a clock first: code is loaded and workspaces grow on first use.
  for (int i = 0; i < (work.how == mode::sync ? 3 : 1); ++i) work.enqueue();
  wait(gpu, "the first calls");
  switch (work.how) {
    case mode::graph:
    case mode::hot:
      return measure_in_graph(state, gpu, work);
    case mode::stream:
      return measure_in_stream(state, gpu, work);
    case mode::sync:
      return measure_by_host(state, gpu, work);
  }
}

}  // namespace bench
