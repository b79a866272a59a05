// SPDX-License-Identifier: Apache-2.0
//
// Sums of 4- and 8-byte types: floating ones in graphs, hot, launched by the host, and synchronous.
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

/// reduce(first, last), which finds out by itself that the memory is the GPU's.
template <class T>
contestant without_executor() {
  contestant result;
  result.name = "tilefold-no-executor";
  result.host_bits = true;
  result.blocking = [](const fold_call& c) {
    *c.result<T>() = tilefold::reduce(c.items<T>(), c.items<T>() + c.n);
  };
  return result;
}

template <class T>
shape floating(const std::string& name, cudaStream_t stream) {
  shape result = reduction<floating_sum<T, T>, mixed<T>, T>(name, stream, tilefold::plus{});
  result.contestants.push_back(without_executor<T>());
  return result;
}

template <class T>
shape integers(const std::string& name, cudaStream_t stream) {
  return large_reduction<integer_sum<T, T>, mixed<T>, T>(name, stream, tilefold::plus{});
}

}  // namespace

void add_sums(shapes& all, cudaStream_t stream) {
  all.push_back(floating<float>("float_sum", stream));
  all.back().modes = {mode::graph, mode::hot, mode::stream, mode::sync};
  all.push_back(floating<double>("double_sum", stream));
  all.back().modes = {mode::graph, mode::stream, mode::sync};
  all.push_back(integers<std::int32_t>("int32_sum", stream));
  all.push_back(integers<std::int64_t>("int64_sum", stream));
}

}  // namespace bench
