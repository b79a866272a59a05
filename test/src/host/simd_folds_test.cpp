// SPDX-License-Identifier: Apache-2.0
//
// Every precompiled vector fold, on every instruction set of this machine, has the bits of the
// oracle: all types and operators of the list, every length around vectors and blocks, any
// alignment, and the values that float arithmetic is known for.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/host_backend.hpp"
#include "conformance/reference.hpp"
#include "support/guarded_memory.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace host = detail::host;
namespace r = reference;

// Makes the folds use one instruction set, and the best one again at the end.
class target_scope {
 public:
  explicit target_scope(const char* name) { host::use_simd_target(name); }
  ~target_scope() { host::use_simd_target(nullptr); }
  target_scope(const target_scope&) = delete;
  target_scope& operator=(const target_scope&) = delete;
};

void for_each_target(const std::function<void(const char*)>& body) {
  ASSERT_NE(host::simd_target(0), nullptr);
  for (int i = 0; const char* name = host::simd_target(i); ++i) {
    SCOPED_TRACE(name);
    const target_scope scope(name);
    body(name);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class Value, class Acc, class Op, class Reference>
struct simd_case {
  using value = Value;
  using accumulator = Acc;
  using op = Op;
  using reference_op = Reference;
};

template <class Op, class Reference, class... ValueAndAcc>
struct cases_of;
template <class Op, class Reference, class... Value, class... Acc>
struct cases_of<Op, Reference, std::pair<Value, Acc>...> {
  template <class Body>
  static void each(Body body) {
    (body(simd_case<Value, Acc, Op, Reference>()), ...);
  }
};

template <class T>
using same = std::pair<T, T>;

template <class Op, class Reference>
using floats = cases_of<Op, Reference, same<float>, same<double>, std::pair<float, double>,
                        std::pair<half, float>, std::pair<bfloat16, float>>;

template <class Op, class Reference>
using words_and_up =
    cases_of<Op, Reference, same<std::int32_t>, same<std::uint32_t>, same<std::int64_t>,
             same<std::uint64_t>, same<long long>, std::pair<std::int32_t, std::int64_t>,
             std::pair<std::uint32_t, std::uint64_t>, std::pair<std::int16_t, std::int32_t>,
             std::pair<std::uint16_t, std::uint32_t>, std::pair<std::int16_t, std::uint32_t>>;

template <class Op, class Reference>
using bytes = cases_of<Op, Reference, std::pair<std::int8_t, std::int32_t>,
                       std::pair<std::uint8_t, std::uint32_t>, std::pair<char, std::int64_t>,
                       std::pair<std::uint8_t, std::uint64_t>, std::pair<bool, std::int64_t>,
                       std::pair<bool, std::int32_t>>;

template <class Op, class Reference>
using integers = cases_of<Op, Reference, same<std::int8_t>, same<std::uint8_t>, same<std::int16_t>,
                          same<std::uint16_t>, same<std::int32_t>, same<std::uint32_t>,
                          same<std::int64_t>, same<std::uint64_t>>;

template <class Op, class Reference>
using ordered_floats =
    cases_of<Op, Reference, same<half>, same<bfloat16>, same<float>, same<double>>;

// Where the work is done with vectors the library must have a fold: else this would test another
// one.
template <class Case>
bool has_fold() {
  constexpr host::simd_key key =
      host::simd_key_of<detail::op_reducer<typename Case::accumulator, typename Case::op>,
                        const typename Case::value*>;
  static_assert(host::worth_asking(key));
  return host::find_simd_fold(key.op, key.value, key.accumulator) != nullptr;
}

bool is_vector_target(const std::string& name) { return name != "SCALAR"; }

// All prefixes of one sequence, against an oracle that sees each item once.
template <class Case>
void has_the_bits_of_the_oracle(pattern p, const std::vector<std::int64_t>& sizes) {
  using accumulator = typename Case::accumulator;
  const auto items = make_items<typename Case::value>(p, sizes.back(), seed());
  const auto lifted = [&](std::int64_t i) {
    const typename Case::value item = items[static_cast<std::size_t>(i)];
    return r::lifted<accumulator>(item);
  };
  const auto expected = prefix_folds(typename Case::reference_op{}, lifted, sizes);
  const std::unique_ptr<typename Case::value[]> array(new typename Case::value[items.size()]);
  std::copy(items.begin(), items.end(), array.get());
  host_backend one_thread{host_executor(1)};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int shift = static_cast<int>(i % 16);
    const accumulator got =
        one_thread.fold<accumulator>(array.get(), sizes[i], shift, typename Case::op{});
    const accumulator wanted = r::with_one_nan(accumulator(expected[i]));
    ASSERT_TRUE(same_bits(got, wanted))
        << name_of(p) << ", n = " << sizes[i] << ", shift = " << shift;
  }
}

struct test_case {
  template <class Case>
  void operator()(Case) const {
    for_each_target([](const std::string& target) {
      SCOPED_TRACE(::testing::internal::GetTypeName<Case>());
      ASSERT_EQ(has_fold<Case>(), is_vector_target(target));
      for (const pattern p : patterns_of<typename Case::value>()) {
        has_the_bits_of_the_oracle<Case>(p, p == pattern::mixed ? many_sizes() : few_sizes());
      }
    });
  }

  // Every length in vectors, and on to more than one block of the widest.
  static std::vector<std::int64_t> many_sizes() {
    auto sizes = every_size_to(140);
    while (sizes.back() < 2100) sizes.push_back(sizes.back() + 13);
    return sizes;
  }

  static std::vector<std::int64_t> few_sizes() {
    return {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 100, 127, 255, 511, 513, 777, 1025, 2500};
  }
};

TEST(SimdFolds, Sums) {
  floats<plus, r::plus>::each(test_case{});
  words_and_up<plus, r::plus>::each(test_case{});
  bytes<plus, r::plus>::each(test_case{});
}

TEST(SimdFolds, Products) {
  floats<multiplies, r::multiplies>::each(test_case{});
  words_and_up<multiplies, r::multiplies>::each(test_case{});
  cases_of<multiplies, r::multiplies, std::pair<bool, std::int64_t>>::each(test_case{});
}

// Of bytes that are all true or all false but for one: where it stands, or that there is none.
TEST(SimdFolds, TheByteThatDecides) {
  using enum host::simd_op;
  struct place {
    std::int64_t key;
    std::int64_t index;
  };
  for_each_target([](const std::string& target) {
    const auto first_true =
        host::find_simd_fold(first_maximum, host::simd_type::truth, host::simd_type::int64);
    const auto first_false =
        host::find_simd_fold(first_minimum, host::simd_type::truth, host::simd_type::int64);
    const auto product =
        host::find_simd_fold(multiplies, host::simd_type::truth, host::simd_type::int64);
    ASSERT_EQ(first_true != nullptr, is_vector_target(target));
    ASSERT_EQ(first_false != nullptr, is_vector_target(target));
    ASSERT_EQ(product != nullptr, is_vector_target(target));
    if (product == nullptr) return;
    std::vector<std::uint8_t> bytes(1200);
    guarded_memory memory(bytes.size());
    for (std::int64_t n = 1; n <= 1200; n += n < 300 ? 1 : 59) {
      for (std::int64_t at = 0; at <= n; at += n < 300 || at + 7 > n ? 1 : 7) {
        for (const bool rest : {false, true}) {
          // Any byte but 0 is true.
          std::fill(bytes.begin(), bytes.end(), rest ? std::uint8_t{2} : std::uint8_t{0});
          const std::size_t begin = bytes.size() - static_cast<std::size_t>(n);
          if (at < n) bytes[begin + static_cast<std::size_t>(at)] = rest ? 0 : 128;
          const std::uint8_t* const first = memory.at_the_end(bytes) + begin;
          place of_true, of_false;
          std::int64_t of_all;
          first_true(first, nullptr, n, &of_true);
          first_false(first, nullptr, n, &of_false);
          product(first, nullptr, n, &of_all);
          const auto where = [&](bool truth) {
            std::int64_t i = 0;
            while (i < n && (first[i] != 0) != truth) ++i;
            return i;
          };
          const bool any = where(true) < n;
          const bool all = where(false) == n;
          SCOPED_TRACE(std::to_string(n) + " bytes, " + std::to_string(at));
          ASSERT_EQ(of_true.index, any ? where(true) : 0);
          ASSERT_EQ(of_true.key, any ? 1 : 0);
          ASSERT_EQ(of_false.index, all ? 0 : where(false));
          ASSERT_EQ(of_false.key, all ? 1 : 0);
          ASSERT_EQ(of_all, all ? 1 : 0);
        }
      }
    }
  });
}

// The first item that has the bits of the result, of all NaNs one.
template <class Reducer, class Reference, class T>
void first_places() {
  SCOPED_TRACE(::testing::internal::GetTypeName<T>());
  for (const pattern p : patterns_of<T>()) {
    const std::int64_t most = p == pattern::mixed ? 700 : 130;
    auto items = make_items<T>(p, most, seed());
    // Among many equal ones, too.
    for (std::size_t i = 0; i < items.size(); i += 3) items[i] = items[i / 16 * 3];
    guarded_memory memory(items.size() * sizeof(T));
    const T* const end = memory.at_the_end(items) + most;
    for_each_target([&](const std::string&) {
      for (const std::int64_t n : every_size_to(most)) {
        const auto got = tilefold::reduce(host_executor(1), end - n, end, Reducer{});
        const std::vector<T> some(items.end() - n, items.end());
        const T best = r::fold<T>(Reference{}, some);
        std::int64_t first = 0;
        while (!same_bits(r::with_one_nan(some[static_cast<std::size_t>(first)]), best)) ++first;
        ASSERT_EQ(got.index, first) << name_of(p) << ", n = " << n;
        ASSERT_TRUE(same_bits(got.value, best)) << name_of(p) << ", n = " << n;
      }
    });
  }
}

template <class... T>
void first_places_of() {
  (first_places<reducers::arg_min<>, r::minimum, T>(), ...);
  (first_places<reducers::arg_max<>, r::maximum, T>(), ...);
}

TEST(SimdFolds, FirstPlaces) {
  first_places_of<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                  std::uint32_t, std::int64_t, std::uint64_t, half, bfloat16, float, double>();
  first_places<reducers::arg_min<nan_rule::ignore>, r::minimum_number, float>();
  first_places<reducers::arg_max<nan_rule::ignore>, r::maximum_number, double>();
}

TEST(SimdFolds, Minima) {
  integers<minimum, r::minimum>::each(test_case{});
  ordered_floats<minimum, r::minimum>::each(test_case{});
  integers<minimum_number, r::minimum_number>::each(test_case{});
  ordered_floats<minimum_number, r::minimum_number>::each(test_case{});
}

TEST(SimdFolds, Maxima) {
  integers<maximum, r::maximum>::each(test_case{});
  ordered_floats<maximum, r::maximum>::each(test_case{});
  integers<maximum_number, r::maximum_number>::each(test_case{});
  ordered_floats<maximum_number, r::maximum_number>::each(test_case{});
}

TEST(SimdFolds, Bits) {
  integers<bit_and, r::bit_and>::each(test_case{});
  integers<bit_or, r::bit_or>::each(test_case{});
  integers<bit_xor, r::bit_xor>::each(test_case{});
  cases_of<bit_and, r::bit_and, same<bool>>::each(test_case{});
  cases_of<bit_or, r::bit_or, same<bool>>::each(test_case{});
  cases_of<bit_xor, r::bit_xor, same<bool>>::each(test_case{});
}

// The order itself, at every length to 5000 and where a block or a level ends.
template <class Case>
void every_length(Case) {
  for_each_target([](const std::string&) {
    has_the_bits_of_the_oracle<Case>(pattern::mixed, every_size_to(5000));
    has_the_bits_of_the_oracle<Case>(pattern::mixed, landmark_sizes(18, 40, seed()));
  });
}

TEST(SimdFolds, FloatSumsOfEveryLength) {
  every_length(simd_case<float, float, plus, r::plus>());
  every_length(simd_case<half, float, plus, r::plus>());
}

TEST(SimdFolds, DoubleSumsOfEveryLength) {
  every_length(simd_case<double, double, plus, r::plus>());
  every_length(simd_case<float, double, plus, r::plus>());
}

TEST(SimdFolds, ByteSumsOfEveryLength) {
  every_length(simd_case<std::int8_t, std::int32_t, plus, r::plus>());
}

// The last n items before memory ends.
template <class Value, class Acc>
void nothing_beyond_is_read() {
  const auto items = make_items<Value>(pattern::mixed, 5000, seed());
  guarded_memory memory(items.size() * sizeof(Value));
  const Value* const end = memory.at_the_end(items) + items.size();
  for_each_target([&](const std::string&) {
    for (const std::int64_t n : every_size_to(700)) {
      const Acc got = tilefold::reduce<Acc>(host_executor(1), end - n, end);
      const Acc wanted = tilefold::reduce<Acc>(host_executor(1), items.end() - n, items.end());
      ASSERT_TRUE(same_bits(got, wanted)) << "n = " << n;
      const std::vector<Value> some(items.end() - n, items.end());
      ASSERT_TRUE(same_bits(tilefold::reduce(host_executor(1), end - n, end, minimum{}),
                            r::fold<Value>(r::minimum{}, some)))
          << "n = " << n;
      if constexpr (std::is_floating_point_v<Value> && std::is_same_v<Value, Acc>) {
        tilefold::transform_reduce(host_executor(1), end - n, end, end - n, Acc{});
      }
    }
  });
}

TEST(SimdFolds, ReadNothingBeyondTheItems) {
  nothing_beyond_is_read<float, float>();
  nothing_beyond_is_read<double, double>();
  nothing_beyond_is_read<float, double>();
  nothing_beyond_is_read<half, float>();
  nothing_beyond_is_read<std::int8_t, std::int64_t>();
  nothing_beyond_is_read<std::uint16_t, std::uint32_t>();
}

// Widening an item is the only thing that a sum of one does: every bit pattern, one by one and, so
// that each also passes through a whole vector, in threes.
template <class Narrow>
void converts_every_value_exactly() {
  for_each_target([](const std::string&) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      Narrow items[16];
      for (Narrow& item : items) item = std::bit_cast<Narrow>(std::uint16_t{0x8000});
      items[bits % 16] = std::bit_cast<Narrow>(static_cast<std::uint16_t>(bits));
      const float wanted = r::with_one_nan(r::lifted<float>(items[bits % 16]));
      const float got = reduce(host_executor(1), items, items + 16);
      ASSERT_TRUE(same_bits(got, wanted)) << "bits " << bits;
    }
  });
}

