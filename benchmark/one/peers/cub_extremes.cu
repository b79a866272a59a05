// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce on minima, maxima and products.
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <cstdint>

#include "../../support/cccl.hpp"

namespace {

template <class T>
bench::contestant min() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Min(scratch, bytes, c.items<T>(), c.result<T>(), count(c), c.stream);
  });
}

template <class T>
bench::contestant max() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Max(scratch, bytes, c.items<T>(), c.result<T>(), count(c), c.stream);
  });
}

template <class T>
bench::contestant product() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Reduce(scratch, bytes, c.items<T>(), c.result<T>(), count(c),
                                     cuda::std::multiplies<T>{}, T{1}, c.stream);
  });
}

template <class T>
struct type_entries {
  explicit type_entries(const std::string& type)
      : entries{{type + "_min", min<T>()},
                {type + "_max", max<T>()},
                {type + "_product", product<T>()}} {}
  bench::peer_entry entries[3];
};

const type_entries<float> of_floats("float");
const type_entries<double> of_doubles("double");
const type_entries<std::int32_t> of_ints("int32");
const type_entries<std::int64_t> of_long_ints("int64");
const bench::peer_entry of_halves("half_max", max<__half>());

}  // namespace
