// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce on other operators and iterators, and thrust::reduce.
#include <thrust/device_vector.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/tuple.h>

#include <cub/device/device_reduce.cuh>

#include "../support/quad.hpp"
#include "peer.hpp"

namespace {

struct product {
  __host__ __device__ float operator()(const thrust::tuple<float, float>& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};

bench::contestant float_min() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Min(scratch, bytes, c.items<float>(), c.result<float>(), count(c),
                                  c.stream);
  });
}

bench::contestant double_max() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Max(scratch, bytes, c.items<double>(), c.result<double>(), count(c),
                                  c.stream);
  });
}

bench::contestant quad_sum() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Reduce(scratch, bytes, c.items<bench::quad>(),
                                     c.result<bench::quad>(), count(c), bench::quad_plus{},
                                     bench::quad{0, 0, 0, 0}, c.stream);
  });
}

bench::contestant vector_sum() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    const thrust::device_vector<float>::const_iterator first(
        thrust::device_pointer_cast(c.items<float>()));
    return cub::DeviceReduce::Sum(scratch, bytes, first, c.result<float>(), count(c), c.stream);
  });
}

bench::contestant dot() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    const float* a = c.items<float>();
    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(a, a + c.n));
    return cub::DeviceReduce::Sum(scratch, bytes, thrust::make_transform_iterator(pairs, product{}),
                                  c.result<float>(), count(c), c.stream);
  });
}

template <class T>
bench::contestant thrust_sum() {
  bench::contestant result;
  result.name = with_version("thrust");
  result.blocking = [](const bench::fold_call& c) {
    const auto first = thrust::device_pointer_cast(c.items<T>());
    *c.result<T>() = thrust::reduce(first, first + c.n, T{});
  };
  return result;
}

const bench::peer_entry entries[] = {
    {"float_min", float_min()},
    {"double_max", double_max()},
    {"struct16_sum", quad_sum()},
    {"float_sum_device_vector", vector_sum()},
    {"float_dot", dot()},
    {"float_sum", thrust_sum<float>()},
    {"double_sum", thrust_sum<double>()},
};

}  // namespace
