// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers in warp_fold and block_fold, alone and fused, on data on which sums go wrong, of
// every family of items, against accumulators on the host; sums of squares and norms, against the
// host.
#include <thrust/complex.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "exact_types.hpp"
#include "fp8_items.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;

/// What an exact sum and a mean are of some of the items.
template <class T>
struct sum_and_mean {
  test::exact_result_of<T> sum;
  detail::exact_real<T> mean;
};

template <class T>
sum_and_mean<T> expected_of(const std::vector<T>& items, std::size_t begin, std::size_t count) {
  exact_accumulator<T> sum;
  for (std::size_t i = begin; i < begin + count; ++i) sum.add(items[i]);
  return {sum.template value<test::exact_result_of<T>>(),
          sum.mean(static_cast<std::int64_t>(count))};
}

using complex = thrust::complex<float>;

sum_and_mean<complex> expected_of(const std::vector<complex>& items, std::size_t begin,
                                  std::size_t count) {
  std::vector<float> re, im;
  for (const complex& z : items) {
    re.push_back(z.real());
    im.push_back(z.imag());
  }
  const auto of_re = expected_of(re, begin, count);
  const auto of_im = expected_of(im, begin, count);
  return {{of_re.sum, of_im.sum}, {of_re.mean, of_im.mean}};
}

template <class T>
std::vector<T> items_of_kind(int kind, std::size_t n, std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
    return test::fp8_items<T>(n, kind % 2 == 0 ? 0 : 100, random);
  } else if constexpr (std::is_same_v<T, complex>) {
    const auto re = test::any_items<float>(kind, n, random);
    const auto im = test::any_items<float>(kind, n, random);
    std::vector<T> items;
    for (std::size_t i = 0; i < n; ++i) items.emplace_back(re[i], im[i]);
    return items;
  } else {
    return test::any_items<T>(kind, n, random);
  }
}

/// Block b folds `counts[b]` of its items; all of them without a count.
template <int Nt, class T>
__global__ void __launch_bounds__(Nt)
    fold_blocks(const T* items, const int* counts, sum_and_mean<T>* out) {
  using both = decltype(r::fuse(test::exact_sum_of<T>{}, r::exact_mean{}));
  __shared__ block_storage<Nt, accumulated_t<T, both>> storage;
  const T mine = items[static_cast<int>(blockIdx.x) * Nt + static_cast<int>(threadIdx.x)];
  const int count = counts[blockIdx.x];
  const auto result =
      count == Nt ? block_fold(storage, mine, both{}) : block_fold(storage, mine, count, both{});
  if (threadIdx.x == 0) {
    out[blockIdx.x] = {result.template get<0>(), result.template get<1>()};
  }
}

/// Warp w folds `counts[w]` of its items, two a lane.
template <class T>
__global__ void fold_warps(const T* items, const int* counts, sum_and_mean<T>* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const T mine[2] = {items[64 * warp + 2 * lane], items[64 * warp + 2 * lane + 1]};
  const int count = counts[warp];
  const test::exact_sum_of<T> exact;
  const auto sum = count == 64 ? warp_fold(mine, exact) : warp_fold(mine, count, exact);
  const auto mean = warp_fold(mine, count, r::exact_mean{});
  // Each lane has it: another one for every warp.
  if (lane == warp % 32) out[warp] = {sum, mean};
}

template <class T>
class CudaExactInKernels : public testing::Test {};
using item_types =
    testing::Types<float, double, half, bfloat16, __nv_fp8_e4m3, std::int32_t, complex>;
TYPED_TEST_SUITE(CudaExactInKernels, item_types);

