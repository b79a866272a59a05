// SPDX-License-Identifier: Apache-2.0
//
// What stands for an executor, on a runtime that only claims to have a GPU: which types do, where
// calls with them go, what is kept for them and when it is given back. (stand_ins_test.cu sees the
// bits on a GPU.)
// What CCCL asked for before 3.1.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <execution>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include <gtest/gtest.h>

#include <tilefold/cub_compat.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/thrust_compat.hpp>
#include <tilefold/tilefold.cuh>

#include "support/fake_runtime.cuh"
#include "support/stand_ins.cuh"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

template <class T>
using plain = std::remove_cvref_t<T>;

// ---- which types

using detail::host_policy;
using detail::names_stream;
using detail::stand_in;

static_assert(names_stream<cudaStream_t>);
static_assert(names_stream<cuda::stream_ref>);
static_assert(names_stream<rmm_stream_view>);
static_assert(names_stream<converting_stream>);
static_assert(names_stream<std::shared_ptr<CUstream_st>>);
static_assert(names_stream<plain<decltype(thrust::device)>>);
static_assert(names_stream<plain<decltype(thrust::cuda::par)>>);
static_assert(names_stream<plain<decltype(thrust::cuda::par_nosync)>>);
static_assert(names_stream<plain<decltype(thrust::cuda::par.on(cudaStream_t{}))>>);
static_assert(names_stream<plain<decltype(thrust::cuda::par_nosync.on(cudaStream_t{}))>>);
static_assert(
    names_stream<plain<decltype(thrust::cuda::par(std::allocator<char>{}).on(cudaStream_t{}))>>);

template <class T>
constexpr host_policy asks = detail::host_policy_of<plain<T>>();
static_assert(asks<decltype(thrust::host)> == host_policy::all_cores);
static_assert(asks<decltype(thrust::seq)> == host_policy::one_thread);
static_assert(asks<decltype(std::execution::par)> == host_policy::all_cores);
static_assert(asks<decltype(std::execution::par_unseq)> == host_policy::all_cores);
static_assert(asks<decltype(std::execution::seq)> == host_policy::one_thread);
static_assert(asks<decltype(std::execution::unseq)> == host_policy::one_thread);

struct parallel_policy {};  // of somebody's own
static_assert(!stand_in<parallel_policy>);
static_assert(!stand_in<converts_to_all>);
static_assert(!stand_in<int>);
static_assert(!stand_in<std::nullptr_t>);
static_assert(!stand_in<cudaEvent_t>);
static_assert(!stand_in<int*>);
static_assert(!stand_in<void*>);
static_assert(!stand_in<std::unique_ptr<int>>);
static_assert(!stand_in<std::vector<int>>);
static_assert(!stand_in<thrust::device_ptr<int>>);
static_assert(!stand_in<thrust::device_vector<int>>);
static_assert(!stand_in<thrust::host_vector<int>>);
static_assert(!stand_in<cuda_executor>);
static_assert(!stand_in<host_executor>);

static_assert(std::is_constructible_v<cuda_executor, cuda::stream_ref>);
static_assert(std::is_constructible_v<cuda_executor, rmm_stream_view, device_memory_resource&>);
static_assert(std::is_constructible_v<cuda_executor, plain<decltype(thrust::device)>>);
static_assert(!std::is_constructible_v<cuda_executor, plain<decltype(thrust::host)>>);
static_assert(!std::is_constructible_v<cuda_executor, plain<decltype(std::execution::par)>>);
static_assert(!std::is_constructible_v<cuda_executor, int>);

// ---- where calls go

cudaStream_t stream_of_number(std::uintptr_t number) {
  return reinterpret_cast<cudaStream_t>(number << 8);
}

template <class Handle>
cudaStream_t stream_behind(const Handle& handle) {
  return detail::default_dispatch::with_stand_in(handle, [](auto&& exec) { return exec.stream(); });
}
template <class Handle>
int threads_behind(const Handle& handle) {
  return detail::default_dispatch::with_stand_in(handle,
                                                 [](auto&& exec) { return exec.threads(); });
}

class CudaStandIns : public ::testing::Test {
 protected:
  CudaStandIns() {
    release_kept_memory();
    fake::state().log.clear();
    fake::state().uses_of_ended_streams = 0;
  }
  ~CudaStandIns() override {
    fake::state().capture = 0;
    fake::state().events_pending = false;
    release_kept_memory();
    EXPECT_EQ(fake::state().uses_of_ended_streams, 0);
    fake::state().ended_streams.clear();
    fake::state().stream_numbers.clear();
  }

