// SPDX-License-Identifier: Apache-2.0
//
// What the two translation units of two_units_test.cu share.
#pragma once

#include <vector>

#include <tilefold/config.hpp>

namespace tilefold::test {

/// Tells where it was compiled for.
struct place {
  TILEFOLD_HD int operator()(int, int) const {
#if defined(__CUDA_ARCH__)
    return 2;
#else
    return 1;
#endif
  }
};

float sum_in_cpp(const float* first, const float* last);
float maximum_in_cpp(const std::vector<float>& items);
float dot_in_cpp(const float* first, const float* last, const float* other);
int place_in_cpp(const int* first, const int* last);
void sum_into_in_cpp(const float* first, const float* last, float* out);

}  // namespace tilefold::test
