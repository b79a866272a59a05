// SPDX-License-Identifier: Apache-2.0
//
// A program that compiles no fold.
#include <cstdio>
#include <vector>

#include <tilefold/precompiled.hpp>

int main() {
  namespace p = tilefold::precompiled;
  p::host_executor exec;
  const std::vector<float> x{1, 2, 3.5f};
  const float sum = p::reduce(exec, x.data(), 3);
  const double mean = p::reduce(exec, x.data(), 2, p::mean);
  std::printf("%g %g\n", sum, mean);
  return sum == 6.5f && mean == 1.5 ? 0 : 1;
}