  static std::int64_t logged(const std::string& what) {
    return std::ranges::count(fake::state().log, what);
  }

  // As many items as need workspace.
  static constexpr std::int64_t many = 1 << 24;
  template <class Handle>
  void fold_many_into(const Handle& handle) {
    reduce_into(handle, items_, items_ + many, items_);
  }

  // How many of the launches of some calls begin early.
  template <class Where>
  std::string early_with(Where&& where) {
    fake::state().early_launches = 0;
    fake::state().log.clear();
    reduce_into(where, items_, items_ + many, items_);
    segmented_reduce_into(where, items_, items_, 2000, items_);
    const auto launches = logged(fake::state().capture != 0 ? "recorded launch" : "launch");
    if (fake::state().early_launches == 0) return "none of them";
    return fake::state().early_launches == launches ? "all of them" : "some of them";
  }

  int* items_ = fake::items_in<int>(cudaMemoryTypeDevice, many);
};

TEST_F(CudaStandIns, NameTheirStream) {
  const cudaStream_t stream = stream_of_number(3);
  EXPECT_EQ(stream_behind(stream), stream);
  EXPECT_EQ(stream_behind(cuda::stream_ref(stream)), stream);
  EXPECT_EQ(stream_behind(rmm_stream_view(stream)), stream);
  EXPECT_EQ(stream_behind(converting_stream{stream}), stream);
  EXPECT_EQ(stream_behind(std::shared_ptr<CUstream_st>(stream, [](CUstream_st*) {})), stream);
  EXPECT_EQ(stream_behind(thrust::cuda::par.on(stream)), stream);
  EXPECT_EQ(stream_behind(thrust::cuda::par_nosync.on(stream)), stream);
  EXPECT_EQ(stream_behind(thrust::cuda::par(std::allocator<char>()).on(stream)), stream);
  EXPECT_EQ(stream_behind(thrust::device), cudaStreamLegacy);
  EXPECT_EQ(stream_behind(thrust::cuda::par), cudaStreamLegacy);
  EXPECT_EQ(stream_behind(cudaStream_t{nullptr}), cudaStreamLegacy);
  EXPECT_EQ(stream_behind(cudaStreamPerThread), cudaStreamPerThread);
  EXPECT_EQ(cuda_executor(cuda::stream_ref(stream)).stream(), stream);
  EXPECT_EQ(cuda_executor(rmm_stream_view(stream)).stream(), stream);
  EXPECT_EQ(cuda_executor(thrust::cuda::par.on(stream)).stream(), stream);
}

TEST_F(CudaStandIns, OfTheHostFoldOnTheHost) {
  const std::vector<int> three{1, 2, 3};
  EXPECT_EQ(tilefold::reduce(thrust::host, three), 6);
  EXPECT_EQ(tilefold::reduce(thrust::seq, three.begin(), three.end()), 6);
  EXPECT_EQ(tilefold::reduce(std::execution::par, three, 10), 16);
  EXPECT_EQ(tilefold::reduce(std::execution::seq, three, maximum{}), 3);
  EXPECT_EQ(threads_behind(std::execution::seq), 1);
  EXPECT_EQ(threads_behind(thrust::seq), 1);
  EXPECT_EQ(threads_behind(std::execution::par), host_executor().threads());
  std::vector<int> joined(4);
  const std::vector<int> four{1, 5, 7, 2};
  transform_rows(thrust::host, four.data(), 2, 2, joined.data(), reducers::max<>{},
                 std::minus<int>{});
  EXPECT_EQ(joined, (std::vector<int>{-4, 0, 0, -5}));
  transform_rows_into(std::execution::seq, four.data(), 1, 4, joined.data(), reducers::max<>{},
                      std::minus<int>{});
  EXPECT_EQ(joined, (std::vector<int>{-6, -2, 0, -5}));
  const std::vector<float> equal(4, 3.0f);
  std::vector<float> logs(4);
  log_softmax(std::execution::par, equal.data(), 4, 1, logs.data());
  EXPECT_EQ(logs, std::vector<float>(4, 0.0f));
  log_softmax_into(thrust::seq, equal.data(), 4, 1, logs.data());
  EXPECT_EQ(logs, std::vector<float>(4, 0.0f));
  auto part = reduce_piece(thrust::host, four, 0);
  part.append(std::execution::seq, four).append(thrust::seq, four.begin(), four.begin() + 1);
  EXPECT_EQ(part.value(), 31);
  EXPECT_EQ(
      reduce_piece<long long>(std::execution::par, four.begin(), four.end(), 0, maximum{}).value(),
      7);
  EXPECT_THROW((void)tilefold::reduce(std::execution::par, items_, items_ + 3), memory_space_error);
  EXPECT_THROW((void)tilefold::reduce(thrust::host, items_, items_ + 3), memory_space_error);
  EXPECT_THROW((void)tilefold::reduce(thrust::device, three), memory_space_error);
  EXPECT_EQ(logged("launch"), 0);
}

