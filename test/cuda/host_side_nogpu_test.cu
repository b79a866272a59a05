// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA executor does on the host, on a runtime that only claims to have a GPU: where calls
// without an executor go, that several launches are ready before the first, what is zeroed in
// captures, and what a reset of the device leaves. (cuda_*_test.cu see the same on a GPU.)
#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cuda/std/iterator>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/adaptors.cuh"
#include "support/fake_runtime.cuh"

namespace tilefold::test {
namespace {

class CudaHostSide : public ::testing::Test {
 protected:
  CudaHostSide() { fake::state().log.clear(); }
  ~CudaHostSide() override {
    fake::state().answers_left = -1;
    fake::state().capture = 0;
    fake::state().pageable_access = false;
  }

  static std::int64_t logged(const std::string& what) {
    return std::ranges::count(fake::state().log, what);
  }

  static constexpr std::int64_t n = 4096;
  int* device_ = fake::items_in<int>(cudaMemoryTypeDevice, n);
  int* managed_ = fake::items_in<int>(cudaMemoryTypeManaged, n);
  int* pinned_ = fake::items_in<int>(cudaMemoryTypeHost, n);
  std::vector<int> host_ = std::vector<int>(n, 1);
};

// ---- where calls go

enum class went { to_gpu, to_host };

template <class... Functors, class First, class... More>
went dispatched(First first, More... more) {
  return detail::default_dispatch::with_executor<Functors...>(
      first,
      [](auto&& exec) {
        constexpr bool gpu = requires { exec.stream(); };
        return gpu ? went::to_gpu : went::to_host;
      },
      more...);
}

const thrust::counting_iterator<int> counted(0);

TEST_F(CudaHostSide, SendsAdaptorsWhereTheirRootsAre) {
  using enum went;
  const thrust::device_ptr<int> marked(device_);
  const auto on = [&](int* p, went expected) {
    EXPECT_EQ(dispatched(p), expected);
    EXPECT_EQ(dispatched(std::span<int>(p, n).begin()), expected);
    EXPECT_EQ(dispatched(doubled(p)), expected);
    EXPECT_EQ(dispatched(doubled(doubled(p))), expected);
    EXPECT_EQ(dispatched(zipped(p, p)), expected);
    EXPECT_EQ(dispatched(zipped(p, counted)), expected);
    EXPECT_EQ(dispatched(zipped(counted, doubled(p))), expected);
    EXPECT_EQ(dispatched(doubled(zipped(p, p))), expected);
    EXPECT_EQ(dispatched(thrust::make_permutation_iterator(p, counted)), expected);
    EXPECT_EQ(dispatched(thrust::make_permutation_iterator(p, p)), expected);
    EXPECT_EQ(dispatched(thrust::make_reverse_iterator(p + n)), expected);
    EXPECT_EQ(dispatched(cuda::std::make_reverse_iterator(p + n)), expected);
    EXPECT_EQ(dispatched(doubled(thrust::make_reverse_iterator(p + n))), expected);
  };
  on(device_, to_gpu);
  on(managed_, to_gpu);
  on(pinned_, to_host);
  on(host_.data(), to_host);
  EXPECT_EQ(dispatched(marked), to_gpu);
  EXPECT_EQ(dispatched(doubled(marked)), to_gpu);
  EXPECT_EQ(dispatched(zipped(marked, marked)), to_gpu);
  EXPECT_EQ(dispatched(zipped(marked, device_)), to_gpu);
  EXPECT_EQ(dispatched(thrust::make_permutation_iterator(marked, marked)), to_gpu);
  EXPECT_EQ(dispatched(thrust::make_reverse_iterator(marked + n)), to_gpu);
  EXPECT_EQ(dispatched(counted), to_host);
  EXPECT_EQ(dispatched(doubled(counted)), to_host);
  EXPECT_EQ(dispatched(host_.begin()), to_host);
  EXPECT_EQ(dispatched(doubled(host_.begin())), to_host);
  EXPECT_EQ(dispatched(zipped(host_.begin(), counted)), to_host);
}

// Each of these would not compile for a GPU, or not run there.
TEST_F(CudaHostSide, KeepsOnTheHostWhatOnlyTheHostCanCall) {
  using enum went;
  const auto lambda = [](int x) { return x; };
  EXPECT_EQ(dispatched(thrust::make_transform_iterator(host_.data(), lambda)), to_host);
  EXPECT_EQ(dispatched<decltype(lambda)>(doubled(host_.data())), to_host);
  const auto view = std::span<int>(host_) | std::views::transform(lambda);
  EXPECT_EQ(dispatched(view.begin()), to_host);
  EXPECT_EQ(dispatched(std::make_reverse_iterator(host_.data() + n)), to_host);
  const std::deque<int> queue(5);
  EXPECT_EQ(dispatched(queue.begin()), to_host);
  // Folded there, device memory is refused by a message of the host's.
  const auto on_device = thrust::make_transform_iterator(device_, lambda);
  EXPECT_THROW((void)tilefold::reduce(on_device, on_device + 3), memory_space_error);
  const auto here = thrust::make_transform_iterator(host_.data(), lambda);
  EXPECT_EQ(tilefold::reduce(here, here + n), n);
}

template <class Call>
void expect_refused(Call call, const void* gpu, const void* host) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const memory_space_error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(detail::cuda::hex(gpu)), std::string::npos) << text;
    EXPECT_NE(text.find(detail::cuda::hex(host)), std::string::npos) << text;
  }
}

