// SPDX-License-Identifier: Apache-2.0
//
// Calls over segments on a GPU, beside their trees (suite.hpp): the place of a segment and its
// batch do not matter; operators meet neighbours of one segment alone; a capture waits for nothing;
// and calls in a row, each of which folds the results of the one before. Launches may overlap at
// their edges, but each has to see what the one before wrote: in a stream and in a graph, over the
// same buffers again and again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/index_forest.cuh"
#include "../support/items.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

class CudaForest : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

TEST_F(CudaForest, WaitsForNothingInsideACapture) {
  const segments all = in_a_row(std::vector<std::int64_t>(10, 100));
  const index_items items(1000);
  gpu_array<lifted_hash> out(10);
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(
      segmented_reduce(exec_, items.at(1), 10, 100, out.data(), initial, lifted_node_hash{}),
      capture_error);
  segmented_reduce_into(exec_, items.at(1), 10, 100, out.data(), initial, lifted_node_hash{});
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  must(cudaGraphLaunch(launchable, exec_.stream()));
  exec_.synchronize();
  EXPECT_TRUE(same_trees(out.to_host(), trees_of(all), all));
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

// The same segment at every offset, alone and among others, has one value: that of reduce().
TEST_F(CudaForest, PlaceAndBatchDoNotMatter) {
  shape_stream bits(seed());
  std::vector<float> items(5000);
  for (float& x : items) x = static_cast<float>(static_cast<double>(bits()) * 1e-15 - 9000.0);
  const gpu_array<float> array(20000);
  for (const std::int64_t length : {1, 7, 31, 64, 100, 129, 1000, 4999}) {
    for (int offset = 0; offset < 128; offset += (length > 200 ? 17 : 1)) {
      must(cudaMemcpy(array.data() + offset, items.data(),
                      static_cast<std::size_t>(length) * sizeof(float), cudaMemcpyDefault));
      const float* const first = array.data() + offset;
      const float expected = reduce(exec_, first, first + length);
      for (const int batch : {1, 5, 4096}) {
        std::vector<std::int64_t> begins(static_cast<std::size_t>(batch)), ends;
        for (std::size_t i = 0; i < begins.size(); ++i) {
          begins[i] = static_cast<std::int64_t>(bits() % 100);
          ends.push_back(begins[i] + static_cast<std::int64_t>(bits() % 2000));
        }
        const std::size_t chosen = bits() % begins.size();
        begins[chosen] = offset;
        ends[chosen] = offset + length;
        const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
        gpu_array<float> out(batch);
        segmented_reduce(exec_, array.data(), device_begins.data(), device_ends.data(), batch,
                         out.data());
        const float got = out.to_host()[chosen];
        ASSERT_EQ(__builtin_bit_cast(std::uint32_t, got),
                  __builtin_bit_cast(std::uint32_t, expected))
            << "length " << length << ", offset " << offset << ", batch " << batch;
      }
    }
  }
}

// Batches of every size from 1 to 4096. The same row stands at 128 places of an array, at every
// offset modulo 128, and here and there in each batch of segments; and is every row of a matrix.
class EveryBatch : public CudaForest {
 protected:
  static constexpr std::int64_t most = 4096;
  static constexpr std::int64_t copies = 128;
  static constexpr std::int64_t spacing = 1129;  // odd: copy k stands at another offset modulo 128
  static constexpr std::int64_t results = most * (most + 1) / 2;

  EveryBatch() : out_(results) {}

  // Segments of which one in 128, number 0 first, is the row.
  void make_segments(std::int64_t length) {
    begins_.clear();
    ends_.clear();
    for (std::int64_t i = 0; i < 2 * most + copies; ++i) {
      const bool is_row = i % copies == 0;
      const std::int64_t begin =
          is_row ? i / copies * 37 % copies * spacing : static_cast<std::int64_t>(bits_() % 100000);
      begins_.push_back(static_cast<std::int32_t>(begin));
      ends_.push_back(static_cast<std::int32_t>(
          begin + (is_row ? length : static_cast<std::int64_t>(bits_() % 300))));
    }
  }
  // Where the segments of a batch begin, so that the first row among them is one of its first.
  static std::int64_t start_of(std::int64_t batch) {
    return copies * (batch % 31 + 1) - batch * 7919 % std::min(batch, copies);
  }
  static bool has_bits(float got, float expected) {
    return __builtin_bit_cast(std::uint32_t, got) == __builtin_bit_cast(std::uint32_t, expected);
  }

  shape_stream bits_{seed()};
  std::vector<std::int32_t> begins_, ends_;
  gpu_array<float> out_;
};

TEST_F(EveryBatch, OfSegmentsGivesTheSameBits) {
  for (const std::int64_t length : {7, 101, 999}) {
    auto items = make_items<float>(pattern::mixed, copies * spacing, bits_());
    const auto row = make_items<float>(pattern::mixed, length, bits_());
    for (std::int64_t k = 0; k < copies; ++k) {
      std::copy(row.begin(), row.end(), items.begin() + k * spacing);
    }
    make_segments(length);
    const gpu_array<float> array(items);
    const gpu_array<std::int32_t> begins(begins_), ends(ends_);
    std::int64_t done = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      const std::int64_t start = start_of(batch);
      segmented_reduce_into(exec_, array.data(), begins.data() + start, ends.data() + start, batch,
                            out_.data() + done);
    }
    const float expected = reduce(exec_, array.data(), array.data() + length);
    const auto got = out_.to_host();
    done = 0;
    std::int64_t rows = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      for (std::int64_t i = 0; i < batch; ++i) {
        if ((start_of(batch) + i) % copies != 0) continue;
        ++rows;
        ASSERT_TRUE(has_bits(got[static_cast<std::size_t>(done + i)], expected))
            << "length " << length << ", segment " << i << " of " << batch;
      }
    }
    ASSERT_GE(rows, most);
  }
}

