// SPDX-License-Identifier: Apache-2.0
//
// Sums of exponentials of narrow floats on a GPU: the host's bits, over data that cross the borders
// of the packets' shorter way, and masked data.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "cases.hpp"

namespace tilefold::test {
namespace {

enum class logits { near, masked, falling, wide, far, odd };
constexpr logits kinds[] = {logits::near, logits::masked, logits::falling,
                            logits::wide, logits::far,    logits::odd};

float logit(logits kind, bit_stream& random, std::int64_t i) {
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random.next() >> 40) * 0x1p-24f;
  };
  switch (kind) {
    case logits::near:
      return uniform(-10, 10);
    case logits::masked:  // element by element, and in long runs
      return random.one_in(3) || (i >> 12) % 2 == 0 ? -INFINITY : uniform(-10, 10);
    case logits::falling:  // from 760 to -760
      return uniform(0, 40) + 760.0f - static_cast<float>((i >> 3) % 1521);
    case logits::wide:
      return uniform(-1500, 1500);
    case logits::far:
      return random.one_in(50) ? uniform(-2e9f, 2e9f) : uniform(-2e6f, 2e6f);
    case logits::odd:
      return random.one_in(5000) ? INFINITY : uniform(-690, 0);
  }
  return 0;
}

template <class T>
std::vector<T> logits_of(logits kind, std::int64_t n) {
  bit_stream random(static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(kind));
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(T(logit(kind, random, i)));
  return x;
}

// Staged tiles of 16384 floats, one for each SM at least.
std::int64_t long_size() {
  int sms = 0;
  must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  return std::int64_t{sms} * 32768 + 12345;
}

template <class T>
void expect_host_bits_of_logits() {
  cuda_executor exec;
  const auto both = r::fuse(r::max{}, r::softmax_pair{});
  for (const logits kind : kinds) {
    for (const std::int64_t n : {std::int64_t{7}, std::int64_t{1000}, long_size()}) {
      const auto x = logits_of<T>(kind, n);
      gpu_array<T> device(n + 1);
      for (const std::int64_t shift : {0, 1}) {
        device.assign(x.data(), n, shift);
        const T* const first = device.data() + shift;
        ASSERT_EQ(bits_of(tilefold::reduce(exec, first, first + n, r::logsumexp{})),
                  bits_of(tilefold::reduce(x, r::logsumexp{})))
            << static_cast<int>(kind) << ", n = " << n << ", shift = " << shift;
        ASSERT_EQ(bits_of(tilefold::reduce(exec, first, first + n, both)),
                  bits_of(tilefold::reduce(x, both)))
            << static_cast<int>(kind) << ", n = " << n << ", shift = " << shift;
      }
    }
  }
}

TEST(CudaLogSumExp, OfFloatsHasTheBitsOfTheHost) { expect_host_bits_of_logits<float>(); }
TEST(CudaLogSumExp, OfHalvesHasTheBitsOfTheHost) { expect_host_bits_of_logits<half>(); }

TEST(CudaLogSumExp, SeesANaNAnywhere) {
  cuda_executor exec;
  auto x = logits_of<float>(logits::masked, long_size());
  for (std::size_t place = 5; place < x.size(); place = place * 7 + 3) {
    const float kept = x[place];
    x[place] = NAN;
    const gpu_array<float> device(x);
    ASSERT_TRUE(std::isnan(tilefold::reduce(exec, device.begin(), device.end(), r::logsumexp{})))
        << place;
    x[place] = kept;
  }
}

TEST(CudaLogSumExp, OfRowsHasTheBitsOfTheHost) {
  cuda_executor exec;
  for (const logits kind : kinds) {
    for (const std::int64_t width : {5, 64, 1000, 4096}) {
      const std::int64_t rows = 200000 / width;
      const auto x = logits_of<float>(kind, rows * width);
      const gpu_array<float> device(x);
      const gpu_array<double> out(rows);
      tilefold::segmented_reduce_into(exec, device.data(), rows, width, out.data(), r::logsumexp{});
      exec.synchronize();
      std::vector<double> expected(static_cast<std::size_t>(rows));
      tilefold::segmented_reduce_into(host_executor(), x.data(), rows, width, expected.data(),
                                      r::logsumexp{});
      const std::vector<double> got = out.to_host();
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(bits_of(got[i]), bits_of(expected[i])) << static_cast<int>(kind) << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
