// SPDX-License-Identifier: Apache-2.0
//
// The best k elements on a GPU, where warps share lists, against a sort: rising and falling data,
// of which every element or none is taken, equal elements, NaNs and both zeros; sizes around rows,
// tiles and blocks; every width of a list.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/top_k.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "cases.hpp"
#include "places.hpp"

namespace tilefold::test {
namespace {

using sizes = std::vector<std::int64_t>;

// The k best of x by a sort, as bits_of() shows them; and of shorter ranges fewer.
template <class T>
std::string best_by_sort(const std::vector<T>& x, std::int64_t k, bool largest, nan_rule rule) {
  std::vector<std::int64_t> places(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  const auto item = [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  k = std::min(k, static_cast<std::int64_t>(x.size()));
  std::partial_sort(places.begin(), places.begin() + k, places.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      if (chosen_before<T>(item(a), item(b), largest, rule)) return true;
                      if (chosen_before<T>(item(b), item(a), largest, rule)) return false;
                      return a < b;
                    });
  std::string bytes = bits_of(k);
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t place = places[static_cast<std::size_t>(i)];
    bytes += bits_of(detail::canonical(item(place))) + bits_of(place);
  }
  return bytes;
}

enum class course { random, few_values, equal, rising, falling, sawtooth };

template <class T>
std::vector<T> make_course(course c, std::int64_t n) {
  constexpr std::int64_t tooth = 4096;
  bit_stream random(seed());
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t value = 7;
    if (c == course::random) value = random.below(1 << 24);
    if (c == course::few_values) value = random.below(9);
    if (c == course::rising) value = i;
    if (c == course::falling) value = n - i;
    // Falls within each run, and each run stands above those before it.
    if (c == course::sawtooth) value = i / tooth * tooth + (tooth - 1 - i % tooth);
    x.push_back(static_cast<T>(value));
  }
  return x;
}

template <class T>
class TopK : public ::testing::Test {
 protected:
  // reduce() in the default policy and in others, from aligned memory and behind it.
  template <int K, nan_rule Rule>
  void expect_best(const std::vector<T>& x) {
    const auto n = static_cast<std::int64_t>(x.size());
    const auto most = best_by_sort(x, K, true, Rule);
    const auto least = best_by_sort(x, K, false, Rule);
    gpu_array<T> device(n + 3);
    for (const std::int64_t shift : {0, 1, 3}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", shift = " + std::to_string(shift) +
                   ", k = " + std::to_string(K));
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(bits_of(tilefold::reduce(exec_, first, first + n, r::top_k<K, Rule>{})), most);
      ASSERT_EQ(bits_of(tilefold::reduce(exec_, first, first + n, r::bottom_k<K, Rule>{})), least);
    }
  }

  cuda_executor exec_;
};

// ---- floats: every pattern, every width of a list

using TopKOfFloats = TopK<float>;

TEST_F(TopKOfFloats, AreThoseOfASortAtEverySize) {
  for (const std::int64_t n :
       sizes{1,     2,     7,     8,     9,     31,    32,    33,    63,
             65,    511,   512,   513,   1023,  1024,  1025,  4097,  16383,
             16384, 16385, 16387, 16400, 32767, 32768, 32772, 49153, 100003}) {
    expect_best<8, nan_rule::propagate>(make_items<float>(pattern::any_bits, n, seed()));
    expect_best<8, nan_rule::ignore>(make_items<float>(pattern::many_nans, n, seed()));
    if (HasFatalFailure()) return;
  }
}