TEST_F(CudaStandIns, EveryVerbTakesThem) {
  const cudaStream_t stream = stream_of_number(3);
  const auto all = [&](const auto& handle) {
    int* const p = items_;
    fake::state().log.clear();
    (void)tilefold::reduce(handle, p, p + 9);
    (void)tilefold::reduce<long long>(handle, p, p + 9, 1, maximum{});
    reduce_into(handle, p, p + 9, p);
    (void)transform_reduce(handle, p, p + 9, p, 0);
    transform_reduce_into(handle, p, p + 9, p, p, reducers::dot{});
    (void)inner_product(handle, p, p + 9, p, 0);
    inner_product_into(handle, p, p + 9, p, p, 0);
    segmented_reduce(handle, p, 3, 3, p);
    segmented_reduce_into(handle, p, p, 3, p);
    reduce_by_key(handle, p, p + 9, p, p, p);
    reduce_by_key_into(handle, p, p + 9, p, p, p, reinterpret_cast<std::int64_t*>(p));
    (void)min_element(handle, p, p + 9);
    (void)count(handle, p, p + 9, 3);
    (void)mean(handle, thrust::device_ptr<int>(p), thrust::device_ptr<int>(p) + 9);
    min_value_into(handle, p, p + 9, p);
    const int* const arrays[] = {p, p};
    auto** const pointers = fake::items_in<const int*>(cudaMemoryTypeDevice, 2);
    std::ranges::copy(arrays, pointers);
    batched_reduce(handle, pointers, p, 2, p);
    batched_reduce_into(handle, pointers, p, 2, p);
    const test_view matrix{p, right_layout({3, 4})};
    const test_view sums{p + 12, right_layout({4})};
    axis_reduce(handle, matrix, sums, 0);
    axis_reduce_into(handle, matrix, sums, 0, maximum{});
    transform_rows(handle, p, 2, 4, p, reducers::sum{}, plus{});
    transform_rows_into(handle, p, 2, 4, p, reducers::sum{}, plus{});
    auto* const floats = reinterpret_cast<float*>(p);
    log_softmax(handle, floats, 2, 4, floats);
    log_softmax_into(handle, floats, 2, 4, floats);
    (void)reduce_piece(handle, p, p + 9, 3).append(handle, p, p + 5);
    EXPECT_EQ(logged("launch"), 25);
  };
  all(stream);
  all(thrust::device);
  all(thrust::cuda::par.on(stream));
  all(cuda::stream_ref(stream));
}

// ---- what is kept

TEST_F(CudaStandIns, KeepTheirWorkspaceForTheNextCall) {
  for (int call = 0; call < 5; ++call) {
    fold_many_into(stream_of_number(3));
    fold_many_into(thrust::cuda::par.on(stream_of_number(4)));
    fold_many_into(cuda::stream_ref(stream_of_number(3)));
    fold_many_into(thrust::device);
    (void)tilefold::reduce(items_, items_ + many);
  }
  EXPECT_EQ(logged("malloc"), 3);
  EXPECT_EQ(logged("free"), 0);
  release_kept_memory();
  EXPECT_EQ(logged("free"), 3);
}

TEST_F(CudaStandIns, KnowAnotherStreamOfTheSameHandle) {
  const cudaStream_t stream = stream_of_number(3);
  fold_many_into(stream);
  fake::state().stream_numbers[stream] = 77;  // the first one's work may still be under way
  fold_many_into(stream);
  EXPECT_EQ(logged("malloc"), 2);
  fold_many_into(stream);
  EXPECT_EQ(logged("malloc"), 2);
}

// Each stream ends after its call. Its memory goes on to others, and nobody touches it again.
TEST_F(CudaStandIns, HandOnMemoryOfStreamsThatEnded) {
  for (std::uintptr_t i = 1; i <= 50; ++i) {
    fold_many_into(stream_of_number(i));
    fake::state().ended_streams.push_back(stream_of_number(i));
  }
  EXPECT_EQ(logged("malloc"), 8);
  EXPECT_EQ(logged("free"), 0);
  EXPECT_EQ(logged("wait"), 0);
  EXPECT_EQ(logged("event"), 50);
}

