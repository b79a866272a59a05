// SPDX-License-Identifier: Apache-2.0
//
// A sum, on two threads where the package has the host library.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <tilefold/tilefold.hpp>

int main() {
  std::vector<std::int64_t> values(1 << 20);
  std::iota(values.begin(), values.end(), std::int64_t{0});
#ifdef TILEFOLD_HOST_LIBRARY
  const tilefold::host_executor exec(2);
#else
  const tilefold::host_executor exec;
#endif
  const std::int64_t sum = tilefold::reduce(exec, values);
  std::printf("%d threads, sum %lld\n", exec.threads(), static_cast<long long>(sum));
  return sum == (std::int64_t{1} << 19) * ((1 << 20) - 1) ? 0 : 1;
}