TEST(SimdFolds, HalfConvertsExactly) { converts_every_value_exactly<half>(); }
TEST(SimdFolds, Bfloat16ConvertsExactly) { converts_every_value_exactly<bfloat16>(); }

template <class T>
void dot_products() {
  for_each_target([](const std::string& target) {
    ASSERT_EQ(host::find_simd_fold(host::simd_op::dot, host::simd_type_of<T>(),
                                   host::simd_type_of<T>()) != nullptr,
              is_vector_target(target));
    const auto sizes = every_size_to(2000);
    for (const pattern p : patterns_of<T>()) {
      const auto x = make_items<T>(p, sizes.back() + 16, seed());
      const auto y = make_items<T>(p, sizes.back() + 16, seed() + 1);
      for (const int shift : {0, 3}) {
        const auto product = [&](std::int64_t i) {
          const auto at = static_cast<std::size_t>(i);
          return r::multiplies()(x[at + 1], y[at + static_cast<std::size_t>(shift)]);
        };
        const auto expected = prefix_folds(r::plus(), product, sizes);
        for (std::size_t i = 0; i < sizes.size(); i += p == pattern::mixed ? 1 : 37) {
          const T got = transform_reduce(host_executor(1), x.begin() + 1, x.begin() + 1 + sizes[i],
                                         y.data() + shift, T(-0.0));
          const T wanted = r::with_one_nan(expected[i]);
          ASSERT_TRUE(same_bits(got, wanted))
              << name_of(p) << ", n = " << sizes[i] << ", shift = " << shift;
        }
      }
    }
  });
}

