// SPDX-License-Identifier: Apache-2.0
//
// The threaded host executor: TILEFOLD_HOST_LIBRARY came with the target.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <tilefold/tilefold.hpp>

int main() {
  std::vector<std::int64_t> values(1 << 20);
  std::iota(values.begin(), values.end(), std::int64_t{0});
  const tilefold::host_executor two_threads(2);
  const std::int64_t sum = tilefold::reduce(two_threads, values);
  std::printf("%d threads, sum %lld\n", two_threads.threads(), static_cast<long long>(sum));
  return two_threads.threads() == 2 && sum == (std::int64_t{1} << 19) * ((1 << 20) - 1) ? 0 : 1;
}
