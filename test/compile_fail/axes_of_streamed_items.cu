// SPDX-License-Identifier: Apache-2.0
//
// Streamed items come in the order of memory, and a column is in no chunk as a whole.
// expect: tilefold: cuda_group and streamed\(\) fold single values, and segments that lie one after the other: for axes and runs of keys pass a cuda_executor
// errors: 1
#include <cstddef>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/streamed.cuh>

struct row {
  float* data;
  std::size_t size;

  std::size_t rank() const { return 1; }
  std::size_t extent(std::size_t) const { return size; }
  std::size_t stride(std::size_t) const { return 1; }
  float* data_handle() const { return data; }
};

void fold(tilefold::cuda_executor& gpu, row items, row out) {
#if defined(TILEFOLD_MUST_FAIL)
  tilefold::axis_reduce(tilefold::streamed(gpu), items, out, 0);
#else
  tilefold::axis_reduce(gpu, items, out, 0);
#endif
}

int main() {}
