// SPDX-License-Identifier: Apache-2.0
//
// The rungs of benchmark/ladder: integers and a user's points exactly as a loop on the host folds
// them, for every operator; sums of floats within the bound that the depth of each rung's additions
// gives; block sizes and n around every edge; and what a rung cannot do is refused.
#include "../../benchmark/ladder/ladder.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

using ladder::index;
using ladder::setting;

// ---- the rungs as one kind of thing

/// Passes until one value is left, each block folding up to `per_block`.
index passes(index n, index per_block) {
  index count = 0;
  for (index left = n; left > 1; left = (left + per_block - 1) / per_block) ++count;
  return count;
}

index log2_ceiling(index x) { return passes(x, 2); }

/// Additions between an item and the result: a tree over a block's `per_block` items, pass upon
/// pass. What is filled up with the identity adds nothing.
index tree_depth(index n, index per_block) {
  return passes(n, per_block) * log2_ceiling(per_block);
}

/// The same for a grid of at most 1024 blocks whose threads first add up what they meet, one of
/// `per_block` items each round, in one pass and then another one.
index strided_depth(index n, index per_block) {
  const index blocks = std::min<index>((n + per_block - 1) / per_block, 1024);
  const auto pass = [per_block](index count, index grid) {
    return (count + grid * per_block - 1) / (grid * per_block) + 1 + log2_ceiling(per_block);
  };
  return pass(n, blocks) + pass(blocks, 1);
}

bool is_any_size(index n, int) { return n >= 1; }

template <class T, class Op>
struct rung {
  std::string name;
  std::function<void(T*, index, T*, Op, const setting&, int)> fold;
  std::vector<int> threads;
  std::function<index(index n, int threads)> depth;
  std::function<bool(index n, int threads)> takes = is_any_size;
};

