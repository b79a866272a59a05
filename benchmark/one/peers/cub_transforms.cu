// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce on iterators and functions of items.
#include <cuda_fp16.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <cstdint>

#include "../../support/cccl.hpp"
#include "../../support/functions.hpp"
#include "../../support/structs.hpp"

namespace {

/// The sum of what `view` makes of the address of the items, an iterator.
template <class T, class View>
bench::contestant sum(View view) {
  return cub_contestant([view](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Sum(scratch, bytes, view(c.items<T>(), c.n), c.result<float>(),
                                  count(c), c.stream);
  });
}

/// The sum of f(item), in Acc.
template <class T, class Acc, class F, class Plus = cuda::std::plus<Acc>>
bench::contestant sum_of_function() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, c.items<T>(), c.result<Acc>(),
                                              count(c), Plus{}, F{}, Acc{}, c.stream);
  });
}

struct widened {
  __host__ __device__ float operator()(__half x) const { return __half2float(x); }
};

// Views: what a user would pass.

auto vector_iterator(const float* items, bench::index) {
  return thrust::device_vector<float>::const_iterator(thrust::device_pointer_cast(items));
}

auto squares(const float* items, bench::index) {
  return thrust::make_transform_iterator(items, bench::square{});
}

auto widened_items(const __half* items, bench::index) {
  return thrust::make_transform_iterator(items, widened{});
}

auto every_other_item(const float* items, bench::index) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                         bench::every_other{items});
}

auto products_of_two(const float* items, bench::index n) {
  return thrust::make_transform_iterator(
      thrust::make_zip_iterator(thrust::make_tuple(items, items + n)), bench::product_of_two{});
}

auto products_of_three(const float* items, bench::index n) {
  return thrust::make_transform_iterator(
      thrust::make_zip_iterator(thrust::make_tuple(items, items + n, items + 2 * n)),
      bench::product_of_three{});
}

struct counted {
  __host__ __device__ std::int64_t operator()(std::uint8_t x) const {
    return bench::is_large{}(x) ? 1 : 0;
  }
};

const bench::peer_entry entries[] = {
    {"float_sum_device_vector", sum<float>(vector_iterator)},
    {"float_transform_iterator", sum<float>(squares)},
    {"half_transform_iterator", sum<__half>(widened_items)},
    {"float_every_other", sum<float>(every_other_item)},
    {"float_dot", sum<float>(products_of_two)},
    {"float_zip_of_2", sum<float>(products_of_two)},
    {"float_zip_of_3", sum<float>(products_of_three)},
    {"float_transform", sum_of_function<float, float, bench::square>()},
    {"float_polynomial", sum_of_function<float, float, bench::polynomial>()},
    {"uint8_count_if", sum_of_function<std::uint8_t, std::int64_t, counted>()},
    {"float_moments",
     sum_of_function<float, bench::moments, bench::moments_of_item, bench::moments_plus>()},
};

}  // namespace
