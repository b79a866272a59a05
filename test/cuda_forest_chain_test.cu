// SPDX-License-Identifier: Apache-2.0
//
// Calls over many sequences in a row, each of which folds the results of the one before: launches
// may overlap at their edges, but each has to see what the one before wrote. In a stream and in a
// graph, over the same buffers again and again.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

using numbers = std::vector<std::uint32_t>;

numbers random_numbers(std::int64_t n) {
  std::mt19937_64 bits(seed());
  numbers all(static_cast<std::size_t>(n));
  for (std::uint32_t& x : all) x = static_cast<std::uint32_t>(bits());
  return all;
}

std::vector<std::int64_t> offsets_of(std::int64_t segments, std::int64_t mean) {
  std::vector<std::int64_t> offsets;
  // Long and short ones, none empty.
  for (std::int64_t s = 0; s < segments; ++s) offsets.push_back(s * mean + s % mean);
  offsets.push_back(segments * mean);
  return offsets;
}

numbers sums(const std::uint32_t* first, const std::vector<std::int64_t>& offsets) {
  numbers result;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    result.push_back(std::accumulate(first + offsets[s], first + offsets[s + 1], std::uint32_t{0}));
  }
  return result;
}

std::vector<std::int64_t> equal_offsets(std::int64_t segments, std::int64_t length) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t s = 0; s <= segments; ++s) offsets.push_back(s * length);
  return offsets;
}

// One step from the results of the one before to fewer.
struct step {
  std::int64_t segments;
  std::int64_t length;
  bool by_offsets;

  std::vector<std::int64_t> offsets() const {
    return by_offsets ? offsets_of(segments, length) : equal_offsets(segments, length);
  }
};

// Every kernel, before and behind others. A step may leave results of the one before out.
const std::vector<step> all_steps{
    {3000, 2000, true},  // dealt, then long ones
    {1500, 2, true},     // dealt; no long ones
    {500, 3, false},     // dealt
    {100, 5, true},      // few
    {25, 4, false},      // levels
    {1, 25, true},       // few
};
const std::vector<step> other_steps{
    {5000, 1200, false},  // a warp each
    {4, 1250, false},     // units
    {2, 2, false},        // levels
    {1, 2, true},         // few
};
const std::vector<step> long_steps{
    {12, 500000, true},  // few, of units
    {1, 12, false},      // dealt
};

constexpr std::int64_t rounds = 30;
constexpr std::int64_t most_items = 6000000;

class chain {
 public:
  explicit chain(const std::vector<step>& steps) : steps_(steps), results_(rounds) {
    for (const step& s : steps_) {
      offsets_.emplace_back(s.offsets());
      between_.emplace_back(s.segments);
    }
  }

  // Folds from `round` items on.
  void fold_into(cuda_executor& exec, const std::uint32_t* items) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::uint32_t* from = items + round;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        const bool last = i + 1 == steps_.size();
        std::uint32_t* const to = last ? results_.data() + round : between_[i].data();
        if (steps_[i].by_offsets) {
          segmented_reduce_into(exec, from, offsets_[i].data(), steps_[i].segments, to);
        } else {
          segmented_reduce_into(exec, from, steps_[i].segments, steps_[i].length, to);
        }
        from = to;
      }
    }
  }

  void expect_sums_of(const numbers& items) const {
    const auto got = results_.to_host();
    for (std::int64_t round = 0; round < rounds; ++round) {
      numbers expected = sums(items.data() + round, steps_[0].offsets());
      for (std::size_t i = 1; i < steps_.size(); ++i) {
        expected = sums(expected.data(), steps_[i].offsets());
      }
      ASSERT_EQ(got[static_cast<std::size_t>(round)], expected.at(0)) << "round " << round;
    }
  }

  void forget() {
    must(cudaMemset(results_.data(), 0, rounds * sizeof(std::uint32_t)));
    must(cudaDeviceSynchronize());
  }

 private:
  std::vector<step> steps_;
  std::vector<gpu_array<std::int64_t>> offsets_;
  std::vector<gpu_array<std::uint32_t>> between_;
  gpu_array<std::uint32_t> results_;
};

class CudaForestChain : public ::testing::TestWithParam<const std::vector<step>*> {};

TEST_P(CudaForestChain, EachCallSeesTheOneBefore) {
  const numbers items = random_numbers(most_items + rounds);
  const gpu_array<std::uint32_t> array(items);
  chain calls(*GetParam());
  cuda_executor exec;
  calls.fold_into(exec, array.data());
  exec.synchronize();
  ASSERT_NO_FATAL_FAILURE(calls.expect_sums_of(items)) << "in a stream";

  calls.forget();
  must(cudaStreamBeginCapture(exec.stream(), cudaStreamCaptureModeThreadLocal));
  calls.fold_into(exec, array.data());
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  must(cudaGraphLaunch(launchable, exec.stream()));
  exec.synchronize();
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
  ASSERT_NO_FATAL_FAILURE(calls.expect_sums_of(items)) << "in a graph";
}

INSTANTIATE_TEST_SUITE_P(Steps, CudaForestChain,
                         ::testing::Values(&all_steps, &other_steps, &long_steps));

// What is in the stream before and behind is neither overtaken nor disturbed.
TEST(CudaForestChains, AmongCopies) {
  const numbers items = random_numbers(most_items);
  const step steps{3000, 2000, true};
  const auto offsets = steps.offsets();
  const auto expected = sums(items.data(), offsets);
  const gpu_array<std::int64_t> device_offsets(offsets);
  const gpu_array<std::uint32_t> source(items), input(most_items);
  const gpu_array<std::uint32_t> sum(steps.segments), copy(steps.segments);
  cuda_executor exec;
  const auto stream = exec.stream();
  const auto fold = [&](std::int64_t segments) {
    segmented_reduce_into(exec, static_cast<const std::uint32_t*>(input.data()),
                          device_offsets.data(), segments, sum.data());
  };
  for (const std::int64_t segments : {3000, 1000}) {
    for (int round = 0; round < 20; ++round) {
      must(cudaMemcpyAsync(input.data(), source.data(), items.size() * sizeof(items[0]),
                           cudaMemcpyDefault, stream));
      fold(segments);
      must(cudaMemcpyAsync(copy.data(), sum.data(),
                           static_cast<std::size_t>(segments) * sizeof(items[0]), cudaMemcpyDefault,
                           stream));
      must(cudaMemsetAsync(input.data(), 0, items.size() * sizeof(items[0]), stream));
      fold(segments);
    }
    exec.synchronize();
    const auto sums_of_zeroes = sum.to_host();
    const auto got = copy.to_host();
    for (std::size_t s = 0; s < static_cast<std::size_t>(segments); ++s) {
      ASSERT_EQ(got[s], expected[s]) << "segment " << s << " of " << segments;
      ASSERT_EQ(sums_of_zeroes[s], 0u) << "segment " << s << " of " << segments;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
