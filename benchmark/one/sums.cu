// SPDX-License-Identifier: Apache-2.0
//
// Sums of 4- and 8-byte types: floating ones in graphs, hot, launched by the host, and synchronous;
// and one of a length that only the GPU knows.
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../support/device_array.hpp"
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

/// The float sum of a length that stands in the GPU's memory and is the most that it can be.
shape deferred_floats(cudaStream_t stream) {
  shape result = make_shape<floating_sum<float, float>, mixed<float>, float>(
      "float_sum_deferred", [](const float* items, index n) {
        return tilefold::reduce(tilefold::host_executor(), items, items + n);
      });
  std::vector<index> powers;
  for (int e = 0; e <= 28; ++e) powers.push_back(index{1} << e);
  const auto lengths = std::make_shared<device_array<index>>(powers);
  result.contestants.push_back(ours(stream, [=](auto& executor, const fold_call& c) {
    const index* const length = lengths->data() + std::countr_zero(static_cast<std::uint64_t>(c.n));
    tilefold::reduce_into(executor, c.items<float>(), tilefold::deferred(length, c.n),
                          c.result<float>());
  }));
  result.contestants.back().most_items = powers.back();
  return result;
}

}  // namespace

void add_sums(shapes& all, cudaStream_t stream) {
  all.push_back(floating<float>("float_sum", stream));
  all.back().modes = {mode::graph, mode::hot, mode::stream, mode::sync};
  all.push_back(deferred_floats(stream));
  all.push_back(floating<double>("double_sum", stream));
  all.back().modes = {mode::graph, mode::stream, mode::sync};
  all.push_back(integers<std::int32_t>("int32_sum", stream));
  all.push_back(integers<std::int64_t>("int64_sum", stream));
}

}  // namespace bench
