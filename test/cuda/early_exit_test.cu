// SPDX-License-Identifier: Apache-2.0
//
// any_of, all_of and none_of on a GPU, which stop early: the answer wherever the element that
// decides it stands, no element read that is not the range's, and a workspace that is as it was.
#include <gtest/gtest.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <tilefold/count.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>

#include "support/device.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

constexpr float ordinary = 1;
constexpr float sought = 2;
constexpr float outside = 3;

// A reducer of the user's that settles: has any element been lost?
struct worst_of {
  using reducer_concept = reducer_tag;
  static constexpr bool order_free = true;
  static constexpr bool commutative = true;
  TILEFOLD_HD int lift(float x) const { return x == ordinary ? 0 : x == sought ? 2 : 1; }
  TILEFOLD_HD int combine(int a, int b) const { return a > b ? a : b; }
  TILEFOLD_HD int project(int worst) const { return worst; }
  TILEFOLD_HD bool settled(int worst) const { return worst == 2; }
};

/// Ordinary but for one. Only what reads an element is for the GPU.
struct one_sought_of {
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using reference = float;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  std::ptrdiff_t sought_at;
  std::ptrdiff_t at = 0;

  TILEFOLD_HD float operator[](std::ptrdiff_t i) const {
    return at + i == sought_at ? sought : ordinary;
  }
  TILEFOLD_HD float operator*() const { return (*this)[0]; }

  one_sought_of& operator+=(std::ptrdiff_t n) { return at += n, *this; }
  one_sought_of& operator-=(std::ptrdiff_t n) { return *this += -n; }
  one_sought_of& operator++() { return *this += 1; }
  one_sought_of& operator--() { return *this += -1; }
  one_sought_of operator++(int) { return {sought_at, at++}; }
  one_sought_of operator--(int) { return {sought_at, at--}; }
  friend one_sought_of operator+(one_sought_of a, std::ptrdiff_t n) { return a += n; }
  friend one_sought_of operator+(std::ptrdiff_t n, one_sought_of a) { return a += n; }
  friend one_sought_of operator-(one_sought_of a, std::ptrdiff_t n) { return a -= n; }
  friend std::ptrdiff_t operator-(const one_sought_of& a, const one_sought_of& b) {
    return a.at - b.at;
  }
  friend bool operator==(const one_sought_of& a, const one_sought_of& b) { return a.at == b.at; }
  friend auto operator<=>(const one_sought_of& a, const one_sought_of& b) { return a.at <=> b.at; }
};

namespace {

/// Is it what is sought? Counts its calls, and those with what lies outside of the range.
struct asked {
  unsigned long long* calls;

  __device__ bool operator()(float x) const {
    atomicAdd(calls, 1ull);
    if (x == outside) atomicAdd(calls + 1, 1ull);
    return x == sought;
  }
};

struct is_sought {
  TILEFOLD_HD bool operator()(float x) const { return x == sought; }
};
struct is_ordinary {
  TILEFOLD_HD bool operator()(float x) const { return x == ordinary; }
};

/// n ordinary elements, `shift` behind an aligned address, among others.
class guarded_range {
 public:
  guarded_range(std::int64_t n, std::int64_t shift) : n_(n), shift_(shift), all_(n + shift + 64) {
    std::vector<float> items(static_cast<std::size_t>(all_.size()), outside);
    for (std::int64_t i = 0; i < n; ++i) items[static_cast<std::size_t>(i + shift)] = ordinary;
    all_.assign(items.data(), all_.size());
  }
  const float* begin() const { return all_.data() + shift_; }
  const float* end() const { return begin() + n_; }
  void put(std::int64_t i, float x) { all_.assign(&x, 1, shift_ + i); }

