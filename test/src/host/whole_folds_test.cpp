// SPDX-License-Identifier: Apache-2.0
//
// Precompiled folds of whole ranges that are no operator: questions of zeros, what means keep,
// extremes and their places. On every instruction set of this machine, of every type, against loops
// over the items: each length around vectors and blocks, any alignment, up to where memory ends.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/guarded_memory.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace host = detail::host;
using host::simd_op;
using host::simd_type;

/// Any byte, read as a truth.
enum class truth_byte : std::uint8_t {};

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float<T>;

template <class T>
constexpr simd_type type_of() {
  if constexpr (std::is_same_v<T, truth_byte>) {
    return simd_type::truth;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return simd_type::complex64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return simd_type::complex128;
  } else {
    return host::simd_type_of<T>();
  }
}

double as_double(truth_byte value) { return value == truth_byte{} ? 0.0 : 1.0; }
template <class T>
double as_double(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
bool is_true(const T& value) {
  return !(as_double(value) == 0.0);
}
template <class T>
bool is_true(const std::complex<T>& value) {
  return is_true(value.real()) || is_true(value.imag());
}

/// Values that a fold could take for others.
template <class T>
std::vector<T> special_values() {
  if constexpr (std::is_same_v<T, truth_byte>) {
    return {truth_byte{0}, truth_byte{1}, truth_byte{2}, truth_byte{128}, truth_byte{255}};
  } else if constexpr (is_float<T>) {
    using limits = std::numeric_limits<double>;
    // The least of each type that is not zero: the bit pattern 1.
    T least{};
    const std::uint8_t one = 1;
    std::memcpy(static_cast<void*>(&least), &one, 1);
    std::vector<T> values{T(0.0f), T(-0.0f), T(1.0f), T(-1.0f), T(0.5f), T(300.0f), least};
    for (const double v :
         {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), -limits::quiet_NaN()}) {
      values.push_back(static_cast<T>(static_cast<float>(v)));
    }
    return values;
  } else {
    using limits = std::numeric_limits<T>;
    return {T(0),
            T(1),
            limits::max(),
            limits::min(),
            static_cast<T>(limits::max() - 1),
            static_cast<T>(limits::max() / 2 + 1),
            static_cast<T>(-1)};
  }
}

template <class T>
class values_of {
 public:
  /// The n-th kind of array: all zeros, no zero, few that are not zero, few zeros, anything.
  static std::vector<T> make(int kind, std::size_t n, std::mt19937_64& random) {
    std::vector<T> items(n);
    for (T& item : items) {
      const bool rare = random() % 97 == 0;
      item = kind == 0   ? zero(random)
             : kind == 1 ? nonzero(random)
             : kind == 2 ? (rare ? nonzero(random) : zero(random))
             : kind == 3 ? (rare ? zero(random) : nonzero(random))
                         : any(random);
    }
    return items;
  }
  static constexpr int kinds = 5;

  /// Of floats also -0.
  static T zero(std::mt19937_64& random) {
    if constexpr (is_float<T>) return random() % 2 == 0 ? T(0.0f) : T(-0.0f);
    return T{};
  }
  static T any(std::mt19937_64& random) {
    static const std::vector<T> special = special_values<T>();
    if (random() % 2 == 0) return special[random() % special.size()];
    T value;
    const std::uint64_t bits[2] = {random(), random()};
    std::memcpy(static_cast<void*>(&value), bits, sizeof value);
    return value;
  }
  static T nonzero(std::mt19937_64& random) {
    T value = any(random);
    while (!is_true(value)) value = any(random);
    return value;
  }
};
template <class T>
class values_of<std::complex<T>> {
 public:
  static constexpr int kinds = values_of<T>::kinds;
  static std::vector<std::complex<T>> make(int kind, std::size_t n, std::mt19937_64& random) {
    const std::vector<T> parts = values_of<T>::make(kind == 1 ? 3 : kind, 2 * n, random);
    std::vector<std::complex<T>> items(n);
    std::memcpy(static_cast<void*>(items.data()), parts.data(), n * sizeof items[0]);
    for (auto& item : items) {
      if (kind == 1 && !is_true(item)) item = {T(0), values_of<T>::nonzero(random)};
    }
    return items;
  }
};

/// Lengths around vectors and the blocks of 16 KiB that stay in the first-level cache.
std::vector<std::int64_t> sizes_of(std::size_t item_bytes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1; n <= 70; ++n) sizes.push_back(n);
  for (std::int64_t n = 120; n <= 4200; n = n * 5 / 4 + 1) sizes.push_back(n);
  const auto block = static_cast<std::int64_t>(16384 / item_bytes);
  for (const std::int64_t blocks : {1, 2, 5}) {
    for (const std::int64_t more : {-1, 0, 1}) sizes.push_back(blocks * block + more);
  }
  // More vectors than the lanes of bytes can count.
  if (item_bytes == 1) sizes.push_back(4 * 64 * 255 * 2 + 77);
  return sizes;
}

