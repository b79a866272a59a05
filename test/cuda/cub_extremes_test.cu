// SPDX-License-Identifier: Apache-2.0
//
// Segments without items have the extremes of CUB, of a type of the caller's and of types of 16
// bits: extremes of segments by CUB and by cub_compat.
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/util_type.cuh>
#include <cuda/std/limits>

#include <gtest/gtest.h>

#include <tilefold/cub_compat.cuh>
#include <tilefold/cuda.cuh>

#include "support/device.cuh"

// CUB calls the forms with pairs deprecated, and has them.
#if defined(__NVCC__)
#pragma nv_diag_suppress 1444
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tilefold::test {

// What only cuda::std::numeric_limits knows.
struct cents {
  int value;
  friend TILEFOLD_HD bool operator<(const cents& a, const cents& b) { return a.value < b.value; }
  friend TILEFOLD_HD bool operator>(const cents& a, const cents& b) { return b < a; }
  friend TILEFOLD_HD bool operator==(const cents& a, const cents& b) { return a.value == b.value; }
};

}  // namespace tilefold::test

template <>
class cuda::std::numeric_limits<tilefold::test::cents> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr __host__ __device__ tilefold::test::cents max() { return {1000}; }
  static constexpr __host__ __device__ tilefold::test::cents lowest() { return {-1000}; }
};

namespace tilefold::test {
namespace {

template <class T>
bool equal(const T& a, const T& b) {
  return !(a < b) && !(b < a);
}

// Segments with no item, one, two and many.
const std::vector<int> ragged{0, 0, 1, 3, 3, 200, 200};
constexpr int ragged_count = 6;

template <class T>
T small_number(int i) {
  if constexpr (std::is_same_v<T, cents>) {
    return {i * 7 % 31 - 15};
  } else {
    return T(static_cast<float>(i * 7 % 31 - 15));
  }
}

// Which of the four to call: Min and ArgMax take the largest value and the lowest one for nothing,
// and so do ArgMin and Max.
enum class calls { all, min_and_arg_max, arg_min_and_max };

// Min, Max, ArgMin and ArgMax of those segments.
template <class Fold, class T, calls Which>
std::pair<std::vector<T>, std::vector<int>> extremes_of_segments(cudaStream_t stream) {
  std::vector<T> items;
  for (int i = 0; i < ragged.back(); ++i) items.push_back(small_number<T>(i));
  const gpu_array<T> on_gpu(items);
  const gpu_array<int> offsets(ragged);
  using place = cub::KeyValuePair<int, T>;
  gpu_array<T> values(ragged_count);
  gpu_array<place> places(ragged_count);
  const T* const in = on_gpu.data();
  const int* const begins = offsets.data();
  std::pair<std::vector<T>, std::vector<int>> found;
  const auto call = [&](const auto& fold) {
    std::size_t bytes = 0;
    must(fold(static_cast<void*>(nullptr), bytes));
    gpu_array<char> storage(static_cast<std::int64_t>(bytes) + 1);
    must(fold(static_cast<void*>(storage.data()), bytes));
    must(cudaStreamSynchronize(stream));
  };
  const auto keep_values = [&] {
    for (const T& value : values.to_host()) found.first.push_back(value);
  };
  const auto keep_places = [&] {
    for (const place& p : places.to_host()) {
      found.first.push_back(p.value);
      found.second.push_back(p.key);
    }
  };
  if constexpr (Which != calls::arg_min_and_max) {
    call([&](void* tmp, std::size_t& bytes) {
      return Fold::Min(tmp, bytes, in, values.data(), ragged_count, begins, begins + 1, stream);
    });
    keep_values();
  }
  if constexpr (Which != calls::min_and_arg_max) {
    call([&](void* tmp, std::size_t& bytes) {
      return Fold::Max(tmp, bytes, in, values.data(), ragged_count, begins, begins + 1, stream);
    });
    keep_values();
  }
  if constexpr (Which != calls::min_and_arg_max) {
    call([&](void* tmp, std::size_t& bytes) {
      return Fold::ArgMin(tmp, bytes, in, places.data(), ragged_count, begins, begins + 1, stream);
    });
    keep_places();
  }
  if constexpr (Which != calls::arg_min_and_max) {
    call([&](void* tmp, std::size_t& bytes) {
      return Fold::ArgMax(tmp, bytes, in, places.data(), ragged_count, begins, begins + 1, stream);
    });
    keep_places();
  }
  return found;
}

template <class T, calls Which>
void expect_cubs_extremes() {
  const scoped_stream stream;
  const auto theirs = extremes_of_segments<cub::DeviceSegmentedReduce, T, Which>(stream);
  const auto ours = extremes_of_segments<cub_compat::DeviceSegmentedReduce, T, Which>(stream);
  EXPECT_EQ(ours.second, theirs.second);
  ASSERT_EQ(ours.first.size(), theirs.first.size());
  for (std::size_t i = 0; i < ours.first.size(); ++i) {
    EXPECT_TRUE(equal(ours.first[i], theirs.first[i])) << i;
  }
}

TEST(CudaCubExtremes, OfSegmentsWithoutItemsAreCubs) { expect_cubs_extremes<cents, calls::all>(); }

TEST(CudaCubExtremes, OfSegmentsOfHalvesWithoutItemsAreCubs) {
  expect_cubs_extremes<__half, calls::min_and_arg_max>();
  expect_cubs_extremes<__nv_bfloat16, calls::arg_min_and_max>();
}

}  // namespace
}  // namespace tilefold::test