 private:
  std::int64_t n_;
  std::int64_t shift_;
  gpu_array<float> all_;
};

// The ends of the tile that short ranges take, of one and of two tiles of others, and enough for
// every block to have several.
std::vector<std::int64_t> sizes() {
  return {1, 5, 16383, 16384, 16385, 16388, 24575, 24576, 24577, 40000, 1 << 20, 10'000'019};
}

std::vector<std::int64_t> places(std::int64_t n) {
  std::vector<std::int64_t> at{0, n - 1, n / 2, n / 100};
  for (const std::int64_t edge : {4, 512, 8192, 16384, 1 << 18}) {
    for (const std::int64_t i : {edge - 1, edge, n - edge}) {
      if (i >= 0 && i < n) at.push_back(i);
    }
  }
  return at;
}

TEST(CudaEarlyExit, FindsTheElementWhereverItStands) {
  cuda_executor exec;
  for (const std::int64_t n : sizes()) {
    for (const std::int64_t shift : {0, 1}) {
      guarded_range x(n, shift);
      for (const std::int64_t at : places(n)) {
        SCOPED_TRACE(::testing::Message() << "n = " << n << ", shift = " << shift << ", at " << at);
        x.put(at, sought);
        ASSERT_TRUE(any_of(exec, x.begin(), x.end(), is_sought{}));
        ASSERT_FALSE(none_of(exec, x.begin(), x.end(), is_sought{}));
        ASSERT_FALSE(all_of(exec, x.begin(), x.end(), is_ordinary{}));
        ASSERT_TRUE(reduce(exec, x.begin(), x.end(), reducers::any{is_sought{}}));
        x.put(at, ordinary);
        // With the same workspace: nothing is left of the early end.
        ASSERT_FALSE(any_of(exec, x.begin(), x.end(), is_sought{}));
        ASSERT_TRUE(none_of(exec, x.begin(), x.end(), is_sought{}));
        ASSERT_TRUE(all_of(exec, x.begin(), x.end(), is_ordinary{}));
      }
    }
  }
}

// One thread, one block or all of them find it at the same time, and tell the others.
TEST(CudaEarlyExit, FindsWhatStandsInManyPlaces) {
  cuda_executor exec;
  constexpr std::int64_t n = 10'000'019;
  const std::vector<float> all_ordinary(static_cast<std::size_t>(n), ordinary);
  gpu_array<float> x(all_ordinary);
  for (const std::int64_t step : {1, 100, 8192, 1'000'003}) {
    std::vector<float> items = all_ordinary;
    for (std::int64_t i = step / 2; i < n; i += step) items[static_cast<std::size_t>(i)] = sought;
    x.assign(items.data(), n);
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(any_of(exec, x.begin(), x.end(), is_sought{})) << "step " << step;
      ASSERT_FALSE(all_of(exec, x.begin(), x.end(), is_ordinary{})) << "step " << step;
    }
    x.assign(all_ordinary.data(), n);
    ASSERT_TRUE(none_of(exec, x.begin(), x.end(), is_sought{})) << "step " << step;
  }
}

TEST(CudaEarlyExit, ReadsEveryElementOnceAndNoOther) {
  cuda_executor exec;
  gpu_array<unsigned long long> calls(2);
  for (const std::int64_t n : sizes()) {
    for (const std::int64_t shift : {0, 1}) {
      const guarded_range x(n, shift);
      must(cudaMemset(calls.data(), 0, 16));
      ASSERT_FALSE(any_of(exec, x.begin(), x.end(), asked{calls.data()}));
      const auto counted = calls.to_host();
      ASSERT_EQ(counted[0], static_cast<unsigned long long>(n)) << "shift = " << shift;
      ASSERT_EQ(counted[1], 0u) << "n = " << n << ", shift = " << shift;
    }
  }
}

TEST(CudaEarlyExit, LeavesMostElementsUnread) {
  cuda_executor exec;
  gpu_array<unsigned long long> calls(2);
  constexpr std::int64_t n = std::int64_t{1} << 28;
  gpu_array<float> x(n);
  must(cudaMemset(x.data(), 0, n * sizeof(float)));
  x.assign(&sought, 1, n / 100);
  must(cudaMemset(calls.data(), 0, 16));
  ASSERT_TRUE(any_of(exec, x.begin(), x.end(), asked{calls.data()}));
  EXPECT_LT(calls.to_host()[0], static_cast<unsigned long long>(n) / 4);
}

