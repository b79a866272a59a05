// SPDX-License-Identifier: Apache-2.0
//
// axis_reduce takes views, not ranges.
// expect: tilefold: axis_reduce takes views with rank\(\), extent\(i\), stride\(i\), data_handle\(\)
// never: no member named|has no member
#include <cstddef>
#include <vector>

#include <tilefold/tilefold.hpp>

template <class T>
struct row_of {
  T* data;
  std::size_t size;

  std::size_t rank() const { return 1; }
  std::size_t extent(std::size_t) const { return size; }
  std::size_t stride(std::size_t) const { return 1; }
  T* data_handle() const { return data; }
};

#if defined(TILEFOLD_MUST_FAIL)
using input = std::vector<float>;
#else
using input = row_of<const float>;
#endif

void sum(const input& items, row_of<float> out) { tilefold::axis_reduce(items, out, 0); }