template <class Result>
Result folded(simd_op op, simd_type type, simd_type accumulator, const void* items,
              std::int64_t n) {
  Result result;
  std::memset(static_cast<void*>(&result), 0xee, sizeof result);
  host::find_simd_fold(op, type, accumulator)(items, nullptr, n, &result);
  return result;
}

/// check(items, n, what) for every array and length, at every instruction set; what memory holds
/// behind them nothing can read.
template <class T, class Check>
void for_every_array(const Check& check) {
  std::mt19937_64 random(seed());
  for (int kind = 0; kind < values_of<T>::kinds; ++kind) {
    const auto sizes = sizes_of(sizeof(T));
    const auto all = values_of<T>::make(
        kind, static_cast<std::size_t>(*std::max_element(sizes.begin(), sizes.end())), random);
    for (const std::int64_t n : sizes) {
      const std::vector<T> items(all.end() - n, all.end());
      guarded_memory memory(items.size() * sizeof(T));
      const T* const first = memory.at_the_end(items);
      for (int i = 0; const char* target = host::simd_target(i); ++i) {
        host::use_simd_target(target);
        if (host::find_simd_fold(simd_op::any, simd_type::int8, simd_type::boolean) == nullptr) {
          continue;  // no vectors
        }
        check(
            first, n,
            std::string(target) + ", kind " + std::to_string(kind) + ", n = " + std::to_string(n));
        if (::testing::Test::HasFailure()) break;
      }
      host::use_simd_target(nullptr);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

template <class T>
void asks_of_zeros() {
  for_every_array<T>([](const T* items, std::int64_t n, const std::string& what) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += is_true(items[i]) ? 1 : 0;
    constexpr simd_type type = type_of<T>();
    EXPECT_EQ(folded<std::int64_t>(simd_op::count, type, simd_type::int64, items, n), count)
        << what;
    EXPECT_EQ(folded<bool>(simd_op::any, type, simd_type::boolean, items, n), count != 0) << what;
    EXPECT_EQ(folded<bool>(simd_op::all, type, simd_type::boolean, items, n), count == n) << what;
  });
}

TEST(WholeFolds, QuestionsOfBytes) {
  asks_of_zeros<std::int8_t>();
  asks_of_zeros<std::uint8_t>();
  asks_of_zeros<truth_byte>();
}
TEST(WholeFolds, QuestionsOfWords) {
  asks_of_zeros<std::int16_t>();
  asks_of_zeros<std::uint16_t>();
  asks_of_zeros<half>();
  asks_of_zeros<bfloat16>();
}
TEST(WholeFolds, QuestionsOfLongerWords) {
  asks_of_zeros<std::int32_t>();
  asks_of_zeros<std::uint32_t>();
  asks_of_zeros<float>();
  asks_of_zeros<std::int64_t>();
  asks_of_zeros<std::uint64_t>();
  asks_of_zeros<double>();
}
TEST(WholeFolds, QuestionsOfPairs) {
  asks_of_zeros<std::complex<float>>();
  asks_of_zeros<std::complex<double>>();
}

// One item decides, at each place.
template <class T>
void finds_one_anywhere() {
  std::mt19937_64 random(seed());
  const std::int64_t n = 1100;
  for (int i = 0; const char* target = host::simd_target(i); ++i) {
    host::use_simd_target(target);
    if (host::find_simd_fold(simd_op::any, simd_type::int8, simd_type::boolean) == nullptr) {
      continue;
    }
    for (std::int64_t at = 0; at < n; ++at) {
      auto items = values_of<T>::make(0, n, random);
      const auto place = static_cast<std::size_t>(at);
      items[place] = values_of<T>::make(1, 1, random)[0];
      EXPECT_TRUE(folded<bool>(simd_op::any, type_of<T>(), simd_type::boolean, items.data(), n))
          << target << at;
      items = values_of<T>::make(1, n, random);
      items[place] = values_of<T>::make(0, 1, random)[0];
      EXPECT_FALSE(folded<bool>(simd_op::all, type_of<T>(), simd_type::boolean, items.data(), n))
          << target << at;
    }
  }
  host::use_simd_target(nullptr);
}

TEST(WholeFolds, OneItemDecides) {
  finds_one_anywhere<std::uint8_t>();
  finds_one_anywhere<half>();
  finds_one_anywhere<float>();
  finds_one_anywhere<double>();
  finds_one_anywhere<std::complex<double>>();
}

// The neighbour tree, as docs/order.md writes it.
double tree_of(std::vector<double> x) {
  while (x.size() > 1) {
    std::vector<double> pairs;
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) pairs.push_back(x[i] + x[i + 1]);
    if (x.size() % 2 != 0) pairs.push_back(x.back());
    x = pairs;
  }
  return x[0];
}

template <class T>
void keeps_what_a_mean_needs() {
  struct count_and_sum {
    double count, sum;
  };
  for_every_array<T>([](const T* items, std::int64_t n, const std::string& what) {
    std::vector<double> wide;
    for (std::int64_t i = 0; i < n; ++i) wide.push_back(as_double(items[i]));
    const auto got =
        folded<count_and_sum>(simd_op::counted_sum, type_of<T>(), simd_type::float64, items, n);
    const double wanted = tree_of(wide);
    EXPECT_EQ(got.count, static_cast<double>(n)) << what;
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(got.sum)) << what;
    } else {
      EXPECT_EQ(std::memcmp(&got.sum, &wanted, sizeof wanted), 0)
          << what << ": " << got.sum << ", not " << wanted;
    }
  });
}