// Memory that is in use is not handed on, and no call waits for it.
TEST_F(CudaStandIns, HandOnNoMemoryThatIsInUse) {
  fake::state().events_pending = true;
  for (std::uintptr_t i = 1; i <= 20; ++i) fold_many_into(stream_of_number(i));
  EXPECT_EQ(logged("malloc"), 20);
  fake::state().events_pending = false;
  for (std::uintptr_t i = 21; i <= 40; ++i) fold_many_into(stream_of_number(i));
  EXPECT_EQ(logged("malloc"), 20);
  EXPECT_EQ(logged("wait"), 0);
}

TEST_F(CudaStandIns, NoteNothingForCallsWithoutWorkspace) {
  for (int i = 0; i < 3; ++i) reduce_into(stream_of_number(3), items_, items_ + 9, items_);
  EXPECT_EQ(logged("event"), 0);
  EXPECT_EQ(logged("malloc"), 0);
  (void)tilefold::reduce(stream_of_number(3), items_, items_ + many);
  EXPECT_EQ(logged("event"), 0) << "the call has waited";
}

TEST_F(CudaStandIns, AreGivenUpWithTheirThread) {
  const auto before = fake::state().memory.size();
  std::thread([&] {
    fold_many_into(stream_of_number(3));
    (void)tilefold::reduce(stream_of_number(3), items_, items_ + 9);
    fake::state().ended_streams.push_back(stream_of_number(3));
    EXPECT_GT(fake::state().memory.size(), before);
  }).join();
  EXPECT_EQ(fake::state().memory.size(), before);
  EXPECT_EQ(logged("wait"), 1);
}

// Each recorded call has memory that its graph keeps, and that later captures take over. Nothing
// but launches is recorded; the kept executor is left alone.
TEST_F(CudaStandIns, TakeMemoryThatTheirGraphKeeps) {
  release_kept_memory();
  const auto none = fake::state().memory.size();
  fold_many_into(stream_of_number(3));
  const auto before = fake::state().memory.size();
  for (const int mallocs : {2, 0}) {
    fake::state().log.clear();
    fake::state().capture = 7;
    fold_many_into(stream_of_number(3));
    fold_many_into(thrust::cuda::par.on(stream_of_number(3)));
    EXPECT_EQ(logged("malloc of a graph"), mallocs);
    for (const char* const node : {"recorded malloc", "recorded memset", "recorded free"}) {
      EXPECT_EQ(logged(node), 0) << node;
    }
    EXPECT_THROW((void)tilefold::reduce(stream_of_number(3), items_, items_ + 9), capture_error);
    fake::state().capture = 0;
    EXPECT_EQ(fake::state().memory.size(), before + 2);
    EXPECT_EQ(logged("event"), 0);
    fold_many_into(stream_of_number(3));
    EXPECT_EQ(logged("malloc"), 0) << "the kept executor is there as before";
    fake::destroy_graph();
  }
  release_kept_memory();
  EXPECT_EQ(fake::state().memory.size(), none) << "also what graphs had";
}

// Of a large call the graph allocates and frees by nodes.
TEST_F(CudaStandIns, RecordNodesForMuchMemory) {
  fake::state().log.clear();
  fake::state().capture = 7;
  segmented_reduce_into(stream_of_number(3), items_, items_, 1 << 20, items_);
  fake::state().capture = 0;
  EXPECT_EQ(logged("recorded malloc"), 1);
  EXPECT_EQ(logged("recorded free"), 1);
}

// A launch that begins early may stop the GPU for good if its stream ends meanwhile.
TEST_F(CudaStandIns, BeginInTurnWhereTheirStreamMayEnd) {
  for (int again = 0; again < 2; ++again) {  // what is known of a kernel serves all streams
    EXPECT_EQ(early_with(thrust::device), "all of them") << "the legacy stream never ends";
    EXPECT_EQ(early_with(stream_of_number(3)), "none of them");
    EXPECT_EQ(early_with(thrust::cuda::par.on(stream_of_number(3))), "none of them");
    EXPECT_EQ(early_with(cudaStreamPerThread), "none of them") << "it ends with its thread";
    fake::state().capture = 7;
    EXPECT_EQ(early_with(stream_of_number(3)), "all of them");
    fake::state().capture = 0;
  }
}