TEST_F(TopKOfFloats, AreThoseOfASortForEveryPattern) {
  for (const pattern p : reducer_patterns<float>()) {
    SCOPED_TRACE(name_of(p));
    for (const std::int64_t n : sizes{5, 3000, 70001}) {
      const auto x = make_items<float>(p, n, seed());
      expect_best<5, nan_rule::propagate>(x);
      expect_best<32, nan_rule::ignore>(x);
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(TopKOfFloats, AreThoseOfASortForEveryCourse) {
  for (const course c : {course::random, course::few_values, course::equal, course::rising,
                         course::falling, course::sawtooth}) {
    SCOPED_TRACE("course " + std::to_string(static_cast<int>(c)));
    for (const std::int64_t n : sizes{40, 16384, 33000, 600011}) {
      const auto x = make_course<float>(c, n);
      expect_best<1, nan_rule::propagate>(x);
      expect_best<8, nan_rule::propagate>(x);
      expect_best<32, nan_rule::propagate>(x);
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(TopKOfFloats, AreThoseOfASortForEveryWidth) {
  for (const std::int64_t n : sizes{1, 2, 3, 16, 17, 20011, 150000}) {
    const auto x = make_items<float>(pattern::mixed, n, seed());
    expect_best<2, nan_rule::propagate>(x);
    expect_best<3, nan_rule::propagate>(x);
    expect_best<17, nan_rule::propagate>(x);
    expect_best<31, nan_rule::propagate>(x);
    if (HasFatalFailure()) return;
  }
}

// Zeros of both signs at the bound of a list that is full of zeros, at the end of the data.
TEST_F(TopKOfFloats, TellZerosApart) {
  std::vector<float> x(50000, -1.0f);
  for (const std::size_t i : {3, 20000, 33000, 49999}) x[i] = -0.0f;
  for (const std::size_t i : {17, 25000, 49998}) x[i] = 0.0f;
  expect_best<2, nan_rule::propagate>(x);
  expect_best<5, nan_rule::propagate>(x);
  for (float& item : x) item = -item;
  expect_best<5, nan_rule::propagate>(x);
}

// NaN's place is before or behind infinity's, wherever it appears and whatever its bits.
TEST_F(TopKOfFloats, PlaceNaNBeyondInfinity) {
  for (const float nan :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {0, 16384, 40000, 59999}) {
      std::vector<float> x(60000, 1.0f);
      x[place] = nan;
      x[30000] = std::numeric_limits<float>::infinity();
      x[20] = -std::numeric_limits<float>::infinity();
      expect_best<2, nan_rule::propagate>(x);
      expect_best<2, nan_rule::ignore>(x);
      if (HasFatalFailure()) return;
    }
  }
}

struct twice {
  TILEFOLD_HD float operator()(float x) const { return 2 * x; }
};

TEST_F(TopKOfFloats, OfWhatAFunctionMakes) {
  for (const std::int64_t n : sizes{7, 90001}) {
    const auto x = make_items<float>(pattern::many_nans, n, seed());
    std::vector<float> doubled;
    for (const float item : x) doubled.push_back(2 * item);
    const gpu_array<float> device(x);
    EXPECT_EQ(bits_of(tilefold::transform_reduce(exec_, device.begin(), device.end(), r::top_k<4>{},
                                                 twice{})),
              best_by_sort(doubled, 4, true, nan_rule::propagate));
  }
}

TEST_F(TopKOfFloats, InEveryPolicy) {
  const auto expect = [&](auto exec, const std::vector<float>& x) {
    const gpu_array<float> device(x);
    for (const std::int64_t shift : {0, 1}) {
      const std::vector<float> rest(x.begin() + shift, x.end());
      EXPECT_EQ(
          bits_of(tilefold::reduce(exec, device.begin() + shift, device.end(), r::top_k<5>{})),
          best_by_sort(rest, 5, true, nan_rule::propagate));
    }
  };
  for (const std::int64_t n : sizes{2, 100, 9000, 70000}) {
    const auto x = make_items<float>(pattern::any_bits, n, seed());
    expect(with_policy<tile_policy{32, 1}>(exec_), x);
    expect(with_policy<tile_policy{64, 4}>(exec_), x);
    expect(with_policy<tile_policy{256, 64}>(exec_), x);
    expect(with_policy<tile_policy{1024, 8}>(exec_), x);
  }
}

// The counter of one launch is zero for the next one, whatever their sizes.
TEST_F(TopKOfFloats, OfLaunchesInARow) {
  const auto x = make_items<float>(pattern::mixed, 300000, seed());
  const gpu_array<float> device(x);
  const sizes lengths{300000, 5, 40000, 300000, 16384, 100000};
  gpu_array<r::best_elements<float, 3>> out(static_cast<std::int64_t>(lengths.size()));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    reduce_into(exec_, device.begin(), device.begin() + lengths[i], out.data() + i, r::top_k<3>{});
  }
  exec_.synchronize();
  const auto lists = out.to_host();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::vector<float> some(x.begin(), x.begin() + lengths[i]);
    EXPECT_EQ(bits_of(lists[i]), best_by_sort(some, 3, true, nan_rule::propagate)) << lengths[i];
  }
}

// What workspace_bytes() tells is enough.
TEST_F(TopKOfFloats, NeedTheWorkspaceOfAnyFold) {
  const auto x = make_course<float>(course::random, 3000000);
  const gpu_array<float> device(x);
  gpu_array<r::best_elements<float, 8>> out(1);
  gpu_array<r::best_elements<float, 1>> out_of_one(1);
  for (const std::int64_t n : sizes{16384, 16385, 40000, 300000, 2097152, 2097153, 3000000}) {
    cuda_executor exec;
    exec.reserve(cuda_executor::workspace_bytes(n, 4, 8 * 16));
    const std::int64_t reserved = exec.workspace_bytes();
    reduce_into(exec, device.begin(), device.begin() + n, out.data(), r::top_k<8>{});
    EXPECT_EQ(exec.workspace_bytes(), reserved) << n;
    cuda_executor other;
    other.reserve(cuda_executor::workspace_bytes(n, 4, 16));
    const std::int64_t reserved_for_one = other.workspace_bytes();
    reduce_into(other, device.begin(), device.begin() + n, out_of_one.data(), r::top_k<1>{});
    EXPECT_EQ(other.workspace_bytes(), reserved_for_one) << n;
  }
}

// ---- other values

template <class T>
class TopKOf : public TopK<T> {};
using values = ::testing::Types<double, half, std::uint8_t, std::int64_t>;
TYPED_TEST_SUITE(TopKOf, values);

TYPED_TEST(TopKOf, AreThoseOfASort) {
  for (const std::int64_t n : sizes{1, 9, 1000, 16385, 65537, 200003}) {
    this->template expect_best<8, nan_rule::propagate>(
        make_items<TypeParam>(pattern::any_bits, n, seed()));
    this->template expect_best<8, nan_rule::propagate>(make_course<TypeParam>(course::rising, n));
    if (this->HasFatalFailure()) return;
  }
}

// Numbers of more than one word, which are compared as they are.
struct version {
  std::int32_t major, minor;
  TILEFOLD_HD friend bool operator<(const version& a, const version& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

TEST(TopKOfStructs, AreThoseOfASort) {
  cuda_executor exec;
  bit_stream random(seed());
  std::vector<version> x;
  for (int i = 0; i < 100003; ++i) {
    x.push_back({static_cast<std::int32_t>(random.below(300)) - 20,
                 static_cast<std::int32_t>(random.below(50))});
  }
  std::vector<std::int64_t> places(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    return x[static_cast<std::size_t>(b)] < x[static_cast<std::size_t>(a)];
  });
  const gpu_array<version> device(x);
  const auto best = tilefold::reduce(exec, device.begin(), device.end(), r::top_k<2>{});
  ASSERT_EQ(best.size(), 2);
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(best[i].index, places[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(best[i].value.minor, x[static_cast<std::size_t>(best[i].index)].minor);
  }
}

// ---- for compute-sanitizer

TEST(SanitizeTopK, ReadsWhatThereIs) {
  cuda_executor exec;
  for (const std::int64_t n : sizes{1, 31, 1000, 16400, 50000}) {
    for (const std::int64_t shift : {0, 1}) {
      const auto x = make_course<float>(course::sawtooth, n);
      gpu_array<float> device(n + shift);
      // Aligned loads take what stands before the range, too.
      must(cudaMemset(device.data(), 0, static_cast<std::size_t>(n + shift) * sizeof(float)));
      device.assign(x.data(), n, shift);
      const float* first = device.data() + shift;
      for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(bits_of(tilefold::reduce(exec, first, first + n, r::top_k<3>{})),
                  best_by_sort(x, 3, true, nan_rule::propagate));
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