TEST(WholeFolds, MeansOfIntegers) {
  keeps_what_a_mean_needs<truth_byte>();
  keeps_what_a_mean_needs<std::int8_t>();
  keeps_what_a_mean_needs<std::uint8_t>();
  keeps_what_a_mean_needs<std::int16_t>();
  keeps_what_a_mean_needs<std::uint16_t>();
  keeps_what_a_mean_needs<std::int32_t>();
  keeps_what_a_mean_needs<std::uint32_t>();
  keeps_what_a_mean_needs<std::int64_t>();
  keeps_what_a_mean_needs<std::uint64_t>();
}
TEST(WholeFolds, MeansOfFloats) {
  keeps_what_a_mean_needs<half>();
  keeps_what_a_mean_needs<bfloat16>();
  keeps_what_a_mean_needs<float>();
  keeps_what_a_mean_needs<double>();
}

/// Sums of 16 bits in 64, which no operator's type makes.
TEST(WholeFolds, SumsOfShortIntegersIn64Bits) {
  const auto check = []<class T>(T) {
    for_every_array<T>([](const T* items, std::int64_t n, const std::string& what) {
      std::int64_t wanted = 0;
      for (std::int64_t i = 0; i < n; ++i) wanted += items[i];
      constexpr simd_type to = std::is_signed_v<T> ? simd_type::int64 : simd_type::uint64;
      EXPECT_EQ(folded<std::int64_t>(simd_op::plus, type_of<T>(), to, items, n), wanted) << what;
    });
  };
  check(std::int16_t());
  check(std::uint16_t());
}

/// Whether a stands before b where the least, or the greatest, is looked for: NaN first, or last.
template <class T>
bool stands_before(T a, T b, bool greatest, bool nan_first) {
  if constexpr (is_float<T>) {
    const double x = as_double(a);
    const double y = as_double(b);
    if (std::isnan(x) || std::isnan(y)) {
      return std::isnan(x) != std::isnan(y) && std::isnan(x) == nan_first;
    }
    if (x == 0.0 && y == 0.0) {  // -0 is less
      return greatest ? !std::signbit(x) && std::signbit(y) : std::signbit(x) && !std::signbit(y);
    }
    return greatest ? x > y : x < y;
  } else {
    return greatest ? a > b : a < b;
  }
}

template <class Key>
struct place {
  Key key;
  std::int64_t index;
};

template <class T, class Key>
void finds_first_places(simd_type keys) {
  for_every_array<T>([&](const T* items, std::int64_t n, const std::string& what) {
    for (const bool greatest : {false, true}) {
      for (const bool nan_first : {true, false}) {
        std::int64_t wanted = 0;
        for (std::int64_t i = 1; i < n; ++i) {
          if (stands_before(items[i], items[wanted], greatest, nan_first)) wanted = i;
        }
        const simd_op op = nan_first  ? greatest ? simd_op::first_maximum : simd_op::first_minimum
                           : greatest ? simd_op::first_maximum_number
                                      : simd_op::first_minimum_number;
        const auto got = folded<place<Key>>(op, type_of<T>(), keys, items, n);
        EXPECT_EQ(got.index, wanted) << what << ", greatest " << greatest << ", " << nan_first;
        if constexpr (!is_float<T>) {
          EXPECT_EQ(got.key, static_cast<Key>(items[wanted])) << what;
        }
      }
    }
  });
}