TEST(SimdFolds, FloatDotProducts) { dot_products<float>(); }
TEST(SimdFolds, DoubleDotProducts) { dot_products<double>(); }

TEST(SimdFolds, ThereIsNoneForOtherCombinationsOfTypes) {
  using enum host::simd_type;
  for (const auto [op, value, accumulator] :
       {host::simd_key{host::simd_op::plus, float64, float32},
        host::simd_key{host::simd_op::plus, int32, float32},
        host::simd_key{host::simd_op::plus, float32, int32},
        host::simd_key{host::simd_op::plus, int64, int32},
        host::simd_key{host::simd_op::plus, float16, float16},
        host::simd_key{host::simd_op::minimum, int8, int32},
        host::simd_key{host::simd_op::minimum, float32, float64},
        host::simd_key{host::simd_op::multiplies, int8, int8},
        host::simd_key{host::simd_op::bit_or, float32, float32},
        host::simd_key{host::simd_op::plus, int32, complex64},
        host::simd_key{host::simd_op::plus, float32, complex64},
        host::simd_key{host::simd_op::plus, complex128, complex64},
        host::simd_key{host::simd_op::multiplies, complex128, complex128},
        host::simd_key{host::simd_op::multiplies, boolean, int32},
        host::simd_key{host::simd_op::any, float32, float32},
        host::simd_key{host::simd_op::count, boolean, int32}}) {
    EXPECT_EQ(host::find_simd_fold(op, value, accumulator), nullptr)
        << static_cast<int>(op) << " " << static_cast<int>(value) << " "
        << static_cast<int>(accumulator);
    EXPECT_EQ(host::find_simd_columns(op, value, accumulator).join, nullptr)
        << static_cast<int>(op) << " " << static_cast<int>(value) << " "
        << static_cast<int>(accumulator);
  }
}

// Two floats, and a truth of its own: that of the first.
struct first_counts {
  using value_type = float;
  float first, second;
  float real() const { return first; }
  float imag() const { return second; }
  explicit operator bool() const { return first != 0; }
};

TEST(SimdFolds, WhatLooksLikeComplexNumbersHasItsOwnTruth) {
  const std::vector<first_counts> items(1000, {0.0f, 1.0f});
  EXPECT_FALSE(reduce(host_executor(), items.begin(), items.end(), reducers::any<>{}));
  EXPECT_FALSE(reduce(host_executor(), items.begin(), items.end(), reducers::all<>{}));
}

TEST(SimdFolds, UnknownInstructionSetIsNamed) {
  try {
    host::use_simd_target("ABACUS");
    FAIL() << "no exception";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("ABACUS"), std::string::npos) << e.what();
  }
  host::use_simd_target(nullptr);
}

}  // namespace
}  // namespace tilefold::test
