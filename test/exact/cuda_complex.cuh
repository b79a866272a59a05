// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of complex numbers on a GPU: sums and means against accumulators of their parts,
// products against the host, which others compare with MPFR. Each takes nvcc its time for doubles,
// so they are called from several tests.
#pragma once

#include <thrust/complex.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "many_items.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

template <class T>
using complex = thrust::complex<T>;

template <class T>
std::vector<complex<T>> complex_items(int kind, std::size_t n, std::mt19937_64& random) {
  const auto re = any_items<T>(kind, n, random);
  const auto im = any_items<T>(kind, n, random);
  std::vector<complex<T>> items;
  for (std::size_t i = 0; i < n; ++i) items.emplace_back(re[i], im[i]);
  return items;
}

template <class T>
void expect_sums_and_means_of_the_parts() {
  std::mt19937_64 random(seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= num_exact_kinds; ++kind) {
    const std::size_t n = 20'000;
    const auto items = complex_items<T>(kind, n, random);
    const gpu_array<complex<T>> x(items);
    const auto expect = [&](complex<T> sum, complex<T> mean, std::size_t begin, std::size_t count) {
      exact_accumulator<T> re, im;
      for (std::size_t i = begin; i < begin + count; ++i) {
        re.add(items[i].real());
        im.add(items[i].imag());
      }
      const auto c = static_cast<std::int64_t>(count);
      ASSERT_EQ(bytes_of(sum), bytes_of(complex<T>(re.value(), im.value())))
          << "kind " << kind << ", " << begin;
      ASSERT_EQ(bytes_of(mean), bytes_of(complex<T>(re.mean(c), im.mean(c))))
          << "kind " << kind << ", " << begin;
    };
    ASSERT_NO_FATAL_FAILURE(expect(reduce(gpu, x.begin(), x.end(), r::exact_sum{}),
                                   reduce(gpu, x.begin(), x.end(), r::exact_mean{}), 0, n));
    const gpu_array<complex<T>> sums(200), means(200);
    segmented_reduce(gpu, x.data(), 200, 100, sums.data(), r::exact_sum{});
    segmented_reduce(gpu, x.data(), 200, 100, means.data(),
                     if_empty(r::exact_mean{}, complex<T>{}));
    const auto got_sums = sums.to_host();
    const auto got_means = means.to_host();
    for (std::size_t s = 0; s < 200; ++s) {
      ASSERT_NO_FATAL_FAILURE(expect(got_sums[s], got_means[s], 100 * s, 100));
    }
  }
}

/// Ranges of a few lengths of every kind: check(x, y, x on the GPU, y on the GPU).
template <class T, class Check>
void for_each_complex_range(const Check& check) {
  std::mt19937_64 random(seed());
  for (int kind = 0; kind <= num_exact_kinds; ++kind) {
    for (const std::size_t n : {1u, 100u, 30'001u}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << n);
      const auto x = complex_items<T>(kind, n, random);
      const auto y = complex_items<T>(kind, n, random);
      check(x, y, gpu_array<complex<T>>(x), gpu_array<complex<T>>(y));
    }
  }
}

/// Dot products of floats: of doubles a GPU has none.
inline void expect_dots_of_the_host() {
  cuda_executor gpu;
  for_each_complex_range<float>(
      [&](const auto& x, const auto& y, const auto& x_on_gpu, const auto& y_on_gpu) {
        EXPECT_EQ(bytes_of(transform_reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), y_on_gpu.begin(),
                                            r::exact_dot{})),
                  bytes_of(transform_reduce(host_executor(), x.data(), x.data() + x.size(),
                                            y.data(), r::exact_dot{})));
      });
}

/// Of one range: exact_l2 or exact_sum_of_squares.
template <class T, class Reducer>
void expect_lengths_of_the_host(const Reducer& reducer) {
  cuda_executor gpu;
  for_each_complex_range<T>([&](const auto& x, const auto&, const auto& x_on_gpu, const auto&) {
    EXPECT_EQ(bytes_of(reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), reducer)),
              bytes_of(reduce(host_executor(), x.data(), x.data() + x.size(), reducer)));
  });
}

template <class T>
void expect_many_sums_of_the_host() {
  std::mt19937_64 random(seed());
  cuda_executor gpu;
  const host_executor host(1);
  const std::int64_t n = 20'000;
  const std::int64_t segments = 300;
  std::vector<std::int64_t> offsets{0};
  std::vector<int> keys;
  for (std::int64_t s = 0; s < segments; ++s) {
    const auto length = 1 + static_cast<std::int64_t>(random() % 66);
    offsets.push_back(offsets.back() + length);
    keys.insert(keys.end(), static_cast<std::size_t>(length), static_cast<int>(s));
  }
  const std::int64_t used = offsets.back();
  ASSERT_LE(used, n);
  const gpu_array<std::int64_t> at(offsets);
  const gpu_array<int> keys_on_gpu(keys);
  for (int kind = 0; kind <= num_exact_kinds; ++kind) {
    SCOPED_TRACE(kind);
    const auto items = complex_items<T>(kind, static_cast<std::size_t>(n), random);
    const gpu_array<complex<T>> x(items), by_offsets(segments), by_key(segments);
    const gpu_array<int> keys_out(segments);
    segmented_reduce(gpu, x.data(), at.data(), segments, by_offsets.data(), r::exact_sum{});
    ASSERT_EQ(reduce_by_key(gpu, keys_on_gpu.data(), keys_on_gpu.data() + used, x.data(),
                            keys_out.data(), by_key.data(), r::exact_sum{}),
              segments);
    std::vector<complex<T>> expected(static_cast<std::size_t>(segments));
    for (std::int64_t s = 0; s < segments; ++s) {
      const auto i = static_cast<std::size_t>(s);
      expected[i] =
          reduce(host, items.data() + offsets[i], items.data() + offsets[i + 1], r::exact_sum{});
    }
    const auto of_offsets = by_offsets.to_host();
    const auto of_keys = by_key.to_host();
    for (std::size_t s = 0; s < expected.size(); ++s) {
      ASSERT_EQ(bytes_of(of_offsets[s]), bytes_of(expected[s])) << "segment " << s;
      ASSERT_EQ(bytes_of(of_keys[s]), bytes_of(expected[s])) << "run " << s;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
