// SPDX-License-Identifier: Apache-2.0
//
// Workspace of the caller's: as many bytes as the size queries say are enough, so that nothing is
// allocated; and memory that is named within a capture belongs to the graph.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/memory_resource.cuh"

namespace tilefold::test {
namespace {

std::vector<float> mixed(std::int64_t n) { return make_items<float>(pattern::mixed, n); }

/// Device memory full of garbage.
gpu_array<unsigned char> garbage(std::int64_t bytes) {
  gpu_array<unsigned char> space(bytes > 0 ? bytes : 1);
  must(cudaMemset(space.data(), 0xcd, static_cast<std::size_t>(space.size())));
  return space;
}

TEST(CudaWorkspaceSizes, OfEqualSegmentsAreEnough) {
  const std::vector<float> items = mixed(3000000);
  const gpu_array<float> array(items);
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {1, 3000000}, {2, 1500000}, {7, 400001}, {100, 30000}, {300, 9999}, {1000, 3000},
      {5000, 600},  {30, 100000}, {1, 1},      {1, 8193},    {3, 8192}};
  for (const auto& [segments, size] : shapes) {
    const std::int64_t bytes =
        cuda_executor::equal_segments_workspace_bytes(segments, size, sizeof(float), sizeof(float));
    tracking_resource memory;
    cuda_executor exec(memory);
    const auto space = garbage(bytes);
    if (bytes > 0) exec.use_workspace(space.data(), bytes);
    gpu_array<float> out(segments);
    segmented_reduce(exec, array.data(), segments, size, out.data());
    EXPECT_EQ(memory.allocations(), 0) << segments << " of " << size << ": " << bytes;
    const std::vector<float> got = out.to_host();
    for (std::int64_t i = 0; i < segments; i += 1 + segments / 5) {
      const std::vector<float> mine(items.begin() + i * size, items.begin() + (i + 1) * size);
      EXPECT_TRUE(same_bits(got[static_cast<std::size_t>(i)],
                            reference::fold<float>(reference::plus{}, mine)))
          << segments << " of " << size << ", " << i;
    }
  }
}

class CudaWorkspaceInGraphs : public ::testing::Test {
 protected:
  template <class Body>
  cudaGraphExec_t recorded(Body body, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(exec_->stream(), mode));
    body();
    must(cudaStreamEndCapture(exec_->stream(), &graph));
    cudaGraphExec_t launchable = nullptr;
    must(cudaGraphInstantiate(&launchable, graph, 0));
    must(cudaGraphDestroy(graph));
    return launchable;
  }

  void replay(cudaGraphExec_t graph) {
    must(cudaMemset(out_.data(), 0xee, 2 * sizeof(float)));
    must(cudaGraphLaunch(graph, exec_->stream()));
    exec_->synchronize();
    EXPECT_TRUE(same_bits(out_.to_host()[0], expected_));
  }

  void reduce_all() { reduce_into(*exec_, array_.begin(), array_.end(), out_.data()); }
  void reduce_now() {
    EXPECT_TRUE(same_bits(reduce(*exec_, array_.begin(), array_.end()), expected_));
  }

  std::vector<float> items_ = mixed(3000003);
  float expected_ = reference::fold<float>(reference::plus{}, items_);
  gpu_array<float> array_{items_};
  gpu_array<float> out_{2};
  std::int64_t bytes_ = cuda_executor::workspace_bytes(array_.size(), sizeof(float), sizeof(float));
  gpu_array<unsigned char> space_ = garbage(bytes_);
  tracking_resource memory_;
  std::optional<cuda_executor> exec_{std::in_place, memory_};
};

TEST_F(CudaWorkspaceInGraphs, IsZeroedByTheGraph) {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    const cudaGraphExec_t graph = recorded(
        [&] {
          exec_->use_workspace(space_.data(), bytes_);
          reduce_all();
        },
        mode);
    replay(graph);
    replay(graph);
    // Somebody else has had the memory meanwhile.
    must(cudaMemset(space_.data(), 0xcd, static_cast<std::size_t>(bytes_)));
    replay(graph);
    must(cudaGraphExecDestroy(graph));
  }
  EXPECT_EQ(memory_.allocations(), 0);
}

TEST_F(CudaWorkspaceInGraphs, ServesCallsAfterTheCapture) {
  const cudaGraphExec_t graph = recorded([&] {
    exec_->use_workspace(space_.data(), bytes_);
    reduce_all();
  });
  // The graph has not run: nobody has zeroed anything.
  reduce_now();
  reduce_now();
  replay(graph);
  reduce_now();
  EXPECT_EQ(exec_->workspace_bytes(), bytes_);
  EXPECT_EQ(memory_.allocations(), 0);
  must(cudaGraphExecDestroy(graph));
}

TEST_F(CudaWorkspaceInGraphs, ServesAnotherCapture) {
  const cudaGraphExec_t first = recorded([&] {
    exec_->use_workspace(space_.data(), bytes_);
    reduce_all();
  });
  const cudaGraphExec_t second = recorded([&] { reduce_all(); });
  must(cudaMemset(space_.data(), 0xcd, static_cast<std::size_t>(bytes_)));
  replay(second);
  must(cudaMemset(space_.data(), 0xcd, static_cast<std::size_t>(bytes_)));
  replay(first);
  must(cudaGraphExecDestroy(first));
  must(cudaGraphExecDestroy(second));
}

TEST_F(CudaWorkspaceInGraphs, MayChangeWithinACapture) {
  reduce_now();  // in memory of the executor's own
  EXPECT_EQ(memory_.allocations(), 1);
  const auto other = garbage(bytes_);
  const cudaGraphExec_t graph = recorded([&] {
    reduce_into(*exec_, array_.begin(), array_.end(), out_.data() + 1);
    exec_->use_workspace(space_.data(), bytes_);
    reduce_all();
    exec_->use_workspace(other.data(), bytes_);
    reduce_all();
  });
  // What the first call was recorded with is kept for the graph.
  EXPECT_EQ(memory_.deallocations(), 0);
  for (int i = 0; i < 3; ++i) {
    replay(graph);
    EXPECT_TRUE(same_bits(out_.to_host()[1], expected_));
  }
  must(cudaGraphExecDestroy(graph));
  reduce_now();
  exec_.reset();
  EXPECT_EQ(memory_.deallocations(), 1);
  EXPECT_EQ(memory_.bytes_in_use(), 0);
}

TEST_F(CudaWorkspaceInGraphs, MustBeLargeEnough) {
  const cudaGraphExec_t graph = recorded(
      [&] {
        exec_->use_workspace(space_.data(), 512);
        try {
          reduce_all();
          ADD_FAILURE() << "nothing was thrown";
        } catch (const capture_error& e) {
          EXPECT_NE(std::string(e.what()).find("use_workspace"), std::string::npos) << e.what();
        }
        EXPECT_THROW(exec_->use_workspace(space_.data() + 8, bytes_ - 8), memory_space_error);
        exec_->use_workspace(space_.data(), bytes_);
        reduce_all();
      },
      cudaStreamCaptureModeThreadLocal);
  replay(graph);
  must(cudaGraphExecDestroy(graph));
}

}  // namespace
}  // namespace tilefold::test
