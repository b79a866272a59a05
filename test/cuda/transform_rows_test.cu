// SPDX-License-Identifier: Apache-2.0
//
// transform_rows and log_softmax on a GPU: the host's bits, for rows of every way that there is
// (rows_kernel.cuh), in aligned memory and beside it.
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/error.hpp>
#include <tilefold/half.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_rows.hpp>

#include "support/device.cuh"
#include "support/row_items.hpp"

namespace tilefold::test {
namespace {

// Lengths around the ends of what lanes, a warp, a block, a cluster have, and of packets; of rows
// of whole packets, of which the last lanes have none, too.
const std::vector<std::int64_t> lengths{
    1,    2,     3,     5,     7,     8,      16,     17,     31,     32,    33,
    63,   64,    65,    100,   127,   128,    129,    200,    255,    256,   257,
    450,  512,   513,   999,   1000,  1024,   1025,   2040,   2048,   2049,  4096,
    5000, 16384, 16385, 32768, 50257, 131072, 151936, 262144, 400000, 600001};

template <class T, class Out>
void expect_the_hosts_bits(std::int64_t rows, std::int64_t n, std::int64_t shift,
                           std::int64_t out_shift) {
  const std::vector<T> items = row_items<T>(rows * n + shift);
  const gpu_array<T> x(items);
  const auto size = static_cast<std::size_t>(rows * n + out_shift + 1);
  gpu_array<Out> out(std::vector<Out>(size, Out(7.0f)));
  cuda_executor exec;
  log_softmax(exec, static_cast<const T*>(x.data()) + shift, rows, n, out.data() + out_shift);
  const std::vector<Out> got = out.to_host();
  const std::vector<T> used(items.begin() + shift, items.end());
  expect_log_softmax_of(used, std::vector<Out>(got.begin() + out_shift, got.end() - 1), rows, n);
  EXPECT_TRUE(same_bits(got.back(), Out(7.0f))) << "written behind the last row";
  for (std::size_t i = 0; i < static_cast<std::size_t>(out_shift); ++i) {
    EXPECT_TRUE(same_bits(got[i], Out(7.0f))) << "written before the first row";
  }
}
template <class T, class Out>
void expect_the_hosts_bits(std::int64_t rows, std::int64_t n, std::int64_t shift) {
  expect_the_hosts_bits<T, Out>(rows, n, shift, shift);
}

template <class T, class Out = T>
void expect_all_lengths() {
  for (const std::int64_t n : lengths) {
    for (const std::int64_t rows : {std::int64_t{1}, 3 + 3000 / n}) {
      for (const std::int64_t shift : {0, 1}) expect_the_hosts_bits<T, Out>(rows, n, shift);
    }
  }
}

TEST(CudaTransformRows, LogSoftmaxOfFloats) { expect_all_lengths<float>(); }
TEST(CudaTransformRows, LogSoftmaxOfBfloat16) { expect_all_lengths<bfloat16>(); }
TEST(CudaTransformRows, LogSoftmaxOfHalvesAsFloats) { expect_all_lengths<half, float>(); }
TEST(CudaTransformRows, LogSoftmaxOfDoubles) {
  for (const std::int64_t n : {1, 7, 8, 33, 64, 100, 256, 500, 512, 514, 1024, 3000, 70000}) {
    for (const std::int64_t shift : {0, 1}) expect_the_hosts_bits<double, double>(7, n, shift);
  }
}

TEST(CudaTransformRows, ManyRows) {
  expect_the_hosts_bits<float, float>(70001, 64, 0);
  expect_the_hosts_bits<bfloat16, bfloat16>(3001, 1024, 0);
  expect_the_hosts_bits<float, float>(301, 5000, 0);
}

// Where a row's results lie otherwise than its items, against multiples of 16 bytes.
TEST(CudaTransformRows, ItemsAndResultsBesideEachOther) {
  for (const std::int64_t n : {5, 63, 64, 1000, 1023, 5001, 50257}) {
    for (const std::int64_t shift : {0, 1, 3}) {
      for (const std::int64_t out_shift : {0, 1, 2, 7}) {
        expect_the_hosts_bits<float, float>(5, n, shift, out_shift);
        expect_the_hosts_bits<bfloat16, bfloat16>(5, n, shift, out_shift);
        expect_the_hosts_bits<bfloat16, float>(5, n, shift, out_shift);
      }
    }
  }
}

struct quotient {
  template <class T>
  TILEFOLD_HD float operator()(const T& item, double value) const {
    return static_cast<float>(static_cast<double>(item) / value);
  }
};

// Items of one byte, whose results take four times the memory of a packet.
TEST(CudaTransformRows, ItemsOfOneByte) {
  for (const std::int64_t n : {1, 15, 16, 48, 64, 128, 144, 500, 512, 1000, 2048, 2064, 40000}) {
    const std::vector<std::int8_t> items = [n] {
      std::mt19937_64 random(seed());
      std::vector<std::int8_t> made(static_cast<std::size_t>(9 * n));
      for (auto& item : made) item = static_cast<std::int8_t>(random());
      return made;
    }();
    std::vector<float> expected(items.size());
    transform_rows(host_executor(), items.data(), 9, n, expected.data(), reducers::l1{},
                   quotient{});
    const gpu_array<std::int8_t> x(items);
    gpu_array<float> out(std::vector<float>(items.size(), -1.0f));
    cuda_executor exec;
    transform_rows(exec, static_cast<const std::int8_t*>(x.data()), 9, n, out.data(),
                   reducers::l1{}, quotient{});
    const std::vector<float> got = out.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(same_bits(got[i], expected[i]))
          << "item " << i << ", rows of " << n << ", seed " << seed();
    }
  }
}

// A reducer without a way of its own for rows, and rows written over themselves, wherever they
// begin.
TEST(CudaTransformRows, TakesAnyReducerAndMayWriteOverItsItems) {
  for (const std::int64_t n : {3, 63, 64, 100, 1000, 5000, 5001, 300001}) {
    const std::vector<float> items = row_items<float>(5 * n);
    std::vector<float> expected(items.size());
    transform_rows(host_executor(), items.data(), 5, n, expected.data(), reducers::l1{},
                   quotient{});
    for (const std::int64_t shift : {0, 1}) {
      gpu_array<float> x(5 * n + 1);
      x.assign(items.data(), 5 * n, shift);
      cuda_executor exec;
      transform_rows(exec, static_cast<const float*>(x.data()) + shift, 5, n, x.data() + shift,
                     reducers::l1{}, quotient{});
      const std::vector<float> got = x.to_host();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_TRUE(same_bits(got[i + static_cast<std::size_t>(shift)], expected[i]))
            << "item " << i << ", rows of " << n << ", shift " << shift;
      }
    }
  }
}

TEST(CudaTransformRows, RefusesMemoryThatTheGpuCannotReach) {
  const gpu_array<float> x(std::vector<float>(4, 1.0f));
  float on_host[4] = {1, 2, 3, 4};
  cuda_executor exec;
  EXPECT_THROW(log_softmax(exec, static_cast<const float*>(x.data()), 1, 4, on_host),
               memory_space_error);
  EXPECT_THROW(log_softmax(exec, static_cast<const float*>(on_host), 1, 4, x.data()),
               memory_space_error);
  log_softmax(exec, static_cast<const float*>(x.data()), 0, 4, x.data());
  EXPECT_EQ(x.to_host(), std::vector<float>(4, 1.0f));
}

}  // namespace
}  // namespace tilefold::test
