// SPDX-License-Identifier: Apache-2.0
//
// What the tests of reduce_by_key share: a call on copies of its input, and what it wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "../support/device.cuh"

namespace tilefold::test {

/// What a call wrote, on the host.
template <class Key, class Value>
struct written {
  std::int64_t runs;
  std::vector<Key> keys;
  std::vector<Value> values;
};

/// Device memory that is kept from call to call, for allocating it takes longer than small calls.
template <class T>
gpu_array<T>& kept(std::int64_t n, int which) {
  static std::map<int, gpu_array<T>> arrays;
  auto found = arrays.find(which);
  if (found != arrays.end() && found->second.size() < n) {
    arrays.erase(found);
    found = arrays.end();
  }
  if (found == arrays.end()) found = arrays.emplace(which, gpu_array<T>(2 * n)).first;
  return found->second;
}

template <class T>
std::vector<T> first_items(const gpu_array<T>& from, std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  must(cudaMemcpy(items.data(), from.data(), items.size() * sizeof(T), cudaMemcpyDefault));
  return items;
}

/// Calls reduce_by_key_into on copies of keys and items; `rest` as in its call.
template <class Value, class Key, class Item, class... Rest>
written<Key, Value> on_gpu(cuda_executor& exec, const std::vector<Key>& keys,
                           const std::vector<Item>& items, Rest... rest) {
  const auto n = static_cast<std::int64_t>(keys.size());
  auto& device_keys = kept<Key>(n, 0);
  auto& keys_out = kept<Key>(n, 1);
  auto& device_items = kept<Item>(n, 2);
  auto& values_out = kept<Value>(n, 3);
  auto& num_runs = kept<std::int64_t>(1, 4);
  device_keys.assign(keys.data(), n);
  device_items.assign(items.data(), n);
  must(cudaMemset(values_out.data(), 0xee, sizeof(Value) * keys.size()));
  must(cudaMemset(num_runs.data(), 0xee, sizeof(std::int64_t)));
  reduce_by_key_into(exec, device_keys.data(), device_keys.data() + n, device_items.data(),
                     keys_out.data(), values_out.data(), num_runs.data(), rest...);
  exec.synchronize();
  const std::int64_t runs = first_items(num_runs, 1)[0];
  const std::int64_t there = runs < 0 || runs > n ? 0 : runs;
  return {runs, first_items(keys_out, there), first_items(values_out, there)};
}

}  // namespace tilefold::test
