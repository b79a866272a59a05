// SPDX-License-Identifier: Apache-2.0
//
// Short ranges under the default policies: one block, several, and as many as one warp takes the
// values of, each cut off anywhere. Operators of the library's own, where something neutral stands
// in the place of what is missing, and one of a user's, which must not see such a thing. And folds
// of one stream, which may begin before the one before has ended.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> all = landmark_sizes(21, 60, seed());
  return all;
}

struct host_plus {
  float operator()(float a, float b) const { return a + b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a + b; }
};

struct host_minimum {
  double operator()(double a, double b) const { return b < a ? b : a; }
};

/// The folds of all prefixes from item `start` on, on the GPU and by the definition.
template <class Acc, class T, class Op, class HostOp>
void expect_folds(const std::vector<T>& items, std::int64_t start, Op op, HostOp host_op) {
  const gpu_array<T> array(items);
  cuda_executor exec;
  const auto got = device_folds(exec, exec, array.data() + start, sizes(), op);
  const auto expected = prefix_folds(
      host_op,
      [&](std::int64_t i) { return static_cast<Acc>(items[static_cast<std::size_t>(start + i)]); },
      sizes());
  for (std::size_t i = 0; i < sizes().size(); ++i) {
    const Acc value = got[i];
    ASSERT_EQ(std::memcmp(&value, &expected[i], sizeof(Acc)), 0)
        << "n = " << sizes()[i] << ", start = " << start;
  }
}

TEST(CudaShortRanges, SumsOfFloats) {
  for (const pattern p : {pattern::mixed, pattern::negative_zeros, pattern::one_infinity}) {
    const auto items = make_items<float>(p, sizes().back() + 1, seed());
    for (const int start : {0, 1}) expect_folds<float>(items, start, plus{}, host_plus{});
  }
}

TEST(CudaShortRanges, SumsOfBytes) {
  const auto items = make_items<std::int8_t>(pattern::mixed, sizes().back() + 15, seed());
  for (const int start : {0, 1, 15}) {
    expect_folds<std::int32_t>(items, start, plus{}, host_plus{});
  }
}

TEST(CudaShortRanges, LeastDoubles) {
  auto items = make_items<double>(pattern::mixed, sizes().back(), seed());
  for (double& item : items) item = item < 0 ? -item : item;  // above any stray zero
  expect_folds<double>(items, 0, minimum{}, host_minimum{});
}

TEST(CudaShortRanges, OperatorsOfAUser) {
  std::vector<std::uint32_t> items;
  for (std::int64_t i = 0; i < sizes().back(); ++i) {
    items.push_back(static_cast<std::uint32_t>(mixed_bits(static_cast<std::uint64_t>(i))));
  }
  expect_folds<std::uint32_t>(items, 0, short_node_hash{}, short_node_hash{});
}

// Each fold reads what the one before has written, as its last item, and writes over the first item
// that the one before has read.
class CudaFoldsInARow : public ::testing::Test {
 protected:
  static constexpr int folds = 60;
  static constexpr std::int64_t lengths[3] = {700, 40000, 300};

  static std::vector<float> items() {
    return make_items<float>(pattern::near_one, lengths[1] + folds + 1, 5);
  }
  static std::int64_t first(int i) { return lengths[1] + i - lengths[i % 3]; }

  template <class Exec>
  void enqueue(Exec&& exec) {
    for (int i = 0; i < folds; ++i) {
      float* const begin = array_.data() + first(i);
      float* const end = array_.data() + lengths[1] + i;
      reduce_into(exec, begin, end, end);
      if (i % 3 == 1) reduce_into(exec, end - 300, end + 1, begin, 1.0f, minimum{});
    }
  }

  static std::vector<float> expected() {
    std::vector<float> x = items();
    for (int i = 0; i < folds; ++i) {
      const auto begin = x.begin() + first(i);
      const auto end = x.begin() + lengths[1] + i;
      *end = neighbour_tree(host_plus{}, std::vector<float>(begin, end));
      if (i % 3 == 1) {
        float least = 1.0f;
        for (auto it = end - 300; it != end + 1; ++it) least = *it < least ? *it : least;
        *begin = least;
      }
    }
    return x;
  }

  void expect_all() {
    const auto got = array_.to_host();
    const auto wanted = expected();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(std::memcmp(&got[i], &wanted[i], sizeof(float)), 0) << "item " << i;
    }
  }

  gpu_array<float> array_{items()};
  cuda_executor exec_;
};

TEST_F(CudaFoldsInARow, OfAStream) {
  for (int again = 0; again < 20; ++again) {
    array_.assign(items().data(), array_.size());
    enqueue(exec_);
    exec_.synchronize();
    expect_all();
  }
}

TEST_F(CudaFoldsInARow, OfAStreamInManyTiles) {
  const auto exec = with_policy<tile_policy{128, 4}>(exec_);
  for (int again = 0; again < 20; ++again) {
    array_.assign(items().data(), array_.size());
    enqueue(exec);
    exec_.synchronize();
    expect_all();
  }
}

TEST_F(CudaFoldsInARow, OfAGraph) {
  exec_.reserve(1 << 16);
  exec_.synchronize();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  enqueue(exec_);
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphInstantiate(&launchable, graph, 0));
  must(cudaGraphDestroy(graph));
  for (int again = 0; again < 20; ++again) {
    array_.assign(items().data(), array_.size());
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    expect_all();
  }
  must(cudaGraphExecDestroy(launchable));
}

}  // namespace
}  // namespace tilefold::test
