// SPDX-License-Identifier: Apache-2.0
//
// thrust::reduce_by_key, and the cub call beneath it. thrust allocates and waits within its call.
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include "../../support/cccl.hpp"
#include "../../support/structs.hpp"
#include "peer.hpp"

namespace {

using bench::vec;

template <class T>
struct addition {
  using plus = cuda::std::plus<T>;
};
template <class T, int N>
struct addition<vec<T, N>> {
  using plus = bench::vec_plus;
};

template <template <class> class Form>
bench::runs_peer peer(const char* name, bool waits) {
  return {with_version(name),
          waits,
          {{"float", Form<float>{}},
           {"struct16", Form<vec<float, 4>>{}},
           {"struct24", Form<vec<double, 3>>{}},
           {"struct32", Form<vec<double, 4>>{}},
           {"struct64", Form<vec<double, 8>>{}},
           {"struct128", Form<vec<double, 16>>{}}}};
}

template <class T>
struct by_cub {
  void operator()(const bench::runs_call& c) const {
    std::size_t bytes = c.scratch_bytes;
    bench::check(cub::DeviceReduce::ReduceByKey(c.scratch, bytes, c.keys, c.keys_out, c.items<T>(),
                                                c.result<T>(), c.count,
                                                typename addition<T>::plus{}, c.n, c.stream),
                 "cub::DeviceReduce::ReduceByKey");
  }
};

template <class T>
struct by_thrust {
  void operator()(const bench::runs_call& c) const {
    const auto ends = thrust::reduce_by_key(thrust::cuda::par_nosync.on(c.stream), c.keys,
                                            c.keys + c.n, c.items<T>(), c.keys_out, c.result<T>(),
                                            thrust::equal_to<int>{}, typename addition<T>::plus{});
    const std::int64_t runs = ends.first - c.keys_out;
    bench::check(cudaMemcpyAsync(c.count, &runs, sizeof runs, cudaMemcpyDefault, c.stream), "copy");
  }
};

const bench::entry_of<bench::runs_peer> cub_entry(peer<by_cub>("cub", false));
const bench::entry_of<bench::runs_peer> thrust_entry(peer<by_thrust>("thrust", true));

}  // namespace