const std::vector<int> from_1{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
const std::vector<int> from_2{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
const std::vector<int> from_64{64, 128, 256, 512, 1024};
const std::vector<int> whole_warps{32, 64, 96, 256, 992, 1024};

/// The rungs for any operator, with the block sizes that they take.
template <class T, class Op>
std::vector<rung<T, Op>> generic_rungs() {
  const auto one = [](index n, int threads) { return tree_depth(n, threads); };
  const auto two = [](index n, int threads) { return tree_depth(n, 2 * threads); };
  const auto strided = [](index n, int threads) { return strided_depth(n, threads); };
  return {
      {"interleaved", [](auto... call) { ladder::interleaved(call...); }, from_2, one},
      {"sequential", [](auto... call) { ladder::sequential(call...); }, from_2, one},
      {"first_add", [](auto... call) { ladder::first_add(call...); }, from_1, two},
      {"last_warp", [](auto... call) { ladder::last_warp(call...); }, from_64, two},
      {"unrolled", [](auto... call) { ladder::unrolled(call...); }, from_1, two},
      {"grid_stride", [](auto... call) { ladder::grid_stride(call...); }, from_64,
       [](index n, int threads) { return strided_depth(n, 2 * threads); }},
      {"two_pass", [](auto... call) { ladder::two_pass(call...); }, from_64, strided},
      {"in_place", [](auto... call) { ladder::in_place(call...); }, from_1, two,
       [](index n, int threads) { return n == 2 * threads; }},
      {"teaching_naive", [](auto... call) { ladder::teaching_naive(call...); }, from_1, two,
       [](index n, int threads) { return n % (2 * threads) == 0; }},
      {"teaching_improved", [](auto... call) { ladder::teaching_improved(call...); }, from_1, two},
      // Each pass may take the steps of 32 warps though it has fewer.
      {"warp_shuffle", [](auto... call) { ladder::warp_shuffle(call...); }, whole_warps,
       [](index n, int threads) { return strided_depth(n, threads) + 20; }},
      {"strided_tile",
       [](const T* items, index n, T* out, Op op, const setting& s, int) {
         ladder::strided_tile(items, n, out, op, s);
       },
       {128},
       // 7 additions in a thread, 10 in two warps' trees; then 3 and 10 a pass.
       [](index n, int) { return 17 + 13 * passes((n + 1023) / 1024, 2048); }},
  };
}

/// Those that end in an atomic addition, one after the other in the worst of orders.
template <class T>
std::vector<rung<T, ladder::sum<T>>> sum_rungs() {
  auto rungs = generic_rungs<T, ladder::sum<T>>();
  rungs.push_back({"interleaved_modulo", [](auto... call) { ladder::interleaved_modulo(call...); },
                   from_1,
                   [](index n, int threads) { return n / threads + 2 + log2_ceiling(threads); }});
  rungs.push_back({"atomic_per_block", [](auto... call) { ladder::atomic_per_block(call...); },
                   whole_warps,
                   [](index n, int threads) { return 1024 + strided_depth(n, threads) + 10; }});
  return rungs;
}

// ---- n around the edges

constexpr index most_items = 3'000'000;

/// Around a block, two blocks, a pass of full blocks, a grid of 1024 blocks, and well beyond.
std::vector<index> sizes_around(int threads) {
  std::vector<index> sizes{1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 1000, 100'003};
  const index block = threads;
  for (const index edge : {block, 2 * block, 3 * block, 8 * block, block * block, 2 * block * block,
                           4 * block * block, 1024 * block, 2048 * block}) {
    for (const index n : {edge - 1, edge, edge + 1, edge + block}) sizes.push_back(n);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [](index n) { return n < 1 || n > most_items; });
  return sizes;
}

/// The sizes that are enough to tell one operator from another.
std::vector<index> few_sizes_around(int threads) {
  const index block = threads;
  return {1, 2, block, 2 * block, 2 * block + 1, 5 * block - 1, 1024 * block + 2, 2048 * block};
}

// ---- running one

/// Items, scratch and out on the GPU, with guards around all that a rung may write.
template <class T>
class arena {
 public:
  explicit arena(const std::vector<T>& items)
      : items_(items), input_(items), scratch_(count() + 64 + guard), out_(1 + guard) {}

  /// What the rung leaves in *out; fails if it writes elsewhere, or changes items it must not.
  template <class Op>
  T run(const rung<T, Op>& which, index n, Op op, int threads) {
    must(cudaMemsetAsync(scratch_.data(), 0xa5, bytes(scratch_.size()), stream_));
    must(cudaMemsetAsync(out_.data(), 0xa5, bytes(out_.size()), stream_));
    const setting s{scratch_.data(), bytes(n + 64), stream_};
    which.fold(input_.data(), n, out_.data(), op, s, threads);
    T result;
    must(cudaMemcpyAsync(&result, out_.data(), sizeof result, cudaMemcpyDefault, stream_));
    must(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(is_untouched(scratch_, n + 64)) << "behind the scratch";
    EXPECT_TRUE(is_untouched(out_, 1)) << "behind the result";
    if (which.name == "in_place") input_.assign(items_.data(), n);
    return result;
  }

  bool input_is_as_before() const {
    const std::vector<T> now = input_.to_host();
    return std::memcmp(now.data(), items_.data(), bytes(count())) == 0;
  }

 private:
  static constexpr index guard = 64;
  static std::size_t bytes(index n) { return static_cast<std::size_t>(n) * sizeof(T); }
  index count() const { return static_cast<index>(items_.size()); }

  bool is_untouched(const gpu_array<T>& memory, index from) const {
    unsigned char there[guard * sizeof(T)];
    must(cudaMemcpy(there, memory.data() + from, sizeof there, cudaMemcpyDefault));
    return std::all_of(there, there + sizeof there, [](unsigned char c) { return c == 0xa5; });
  }

  std::vector<T> items_;
  gpu_array<T> input_, scratch_, out_;
  scoped_stream stream_;
};

// ---- exactly

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// For each n the fold of the first n items, from left to right.
template <class T, class Op>
std::vector<T> prefixes(const std::vector<T>& items, Op op) {
  std::vector<T> folds{op.identity()};
  for (const T& item : items) folds.push_back(op(folds.back(), item));
  return folds;
}

template <class T, class Op, class Rungs, class Sizes>
void expect_exact(const Rungs& rungs, const std::vector<T>& items, Op op, Sizes sizes_for) {
  const std::vector<T> expected = prefixes(items, op);
  arena<T> gpu(items);
  for (const auto& which : rungs) {
    SCOPED_TRACE(which.name);
    for (const int threads : which.threads) {
      for (const index n : sizes_for(threads)) {
        if (n > static_cast<index>(items.size()) || !which.takes(n, threads)) continue;
        const T got = gpu.run(which, n, op, threads);
        ASSERT_TRUE(same_bits(got, expected[static_cast<std::size_t>(n)]))
            << n << " items, " << threads << " threads";
      }
    }
  }
  EXPECT_TRUE(gpu.input_is_as_before());
}

template <class T, class Op>
void expect_exact(const std::vector<T>& items, Op op) {
  expect_exact(generic_rungs<T, Op>(), items, op, few_sizes_around);
}

template <class T>
std::vector<T> integers() {
  return make_items<T>(pattern::mixed, most_items, seed());
}

TEST(ladder, unsigned_sums_of_every_size) {
  expect_exact(sum_rungs<std::uint32_t>(), integers<std::uint32_t>(), ladder::sum<std::uint32_t>{},
               sizes_around);
}

TEST(ladder, sums_of_64_bits) {
  expect_exact(sum_rungs<std::uint64_t>(), integers<std::uint64_t>(), ladder::sum<std::uint64_t>{},
               few_sizes_around);
}

TEST(ladder, minimum_and_maximum) {
  const auto items = integers<std::int32_t>();
  expect_exact(items, ladder::minimum<std::int32_t>{});
  expect_exact(items, ladder::maximum<std::int32_t>{});
}

// Both extremes far from the identity that a missing item is filled up with.
TEST(ladder, minimum_and_maximum_of_floats) {
  const auto items = make_items<float>(pattern::mixed, most_items, seed());
  expect_exact(items, ladder::minimum<float>{});
  expect_exact(items, ladder::maximum<float>{});
}

TEST(ladder, products) {
  std::vector<std::uint32_t> odd = integers<std::uint32_t>();  // an even one would soon make 0
  for (std::uint32_t& item : odd) item |= 1;
  expect_exact(odd, ladder::product<std::uint32_t>{});
}

// Nearly all bits set, or none, so that a single item decides each bit of the result.
TEST(ladder, bitwise_operators) {
  auto few = integers<std::uint32_t>();
  for (std::uint32_t& item : few) item = item % 1'000'003 == 0 ? item : 0;
  auto many = few;
  for (std::uint32_t& item : many) item = ~item;
  expect_exact(many, ladder::bit_and<std::uint32_t>{});
  expect_exact(few, ladder::bit_or<std::uint32_t>{});
  expect_exact(integers<std::uint32_t>(), ladder::bit_xor<std::uint32_t>{});
}

// Whole coordinates, so that distances are exact with and without fused operations.
TEST(ladder, the_farthest_of_points) {
  bit_stream random(seed());
  const auto coordinate = [&random] { return static_cast<float>(random.below(2001) - 1000); };
  std::vector<ladder::point> points(static_cast<std::size_t>(most_items));
  for (ladder::point& p : points) p = {coordinate(), coordinate(), coordinate()};
  expect_exact(points, ladder::farthest_point{{3, -7, 11}});
}

// Few and small runs, for compute-sanitizer: each rung's smallest and largest blocks.
TEST(SanitizeLadder, EveryRung) {
  auto rungs = sum_rungs<std::uint32_t>();
  for (auto& which : rungs) which.threads = {which.threads.front(), which.threads.back()};
  expect_exact(
      rungs, make_items<std::uint32_t>(pattern::mixed, 5000, seed()), ladder::sum<std::uint32_t>{},
      [](int threads) { return std::vector<index>{1, 2 * threads, 2 * threads + 1, 4999}; });
}

// ---- floats

/// Of a sum of n numbers in which none goes through more than `depth` additions, the error is at
/// most depth * u / (1 - depth * u) times the sum of their magnitudes, u half of epsilon. Both sums
/// in `exact` are long double's, whose own error is added: n additions in a row.
template <class T>
long double allowed_error(index depth, index n, long double magnitudes) {
  const auto gamma = [](index additions, long double epsilon) {
    const long double x = static_cast<long double>(additions) * epsilon / 2;
    return x / (1 - x);
  };
  return (gamma(depth, std::numeric_limits<T>::epsilon()) +
          gamma(2 * n, std::numeric_limits<long double>::epsilon())) *
         magnitudes;
}

template <class T>
void expect_sums_within_bounds() {
  const std::vector<T> items = make_items<T>(pattern::mixed, most_items, seed());
  std::vector<long double> sums{0}, magnitudes{0};
  for (const T item : items) {
    sums.push_back(sums.back() + item);
    magnitudes.push_back(magnitudes.back() + std::abs(static_cast<long double>(item)));
  }
  arena<T> gpu(items);
  for (const auto& which : sum_rungs<T>()) {
    SCOPED_TRACE(which.name);
    for (const int threads : which.threads) {
      for (const index n : few_sizes_around(threads)) {
        if (n > most_items || !which.takes(n, threads)) continue;
        const auto at = static_cast<std::size_t>(n);
        const T got = gpu.run(which, n, ladder::sum<T>{}, threads);
        ASSERT_LE(std::abs(got - sums[at]),
                  allowed_error<T>(which.depth(n, threads), n, magnitudes[at]))
            << n << " items, " << threads << " threads";
      }
    }
  }
}

TEST(ladder, float_sums_within_their_bounds) { expect_sums_within_bounds<float>(); }
TEST(ladder, double_sums_within_their_bounds) { expect_sums_within_bounds<double>(); }

// ---- what is refused

/// The complaint, or nothing if the rung did what it was asked.
template <class T, class Op>
std::string complaint(const rung<T, Op>& which, index n, int threads, std::size_t scratch_bytes) {
  const gpu_array<T> memory(8192);
  try {
    which.fold(memory.data(), n, memory.data() + 4096, Op{},
               setting{memory.data() + 4200, scratch_bytes, nullptr}, threads);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return {};
}

void expect_refused(const std::string& got, const std::string& value) {
  EXPECT_NE(got.find("ladder: "), std::string::npos) << "not refused: " << value;
  EXPECT_NE(got.find(value), std::string::npos) << got;
}

TEST(ladder, no_items_are_refused) {
  for (const auto& which : sum_rungs<float>()) {
    SCOPED_TRACE(which.name);
    for (const index n : {index{0}, index{-1}}) {
      expect_refused(complaint(which, n, 128, 64), std::to_string(n));
    }
  }
}

TEST(ladder, block_sizes_out_of_bounds_are_refused) {
  for (const auto& which : sum_rungs<float>()) {
    if (which.name == "strided_tile") continue;  // it has its own
    SCOPED_TRACE(which.name);
    for (const int threads : {-1, 0, 100, 1056, 2048, which.threads.front() / 2}) {
      const index n = which.name == "in_place" ? 2 * index{threads} : 4096;
      expect_refused(complaint(which, n, threads, 4096), "not " + std::to_string(threads));
    }
  }
}

TEST(ladder, sizes_that_a_rung_cannot_take_are_refused) {
  for (const auto& which : sum_rungs<float>()) {
    SCOPED_TRACE(which.name);
    if (which.name == "in_place") {
      for (const index n : {511, 513, 256, 1024}) {
        expect_refused(complaint(which, n, 256, 64), std::to_string(n));
      }
    } else if (which.name == "teaching_naive") {
      for (const index n : {1, 511, 513, 768}) {
        expect_refused(complaint(which, n, 256, 64), std::to_string(n) + " items");
      }
    }
  }
}

TEST(ladder, too_little_scratch_is_refused) {
  for (const auto& which : sum_rungs<float>()) {
    // Some have none to leave there: one block, or an atomic in its place.
    if (which.name == "in_place" || which.name == "interleaved_modulo" ||
        which.name == "atomic_per_block") {
      continue;
    }
    SCOPED_TRACE(which.name);
    expect_refused(complaint(which, 4096, 64, 3), "not 3");
  }
}

TEST(ladder, more_blocks_than_a_launch_can_have_are_refused) {
  const auto rungs = sum_rungs<float>();
  const auto which = std::find_if(rungs.begin(), rungs.end(),
                                  [](const auto& r) { return r.name == "interleaved_modulo"; });
  expect_refused(complaint(*which, index{1} << 40, 256, 64), std::to_string(index{1} << 40));
}

struct wide {
  double values[8];
};
struct first_of_wide {
  __host__ __device__ wide operator()(const wide& a, const wide&) const { return a; }
  __host__ __device__ wide identity() const { return {}; }
};

TEST(ladder, more_shared_memory_than_a_block_has_is_refused) {
  const gpu_array<wide> memory(4096);
  const setting s{memory.data() + 2048, 2048 * sizeof(wide), nullptr};
  EXPECT_THROW(
      ladder::sequential(memory.data(), 2000, memory.data() + 2000, first_of_wide{}, s, 1024),
      std::invalid_argument);
}

}  // namespace
}  // namespace tilefold::test