TEST_F(CudaStandIns, BeginEarlyInExecutorsThatWaitForTheirStream) {
  using calls = std::vector<std::string>;
  fake::state().stream_ends.clear();
  {
    cuda_executor own;
    cuda_executor moved(std::move(own));
    EXPECT_EQ(early_with(moved), "all of them");
    EXPECT_EQ(fake::state().stream_ends, calls{});
  }
  EXPECT_EQ(fake::state().stream_ends, (calls{"wait", "destroy"}));
  fake::state().stream_ends.clear();
  {
    cuda_executor borrowed(stream_of_number(3));
    EXPECT_EQ(early_with(borrowed), "none of them");
    cuda_executor of_the_thread(cudaStreamPerThread);
    EXPECT_EQ(early_with(of_the_thread), "none of them");
    for (const cudaStream_t stream : {cudaStream_t{nullptr}, cudaStreamLegacy}) {
      cuda_executor legacy(stream);
      EXPECT_EQ(early_with(legacy), "all of them");
    }
    fake::state().capture = 7;
    borrowed.use_workspace(fake::items_in<int>(cudaMemoryTypeDevice, 1 << 20), 4 << 20);
    EXPECT_EQ(early_with(borrowed), "all of them");
    fake::state().capture = 0;
  }
  EXPECT_EQ(fake::state().stream_ends, calls{}) << "a borrowed stream is not ours to wait for";
}

TEST_F(CudaStandIns, CanBeUsedAgainAfterABadCall) {
  const cudaStream_t stream = stream_of_number(3);
  EXPECT_THROW((void)tilefold::reduce(stream, items_ + 9, items_), invalid_range_error);
  EXPECT_THROW((void)tilefold::reduce(stream, items_, items_, reducers::arg_min<>{}),
               empty_range_error);
  std::vector<int> host(9);
  EXPECT_THROW((void)tilefold::reduce(stream, host), memory_space_error);
  fold_many_into(stream);
  EXPECT_EQ(logged("launch"), 1);
}

TEST_F(CudaStandIns, GoOnAfterAReset) {
  const cudaStream_t stream = stream_of_number(3);
  fold_many_into(stream);
  (void)tilefold::reduce(stream, items_, items_ + 9);
  fake::reset();
  items_ = fake::items_in<int>(cudaMemoryTypeDevice, many);
  fake::state().log.clear();
  fold_many_into(stream);
  EXPECT_EQ(logged("malloc"), 1);
  EXPECT_EQ(logged("free"), 0);
  EXPECT_EQ(logged("launch"), 1);
  release_kept_memory();
  EXPECT_EQ(logged("free"), 1) << "what was there before is gone, or somebody else's";
}

// ---- with the names of thrust and CUB

TEST_F(CudaStandIns, ThrustsCallsChangeTheirNamespace) {
  namespace compat = tilefold::thrust_compat;
  const std::vector<int> keys{1, 1, 2, 2, 2, 5}, values{1, 2, 3, 4, 5, 6};
  std::vector<int> keys_out(6), values_out(6);
  const auto twice = [](int x) { return 2 * x; };
  EXPECT_EQ(compat::reduce(thrust::host, values.begin(), values.end(), 100, maximum{}), 100);
  EXPECT_EQ(compat::transform_reduce(thrust::host, values.begin(), values.end(), twice, 1, plus{}),
            43);
  EXPECT_EQ(compat::transform_reduce(values.begin(), values.end(), twice, 1, plus{}), 43);
  const host_executor exec;
  EXPECT_EQ(compat::transform_reduce(exec, values.begin(), values.end(), twice, 1, plus{}), 43);
  const auto check = [&](auto ends, std::vector<int> expected_keys, std::vector<int> sums) {
    EXPECT_EQ(ends.first - keys_out.begin(), static_cast<std::ptrdiff_t>(sums.size()));
    EXPECT_EQ(ends.second - values_out.begin(), static_cast<std::ptrdiff_t>(sums.size()));
    EXPECT_EQ(std::vector<int>(keys_out.begin(), ends.first), expected_keys);
    EXPECT_EQ(std::vector<int>(values_out.begin(), ends.second), sums);
  };
  check(compat::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys_out.begin(),
                              values_out.begin()),
        {1, 2, 5}, {3, 12, 6});
  const auto both_small = [](int a, int b) { return a < 3 && b < 3; };
  check(compat::reduce_by_key(thrust::host, keys.begin(), keys.end(), values.begin(),
                              keys_out.begin(), values_out.begin(), both_small),
        {1, 5}, {15, 6});
  check(compat::reduce_by_key(std::execution::seq, keys.begin(), keys.end(), values.begin(),
                              keys_out.begin(), values_out.begin(), both_small, multiplies{}),
        {1, 5}, {120, 6});
  (void)compat::reduce_by_key(thrust::device, items_, items_ + 9, items_, items_, items_);
  EXPECT_EQ(logged("launch"), 1);
}

