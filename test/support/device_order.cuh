// SPDX-License-Identifier: Apache-2.0
//
// Folds many prefixes of one device sequence under a policy, all in flight at once, for comparison
// with prefix_folds() of order.hpp. Host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "device.cuh"
#include "order.hpp"

namespace tilefold::test {

/// A policy as a type, for typed tests.
template <int Nt, int Vt>
struct policy_case {
  static constexpr tile_policy value{Nt, Vt};
};

/// Every kind of tile: one warp, some, and 32 of them, each with one value per thread, some, or 64;
/// tiles from 32 items to 2^16. Other tests have policies between these.
using order_policies =
    ::testing::Types<policy_case<32, 1>, policy_case<32, 64>, policy_case<128, 16>,
                     policy_case<256, 4>, policy_case<1024, 1>, policy_case<1024, 64>>;

/// The folds of [first, first + n) for every n of `sizes`.
template <class Exec, class It, class Op>
auto device_folds(cuda_executor& base, Exec&& exec, It first,
                  const std::vector<std::int64_t>& sizes, Op op) {
  using result = decltype(reduce(exec, first, first, op));
  gpu_array<result> out(static_cast<std::int64_t>(sizes.size()));
  must(cudaMemset(out.data(), 0xee, sizes.size() * sizeof(result)));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    reduce_into(exec, first, first + sizes[i], out.data() + i, op);
  }
  base.synchronize();
  return out.to_host();
}

/// Says at which length the first difference is.
template <class T, class Expected>
::testing::AssertionResult same_folds(const std::vector<T>& got, const Expected& expected,
                                      const std::vector<std::int64_t>& sizes) {
  std::size_t wrong = 0;
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (++wrong <= 5) result << "n = " << sizes[i] << " ";
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return result << "and so on: " << wrong << " of " << sizes.size() << " folds are wrong";
}

}  // namespace tilefold::test
