// SPDX-License-Identifier: Apache-2.0
//
// Every verb with an operator of whole numbers or bits, on a GPU, against loops on the host.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"

namespace tilefold::test {

// Runs of 1 to 200 items.
inline std::vector<std::int64_t> offsets_of(std::int64_t n) {
  std::vector<std::int64_t> offsets{0};
  while (offsets.back() < n) {
    const auto length = 1 + static_cast<std::int64_t>(offsets.size()) * 37 % 200;
    offsets.push_back(std::min(n, offsets.back() + length));
  }
  return offsets;
}

template <class T, class Op>
T fold(const T* first, const T* last, T start, Op op) {
  for (; first != last; ++first) start = op(start, *first);
  return start;
}

// Ranges, of an operator of whole numbers or bits: associative without rounding.
template <class T, class Op>
void is_reduced(const std::vector<T>& x, T start, Op op) {
  const auto n = static_cast<std::int64_t>(x.size());
  const gpu_array<T> items(x);
  cuda_executor exec;
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{33}, std::int64_t{5000}, n}) {
    EXPECT_TRUE(reduce(exec, items.data(), items.data() + count, start, op) ==
                fold(x.data(), x.data() + count, start, op))
        << count;
  }
}

// Every verb, of such an operator.
template <class T, class Op>
void is_folded_by_every_verb(const std::vector<T>& x, T start, Op op) {
  is_reduced(x, start, op);
  const auto n = static_cast<std::int64_t>(x.size());
  const gpu_array<T> items(x);
  cuda_executor exec;

  const std::vector<std::int64_t> offsets = offsets_of(n);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto at = [&](std::int64_t s) { return x.data() + offsets[static_cast<std::size_t>(s)]; };
  const gpu_array<std::int64_t> device_offsets(offsets);
  const gpu_array<T> out(segments);
  segmented_reduce(exec, items.data(), device_offsets.data(), segments, out.data(), start, op);
  const std::vector<T> sums = out.to_host();
  for (std::int64_t s = 0; s < segments; ++s) {
    ASSERT_TRUE(sums[static_cast<std::size_t>(s)] == fold(at(s), at(s + 1), start, op)) << s;
  }

  std::vector<int> keys;
  for (std::int64_t s = 0; s < segments; ++s) {
    keys.resize(static_cast<std::size_t>(offsets[static_cast<std::size_t>(s) + 1]),
                static_cast<int>(s));
  }
  const gpu_array<int> device_keys(keys), keys_out(segments);
  const gpu_array<T> runs_out(segments);
  ASSERT_EQ(reduce_by_key(exec, device_keys.data(), device_keys.data() + n, items.data(),
                          keys_out.data(), runs_out.data(), std::equal_to<>(), op),
            segments);
  const std::vector<T> runs = runs_out.to_host();
  for (std::int64_t s = 0; s < segments; ++s) {
    ASSERT_TRUE(runs[static_cast<std::size_t>(s)] == fold(at(s) + 1, at(s + 1), *at(s), op)) << s;
  }

  const std::int64_t cut = n / 3;
  auto whole = reduce_piece(exec, items.data(), items.data() + cut, 0, op);
  whole.merge(reduce_piece(exec, items.data() + cut, items.data() + n, cut, op));
  EXPECT_TRUE(whole.value() == fold(x.data() + 1, x.data() + n, x[0], op));
}

}  // namespace tilefold::test