// As cub::KeyValuePair.
struct key_and_value {
  int key;
  int value;
};

TEST_F(CudaStandIns, CubsCallsChangeTheirNamespace) {
  using tilefold::cub_compat::DeviceReduce;
  auto* const pairs = fake::items_in<key_and_value>(cudaMemoryTypeDevice, 1);
  const cudaStream_t stream = stream_of_number(3);
  auto* const places = fake::items_in<std::int64_t>(cudaMemoryTypeDevice, 1);
  std::size_t bytes = 0;
  const auto all = [&](void* storage) {
    EXPECT_EQ(DeviceReduce::Sum(storage, bytes, items_, items_, 9, stream), cudaSuccess);
    EXPECT_EQ(DeviceReduce::Min(storage, bytes, items_, items_, 9u, stream), cudaSuccess);
    EXPECT_EQ(DeviceReduce::Max(storage, bytes, items_, items_, 9L), cudaSuccess);
    EXPECT_EQ(DeviceReduce::ArgMin(storage, bytes, items_, items_, places, 9, stream), cudaSuccess);
    EXPECT_EQ(DeviceReduce::ArgMax(storage, bytes, items_, items_, places, 9, stream), cudaSuccess);
    EXPECT_EQ(DeviceReduce::Reduce(storage, bytes, items_, items_, 9, maximum{}, 3, stream),
              cudaSuccess);
    EXPECT_EQ(DeviceReduce::TransformReduce(storage, bytes, items_, items_, 9, maximum{},
                                            std::negate<int>{}, 3, stream),
              cudaSuccess);
    EXPECT_EQ(DeviceReduce::ReduceByKey(storage, bytes, items_, items_, items_, items_, items_,
                                        plus{}, 9, stream),
              cudaSuccess);
    EXPECT_EQ(DeviceReduce::ArgMin(storage, bytes, items_, pairs, 9, stream), cudaSuccess);
    EXPECT_EQ(DeviceReduce::ArgMax(storage, bytes, items_, pairs, 9), cudaSuccess);
  };
  all(nullptr);
  EXPECT_EQ(bytes, 1u);
  EXPECT_EQ(logged("launch"), 0);
  all(items_);
  EXPECT_EQ(logged("launch"), 10);
  // In one phase.
  EXPECT_EQ(DeviceReduce::Sum(items_, items_, 9, stream), cudaSuccess);
  EXPECT_EQ(DeviceReduce::Min(items_, items_, 9u, cuda::stream_ref(stream)), cudaSuccess);
  EXPECT_EQ(DeviceReduce::Max(items_, items_, 9L), cudaSuccess);
  EXPECT_EQ(DeviceReduce::ArgMin(items_, items_, places, 9, stream), cudaSuccess);
  EXPECT_EQ(DeviceReduce::ArgMax(items_, items_, places, 9), cudaSuccess);
  EXPECT_EQ(DeviceReduce::Reduce(items_, items_, 9, maximum{}, 3, stream), cudaSuccess);
  EXPECT_EQ(DeviceReduce::TransformReduce(items_, items_, 9, maximum{}, std::negate<int>{}, 3),
            cudaSuccess);
  EXPECT_EQ(logged("launch"), 17);
  fake::state().log.clear();
  std::vector<int> host(9);
  EXPECT_EQ(DeviceReduce::Sum(items_, bytes, host.data(), items_, 9), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceReduce::ArgMin(items_, bytes, items_, host.data(), places, 9),
            cudaErrorInvalidValue);
  EXPECT_EQ(DeviceReduce::ArgMin(items_, bytes, items_, items_, places, 0), cudaErrorInvalidValue);
  EXPECT_EQ(DeviceReduce::Sum(host.data(), items_, 9), cudaErrorInvalidValue);
  EXPECT_EQ(logged("launch"), 0);
}

