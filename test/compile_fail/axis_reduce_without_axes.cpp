// SPDX-License-Identifier: Apache-2.0
//
// After the output stand the axes, before any operator.
// expect: tilefold: axis_reduce needs the axes to reduce after its output: integers, or tilefold::axes
#include <cstddef>

#include <tilefold/tilefold.hpp>

struct row {
  float* data;
  std::size_t size;

  std::size_t rank() const { return 1; }
  std::size_t extent(std::size_t) const { return size; }
  std::size_t stride(std::size_t) const { return 1; }
  float* data_handle() const { return data; }
};

#if defined(TILEFOLD_MUST_FAIL)
void largest(row items, row out) { tilefold::axis_reduce(items, out, tilefold::maximum{}, 0); }
#else
void largest(row items, row out) { tilefold::axis_reduce(items, out, 0, tilefold::maximum{}); }
#endif
