// SPDX-License-Identifier: Apache-2.0
//
// Float sums that are not a plain aligned array: one item off, through the iterators of
// thrust::device_vector, and the product of two arrays.
#include <thrust/device_vector.h>

#include "support/tilefold.cuh"

namespace bench {

namespace {

struct as_vector_iterator {
  auto operator()(const float* items) const {
    return thrust::device_vector<float>::const_iterator(thrust::device_pointer_cast(items));
  }
};

shape products(cudaStream_t stream) {
  shape result = make_shape<dot_product, mixed<float>, float>("float_dot", [](const float* items,
                                                                              index n) {
    return tilefold::transform_reduce(tilefold::host_executor(), items, items + n, items + n, 0.0f);
  });
  contestant ours;
  ours.name = "tilefold";
  ours.host_bits = true;
  const auto executor = executor_on(stream);
  ours.enqueue = [executor](const fold_call& c) {
    const float* a = c.items<float>();
    tilefold::transform_reduce_into(*executor, a, a + c.n, a + c.n, c.result<float>(), 0.0f,
                                    tilefold::plus{}, tilefold::multiplies{});
  };
  result.contestants.push_back(ours);
  add_peers(result);
  return result;
}

}  // namespace

void add_iterators(shapes& all, cudaStream_t stream) {
  using sum = floating_sum<float, float>;
  all.push_back(
      reduction<sum, mixed<float>, float>("float_sum_off_by_one", stream, tilefold::plus{}));
  all.back().offset_bytes = sizeof(float);
  all.push_back(reduction<sum, mixed<float>, float>("float_sum_device_vector", stream,
                                                    tilefold::plus{}, as_vector_iterator{}));
  all.push_back(products(stream));
}

}  // namespace bench
