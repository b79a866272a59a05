// SPDX-License-Identifier: Apache-2.0
//
// checked() on a GPU: offsets in device memory are looked at before anything follows them. What is
// wrong here would end the context if it were read.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/checked.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"

namespace tilefold::test {
namespace {

const std::vector<float> items{1, 2, 4, 8, 16, 32};

class CudaChecked : public ::testing::Test {
 protected:
  template <class Call>
  std::string complaint_of(const Call& call) {
    try {
      call();
    } catch (const segment_error& e) {
      exec_.synchronize();  // nothing has happened to it
      return std::to_string(e.index()) + ": " + e.what();
    }
    exec_.synchronize();
    return "";
  }

  template <class Offset>
  std::string of_offsets(const std::vector<Offset>& offsets) {
    const gpu_array<Offset> device_offsets(offsets);
    const gpu_array<float> out(std::vector<float>(offsets.size() - 1, -5.0f));
    const std::string found = complaint_of([&] {
      segmented_reduce_into(checked(exec_, items.size()), array_.data(), device_offsets.data(),
                            offsets.size() - 1, out.data());
    });
    const auto got = out.to_host();
    for (const float x : got) EXPECT_EQ(x == -5.0f, found != "");
    return found;
  }

  cuda_executor exec_;
  gpu_array<float> array_{items};
};

TEST_F(CudaChecked, NamesTheFirstWrongSegment) {
  EXPECT_EQ(of_offsets<std::int32_t>({0, 3, 5, 6}), "");
  EXPECT_EQ(of_offsets<std::int32_t>({0, 3, 2, 1, 6}),
            "1: tilefold: segment 1, [3, 2), ends before it begins");
  EXPECT_EQ(of_offsets<std::int32_t>({-2000000000, 3, 2}),
            "0: tilefold: segment 0, [-2000000000, 3), begins before the first item");
  EXPECT_EQ(of_offsets<std::int32_t>({0, 6, 2000000000, 2000000001}),
            "1: tilefold: segment 1, [6, 2000000000), ends after the last of 6 items");
  EXPECT_EQ(of_offsets<std::uint64_t>({0, 1, ~std::uint64_t{0}}),
            "1: tilefold: segment 1, [1, 18446744073709551615), ends after the last of 6 items");
}

TEST_F(CudaChecked, FindsTheFirstOfManyFaults) {
  std::vector<std::int64_t> begins, ends;
  for (std::int64_t i = 0; i < 1000000; ++i) {
    begins.push_back(i % 6);
    ends.push_back(i % 6 + (i % 1000 == 999 && i > 850000 ? std::int64_t{1} << 50 : 1));
  }
  const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
  gpu_array<float> out(1000000);
  const auto call = [&] {
    segmented_reduce(checked(exec_, 6), array_.data(), device_begins.data(), device_ends.data(),
                     1000000, out.data());
  };
  EXPECT_EQ(complaint_of(call),
            "850999: tilefold: segment 850999, [1, 1125899906842625), ends after the last of 6 "
            "items");
}

TEST_F(CudaChecked, ChecksArrays) {
  gpu_array<const float*> pointers(
      std::vector<const float*>{array_.data(), nullptr, array_.data(), nullptr});
  const gpu_array<float> out(std::vector<float>(4, 7.0f));
  const auto of_lengths = [&](const std::vector<int>& lengths) {
    const gpu_array<int> device_lengths(lengths);
    return complaint_of([&] {
      batched_reduce(checked(exec_), pointers.data(), device_lengths.data(), 4, out.data());
    });
  };
  EXPECT_EQ(of_lengths({6, 0, -3, 1}), "2: tilefold: array 2 cannot have -3 items");
  EXPECT_EQ(of_lengths({6, 0, 2, 5}), "3: tilefold: array 3 is a null pointer, but has 5 items");
  EXPECT_EQ(out.to_host(), std::vector<float>(4, 7.0f));
  EXPECT_EQ(of_lengths({6, 0, 2, 0}), "");
  EXPECT_EQ(out.to_host(), (std::vector<float>{63, -0.0f, 3, -0.0f}));
}

TEST_F(CudaChecked, ChecksEqualLengthsWithoutLooking) {
  gpu_array<float> out(3);
  EXPECT_EQ(
      complaint_of([&] { segmented_reduce(checked(exec_, 5), array_.data(), 3, 2, out.data()); }),
      "2: tilefold: 3 segments of 2 items end after the last of 5 items");
}

TEST_F(CudaChecked, CannotWaitInsideACapture) {
  const gpu_array<int> offsets(std::vector<int>{0, 3, 6});
  gpu_array<float> out(2);
  exec_.reserve(cuda_executor::segments_workspace_bytes(2, sizeof(float)));
  exec_.synchronize();
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(
      segmented_reduce_into(checked(exec_, 6), array_.data(), offsets.data(), 2, out.data()),
      capture_error);
  // Nothing that would have to be looked at.
  segmented_reduce_into(checked(exec_, 6), array_.data(), 2, 3, out.data());
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphDestroy(graph));
  segmented_reduce(checked(with_policy<tile_policy{64, 4}>(exec_), 6), array_.data(),
                   offsets.data(), 2, out.data());
  EXPECT_EQ(out.to_host(), (std::vector<float>{7, 56}));
}

}  // namespace
}  // namespace tilefold::test
