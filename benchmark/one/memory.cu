// SPDX-License-Identifier: Apache-2.0
//
// The float sum over memory that is not the GPU's own: pinned host memory, read through the bus,
// and managed memory that lies on the GPU.
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

void add_place(shapes& all, memory place, cudaStream_t stream) {
  all.push_back(large_reduction<floating_sum<float, float>, mixed<float>, float>(
      std::string("float_sum_") + name_of(place), stream, tilefold::plus{}));
  all.back().place = place;
  all.back().sizes = {index{1} << 24};
  add_peers(all.back(), "float_sum");
}

}  // namespace

void add_memory(shapes& all, cudaStream_t stream) {
  add_place(all, memory::managed, stream);
  add_place(all, memory::pinned, stream);
}

}  // namespace bench
