// SPDX-License-Identifier: Apache-2.0
//
// As macros_test.cpp: the headers for a GPU. That this file compiles is the test.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include <cuda_runtime.h>
#include <cuda/std/limits>

#include <gtest/gtest.h>

#define min(a, b) expands_the_macro_min
#define max(a, b) expands_the_macro_max
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1

#include <tilefold/block_fold.cuh>
#include <tilefold/cub_compat.cuh>
#include <tilefold/cuda_group.cuh>
#include <tilefold/peers.cuh>
#include <tilefold/streamed.cuh>
#include <tilefold/thrust_compat.hpp>
#include <tilefold/tilefold.cuh>

namespace tilefold::test {
namespace {

TEST(CudaMacros, OfOthersLeaveTheHeadersAlone) {
  const std::vector<int> x{3, 1, 2};
  EXPECT_EQ(reduce(host_executor(), x), 6);
}

}  // namespace
}  // namespace tilefold::test