TEST_F(CudaHostSide, RefusesMemoryThatNobodyReachesAll) {
  using enum went;
  int* const host = host_.data();
  expect_refused([&] { (void)dispatched(zipped(device_, host)); }, device_, host);
  expect_refused([&] { (void)dispatched(zipped(host, device_)); }, device_, host);
  expect_refused([&] { (void)dispatched(zipped(thrust::device_ptr<int>(device_), host)); }, device_,
                 host);
  expect_refused([&] { (void)dispatched(host, device_); }, device_, host);
  expect_refused([&] { (void)dispatched(host_.begin(), device_); }, device_, host);
  expect_refused([&] { (void)dispatched(device_, pinned_, managed_, host); }, device_, host);
  EXPECT_EQ(dispatched(device_, pinned_), to_gpu);
  EXPECT_EQ(dispatched(pinned_, device_), to_gpu);
  EXPECT_EQ(dispatched(managed_, host), to_host);
  EXPECT_EQ(dispatched(counted, device_), to_gpu);
  EXPECT_EQ(dispatched(counted, device_, 3, 2.5f), to_gpu);
  EXPECT_EQ(dispatched(counted, host), to_host);
  EXPECT_EQ(dispatched(counted, counted), to_host);
  const int* null = nullptr;
  EXPECT_EQ(dispatched(null), to_host);
  EXPECT_EQ(dispatched(device_, null), to_gpu);
  fake::state().pageable_access = true;
  EXPECT_EQ(dispatched(zipped(device_, host)), to_gpu);
  EXPECT_EQ(dispatched(device_, host), to_gpu);
}

TEST_F(CudaHostSide, ReduceByKeyLooksAtValuesAndOutputsToo) {
  int* const host = host_.data();
  const auto call = [&](auto keys, auto values, auto keys_out, auto values_out) {
    return tilefold::reduce_by_key(keys, keys + 9, values, keys_out, values_out);
  };
  expect_refused([&] { (void)call(host, device_, host, host); }, device_, host);
  expect_refused([&] { (void)call(device_, host, device_, device_); }, device_, host);
  expect_refused([&] { (void)call(device_, device_, host, device_); }, device_, host);
  expect_refused([&] { (void)call(device_, device_, device_, host); }, device_, host);
  EXPECT_EQ(logged("launch"), 0);
  EXPECT_EQ(tilefold::reduce_by_key(counted, counted + 9, host, host, host), 9);
  EXPECT_EQ(logged("launch"), 0);
  (void)tilefold::reduce_by_key(counted, counted + 9, device_, device_, device_);
  EXPECT_EQ(logged("launch"), 1);
}

// ---- several launches

/// Lets the runtime answer one question more each time, until `call` gets through.
template <class Call>
void expect_questions_first(Call call, std::int64_t launches) {
  int refusals = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    fake::state().log.clear();
    fake::state().answers_left = attempt;
    try {
      call();
      break;
    } catch (const cuda_error&) {
      ++refusals;
      ASSERT_EQ(std::ranges::count(fake::state().log, "launch"), 0) << "question " << attempt;
    }
  }
  EXPECT_GE(refusals, 3);
  EXPECT_EQ(std::ranges::count(fake::state().log, "launch"), launches);
}

TEST_F(CudaHostSide, AsksEverythingBeforeTheFirstLaunchOfAForest) {
  cuda_executor exec;
  expect_questions_first(
      [&] { segmented_reduce_into(exec, device_, device_, 2000, device_ + 2048); }, 3);
}

TEST_F(CudaHostSide, AsksEverythingBeforeTheFirstLaunchOfReduceByKey) {
  cuda_executor exec;
  const auto call = [&](std::int64_t items) {
    return [&, items] {
      reduce_by_key_into(exec, device_, device_ + items, device_, device_, device_, device_);
    };
  };
  expect_questions_first(call(100000), 3);
  // With more open runs than few trees: two launches for them (for warps, for blocks).
  fake::state().answers_left = -1;
  expect_questions_first(call(std::int64_t{1} << 22), 4);
}

// ---- captures

