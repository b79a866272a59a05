// SPDX-License-Identifier: Apache-2.0
//
// tilefold's headers and nothing else.
#include <cstdio>
#include <vector>

#include <tilefold/tilefold.hpp>

int main() {
  const std::vector<int> values{3, 1, 4, 1, 5, 9, 2, 6};
  const int sum = tilefold::reduce(values.begin(), values.end());
  const int largest = tilefold::reduce(values, tilefold::maximum());
  std::printf("sum %d, maximum %d\n", sum, largest);
  return sum == 31 && largest == 9 ? 0 : 1;
}
