// SPDX-License-Identifier: Apache-2.0
//
// Sums of structs from 8 to 128 bytes with an operator of the user's.
#include "../support/structs.hpp"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

template <class T, int N>
void add_struct(shapes& all, const std::string& name, cudaStream_t stream) {
  all.push_back(
      large_reduction<vec_sum<T, N>, mixed_vecs<T, N>, vec<T, N>>(name, stream, vec_plus{}));
}

}  // namespace

void add_structs(shapes& all, cudaStream_t stream) {
  add_struct<float, 2>(all, "struct8_sum", stream);
  add_struct<float, 3>(all, "struct12_sum", stream);
  add_struct<float, 4>(all, "struct16_sum", stream);
  add_struct<double, 3>(all, "struct24_sum", stream);
  add_struct<double, 4>(all, "struct32_sum", stream);
  add_struct<double, 8>(all, "struct64_sum", stream);
  add_struct<double, 16>(all, "struct128_sum", stream);
}

}  // namespace bench