TEST_F(CudaStandIns, CubsCallsOfSegmentsChangeTheirNamespace) {
  using tilefold::cub_compat::DeviceSegmentedReduce;
  auto* const pairs = fake::items_in<key_and_value>(cudaMemoryTypeDevice, 4);
  std::size_t bytes = 0;
  const auto all = [&](void* storage) {
    const int* const begins = items_;
    EXPECT_EQ(DeviceSegmentedReduce::Sum(storage, bytes, items_, items_, 3, begins, begins + 1),
              cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::Min(storage, bytes, items_, items_, 3, begins, begins + 1),
              cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::Max(storage, bytes, items_, items_, 3, 4), cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::Reduce(storage, bytes, items_, items_, 3, begins, begins + 1,
                                            maximum{}, 5),
              cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::Reduce(storage, bytes, items_, items_, 3, 4, maximum{}, 5),
              cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::ArgMin(storage, bytes, items_, pairs, 3, begins, begins + 1),
              cudaSuccess);
    EXPECT_EQ(DeviceSegmentedReduce::ArgMax(storage, bytes, items_, pairs, 3, 4), cudaSuccess);
  };
  all(nullptr);
  EXPECT_EQ(bytes, 1u);
  EXPECT_EQ(logged("launch"), 0);
  all(items_);
  EXPECT_EQ(logged("launch"), 7);
}

// ---- workspace from resources of others

struct gpu_memory {
  static void* allocate(std::size_t n) { return fake::allocate(n, cudaMemoryTypeDevice); }
  static void release(void* p) { (void)fake::release(p); }
};
struct host_memory {
  static void* allocate(std::size_t n) { return std::malloc(n); }
  static void release(void* p) { std::free(p); }
};

static_assert(!detail::cuda::foreign_resource<async_memory_resource&>);
static_assert(!detail::cuda::foreign_resource<std::vector<int>&>);
static_assert(!detail::cuda::foreign_resource<std::allocator<int>&>);
static_assert(!detail::cuda::foreign_resource<cudaStream_t>);
static_assert(!detail::cuda::foreign_resource<cuda::stream_ref>);

template <class Resource>
void expect_workspace_from(Resource&& resource, resource_calls& calls, cudaStream_t expected) {
  int* const items = fake::items_in<int>(cudaMemoryTypeDevice, 1 << 24);
  fake::state().log.clear();
  {
    cuda_executor exec(stream_of_number(5), static_cast<Resource&&>(resource));
    reduce_into(exec, items, items + (1 << 24), items);
    cuda_executor moved(std::move(exec));
    reduce_into(moved, items, items + (1 << 24), items);
    EXPECT_EQ(calls.allocated, 1);
    EXPECT_EQ(calls.freed, 0);
    EXPECT_EQ(calls.alignment, 256u);
    EXPECT_EQ(calls.stream, expected);
    EXPECT_GE(calls.bytes, 65536u);
  }
  EXPECT_EQ(calls.freed, 1);
  EXPECT_EQ(std::ranges::count(fake::state().log, "malloc"), 0);
  EXPECT_EQ(std::ranges::count(fake::state().log, "launch"), 2);
  fake::release(items);
}

#if CCCL_VERSION < 3001000
// The concepts and references of cuda::mr itself, as the toolkit has them.
struct resource_of_cccl {
  resource_calls* calls;

  void* allocate_async(std::size_t n, std::size_t alignment, cuda::stream_ref stream) {
    return calls->give<gpu_memory>(n, alignment, stream.get());
  }
  void deallocate_async(void* p, std::size_t n, std::size_t, cuda::stream_ref) {
    calls->take<gpu_memory>(p, n);
  }
  void* allocate(std::size_t n, std::size_t alignment) {
    return calls->give<gpu_memory>(n, alignment, nullptr);
  }
  void deallocate(void* p, std::size_t n, std::size_t) { calls->take<gpu_memory>(p, n); }
  friend bool operator==(const resource_of_cccl& a, const resource_of_cccl& b) {
    return a.calls == b.calls;
  }
  [[maybe_unused]] friend bool operator!=(const resource_of_cccl& a, const resource_of_cccl& b) {
    return a.calls != b.calls;
  }
  [[maybe_unused]] friend void get_property(const resource_of_cccl&, cuda::mr::device_accessible) {}
};
static_assert(cuda::mr::async_resource_with<resource_of_cccl, cuda::mr::device_accessible>);