TEST(WholeFolds, PlacesOfIntegers) {
  finds_first_places<std::int8_t, std::int8_t>(simd_type::int8);
  finds_first_places<std::uint8_t, std::int64_t>(simd_type::int64);
  finds_first_places<std::int16_t, std::int64_t>(simd_type::int64);
  finds_first_places<std::int32_t, std::int32_t>(simd_type::int32);
  finds_first_places<std::uint32_t, std::int64_t>(simd_type::int64);
  finds_first_places<std::int64_t, std::int64_t>(simd_type::int64);
  finds_first_places<std::uint64_t, std::uint64_t>(simd_type::uint64);
}
TEST(WholeFolds, PlacesOfFloats) {
  finds_first_places<half, std::int16_t>(simd_type::float16);
  finds_first_places<bfloat16, std::int16_t>(simd_type::brain16);
  finds_first_places<float, std::int32_t>(simd_type::float32);
  finds_first_places<double, std::int64_t>(simd_type::float64);
}

TEST(WholeFolds, PlacesOfTruths) {
  for_every_array<truth_byte>(
      [&](const truth_byte* items, std::int64_t n, const std::string& what) {
        for (const bool truth : {false, true}) {
          std::int64_t wanted = 0;
          while (wanted < n && (items[wanted] != truth_byte{}) != truth) ++wanted;
          const bool found = wanted < n;
          const auto got =
              folded<place<std::int64_t>>(truth ? simd_op::first_maximum : simd_op::first_minimum,
                                          simd_type::truth, simd_type::int64, items, n);
          EXPECT_EQ(got.index, found ? wanted : 0) << what;
          EXPECT_EQ(got.key, found == truth ? 1 : 0) << what;
        }
      });
}

template <class T>
void finds_extremes() {
  struct pair {
    T least, greatest;
  };
  for_every_array<T>([](const T* items, std::int64_t n, const std::string& what) {
    for (const bool nan_first : {true, false}) {
      T least = items[0];
      T greatest = items[0];
      for (std::int64_t i = 1; i < n; ++i) {
        if (stands_before(items[i], least, false, nan_first)) least = items[i];
        if (stands_before(items[i], greatest, true, nan_first)) greatest = items[i];
      }
      const auto got = folded<pair>(nan_first ? simd_op::extremes : simd_op::number_extremes,
                                    type_of<T>(), type_of<T>(), items, n);
      const auto same = [](T a, T b) {
        return !stands_before(a, b, false, true) && !stands_before(b, a, false, true);
      };
      EXPECT_TRUE(same(got.least, least)) << what << ": " << as_double(got.least);
      EXPECT_TRUE(same(got.greatest, greatest)) << what << ": " << as_double(got.greatest);
    }
  });
}

TEST(WholeFolds, Extremes) {
  finds_extremes<std::int8_t>();
  finds_extremes<std::uint8_t>();
  finds_extremes<std::int16_t>();
  finds_extremes<std::uint16_t>();
  finds_extremes<std::int32_t>();
  finds_extremes<std::uint32_t>();
  finds_extremes<std::int64_t>();
  finds_extremes<std::uint64_t>();
  finds_extremes<half>();
  finds_extremes<bfloat16>();
  finds_extremes<float>();
  finds_extremes<double>();
}

// Through reduce(), where threads share a range, and one early item settles it.
template <class T>
void threads_agree() {
  std::mt19937_64 random(seed());
  const std::int64_t block = (std::int64_t{1} << 17) / static_cast<std::int64_t>(sizeof(T));
  for (const std::int64_t n : {8 * block - 1, 8 * block, 8 * block + 1, 11 * block + 5}) {
    for (int kind = 0; kind < values_of<T>::kinds; ++kind) {
      const auto x = values_of<T>::make(kind, static_cast<std::size_t>(n), random);
      const host_executor four(4);
      std::int64_t count = 0;
      std::size_t least = 0;
      std::size_t greatest = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        count += is_true(x[i]) ? 1 : 0;
        if (stands_before(x[i], x[least], false, true)) least = i;
        if (stands_before(x[i], x[greatest], true, true)) greatest = i;
      }
      EXPECT_EQ(reduce(four, x, reducers::any{}), count != 0) << n << ", kind " << kind;
      EXPECT_EQ(reduce(four, x, reducers::all{}), count == n) << n << ", kind " << kind;
      EXPECT_EQ(reduce(four, x, reducers::none{}), count == 0) << n << ", kind " << kind;
      EXPECT_EQ(reduce(four, x, reducers::arg_min<>{}).index, static_cast<std::int64_t>(least));
      EXPECT_EQ(reduce(four, x, reducers::arg_max<>{}).index, static_cast<std::int64_t>(greatest));
      const auto ends = reduce(four, x, reducers::minmax<>{});
      EXPECT_FALSE(stands_before(ends.min, x[least], false, true));
      EXPECT_FALSE(stands_before(ends.max, x[greatest], true, true));
    }
  }
}

TEST(WholeFolds, ThreadsAgree) {
  threads_agree<std::int8_t>();
  threads_agree<std::int32_t>();
  threads_agree<std::int64_t>();
  threads_agree<float>();
  threads_agree<double>();
}

}  // namespace
}  // namespace tilefold::test