TEST(CudaEarlyExit, GraphsSeeWhatChanges) {
  constexpr std::int64_t n = 3'000'000;
  scoped_stream stream;
  cuda_executor exec(stream);
  guarded_range x(n, 1);
  const gpu_array<int> out(2);
  const auto work = [&] {
    any_of_into(exec, x.begin(), x.end(), out.data(), is_sought{});
    all_of_into(exec, x.begin(), x.end(), out.data() + 1, is_ordinary{});
  };
  work();
  exec.synchronize();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  work();
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&launchable, graph, 0));
  shape_stream random(seed());
  for (int round = 0; round < 50; ++round) {
    const bool hit = random() % 2 == 0;
    const auto at = static_cast<std::int64_t>(random() % n);
    if (hit) x.put(at, sought);
    must(cudaGraphLaunch(launchable, stream));
    exec.synchronize();
    ASSERT_EQ(out.to_host(), (std::vector<int>{hit, !hit})) << "round " << round << ", at " << at;
    if (hit) x.put(at, ordinary);
  }
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

TEST(CudaEarlyExit, ChosenPoliciesAndSharedWorkspace) {
  cuda_executor exec;
  auto narrow = with_policy<tile_policy{64, 2}>(exec);
  shape_stream random(seed());
  guarded_range x(300'000, 1);
  for (int round = 0; round < 20; ++round) {
    const auto at = static_cast<std::int64_t>(random() % 300'000);
    x.put(at, sought);
    ASSERT_TRUE(any_of(narrow, x.begin(), x.end(), is_sought{})) << at;
    // Folds of other kinds use the same counters.
    ASSERT_EQ(count_if(exec, x.begin(), x.end(), is_sought{}), 1);
    x.put(at, ordinary);
    ASSERT_FALSE(any_of(narrow, x.begin(), x.end(), is_sought{})) << at;
    ASSERT_EQ(reduce(exec, x.begin(), x.end()), 300'000.0f);
  }
}

TEST(CudaEarlyExit, SanitizeStopsAndGoesOn) {
  cuda_executor exec;
  guarded_range x(100'003, 1);
  EXPECT_FALSE(any_of(exec, x.begin(), x.end(), is_sought{}));
  x.put(40'000, sought);
  EXPECT_TRUE(any_of(exec, x.begin(), x.end(), is_sought{}));
  EXPECT_EQ(count_if(exec, x.begin(), x.end(), is_sought{}), 1);
}

TEST(CudaEarlyExit, ReducersOfTheUsersOwn) {
  cuda_executor exec;
  guarded_range x(5'000'000, 1);
  EXPECT_EQ(reduce(exec, x.begin(), x.end(), worst_of{}), 0);
  x.put(4'999'999, outside);
  EXPECT_EQ(reduce(exec, x.begin(), x.end(), worst_of{}), 1);
  x.put(17, sought);
  EXPECT_EQ(reduce(exec, x.begin(), x.end(), worst_of{}), 2);
}

// Of the iterators of a range a kernel needs operator[] alone.
TEST(CudaEarlyExit, IteratorsThatOnlyTheHostAdvances) {
  cuda_executor exec;
  const std::ptrdiff_t n = 5'000'000;
  for (const std::ptrdiff_t at : {std::ptrdiff_t{0}, n - 1, n}) {
    const one_sought_of first{at};
    EXPECT_EQ(any_of(exec, first, first + n, is_sought{}), at < n) << at;
    EXPECT_EQ(count_if(exec, first, first + n, is_sought{}), at < n ? 1 : 0) << at;
  }
}

}  // namespace
}  // namespace tilefold::test