TEST_F(CudaStandIns, ResourcesOfTheToolkitGiveWorkspace) {
  const cudaStream_t stream = stream_of_number(5);
  resource_calls calls[3];
  resource_of_cccl async{&calls[0]};
  expect_workspace_from(async, calls[0], stream);
  resource_of_cccl referred{&calls[1]};
  expect_workspace_from(cuda::mr::async_resource_ref<cuda::mr::device_accessible>(referred),
                        calls[1], stream);
  resource_of_cccl known_as_sync{&calls[2]};
  expect_workspace_from(cuda::mr::resource_ref<cuda::mr::device_accessible>(known_as_sync),
                        calls[2], nullptr);
}
#endif

TEST_F(CudaStandIns, ResourcesOfAnyVersionGiveWorkspace) {
  const cudaStream_t stream = stream_of_number(5);
  resource_calls calls[6];
  resource_in_stream<gpu_memory> in_stream{&calls[0]};
  expect_workspace_from(in_stream, calls[0], stream);
  resource_async<gpu_memory> async{&calls[1]};
  expect_workspace_from(async, calls[1], stream);
  resource_of_rmm<gpu_memory> rmm(&calls[2]);
  expect_workspace_from(rmm, calls[2], stream);
  resource_of_rmm<gpu_memory> pointed_at(&calls[3]);
  expect_workspace_from(&pointed_at, calls[3], stream);
  resource_sync<gpu_memory> sync{&calls[4]};
  expect_workspace_from(sync, calls[4], nullptr);
  resource_plain<gpu_memory> plain{&calls[5]};
  expect_workspace_from(plain, calls[5], nullptr);
}

TEST_F(CudaStandIns, TemporaryResourcesAndReferencesToThemAreKept) {
  resource_calls calls[2];
  auto temporary =
      std::make_unique<resource_async<gpu_memory>>(resource_async<gpu_memory>{&calls[0]});
  cuda_executor moved_in(std::move(*temporary));
  temporary->calls = nullptr;
  auto ref =
      std::make_unique<some_resource_ref<gpu_memory>>(some_resource_ref<gpu_memory>{{&calls[1]}});
  cuda_executor copied(thrust::device, *ref);
  ref->calls = nullptr;
  moved_in.reserve(1 << 20);
  copied.reserve(1 << 20);
  EXPECT_EQ(calls[0].allocated, 1);
  EXPECT_EQ(calls[1].allocated, 1);
}

TEST_F(CudaStandIns, ExecutorsWorkInTheCallersMemory) {
  const cudaStream_t stream = stream_of_number(5);
  constexpr std::int64_t bytes = 4 << 20;
  int* const memory = fake::items_in<int>(cudaMemoryTypeDevice, bytes / 4);
  {
    cuda_executor exec(stream, memory, bytes);
    EXPECT_EQ(exec.stream(), stream);
    reduce_into(exec, items_, items_ + many, items_);
    EXPECT_EQ(exec.workspace_bytes(), bytes);
    cuda_executor of_ref(cuda::stream_ref(stream), memory, bytes);
    reduce_into(of_ref, items_, items_ + many, items_);
  }
  EXPECT_EQ(logged("launch"), 2);
  EXPECT_EQ(logged("malloc"), 0);
  EXPECT_EQ(logged("free"), 0);
  EXPECT_THROW(cuda_executor(stream, memory + 1, bytes), memory_space_error);
  std::vector<int> host(1000);
  EXPECT_THROW(cuda_executor(stream, host.data(), 4000), memory_space_error);
  EXPECT_EQ(fake::state().memory.count(reinterpret_cast<const char*>(memory)), 1u);
}

TEST_F(CudaStandIns, ResourcesThatFailSaySo) {
  resource_calls calls;
  resource_async<gpu_memory> resource{&calls};
  cuda_executor exec(resource);
  calls.fails = true;
  try {
    exec.reserve(123456);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const allocation_error& e) {
    EXPECT_EQ(e.bytes(), 123456);
    EXPECT_NE(std::string(e.what()).find("123456"), std::string::npos) << e.what();
  }
  calls.fails = false;
  exec.reserve(123456);
  EXPECT_EQ(calls.allocated, 1);

  resource_calls host_calls;
  resource_plain<host_memory> of_the_host{&host_calls};
  cuda_executor another(of_the_host);
  EXPECT_THROW(another.reserve(4096), memory_space_error);
  EXPECT_EQ(host_calls.freed, 1);

  const resource_of_rmm<gpu_memory>* null = nullptr;
  EXPECT_THROW(cuda_executor(const_cast<resource_of_rmm<gpu_memory>*>(null)), null_pointer_error);
}

}  // namespace
}  // namespace tilefold::test
