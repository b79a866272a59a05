// SPDX-License-Identifier: Apache-2.0
//
// Forests of more segments than 31 bits count, and short segments behind one of more items than
// that.
#include <cstdint>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/large_range.cuh"

namespace tilefold::test {
namespace {

// Not commutative, and so short that 10^10 of it take no time.
struct shift_and_add {
  TILEFOLD_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return (a << 7 | a >> 57) + b;
  }
};

// Begin of segment i among segments of 1 and 2 items by turns.
struct one_and_two {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const { return i + i / 2; }
};

/// Looks at what is written in place of storing it, so that 2^31 results need no memory: counts
/// wrong ones, and adds up the squares of the indices of all.
template <class Expected>
class judging_output {
 public:
  static constexpr int counters = 4096;
  struct counts {
    unsigned long long wrong;
    unsigned long long squares;
  };
  using difference_type = std::int64_t;
  using value_type = void;

  explicit judging_output(counts* memory) : memory_(memory) {}

  TILEFOLD_HD judging_output operator+(std::int64_t n) const {
    judging_output other(*this);
    other.index_ += n;
    return other;
  }
  TILEFOLD_HD const judging_output& operator*() const { return *this; }
  __host__ __device__ const judging_output& operator=(std::uint64_t value) const {
#if defined(__CUDA_ARCH__)
    counts& mine = memory_[index_ % counters];
    if (value != Expected{}(index_)) atomicAdd(&mine.wrong, 1ull);
    atomicAdd(&mine.squares, static_cast<unsigned long long>(index_ * index_));
#else
    (void)value;
#endif
    return *this;
  }
  judging_output(const judging_output&) = default;

 private:
  counts* memory_;
  std::int64_t index_ = 0;
};

// Folds `segments` segments through judge: fold(executor, output).
template <class Expected, class Fold>
void judge(std::int64_t segments, const Fold& fold) {
  using output = judging_output<Expected>;
  const gpu_array<typename output::counts> memory(output::counters);
  must(cudaMemset(memory.data(), 0, output::counters * sizeof(typename output::counts)));
  cuda_executor exec;
  fold(exec, output(memory.data()));
  exec.synchronize();
  unsigned long long wrong = 0;
  unsigned long long squares = 0;
  for (const auto& counts : memory.to_host()) {
    wrong += counts.wrong;
    squares += counts.squares;
  }
  EXPECT_EQ(wrong, 0u);
  __extension__ using wide = unsigned __int128;
  const auto n = static_cast<wide>(segments);
  EXPECT_EQ(squares, static_cast<unsigned long long>((n - 1) * n * (2 * n - 1) / 6))
      << "some were written twice, or not at all";
}

struct item_of {
  TILEFOLD_HD std::uint64_t operator()(std::int64_t i) const {
    return static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
  }
};

const auto some_items =
    thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), item_of{});

struct value_of_one_or_two {
  TILEFOLD_HD std::uint64_t operator()(std::int64_t i) const {
    const std::int64_t begin = one_and_two{}(i);
    return i % 2 == 0 ? item_of{}(begin) : shift_and_add{}(item_of{}(begin), item_of{}(begin + 1));
  }
};

TEST(CudaForestLarge, MoreThanTwoToThe31Segments) {
  const std::int64_t segments = (one << 31) + 12345;
  const auto offsets = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), one_and_two{});
  judge<value_of_one_or_two>(segments, [&](cuda_executor& exec, auto out) {
    segmented_reduce_into(exec, some_items, offsets, segments, out, std::uint64_t{0},
                          shift_and_add{});
  });
}

// The same segments as arrays, which nothing says to be neighbours.
struct array_of_one_or_two {
  TILEFOLD_HD auto operator()(std::int64_t i) const {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(one_and_two{}(i)),
                                           item_of{});
  }
};
struct length_of_one_or_two {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const { return 1 + i % 2; }
};

TEST(CudaForestLarge, MoreThanTwoToThe31Arrays) {
  const std::int64_t arrays = (one << 31) + 12345;
  const auto indices = thrust::make_counting_iterator(std::int64_t{0});
  const auto pointers = thrust::make_transform_iterator(indices, array_of_one_or_two{});
  const auto lengths = thrust::make_transform_iterator(indices, length_of_one_or_two{});
  judge<value_of_one_or_two>(arrays, [&](cuda_executor& exec, auto out) {
    batched_reduce_into(exec, pointers, lengths, arrays, out, std::uint64_t{0}, shift_and_add{});
  });
}

struct value_of_two {
  TILEFOLD_HD std::uint64_t operator()(std::int64_t i) const {
    return shift_and_add{}(item_of{}(2 * i), item_of{}(2 * i + 1));
  }
};

// 2^32 items as well.
TEST(CudaForestLarge, MoreThanTwoToThe31EqualSegments) {
  const std::int64_t segments = (one << 31) + 12345;
  judge<value_of_two>(segments, [&](cuda_executor& exec, auto out) {
    segmented_reduce_into(exec, some_items, segments, 2, out, std::uint64_t{0}, shift_and_add{});
  });
}

// What stands behind a segment is not where 32 bits would say.
TEST(CudaForestLarge, ShortSegmentsBehindOneOfMoreThanTwoToThe31Items) {
  std::vector<std::int64_t> offsets{0, 3, 3 + (one << 31) + 1000};
  for (const std::int64_t length : {5, 0, 700, 1, 16, 17, 64, 2000, 33}) {
    offsets.push_back(offsets.back() + length);
  }
  const gpu_array<std::int64_t> device_offsets(offsets);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  gpu_array<std::uint64_t> out(segments);
  cuda_executor exec;
  segmented_reduce(exec, some_items, device_offsets.data(), segments, out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    // item_of(b) + ... + item_of(e - 1), whose indices add up to a triangle's difference.
    __extension__ using wide = unsigned __int128;
    const auto triangle = [](std::int64_t n) {
      return static_cast<wide>(n) * static_cast<wide>(n > 0 ? n - 1 : 0) / 2;
    };
    const wide indices = triangle(offsets[i + 1]) - triangle(offsets[i]);
    EXPECT_EQ(got[i], static_cast<std::uint64_t>(indices) * 0x9e3779b97f4a7c15u)
        << "segment " << i << " of " << offsets[i + 1] - offsets[i] << " items";
  }
}

}  // namespace
}  // namespace tilefold::test
