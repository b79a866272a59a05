// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bits that are neither the library's own nor built-in numbers of the standard, on a
// GPU: __int128 in nvcc's mode -std=c++20, std::byte, and an enumeration with operators of its own.
// Against loops on the host, on values whose low and high halves both count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// Runs of 1 to 200 items.
std::vector<std::int64_t> offsets_of(std::int64_t n) {
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

// Every verb, of an operator of whole numbers or bits: associative without rounding.
template <class T, class Op>
void is_folded_by_every_verb(const std::vector<T>& x, T start, Op op) {
  const auto n = static_cast<std::int64_t>(x.size());
  const gpu_array<T> items(x);
  cuda_executor exec;
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{33}, std::int64_t{5000}, n}) {
    EXPECT_TRUE(reduce(exec, items.data(), items.data() + count, start, op) ==
                fold(x.data(), x.data() + count, start, op))
        << count;
  }

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

#if defined(__SIZEOF_INT128__)
__extension__ using int_128 = __int128;
__extension__ using uint_128 = unsigned __int128;

template <class T>
std::vector<T> wide_numbers(bool odd) {
  bit_stream random(seed());
  std::vector<T> x;
  for (int i = 0; i < 70001; ++i) {
    const uint_128 high = random.next();
    const uint_128 bits = high << 64 | random.next();
    x.push_back(static_cast<T>(odd ? bits | 1 : bits));
  }
  return x;
}

TEST(CudaNumberTypes, IntegersOf128BitsAreFolded) {
  SCOPED_TRACE(seed());
  const std::vector<uint_128> x = wide_numbers<uint_128>(false);
  is_folded_by_every_verb<uint_128>(x, 7, plus{});
  // Odd numbers have products that never end at 0.
  is_folded_by_every_verb<uint_128>(wide_numbers<uint_128>(true), 3, multiplies{});
  const std::vector<int_128> y = wide_numbers<int_128>(false);
  is_folded_by_every_verb<int_128>(y, 0, minimum{});
}

// An initial value of int narrows nothing, and nothing has the identity.
TEST(CudaNumberTypes, IntegersOf128BitsAreNotNarrowed) {
  std::vector<int_128> x;
  for (int i = 0; i < 70001; ++i) x.push_back((int_128{1} << 100) * (i - 35000) + i);
  const gpu_array<int_128> items(x);
  cuda_executor exec;
  EXPECT_TRUE(reduce(exec, items.begin(), items.end(), 0) == int_128{35000} * 70001);
  EXPECT_TRUE(reduce(exec, items.begin(), items.end(), 5, maximum{}) == x.back());
  EXPECT_TRUE(reduce(exec, items.begin(), items.begin(), minimum{}) == detail::largest<int_128>);
}
#endif

enum class access : std::uint16_t {};
TILEFOLD_HD constexpr access operator|(access a, access b) {
  return static_cast<access>(static_cast<int>(a) | static_cast<int>(b));
}

TEST(CudaNumberTypes, BitsOfEveryTypeThatHasTheOperationAreJoined) {
  SCOPED_TRACE(seed());
  bit_stream random(seed());
  std::vector<std::byte> one_bit, rarely_set, rarely_missing;
  std::vector<access> rights;
  for (int i = 0; i < 70001; ++i) {
    const auto bit = static_cast<std::byte>(1u << random.below(8));
    one_bit.push_back(bit);
    // So rare that most segments and runs keep some bits and lose others.
    const bool rare = random.below(50) == 0;
    rarely_set.push_back(rare ? bit : std::byte{0});
    rarely_missing.push_back(rare ? ~bit : std::byte{0xff});
    rights.push_back(static_cast<access>(rare ? std::to_integer<unsigned>(bit) << 8 : 0u));
  }
  is_folded_by_every_verb(rarely_set, std::byte{0}, std::bit_or<>());
  is_folded_by_every_verb(rarely_missing, std::byte{0xff}, std::bit_and<>());
  is_folded_by_every_verb(one_bit, std::byte{0x55}, std::bit_xor<std::byte>());
  is_folded_by_every_verb(rights, access{}, std::bit_or<>());
}

}  // namespace
}  // namespace tilefold::test
