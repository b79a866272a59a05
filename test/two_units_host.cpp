// SPDX-License-Identifier: Apache-2.0
//
// The half of two_units_test.cu that a plain C++ compiler sees: the same calls on the same types.
#include "two_units_host.hpp"

#include <tilefold/tilefold.hpp>

namespace tilefold::test {

float sum_in_cpp(const float* first, const float* last) { return tilefold::reduce(first, last); }

float maximum_in_cpp(const std::vector<float>& items) {
  return tilefold::reduce(items, -1.0f, maximum{});
}

float dot_in_cpp(const float* first, const float* last, const float* other) {
  return tilefold::transform_reduce(first, last, other, 0.0f);
}

int place_in_cpp(const int* first, const int* last) {
  return tilefold::reduce(first, last, place{});
}

void sum_into_in_cpp(const float* first, const float* last, float* out) {
  host_executor exec;
  reduce_into(exec, first, last, out);
}

}  // namespace tilefold::test