template <class T, class Launch>
void expect_folds(int nt, int folds, std::mt19937_64& random, const Launch& launch) {
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    const auto items = items_of_kind<T>(kind, static_cast<std::size_t>(nt * folds), random);
    std::vector<int> counts;
    for (int f = 0; f < folds; ++f) {
      counts.push_back(f % 3 == 0 ? nt
                                  : 1 + static_cast<int>(random() % static_cast<unsigned>(nt)));
    }
    const test::gpu_array<T> x(items);
    const test::gpu_array<int> c(counts);
    const test::gpu_array<sum_and_mean<T>> out(folds);
    launch(x.data(), c.data(), out.data());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const auto got = out.to_host();
    for (std::size_t f = 0; f < got.size(); ++f) {
      const auto expected =
          expected_of(items, f * static_cast<std::size_t>(nt), static_cast<std::size_t>(counts[f]));
      ASSERT_EQ(bytes_of(got[f].sum), bytes_of(expected.sum))
          << "kind " << kind << ", fold " << f << " of " << counts[f];
      ASSERT_EQ(bytes_of(got[f].mean), bytes_of(expected.mean))
          << "kind " << kind << ", fold " << f << " of " << counts[f];
    }
  }
}

TYPED_TEST(CudaExactInKernels, OfBlocks) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  expect_folds<T>(96, 40, random, [](const T* items, const int* counts, sum_and_mean<T>* out) {
    fold_blocks<96><<<40, 96>>>(items, counts, out);
  });
}

TYPED_TEST(CudaExactInKernels, OfWarps) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  expect_folds<T>(64, 40, random, [](const T* items, const int* counts, sum_and_mean<T>* out) {
    fold_warps<<<10, 128>>>(items, counts, out);
  });
}

// Small, for tools that watch each access.
TEST(CudaExactInKernelsOfDoubles, SanitizeFolds) {
  std::mt19937_64 random(test::seed());
  expect_folds<double>(96, 3, random,
                       [](const double* items, const int* counts, sum_and_mean<double>* out) {
                         fold_blocks<96><<<3, 96>>>(items, counts, out);
                       });
}

// ---- sums of squares and norms

constexpr int block_items = 96;
constexpr int product_folds = 40;

template <class T>
struct products {
  T squares;
  T norm;
};

/// Block b folds its 96 items; warp 0 of it the first 32 of them.
template <class T>
__global__ void fold_products(const T* items, products<T>* of_blocks, products<T>* of_warps) {
  using squares = r::exact_sum_of_squares<>;
  using norm = r::exact_l2<>;
  __shared__ block_storage<block_items, accumulated_t<T, squares>> for_squares;
  __shared__ block_storage<block_items, accumulated_t<T, norm>> for_norm;
  const T mine = items[static_cast<int>(blockIdx.x) * block_items + static_cast<int>(threadIdx.x)];
  const T sum = block_fold(for_squares, mine, squares{});
  const T root = block_fold(for_norm, mine, norm{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = {sum, root};
  if (threadIdx.x >= 32) return;
  const T of_warp = warp_fold(mine, squares{});
  const T root_of_warp = warp_fold(mine, norm{});
  if (threadIdx.x == 7) of_warps[blockIdx.x] = {of_warp, root_of_warp};
}

template <class T>
class CudaExactProductsInKernels : public testing::Test {};
using factor_types = testing::Types<half, bfloat16, float, double>;
TYPED_TEST_SUITE(CudaExactProductsInKernels, factor_types);

template <class T>
void expect_products(const products<T>& got, const T* first, int count) {
  const host_executor host(1);
  EXPECT_EQ(bytes_of(got.squares),
            bytes_of(reduce(host, first, first + count, r::exact_sum_of_squares{})));
  EXPECT_EQ(bytes_of(got.norm), bytes_of(reduce(host, first, first + count, r::exact_l2{})));
}

TYPED_TEST(CudaExactProductsInKernels, OfBlocksAndWarps) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    const auto items =
        test::any_items<T>(kind, static_cast<std::size_t>(block_items * product_folds), random);
    const test::gpu_array<T> x(items);
    const test::gpu_array<products<T>> blocks(product_folds), warps(product_folds);
    fold_products<<<product_folds, block_items>>>(x.data(), blocks.data(), warps.data());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const auto of_blocks = blocks.to_host();
    const auto of_warps = warps.to_host();
    for (int f = 0; f < product_folds; ++f) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", fold " << f);
      const T* const first = items.data() + block_items * f;
      expect_products(of_blocks[static_cast<std::size_t>(f)], first, block_items);
      expect_products(of_warps[static_cast<std::size_t>(f)], first, 32);
    }
  }
}

}  // namespace
}  // namespace tilefold
