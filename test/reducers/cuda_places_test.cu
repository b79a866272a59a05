// SPDX-License-Identifier: Apache-2.0
//
// Where the least and the greatest element stand, on a GPU, where a tile's values are compared
// without their indices first and warps share what they have found: against a search in order, with
// equal elements in every part of a tile, NaNs, both zeros, and data of which every tile or none
// finds something; long ranges, and shorter ones under policies of small tiles. The first and the
// last of equal ones, against std.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "cases.hpp"
#include "places.hpp"
#include "ties.hpp"

namespace tilefold::test {

// Compared as it is.
struct version {
  std::int32_t major, minor;
  TILEFOLD_HD friend bool operator<(const version& a, const version& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

namespace {

using sizes = std::vector<std::int64_t>;

// Tiles of 512 items, of which a warp has half and a lane two packets, and a range of which each
// block has several.
constexpr tile_policy small{64, 8};
constexpr std::int64_t tile = small.tile();
constexpr std::int64_t several_tiles = 100'003;
// The least range of floats that is not a short one, and one of which each block of a GPU with a
// hundred SMs or so has several tiles.
constexpr std::int64_t long_range = (std::int64_t{1} << 21) + 1;
template <class T>
constexpr std::int64_t longer_range = (std::int64_t{18} << 20) / sizeof(T) + 11;

template <class T>
std::int64_t search(const std::vector<T>& x, bool largest, nan_rule rule) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (chosen_before<T>(x[i], x[found], largest, rule)) found = i;
  }
  return static_cast<std::int64_t>(found);
}

/// As bits_of() shows a place of x.
template <class T>
std::string place_bits(const std::vector<T>& x, std::int64_t place) {
  return bits_of(detail::canonical(T(x[static_cast<std::size_t>(place)]))) + bits_of(place);
}

template <nan_rule Rule, class T>
std::string places_of(const std::vector<T>& x) {
  return place_bits(x, search(x, false, Rule)) + place_bits(x, search(x, true, Rule));
}

template <nan_rule Rule, class Exec, class T>
std::string found_places(Exec&& exec, const T* first, std::int64_t n) {
  return bits_of(tilefold::reduce(exec, first, first + n, r::arg_minmax<Rule>{}));
}

/// From aligned memory and behind it; in small tiles, long ranges by default.
template <nan_rule Rule, class T>
void expect_places(const std::vector<T>& x) {
  cuda_executor exec;
  const auto n = static_cast<std::int64_t>(x.size());
  const std::string expected = places_of<Rule>(x);
  gpu_array<T> device(n + 3);
  for (const std::int64_t shift : {0, 1, 3}) {
    SCOPED_TRACE("n = " + std::to_string(n) + ", shift = " + std::to_string(shift));
    device.assign(x.data(), n, shift);
    const T* first = device.data() + shift;
    if (n > several_tiles) {
      ASSERT_EQ(found_places<Rule>(exec, first, n), expected);
    } else {
      ASSERT_EQ(found_places<Rule>(with_policy<small>(exec), first, n), expected);
    }
  }
}

/// The same under both rules.
void expect_places_of_floats(const std::vector<float>& x) {
  expect_places<nan_rule::propagate>(x);
  expect_places<nan_rule::ignore>(x);
}

enum class course { few_values, equal, rising, falling, sawtooth };

template <class T>
std::vector<T> make_course(course c, std::int64_t n) {
  constexpr std::int64_t tooth = 4096;
  bit_stream random(seed());
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t value = 7;
    if (c == course::few_values) value = random.below(3);
    if (c == course::rising) value = i;
    if (c == course::falling) value = n - i;
    if (c == course::sawtooth) value = i / tooth * tooth + (tooth - 1 - i % tooth);
    x.push_back(static_cast<T>(value));
  }
  return x;
}

// The corners of packets, rows, warps and tiles, of one block's next tile, of the last whole tile
// and of what is left.
sizes corners(std::int64_t n) {
  const std::int64_t turn = (n + 8191) / 8192 * tile;
  const std::int64_t end = (n - 4) / tile * tile;
  return {0,        3,    4,        7,        127,        128,          131,     255, 256,
          tile - 1, tile, turn - 1, turn + 4, turn + 128, 3 * turn + 5, end - 1, end, n - 1};
}

TEST(CudaPlaces, OfEqualElementsAreTheFirst) {
  cuda_executor exec;
  std::vector<float> x(several_tiles, 1.0f);
  gpu_array<float> device(x);
  const auto put = [&](std::int64_t i, float value) {
    x[static_cast<std::size_t>(i)] = value;
    device.assign(&value, 1, i);
  };
  const sizes places = corners(several_tiles);
  for (const std::int64_t a : places) {
    for (const std::int64_t b : places) {
      if (a >= b) continue;
      SCOPED_TRACE(std::to_string(a) + " and " + std::to_string(b));
      for (const float value : {0.5f, 2.0f, NAN}) {
        put(a, value);
        put(b, value);
        const auto narrow = with_policy<small>(exec);
        ASSERT_EQ(found_places<nan_rule::propagate>(narrow, device.data(), several_tiles),
                  places_of<nan_rule::propagate>(x));
        ASSERT_EQ(found_places<nan_rule::ignore>(narrow, device.data(), several_tiles),
                  places_of<nan_rule::ignore>(x));
      }
      if (HasFatalFailure()) return;
      put(a, 1.0f);
      put(b, 1.0f);
    }
  }
}

TEST(CudaPlaces, AreFoundWhereverTheyAre) {
  cuda_executor exec;
  auto narrow = with_policy<tile_policy{32, 1}>(exec);
  const std::vector<float> x(several_tiles, 1.0f);
  gpu_array<float> device(x);
  const float one = 1.0f;
  const float least = -0.0f;
  for (std::int64_t i = 0; i < several_tiles; i += i < 3 * tile ? 1 : 997) {
    device.assign(&least, 1, i);
    for (const std::int64_t shift : {0, 1}) {
      if (i < shift) continue;
      float* first = device.data() + shift;
      ASSERT_EQ(reduce(with_policy<small>(exec), first, device.end(), r::arg_min{}).index,
                i - shift);
      ASSERT_EQ(reduce(narrow, first, device.end(), r::arg_min{}).index, i - shift);
    }
    device.assign(&one, 1, i);
  }
}

TEST(CudaPlaces, AreThoseOfASearchForEveryPattern) {
  for (const pattern p : reducer_patterns<float>()) {
    SCOPED_TRACE(name_of(p));
    for (const std::int64_t n : {several_tiles, longer_range<float>}) {
      const auto x = make_items<float>(p, n, seed());
      expect_places_of_floats(x);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(CudaPlaces, AreThoseOfASearchForEveryCourse) {
  for (const course c :
       {course::few_values, course::equal, course::rising, course::falling, course::sawtooth}) {
    SCOPED_TRACE("course " + std::to_string(static_cast<int>(c)));
    for (const std::int64_t n : {several_tiles, longer_range<float>}) {
      expect_places_of_floats(make_course<float>(c, n));
    }
    if (HasFatalFailure()) return;
  }
}

TEST(CudaPlaces, OfNothingButNaN) {
  for (const std::int64_t n : {several_tiles, longer_range<float>}) {
    std::vector<float> x(static_cast<std::size_t>(n), NAN);
    expect_places_of_floats(x);
    // And one number.
    for (const std::int64_t place : {std::int64_t{5}, n / 2, n - 1}) {
      auto y = x;
      y[static_cast<std::size_t>(place)] = INFINITY;
      expect_places_of_floats(y);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(CudaPlaces, TellZerosApart) {
  for (const float ordinary : {-1.0f, 1.0f}) {
    std::vector<float> x(several_tiles, ordinary);
    for (const std::size_t i : {3, 20'000, 33'000, 99'999}) x[i] = -0.0f;
    for (const std::size_t i : {2, 17, 25'000, 100'002}) x[i] = 0.0f;
    expect_places_of_floats(x);
  }
}

// Each of the two alone, as min_element() and max_element() ask for it.
TEST(CudaPlaces, OfLongRangesOneByOne) {
  for (const std::int64_t n :
       {long_range - 1, long_range, long_range + 8191, std::int64_t{3'000'003}}) {
    const auto x = make_items<float>(pattern::any_bits, n, seed());
    const gpu_array<float> device(x);
    EXPECT_EQ(min_element(device.begin(), device.end()) - device.begin(),
              search(x, false, nan_rule::propagate));
    EXPECT_EQ(max_element(device.begin(), device.end()) - device.begin(),
              search(x, true, nan_rule::propagate));
  }
}

TEST(CudaPlaces, OfVersions) {
  bit_stream random(seed());
  std::vector<version> x;
  for (std::int64_t i = 0; i < several_tiles; ++i) {
    x.push_back({static_cast<std::int32_t>(random.below(300)) - 20,
                 static_cast<std::int32_t>(random.below(9))});
  }
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  const auto first_greatest = std::max_element(x.begin(), x.end());
  const gpu_array<version> device(x);
  cuda_executor exec;
  const auto found =
      tilefold::reduce(with_policy<small>(exec), device.begin(), device.end(), r::arg_minmax{});
  EXPECT_EQ(found.min.index, least - x.begin());
  EXPECT_EQ(found.max.index, first_greatest - x.begin());
  EXPECT_EQ(found.max.value.minor, greatest->minor);
}

template <class T>
class CudaPlacesOf : public ::testing::Test {};
using values = ::testing::Types<double, half, std::uint8_t, std::int64_t>;
TYPED_TEST_SUITE(CudaPlacesOf, values);

TYPED_TEST(CudaPlacesOf, AreThoseOfASearch) {
  for (const pattern p : patterns_of<TypeParam>()) {
    SCOPED_TRACE(name_of(p));
    expect_places<nan_rule::propagate>(make_items<TypeParam>(p, several_tiles, seed()));
  }
  for (const course c : {course::few_values, course::rising, course::falling}) {
    SCOPED_TRACE("course " + std::to_string(static_cast<int>(c)));
    expect_places<nan_rule::propagate>(make_course<TypeParam>(c, several_tiles));
    expect_places<nan_rule::propagate>(make_course<TypeParam>(c, longer_range<TypeParam>));
  }
}

TEST(CudaPlaces, SanitizeSearches) {
  cuda_executor exec;
  for (const course c : {course::falling, course::sawtooth}) {
    const auto x = make_course<float>(c, 40'003);
    gpu_array<float> device(40'004);
    // Aligned loads take what stands before the range, too.
    must(cudaMemset(device.data(), 0, 40'004 * sizeof(float)));
    device.assign(x.data(), 40'003, 1);
    EXPECT_EQ(
        found_places<nan_rule::propagate>(with_policy<small>(exec), device.data() + 1, 40'003),
        places_of<nan_rule::propagate>(x));
  }
}

// ---- the first and the last of equal ones, against std

template <class T>
class CudaTies : public ::testing::Test {
 protected:
  void expect_places_of_std(const std::vector<T>& x) {
    const auto n = static_cast<std::int64_t>(x.size());
    const auto expected = places_by_std(x);
    gpu_array<T> device(n + 1);
    for (const std::int64_t shift : {0, 1}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", shift = " + std::to_string(shift));
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(places_by_pairs(exec_, first, n), expected);
      ASSERT_EQ(places_by_pairs(with_policy<small>(exec_), first, n), expected);
    }
  }

  cuda_executor exec_;
};
using tied_values = ::testing::Types<float, std::uint8_t>;
TYPED_TEST_SUITE(CudaTies, tied_values);

TYPED_TEST(CudaTies, AreThoseOfStd) {
  for (const std::int64_t n : {1, 2, 33, 255, 1000, 4097, 100003, 3000003}) {
    for (const std::int64_t kinds : {1, 2, 100}) {
      this->expect_places_of_std(items_with_ties<TypeParam>(n, kinds, seed()));
    }
  }
}

// One equal pair, in every corner of lanes, rows, warps and tiles.
TYPED_TEST(CudaTies, OfTwoAreTheOneAskedFor) {
  constexpr std::int64_t n = 20011;
  for (const std::int64_t a : {0, 3, 4, 127, 128, 255, 511, 512, 4095, 8192, 19999}) {
    for (const std::int64_t b : {1, 5, 129, 256, 510, 513, 4096, 10000, 20010}) {
      auto x = items_with_ties<TypeParam>(n, 50, seed());
      for (const std::int64_t i : {a, b}) x[static_cast<std::size_t>(i)] = 100;
      this->expect_places_of_std(x);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(CudaTiesOfFloats, OfVerbsAndSegmentsAreThoseOfStd) {
  const auto x = items_with_ties<float>(70001, 3, seed());
  const gpu_array<float> device(x);
  const auto expected = places_by_std(x);
  EXPECT_EQ(min_element(device.begin(), device.end(), last_of_equal) - device.begin(), expected[1]);
  EXPECT_EQ(max_element(device.begin(), device.end(), last_of_equal) - device.begin(), expected[3]);
  const auto both = minmax_element(device.begin(), device.end(), first_of_equal, last_of_equal);
  EXPECT_EQ(both.first - device.begin(), expected[0]);
  EXPECT_EQ(both.second - device.begin(), expected[3]);

  const std::vector<std::int64_t> offsets{0, 1, 300, 301, 60000, 70001};
  const gpu_array<std::int64_t> device_offsets(offsets);
  gpu_array<r::indexed_extremes<float>> found(5);
  tilefold::segmented_reduce(device.data(), device_offsets.data(), 5, found.data(),
                             if_empty(first_and_last{}, r::indexed_extremes<float>{}));
  const auto places = found.to_host();
  for (std::size_t s = 0; s < 5; ++s) {
    const auto by_std =
        places_by_std(std::vector<float>(x.begin() + offsets[s], x.begin() + offsets[s + 1]));
    EXPECT_EQ(places[s].min.index, by_std[0]) << s;
    EXPECT_EQ(places[s].max.index, by_std[3]) << s;
  }
}

}  // namespace
}  // namespace tilefold::test
