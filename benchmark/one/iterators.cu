// SPDX-License-Identifier: Apache-2.0
//
// Float sums that are not those of a plain array: through the iterators of thrust::device_vector
// and std::span, through transforms, zips of two and three arrays, and every other item.
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <span>

#include "../support/functions.hpp"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

struct as_vector_iterator {
  auto operator()(const float* items) const {
    return thrust::device_vector<float>::const_iterator(thrust::device_pointer_cast(items));
  }
};

struct as_span_iterator {
  auto operator()(const float* items) const { return std::span<const float>(items, 1).begin(); }
};

struct through_transform {
  auto operator()(const float* items) const {
    return thrust::make_transform_iterator(items, square{});
  }
};

struct widened {
  __host__ __device__ float operator()(tilefold::half x) const { return static_cast<float>(x); }
};

struct through_widening {
  auto operator()(const tilefold::half* items) const {
    return thrust::make_transform_iterator(items, widened{});
  }
};

struct by_twos {
  auto operator()(const float* items) const {
    return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                           every_other{items});
  }
};

contestant dot(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const float* a = c.items<float>();
    tilefold::transform_reduce_into(executor, a, a + c.n, a + c.n, c.result<float>(), 0.0f);
  });
}

contestant of_zip(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const float* a = c.items<float>();
    const auto first = thrust::make_zip_iterator(thrust::make_tuple(a, a + c.n));
    tilefold::transform_reduce_into(executor, first, first + c.n, c.result<float>(), 0.0f,
                                    tilefold::plus{}, product_of_two{});
  });
}

contestant of_zip_of_three(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const float* a = c.items<float>();
    const auto first = thrust::make_zip_iterator(thrust::make_tuple(a, a + c.n, a + 2 * c.n));
    tilefold::transform_reduce_into(executor, first, first + c.n, c.result<float>(), 0.0f,
                                    tilefold::plus{}, product_of_three{});
  });
}

template <class What>
using sum_in_float = sum_of<What, float>;

}  // namespace

void add_iterators(shapes& all, cudaStream_t stream) {
  using tilefold::half;
  using tilefold::plus;
  using floats = mixed<float>;
  all.push_back(large_reduction<floating_sum<float, float>, floats, float>(
      "float_sum_device_vector", stream, plus{}, as_vector_iterator{}));
  all.push_back(large_reduction<floating_sum<float, float>, floats, float>(
      "float_sum_span", stream, plus{}, as_span_iterator{}));
  all.push_back(large_reduction<sum_in_float<computed<square>>, floats, float>(
      "float_transform_iterator", stream, plus{}, through_transform{}));
  all.push_back(large_reduction<floating_sum<half, float>, mixed<half>, float>(
      "half_transform_iterator", stream, plus{}, through_widening{}));
  all.push_back(large_reduction<sum_in_float<at_every_other>, floats, float>(
      "float_every_other", stream, plus{}, by_twos{}));
  all.push_back(
      large_shape<sum_in_float<product_of_arrays<2>>, floats, float>("float_dot", dot(stream)));
  all.push_back(large_shape<sum_in_float<product_of_arrays<2>>, floats, float>("float_zip_of_2",
                                                                               of_zip(stream)));
  all.push_back(large_shape<sum_in_float<product_of_arrays<3>>, floats, float>(
      "float_zip_of_3", of_zip_of_three(stream)));
}

}  // namespace bench
