// SPDX-License-Identifier: Apache-2.0
//
// The plain C++ half of a CUDA program: the same calls, the same templates, another compiler.
#include <vector>

#include <tilefold/tilefold.hpp>

double sum_in_plain_cpp(const std::vector<double>& values) {
  return tilefold::reduce(values.begin(), values.end());
}
