// SPDX-License-Identifier: Apache-2.0
//
// Minimum, maximum and product of every type that sums are measured of, and the maximum of halves.
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

template <class T, class ProductRule>
void add_type(shapes& all, const std::string& type, cudaStream_t stream) {
  all.push_back(
      large_reduction<extreme<T, false>, mixed<T>, T>(type + "_min", stream, tilefold::minimum{}));
  // Items of 8 bytes also where a fold is short.
  if (sizeof(T) == 8) all.back().sizes.insert(all.back().sizes.begin(), index{1} << 24);
  all.push_back(
      large_reduction<extreme<T, true>, mixed<T>, T>(type + "_max", stream, tilefold::maximum{}));
  all.push_back(large_reduction<ProductRule, factors<T>, T>(type + "_product", stream,
                                                            tilefold::multiplies{}));
}

}  // namespace

void add_extremes(shapes& all, cudaStream_t stream) {
  using tilefold::half;
  add_type<float, floating_product<float>>(all, "float", stream);
  add_type<double, floating_product<double>>(all, "double", stream);
  add_type<std::int32_t, integer_product<std::int32_t>>(all, "int32", stream);
  add_type<std::int64_t, integer_product<std::int64_t>>(all, "int64", stream);
  all.push_back(large_reduction<extreme<half, true>, mixed<half>, half>("half_max", stream,
                                                                        tilefold::maximum{}));
}

}  // namespace bench