TEST_F(CudaHostSide, ZeroesForACaptureInIt) {
  cuda_executor exec;
  int* const space = fake::items_in<int>(cudaMemoryTypeDevice, 1 << 20);
  int* const many = fake::items_in<int>(cudaMemoryTypeDevice, 1 << 24);
  const auto call = [&] { reduce_into(exec, many, many + (1 << 24), device_); };
  fake::state().capture = 7;
  EXPECT_THROW(call(), capture_error);
  exec.use_workspace(space, 4 << 20);
  EXPECT_EQ(exec.workspace_bytes(), 4 << 20);
  call();
  call();
  EXPECT_EQ(logged("recorded memset"), 1);
  EXPECT_EQ(logged("recorded launch"), 2);
  // Another capture knows nothing of the first one's.
  fake::state().capture = 8;
  call();
  EXPECT_EQ(logged("recorded memset"), 2);
  // Nor has anybody zeroed anything for calls in no capture.
  fake::state().capture = 0;
  EXPECT_EQ(logged("memset"), 0);
  call();
  call();
  EXPECT_EQ(logged("memset"), 1);
  EXPECT_EQ(logged("launch"), 2);
  fake::state().capture = 9;
  call();
  EXPECT_EQ(logged("recorded memset"), 2) << "zero since, and every launch leaves it so";
}

TEST_F(CudaHostSide, KeepsMemoryThatACaptureKnows) {
  int* const space = fake::items_in<int>(cudaMemoryTypeDevice, 1 << 20);
  {
    cuda_executor exec;
    exec.reserve(1 << 20);
    fake::state().capture = 7;
    exec.use_workspace(space, 4 << 20);
    exec.use_workspace(space, 2 << 20);
    fake::state().capture = 0;
    exec.use_workspace(space, 1 << 20);
    EXPECT_EQ(logged("free"), 0);
  }
  EXPECT_EQ(logged("free"), 1);
}

// ---- resets

TEST_F(CudaHostSide, MakesNoErrorOfTheDriversWhereThereIsNoContextYet) {
  fake::reset();
  const cuda_executor made_first;
  EXPECT_TRUE(fake::state().has_context);
  const float* const items = fake::items_in<float>(cudaMemoryTypeDevice, 4);
  fake::state().has_context = false;
  (void)tilefold::reduce(items, items + 4);
  EXPECT_EQ(fake::state().driver_errors, 0);
}

TEST_F(CudaHostSide, CallsWithoutExecutorGoOnAfterAReset) {
  for (int round = 0; round < 3; ++round) {
    int* const many = fake::items_in<int>(cudaMemoryTypeDevice, 1 << 24);
    fake::state().log.clear();
    (void)tilefold::reduce(many, many + (1 << 24));
    (void)tilefold::reduce(many, many + 5);
    EXPECT_EQ(logged("launch"), 2);
    fake::reset();
    EXPECT_EQ(logged("free"), 0);
  }
}

// The same where the driver gives the next context the same number.
TEST_F(CudaHostSide, CallsWithoutExecutorGoOnThoughTheContextSeemsTheSame) {
  int* device = fake::items_in<int>(cudaMemoryTypeDevice, n);
  (void)tilefold::reduce(device, device + n);
  fake::reset();
  --fake::state().context;
  device = fake::items_in<int>(cudaMemoryTypeDevice, n);
  (void)tilefold::reduce(device, device + n);
  EXPECT_EQ(logged("launch"), 2);
  segmented_reduce(device, device, 2000, device);
  fake::reset();
  --fake::state().context;
  device = fake::items_in<int>(cudaMemoryTypeDevice, n);
  fake::state().log.clear();
  segmented_reduce(device, device, 2000, device);
  EXPECT_EQ(logged("memset"), 1) << "in memory of its own";
}

TEST_F(CudaHostSide, ExecutorsSayThatTheirContextIsGone) {
  auto exec = std::make_unique<cuda_executor>();
  int* device = fake::items_in<int>(cudaMemoryTypeDevice, n);
  (void)reduce(*exec, device, device + n);
  exec->reserve(1 << 20);
  fake::reset();
  device = fake::items_in<int>(cudaMemoryTypeDevice, n);
  fake::state().log.clear();
  try {
    (void)reduce(*exec, device, device + n);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const cuda_error& e) {
    EXPECT_NE(std::string(e.what()).find("cudaDeviceReset"), std::string::npos) << e.what();
  }
  EXPECT_THROW(exec->reserve(1 << 24), cuda_error);
  EXPECT_THROW(exec->use_workspace(device, 4096), cuda_error);
  EXPECT_THROW(exec->synchronize(), cuda_error);
  EXPECT_EQ(logged("launch"), 0);
  exec.reset();
  EXPECT_EQ(logged("free"), 0) << "what was there is gone, or somebody else's";
}

}  // namespace
}  // namespace tilefold::test
