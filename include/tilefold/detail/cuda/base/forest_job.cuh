// SPDX-License-Identifier: Apache-2.0
//
// The arguments of the launches of a forest.
#pragma once

#include <tilefold/detail/cuda/base/launcher.cuh>

namespace tilefold::detail::cuda {

/// A fold of every tree of a forest, and where it runs.
template <class Forest, class Reducer, class Init, class Out,
          class Empty = typename Reducer::accumulator>
struct forest_job {
  using forest_type = Forest;
  using source_type = typename Forest::source_type;
  using reducer_type = Reducer;
  using init_type = Init;
  using out_type = Out;
  using empty_type = Empty;
  using acc = typename Reducer::accumulator;

  Forest forest;
  closed_reducer<Reducer> reducer;
  Init init;
  Empty empty;
  Out out;
  const device_info& gpu;
  cudaStream_t stream;

  /// The job for another forest.
  template <class Other>
  forest_job<Other, Reducer, Init, Out, Empty> with(const Other& other) const {
    return {other, reducer, init, empty, out, gpu, stream};
  }
};

template <class Forest, class Reducer, class Init, class Empty, class Out>
auto job_of(const Forest& forest, const Reducer& reducer, const Init& init, const Empty& empty,
            const Out& out, const device_info& gpu, cudaStream_t stream) {
  return forest_job<Forest, Reducer, Init, Out, Empty>{forest, {reducer, {0u}}, init, empty, out,
                                                       gpu,    stream};
}

/// Where the only result of a forest goes, used as it is.
template <class Out>
struct one_output {
  Out out;

  TILEFOLD_HD friend const Out& operator+(const one_output& of, std::int64_t) { return of.out; }
};
template <class Out>
one_output(Out) -> one_output<Out>;

}  // namespace tilefold::detail::cuda