TEST_F(EveryBatch, OfRowsGivesTheSameBits) {
  for (const std::int64_t length : {7, 101, 999}) {
    const auto row = make_items<float>(pattern::mixed, length, bits_());
    std::vector<float> items;
    for (std::int64_t i = 0; i < most + copies; ++i) {
      items.insert(items.end(), row.begin(), row.end());
    }
    const gpu_array<float> array(items);
    std::int64_t done = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      segmented_reduce_into(exec_, array.data() + batch % copies * length, batch, length,
                            out_.data() + done);
    }
    const float expected = reduce(exec_, array.data(), array.data() + length);
    const auto got = out_.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(has_bits(got[i], expected)) << "length " << length << ", result " << i;
    }
  }
}

// From where to where a node goes; counts the nodes whose halves do not meet.
struct stretch {
  std::int64_t first;
  std::int64_t last;
};
struct join_neighbours {
  unsigned* strangers;

  __device__ stretch operator()(const stretch& a, const stretch& b) const {
    if (a.last + 1 != b.first) atomicAdd(strangers, 1u);
    return {a.first, b.last};
  }
};

TEST_F(CudaForest, CallsTheOperatorWithNeighboursOfOneSegmentAlone) {
  shape_stream bits(seed());
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t kind = bits() % 100;
    const std::uint64_t longest = kind == 0 ? 40000 : kind < 5 ? 2000 : 40;
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(bits() % longest));
  }
  // Segments do not meet: between them lies a number that nothing has.
  std::vector<stretch> items;
  const stretch none{-7, -7};
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const auto place = k + 2 * static_cast<std::int64_t>(i);
      items.push_back({place, place});
    }
  }
  const gpu_array<stretch> array(items);
  const gpu_array<unsigned> strangers(std::vector<unsigned>{0});
  const join_neighbours join{strangers.data()};
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<std::int64_t> device_offsets(offsets);
  gpu_array<stretch> out(segments);
  // The initial value is a stranger to every segment that has items, once.
  unsigned with_items = 0;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) with_items += offsets[i + 1] > offsets[i];
  segmented_reduce<stretch>(exec_, array.data(), device_offsets.data(), segments, out.data(), none,
                            join);
  EXPECT_EQ(strangers.to_host()[0], with_items);
  for (const std::int64_t length : {1, 2, 4, 7, 16, 64, 1000, 1024, 20000}) {
    const std::int64_t n = 40000 / length * length;
    std::vector<stretch> rows;
    for (std::int64_t k = 0; k < n; ++k) rows.push_back({k + k / length, k + k / length});
    const gpu_array<stretch> row_array(rows);
    must(cudaMemset(strangers.data(), 0, sizeof(unsigned)));
    gpu_array<stretch> row_out(n / length);
    segmented_reduce<stretch>(exec_, row_array.data(), n / length, length, row_out.data(), none,
                              join);
    EXPECT_EQ(strangers.to_host()[0], static_cast<unsigned>(n / length)) << "rows of " << length;
  }
}

// ---- calls in a row

using numbers = std::vector<std::uint32_t>;

numbers random_numbers(std::int64_t n) {
  shape_stream bits(seed());
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
