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

/// Sums: how a range, segments and a part give them.
struct sums {
  static auto of_range() { return r::exact_sum{}; }
  template <class Z>
  static auto of_segments() {
    return r::exact_sum{};
  }
  template <class T>
  static T of_part(const exact_accumulator<T>& part, std::int64_t) {
    return part.value();
  }
};
/// And means.
struct means {
  static auto of_range() { return r::exact_mean{}; }
  template <class Z>
  static auto of_segments() {
    return if_empty(r::exact_mean{}, Z{});
  }
  template <class T>
  static T of_part(const exact_accumulator<T>& part, std::int64_t count) {
    return part.mean(count);
  }
};

template <class What, class T>
void expect_that_of_the_parts(complex<T> got, const std::vector<complex<T>>& items,
                              std::size_t begin, std::size_t count) {
  exact_accumulator<T> re, im;
  for (std::size_t i = begin; i < begin + count; ++i) {
    re.add(items[i].real());
    im.add(items[i].imag());
  }
  const auto c = static_cast<std::int64_t>(count);
  ASSERT_EQ(bytes_of(got), bytes_of(complex<T>(What::of_part(re, c), What::of_part(im, c))))
      << "from " << begin;
}

/// Of each kind: check(items, items on the GPU).
template <class T, class Check>
void for_each_complex_kind(std::size_t n, const Check& check) {
  std::mt19937_64 random(seed());
  for (int kind = 0; kind <= num_exact_kinds; ++kind) {
    SCOPED_TRACE(testing::Message() << "kind " << kind);
    const auto items = complex_items<T>(kind, n, random);
    check(items, gpu_array<complex<T>>(items));
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class T, class What>
void expect_ranges_of_the_parts() {
  cuda_executor gpu;
  for_each_complex_kind<T>(20'000, [&](const auto& items, const auto& x) {
    const complex<T> got = reduce(gpu, x.begin(), x.end(), What::of_range());
    expect_that_of_the_parts<What>(got, items, 0, items.size());
  });
}

template <class T, class What>
void expect_segments_of_the_parts() {
  cuda_executor gpu;
  for_each_complex_kind<T>(20'000, [&](const auto& items, const auto& x) {
    const gpu_array<complex<T>> out(200);
    segmented_reduce(gpu, x.data(), 200, 100, out.data(), What::template of_segments<complex<T>>());
    const auto got = out.to_host();
    for (std::size_t s = 0; s < 200; ++s) {
      ASSERT_NO_FATAL_FAILURE(expect_that_of_the_parts<What>(got[s], items, 100 * s, 100));
    }
  });
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

/// Of one range: exact_l2 or exact_sum_of_squares.
template <class T, class Reducer>
void expect_lengths_of_the_host(const Reducer& reducer) {
  cuda_executor gpu;
  for_each_complex_range<T>([&](const auto& x, const auto&, const auto& x_on_gpu, const auto&) {
    EXPECT_EQ(bytes_of(reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), reducer)),
              bytes_of(reduce(host_executor(), x.data(), x.data() + x.size(), reducer)));
  });
}

/// Of short segments: fold(gpu, items on the GPU, offsets, sums on the GPU).
template <class T, class Fold>
void expect_many_sums_of_the_host(const Fold& fold) {
  std::mt19937_64 random(seed());
  cuda_executor gpu;
  const host_executor host(1);
  const std::int64_t segments = 300;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t s = 0; s < segments; ++s) {
    offsets.push_back(offsets.back() + 1 + static_cast<std::int64_t>(random() % 66));
  }
  for_each_complex_kind<T>(20'000, [&](const auto& items, const auto& x) {
    ASSERT_LE(offsets.back(), x.size());
    const gpu_array<complex<T>> out(segments);
    ASSERT_NO_FATAL_FAILURE(fold(gpu, x, offsets, out));
    const auto got = out.to_host();
    for (std::size_t s = 0; s < got.size(); ++s) {
      ASSERT_EQ(bytes_of(got[s]), bytes_of(reduce(host, items.data() + offsets[s],
                                                  items.data() + offsets[s + 1], r::exact_sum{})))
          << "segment or run " << s;
    }
  });
}

template <class T>
void expect_sums_by_offsets_of_the_host() {
  expect_many_sums_of_the_host<T>(
      [](cuda_executor& gpu, const auto& x, const auto& offsets, const auto& out) {
        const gpu_array<std::int64_t> at(offsets);
        segmented_reduce(gpu, x.data(), at.data(), out.size(), out.data(), r::exact_sum{});
      });
}

template <class T>
void expect_sums_by_key_of_the_host() {
  expect_many_sums_of_the_host<T>(
      [](cuda_executor& gpu, const auto& x, const auto& offsets, const auto& out) {
        std::vector<int> keys;
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
          keys.resize(static_cast<std::size_t>(offsets[s + 1]), static_cast<int>(s));
        }
        const gpu_array<int> k(keys), keys_out(out.size());
        ASSERT_EQ(reduce_by_key(gpu, k.begin(), k.end(), x.data(), keys_out.data(), out.data(),
                                r::exact_sum{}),
                  out.size());
      });
}

}  // namespace
}  // namespace tilefold::test
