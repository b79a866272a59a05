// SPDX-License-Identifier: Apache-2.0
//
// The C interface, from a program that links libtilefold as anybody's would. What segments, axes
// and runs give is compared with ranges; what ranges give, with the templates (templates_test.cpp,
// and some here).
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>
#include <tilefold/precompiled.hpp>
#include <tilefold/tilefold.hpp>

#include "c_interface.hpp"
#include "conformance/conformance.hpp"
#include "support/float_mode.hpp"
#include "support/items.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

constexpr tilefold_dtype int32_code{TILEFOLD_INT, 32, 1};
constexpr tilefold_dtype int64_code{TILEFOLD_INT, 64, 1};

TYPED_TEST_SUITE(CInterfaceOf, real_types);

TYPED_TEST(CInterfaceOf, CountsAndSummarises) {
  using T = TypeParam;
  for (const std::int64_t n : sizes) {
    std::vector<T> x = items_of<T>(n);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = T(0);
    std::int64_t count = 0;
    const auto real = [](T item) {
      if constexpr (is_narrow_float<T>) {
        return static_cast<double>(static_cast<float>(item));
      } else {
        return static_cast<double>(item);
      }
    };
    for (const T item : x) count += real(item) != 0 ? 1 : 0;
    EXPECT_EQ(this->template reduced<std::int64_t>("count_nonzero", x), count) << n;
    const auto found = this->template reduced<precompiled::summary_of_items>("summary", x);
    EXPECT_EQ(found.count, static_cast<double>(n));
    EXPECT_TRUE(same_bits(found.mean, this->template reduced<double>("mean", x))) << n;
    EXPECT_TRUE(same_bits(found.variance, this->template reduced<double>("variance", x))) << n;
    EXPECT_TRUE(same_bits(found.population_variance,
                          this->template reduced<double>("population_variance", x)))
        << n;
    const T least = this->template reduced<T>("min", x);
    const T greatest = this->template reduced<T>("max", x);
    EXPECT_EQ(found.min, real(least));
    EXPECT_EQ(found.max, real(greatest));
  }
}

TYPED_TEST(CInterfaceOf, BitOperationsKeepTheTypeOfTheirItems) {
  using T = TypeParam;
  for (const char* op : {"bit_and", "bit_or", "bit_xor"}) {
    tilefold_dtype result{};
    const tilefold_status status = tilefold_result(op, code<T>, &result, nullptr);
    if constexpr (std::is_integral_v<T>) {
      must(status);
      EXPECT_EQ(result.code, code<T>.code) << op;
      EXPECT_EQ(result.bits, code<T>.bits) << op;
    } else {
      EXPECT_EQ(status, TILEFOLD_UNSUPPORTED) << op;
    }
  }
}

// Rows with gaps are copied block by block, of 128 KiB; a block ends in the middle of a row. With
// step 1, items of 4 and 8 bytes fill as many blocks as it takes for threads to share them.
TYPED_TEST(CInterfaceOf, RowsWithGapsHaveTheBitsOfRowsWithout) {
  using T = TypeParam;
  const auto x = items_of<T>(251 * 39 * 31);
  const std::vector<std::int32_t> axes{0, 1, 2};
  for (const std::int64_t step : {1, -1, 2}) {
    const std::int64_t extents[] = {sizeof(T) >= 4 && step != 1 ? 61
                                    : sizeof(T) == 4            ? 251
                                                                : 151,
                                    37, 29};
    const std::int64_t strides[] = {39 * 31, 31, step};
    const std::int64_t start = step < 0 ? 28 : 0;
    std::vector<T> row;
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      for (std::int64_t j = 0; j < extents[1]; ++j) {
        for (std::int64_t k = 0; k < extents[2]; ++k) {
          row.push_back(
              x[static_cast<std::size_t>(start + i * strides[0] + j * strides[1] + k * step)]);
        }
      }
    }
    const auto n = static_cast<std::int64_t>(row.size());
    for (int i = 0; tilefold_op_name(i) != nullptr; ++i) {
      const char* op = tilefold_op_name(i);
      tilefold_dtype type{};
      std::int32_t count = 0;
      if (tilefold_result(op, code<T>, &type, &count) != TILEFOLD_OK) continue;
      // 64 bits do not hold the sum.
      if (std::is_integral_v<T> && sizeof(T) == 8 && op == std::string("exact_sum")) continue;
      const auto size = static_cast<std::size_t>(type.bits / 8 * count);
      std::vector<unsigned char> expected(size), got(size, 0xee);
      must(tilefold_reduce(this->host_, op, row.data(), code<T>, n, expected.data()));
      must(tilefold_axis_reduce(this->host_, op, x.data() + start, code<T>, 3, extents, strides, 3,
                                axes.data(), got.data(), nullptr));
      EXPECT_EQ(got, expected) << op << ", step " << step;
    }
  }
}

// Those of integers are made of sums in 64 bits. Some are the least or greatest number of the type.
TYPED_TEST(CInterfaceOf, MeansOfColumnsHaveTheBitsOfRanges) {
  using T = TypeParam;
  for (const std::int64_t rows : {1, 2, 37, 1001}) {
    const std::int64_t columns = 45;
    std::vector<T> x = items_of<T>(rows * columns);
    if constexpr (std::is_integral_v<T>) {
      for (std::int64_t i = 0; i < rows; ++i) {
        x[static_cast<std::size_t>(i * columns + 3)] = std::numeric_limits<T>::max();
        x[static_cast<std::size_t>(i * columns + 4)] = std::numeric_limits<T>::min();
      }
    }
    const std::int64_t extents[] = {rows, columns};
    const std::int32_t axis = 0;
    std::vector<double> got(static_cast<std::size_t>(columns));
    must(tilefold_axis_reduce(this->host_, "mean", x.data(), code<T>, 2, extents, nullptr, 1, &axis,
                              got.data(), nullptr));
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<T> column;
      for (std::int64_t i = 0; i < rows; ++i) {
        column.push_back(x[static_cast<std::size_t>(i * columns + c)]);
      }
      EXPECT_TRUE(same_bits(got[static_cast<std::size_t>(c)],
                            this->template reduced<double>("mean", column)))
          << rows << " rows, column " << c;
    }
  }
}

#if defined(TILEFOLD_TEST_FLOAT_MODES)
// A library that is built with -ffast-math sets such modes when it is loaded.
TEST_F(CInterface, HasTheSameBitsInEveryModeOfTheProcessor) {
  std::vector<float> items(300000);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = i / 64 % 2 == 0
                   ? static_cast<float>(i % 9) * std::numeric_limits<float>::denorm_min()
                   : 1.0f / static_cast<float>(i);
  }
  const std::vector<float> tiny(items.begin(), items.begin() + 64);
  const auto sum = reduced<float>("sum", items), tiny_sum = reduced<float>("sum", tiny);
  const auto mean = reduced<double>("mean", items);
  const auto l2 = reduced<double>("l2", tiny);
  ASSERT_NE(tiny_sum, 0.0f);
  const tilefold_dtype f32 = code<float>;
  for (const control_bits mode : {as_started | flush_to_zero | denormals_are_zero,
                                  as_started | round_upward, as_started | round_toward_zero}) {
    float rows[2] = {}, of_parts = 0;
    tilefold_piece *whole = nullptr, *rest = nullptr;
    {
      const float_mode set(mode);
      EXPECT_EQ(reduced<float>("sum", items), sum);
      EXPECT_EQ(reduced<double>("mean", items), mean);
      EXPECT_EQ(reduced<double>("l2", tiny), l2);
      must(tilefold_segmented_reduce_equal(host_, "sum", tiny.data(), f32, 2, 32, rows));
      must(tilefold_piece_create("sum", f32, 0, &whole));
      must(tilefold_piece_create("sum", f32, 40, &rest));
      must(tilefold_piece_append(whole, host_, tiny.data(), 40));
      must(tilefold_piece_append(rest, host_, tiny.data() + 40, 24));
      must(tilefold_piece_merge(whole, rest));
      must(tilefold_piece_value(whole, &of_parts));
      EXPECT_EQ(control_bits_now(), mode);
    }
    tilefold_piece_destroy(whole);
    tilefold_piece_destroy(rest);
    EXPECT_EQ(reduced<float>("sum", std::vector<float>(rows, rows + 2)), tiny_sum);
    EXPECT_EQ(of_parts, tiny_sum);
  }
}
#endif

std::vector<std::string> all_ops() {
  std::vector<std::string> ops;
  for (int i = 0; tilefold_op_name(i) != nullptr; ++i) ops.emplace_back(tilefold_op_name(i));
  return ops;
}

int result_bytes(const std::string& op, tilefold_dtype type) {
  tilefold_dtype result{};
  std::int32_t count = 0;
  if (tilefold_result(op.c_str(), type, &result, &count) != TILEFOLD_OK) return 0;
  return result.bits / 8 * count;
}

TEST_F(CInterface, KnowsBoolsAndComplexNumbers) {
  const std::vector<std::uint8_t> bools{1, 0, 1, 1};
  const tilefold_dtype bool_code{TILEFOLD_BOOL, 8, 1};
  std::int64_t count = 0;
  must(tilefold_reduce(host_, "sum", bools.data(), bool_code, 4, &count));
  EXPECT_EQ(count, 3);
  must(tilefold_reduce(host_, "count_nonzero", bools.data(), bool_code, 4, &count));
  EXPECT_EQ(count, 3);
  bool answer = true;
  must(tilefold_reduce(host_, "all", bools.data(), bool_code, 4, &answer));
  EXPECT_FALSE(answer);
  // Of bool: the least is whether all are, the greatest whether any is.
  for (const std::vector<std::uint8_t>& row :
       {bools, std::vector<std::uint8_t>(1000, 1), std::vector<std::uint8_t>(1000, 0), {}}) {
    const auto n = static_cast<std::int64_t>(row.size());
    const std::uint8_t all = std::ranges::count(row, 0) == 0;
    const std::uint8_t any = std::ranges::count(row, 1) != 0;
    std::uint8_t least = 7, greatest = 7, both[2] = {7, 7}, of_two[4] = {7, 7, 7, 7};
    must(tilefold_reduce(host_, "min", row.data(), bool_code, n, &least));
    must(tilefold_reduce(host_, "max", row.data(), bool_code, n, &greatest));
    must(tilefold_reduce(host_, "minmax", row.data(), bool_code, n, both));
    EXPECT_EQ(least, all);
    EXPECT_EQ(greatest, any);
    EXPECT_EQ(both[0], all);
    EXPECT_EQ(both[1], any);
    must(tilefold_segmented_reduce_equal(host_, "minmax", row.data(), bool_code, 1, n, of_two));
    EXPECT_EQ(of_two[0], all);
    EXPECT_EQ(of_two[1], any);
    EXPECT_EQ(of_two[2], 7);
  }
  // Any byte but 0 is true.
  const std::vector<std::uint8_t> odd{0, 1, 2, 255}, plain{0, 1, 1, 1};
  for (const std::string& op : all_ops()) {
    const int bytes = result_bytes(op, bool_code);
    if (bytes == 0) continue;
    std::vector<unsigned char> got(static_cast<std::size_t>(bytes)), expected = got;
    must(tilefold_reduce(host_, op.c_str(), odd.data(), bool_code, 4, got.data()));
    must(tilefold_reduce(host_, op.c_str(), plain.data(), bool_code, 4, expected.data()));
    EXPECT_EQ(got, expected) << op;
  }
  std::uint8_t keys[4];
  std::int64_t counts[4], runs = 0;
  must(tilefold_reduce_by_key(host_, "sum", odd.data(), bool_code, odd.data(), bool_code, 4, keys,
                              counts, &runs));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(counts[1], 3);
  std::vector<std::complex<float>> z;
  const auto parts = items_of<float>(2000);
  for (std::size_t i = 0; i < parts.size(); i += 2) z.emplace_back(parts[i], parts[i + 1]);
  EXPECT_TRUE(same_bits(reduced<std::complex<float>>("sum", z), tilefold::reduce(z)));
  EXPECT_TRUE(
      same_bits(reduced<std::complex<float>>("product", std::vector(z.begin(), z.begin() + 9)),
                tilefold::reduce(z.begin(), z.begin() + 9, r::product{})));
  EXPECT_EQ(reduced<std::complex<float>>("product", std::vector<std::complex<float>>{}), 1.0f);
  std::complex<float> dot;
  must(tilefold_dot(host_, z.data(), z.data(), code<std::complex<float>>, 1000, &dot));
  std::vector<std::complex<float>> conjugates;
  for (const auto& value : z) conjugates.push_back(std::conj(value));
  EXPECT_TRUE(same_bits(
      dot, tilefold::transform_reduce(conjugates.begin(), conjugates.end(), z.begin(), r::dot{})));
  z.assign(3, {0.0f, -0.0f});
  EXPECT_EQ(reduced<std::int64_t>("count_nonzero", z), 0);
  z.push_back({0.0f, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(reduced<std::int64_t>("count_nonzero", z), 1);
}

TEST_F(CInterface, ExactSumsOfIntegersThat64BitsDoNotHoldAreRefused) {
  const std::vector<std::uint64_t> x{1ull << 63, 1ull << 63, 0, 5};
  std::uint64_t sums[2] = {7, 7};
  EXPECT_EQ(tilefold_reduce(host_, "exact_sum", x.data(), code<std::uint64_t>, 4, sums),
            TILEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilefold_last_error()).find("64 bits do not hold"), std::string::npos);
  EXPECT_EQ(sums[0], 7u);
  must(tilefold_reduce(host_, "exact_sum", x.data() + 1, code<std::uint64_t>, 3, sums));
  EXPECT_EQ(sums[0], (1ull << 63) + 5);
  const std::vector<std::int64_t> y{INT64_MIN, -1, 1};
  std::int64_t sum = 7;
  EXPECT_EQ(tilefold_reduce(host_, "exact_sum", y.data(), code<std::int64_t>, 2, &sum),
            TILEFOLD_INVALID_ARGUMENT);
  must(tilefold_reduce(host_, "exact_sum", y.data(), code<std::int64_t>, 3, &sum));
  EXPECT_EQ(sum, INT64_MIN);
  must(tilefold_reduce(host_, "exact_sum", y.data() + 1, code<std::int64_t>, 2, &sum));
  EXPECT_EQ(sum, 0);
}

TEST_F(CInterface, SaysOfEachSumWhether64BitsHoldIt) {
  constexpr std::int64_t most = INT64_MAX;
  const std::vector<std::int64_t> x{most, 1, -1, 5, INT64_MIN, -1};
  using results = std::vector<std::int64_t>;  // a sum and its verdict, and so on
  const std::int32_t offsets[] = {0, 2, 3, 3, 6};
  results found(8);
  must(tilefold_segmented_reduce(host_, "checked_sum", x.data(), code<std::int64_t>, 6, offsets,
                                 code<std::int32_t>, 4, found.data()));
  EXPECT_EQ(found, (results{INT64_MIN, 0, -1, 1, 0, 1, INT64_MIN + 4, 1}));
  must(tilefold_segmented_reduce_equal(host_, "checked_sum", x.data(), code<std::int64_t>, 3, 2,
                                       found.data()));
  EXPECT_EQ(found, (results{INT64_MIN, 0, 4, 1, most, 0, INT64_MIN + 4, 1}));
  const std::uint8_t keys[] = {7, 7, 7, 8, 9, 9};
  std::uint8_t keys_out[6];
  std::int64_t runs = 0;
  results by_key(12);
  must(tilefold_reduce_by_key(host_, "checked_sum", keys, code<std::uint8_t>, x.data(),
                              code<std::int64_t>, 6, keys_out, by_key.data(), &runs));
  by_key.resize(6);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(by_key, (results{most, 1, 5, 1, most, 0}));
  const std::int64_t extents[] = {3, 2};
  const std::int32_t axis = 0;
  found.resize(4);
  must(tilefold_axis_reduce(host_, "checked_sum", x.data(), code<std::int64_t>, 2, extents, nullptr,
                            1, &axis, found.data(), nullptr));
  EXPECT_EQ(found, (results{-2, 1, 5, 1}));
  tilefold_piece *left, *right;
  must(tilefold_piece_create("checked_sum", code<std::int64_t>, 0, &left));
  must(tilefold_piece_create("checked_sum", code<std::int64_t>, 2, &right));
  must(tilefold_piece_append(left, host_, x.data(), 2));
  must(tilefold_piece_append(right, host_, x.data() + 2, 1));
  results pair(2);
  must(tilefold_piece_value(left, pair.data()));
  EXPECT_EQ(pair, (results{INT64_MIN, 0}));
  must(tilefold_piece_merge(left, right));
  must(tilefold_piece_value(left, pair.data()));
  EXPECT_EQ(pair, (results{most, 1}));
  tilefold_piece_destroy(left);
  tilefold_piece_destroy(right);
  const float no_integer = 1;
  expect_error(tilefold_reduce(host_, "checked_sum", &no_integer, code<float>, 1, pair.data()),
               TILEFOLD_UNSUPPORTED, "there is no checked_sum of float32");
}

// The same as sequential_blocks(), with PyTorch's +0 in front of a sum.
TEST_F(CInterface, FoldsInTheOrderOfTorch) {
  const auto check = [&]<class T>(T) {
    using wide = std::conditional_t<is_narrow_float<T>, float, T>;
    const auto x = make_items<T>(pattern::near_one, 100001, 5);
    const auto sum = [](const auto& items) {
      return tilefold::reduce(items, wide(0), sequential_blocks<8192>(plus{}));
    };
    const auto product = [](const auto& items) {
      return tilefold::reduce(items, sequential_blocks<8192>(multiplies{}));
    };
    EXPECT_TRUE(same_bits(reduced<wide>("torch_sum", x), sum(x)));
    EXPECT_TRUE(same_bits(reduced<wide>("torch_product", x), product(x)));
    const std::int64_t offsets[] = {0, 0, 24577, 100001};
    std::vector<wide> sums(3);
    must(tilefold_segmented_reduce(host_, "torch_sum", x.data(), code<T>, 100001, offsets,
                                   code<std::int64_t>, 3, sums.data()));
    EXPECT_TRUE(same_bits(sums[0], wide(0)));
    EXPECT_TRUE(same_bits(sums[1], sum(std::vector<T>(x.begin(), x.begin() + 24577))));
    EXPECT_TRUE(same_bits(sums[2], sum(std::vector<T>(x.begin() + 24577, x.end()))));
    // 50000 rows of 2 columns.
    const std::int64_t extents[] = {50000, 2};
    const std::int32_t axis = 0;
    must(tilefold_axis_reduce(host_, "torch_sum", x.data(), code<T>, 2, extents, nullptr, 1, &axis,
                              sums.data(), nullptr));
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<T> column;
      for (std::size_t i = k; i < 100000; i += 2) column.push_back(x[i]);
      EXPECT_TRUE(same_bits(sums[k], sum(column)));
    }
  };
  check(half{});
  check(bfloat16{});
  check(float{});
  check(double{});
  tilefold_piece* piece = nullptr;
  expect_error(tilefold_piece_create("torch_sum", code<float>, 0, &piece), TILEFOLD_UNSUPPORTED,
               "there are no pieces of torch_sum");
  std::int64_t result = 0;
  expect_error(tilefold_reduce(host_, "torch_sum", &result, code<std::int64_t>, 1, &result),
               TILEFOLD_UNSUPPORTED, "there is no torch_sum of int64");
}

TEST_F(CInterface, AgreesWithItselfOnAnyNumberOfThreads) {
  const auto x = items_of<float>(1000001);
  for (const char* op : {"sum", "variance", "logsumexp", "exact_sum", "l2"}) {
    std::vector<unsigned char> results[2];
    for (const int threads : {1, 4}) {
      tilefold_executor* exec = nullptr;
      must(tilefold_host_executor(threads, &exec));
      std::vector<unsigned char>& result = results[threads == 1 ? 0 : 1];
      result.assign(16, 0);
      must(tilefold_reduce(exec, op, x.data(), code<float>, 1000001, result.data()));
      tilefold_destroy(exec);
    }
    EXPECT_EQ(results[0], results[1]) << op;
  }
}

// ---- many results: each has the bits of a range

using bytes = std::vector<unsigned char>;

class CInterfaceMany : public CInterface {
 protected:
  bytes range(const std::string& op, const float* first, std::int64_t n) {
    bytes result(static_cast<std::size_t>(result_bytes(op, code<float>)), 0xee);
    last_status_ = tilefold_reduce(host_, op.c_str(), first, code<float>, n, result.data());
    return result;
  }
  tilefold_status last_status_ = TILEFOLD_OK;
};

TEST_F(CInterfaceMany, SegmentsHaveTheBitsOfRanges) {
  const auto x = items_of<float>(200000);
  const std::vector<std::int64_t> offsets{0, 1, 1, 4, 70, 70, 1000, 1001, 160000, 200000};
  const std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
  const std::int64_t segments = static_cast<std::int64_t>(offsets.size()) - 1;
  int ops = 0;
  for (const std::string& op : all_ops()) {
    const auto size = static_cast<std::size_t>(result_bytes(op, code<float>));
    if (size == 0) continue;
    ++ops;
    bytes wide_results(size * offsets.size(), 0xee);
    bytes narrow_results = wide_results;
    must(tilefold_segmented_reduce(host_, op.c_str(), x.data(), code<float>, 200000, offsets.data(),
                                   int64_code, segments, wide_results.data()));
    must(tilefold_segmented_reduce(host_, op.c_str(), x.data(), code<float>, -1, narrow.data(),
                                   int32_code, segments, narrow_results.data()));
    EXPECT_EQ(wide_results, narrow_results) << op;
    EXPECT_EQ(bytes(wide_results.end() - static_cast<std::ptrdiff_t>(size), wide_results.end()),
              bytes(size, 0xee))
        << op << " writes behind its results";
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const bytes expected = range(op, x.data() + offsets[i], offsets[i + 1] - offsets[i]);
      const bytes got(wide_results.begin() + static_cast<std::ptrdiff_t>(i * size),
                      wide_results.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
      if (last_status_ == TILEFOLD_OK) {
        EXPECT_EQ(got, expected) << op << ", segment " << i;
      } else {
        EXPECT_EQ(last_status_, TILEFOLD_EMPTY);
        if (size == 8 && op.starts_with("arg_")) {
          std::int64_t place = 0;
          std::memcpy(&place, got.data(), 8);
          EXPECT_EQ(place, -1) << op;
        } else if (size == sizeof(float)) {
          float value = 0;
          std::memcpy(&value, got.data(), sizeof value);
          EXPECT_TRUE(std::isnan(value)) << op;
        } else {
          double value = 0;
          // The first of a summary is the count.
          std::memcpy(&value, got.data() + (op == "summary" ? 8 : 0), 8);
          EXPECT_TRUE(std::isnan(value)) << op;
        }
      }
    }
    bytes equal(size * 4);
    must(tilefold_segmented_reduce_equal(host_, op.c_str(), x.data(), code<float>, 4, 333,
                                         equal.data()));
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(bytes(equal.begin() + i * static_cast<std::ptrdiff_t>(size),
                      equal.begin() + (i + 1) * static_cast<std::ptrdiff_t>(size)),
                range(op, x.data() + 333 * i, 333))
          << op;
    }
  }
  EXPECT_GE(ops, 24);
}

TEST_F(CInterfaceMany, AxesHaveTheBitsOfRanges) {
  const std::vector<std::int64_t> extents{5, 33, 7};
  const auto layouts = {right_layout(extents), left_layout(extents), right_layout(extents, 3, 2)};
  for (const view_layout& layout : layouts) {
    const auto x = items_of<float>(layout.span());
    for (const unsigned set : {0u, 1u, 2u, 4u, 3u, 5u, 6u, 7u}) {
      std::vector<std::int32_t> reduced;
      std::vector<std::size_t> rows = axes_in(set, true, 3), columns = axes_in(set, false, 3);
      for (const std::size_t axis : rows) reduced.push_back(static_cast<std::int32_t>(axis));
      for (const char* op : {"sum", "max", "mean", "arg_max", "softmax_pair"}) {
        const auto size = static_cast<std::size_t>(result_bytes(op, code<float>));
        std::int64_t results = 1;
        for (const std::size_t axis : columns) results *= extents[axis];
        bytes out(size * static_cast<std::size_t>(results));
        must(tilefold_axis_reduce(host_, op, x.data(), code<float>, 3, extents.data(),
                                  layout.strides.data(), static_cast<std::int32_t>(reduced.size()),
                                  reduced.data(), out.data(), nullptr));
        std::size_t i = 0;
        for_each_offset(layout, columns, [&](std::int64_t column) {
          std::vector<float> gathered;
          for_each_offset(layout, rows, [&](std::int64_t row) {
            gathered.push_back(x[static_cast<std::size_t>(column + row)]);
          });
          const bytes got(out.begin() + static_cast<std::ptrdiff_t>(i * size),
                          out.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
          ASSERT_EQ(got, range(op, gathered.data(), static_cast<std::int64_t>(gathered.size())))
              << op << " of axes " << set << ", result " << i;
          ++i;
        });
      }
    }
  }
}

TEST_F(CInterface, AxesWriteWhereTheirStridesSay) {
  const std::vector<int> x{1, 2, 3, 4, 5, 6};
  const std::int64_t extents[] = {2, 3};
  const std::int32_t rows = 0;
  std::vector<std::int64_t> out(5, -1);
  const std::int64_t backwards = -2;
  must(tilefold_axis_reduce(host_, "sum", x.data(), int32_code, 2, extents, nullptr, 1, &rows,
                            out.data() + 4, &backwards));
  EXPECT_EQ(out, (std::vector<std::int64_t>{9, -1, 7, -1, 5}));
  // No axis at all: every item is a result.
  std::vector<double> means(6);
  must(tilefold_axis_reduce(host_, "mean", x.data(), int32_code, 2, extents, nullptr, 0, nullptr,
                            means.data(), nullptr));
  EXPECT_EQ(means, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  // Of nothing, in another order and with gaps.
  const std::int64_t empty[] = {2, 0, 3}, places[] = {1, 4};
  const std::int32_t middle = 1;
  std::vector<std::int64_t> products(11, -1);
  must(tilefold_axis_reduce(host_, "product", nullptr, int32_code, 3, empty, nullptr, 1, &middle,
                            products.data(), places));
  EXPECT_EQ(products, (std::vector<std::int64_t>{1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1}));
  // An array without axes.
  std::int64_t one = 0;
  must(tilefold_axis_reduce(host_, "sum", x.data() + 3, int32_code, 0, nullptr, nullptr, 0, nullptr,
                            &one, nullptr));
  EXPECT_EQ(one, 4);
}

template <class Key>
void expect_runs(tilefold_executor* host, const std::vector<Key>& keys,
                 const std::vector<std::int64_t>& heads) {
  const auto n = static_cast<std::int64_t>(keys.size());
  const auto x = items_of<float>(n);
  std::vector<Key> keys_out(keys.size());
  std::vector<float> sums(keys.size());
  std::int64_t runs = 0;
  must(tilefold_reduce_by_key(host, "sum", keys.data(), code<Key>, x.data(), code<float>, n,
                              keys_out.data(), sums.data(), &runs));
  ASSERT_EQ(runs, static_cast<std::int64_t>(heads.size()));
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::int64_t end = i + 1 < heads.size() ? heads[i + 1] : n;
    EXPECT_TRUE(same_bits(sums[i], tilefold::reduce(x.begin() + heads[i], x.begin() + end))) << i;
    EXPECT_TRUE(same_bits(keys_out[i], keys[static_cast<std::size_t>(heads[i])])) << i;
  }
}

TEST_F(CInterface, RunsAreOfEqualKeys) {
  expect_runs<std::int8_t>(host_, {1, 1, -1, -1, -1, 1}, {0, 2, 5});
  expect_runs<std::uint16_t>(host_, {7}, {0});
  expect_runs<std::int32_t>(host_, {1, 2, 2, 3}, {0, 1, 3});
  const std::int64_t large = std::int64_t{1} << 40;
  expect_runs<std::int64_t>(host_, {1, 1 + large, 1 + large}, {0, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_runs<float>(host_, {0.0f, -0.0f, nan, nan, 1.0f}, {0, 2, 3, 4});
  expect_runs<double>(host_, {0.5, 0.5, 1}, {0, 2});
  expect_runs<half>(host_, {half(0.0f), half(-0.0f), half(nan), half(nan)}, {0, 2, 3});
  std::vector<std::int32_t> many;
  std::vector<std::int64_t> heads;
  for (std::int64_t i = 0; i < 100000; ++i) {
    if (i == 0 || i % 997 == 0 || i > 99000) heads.push_back(i);
    many.push_back(static_cast<std::int32_t>(heads.size()));
  }
  expect_runs(host_, many, heads);
  std::int64_t runs = -1;
  must(tilefold_reduce_by_key(host_, "mean", nullptr, int32_code, nullptr, int32_code, 0, nullptr,
                              nullptr, &runs));
  EXPECT_EQ(runs, 0);
}

// Items of each index in the order of their positions, for indices below `results`.
template <class Index, class T>
std::vector<std::vector<T>> by_index(const std::vector<Index>& indices, const std::vector<T>& x,
                                     std::size_t columns, std::size_t column, std::size_t results) {
  std::vector<std::vector<T>> found(results);
  for (std::size_t j = 0; j < indices.size(); ++j) {
    const auto index = static_cast<std::size_t>(indices[j]);  // large, if it is negative
    if (index < results) found[index].push_back(x[j * columns + column]);
  }
  return found;
}

template <class Index>
void expect_by_index(tilefold_executor* host, std::int64_t n, std::int64_t results,
                     std::size_t columns) {
  SCOPED_TRACE(testing::Message() << n << " rows, " << columns << " columns, " << results);
  const auto x = items_of<float>(n * static_cast<std::int64_t>(columns));
  std::vector<Index> indices;
  std::uint64_t state = 1;
  for (std::int64_t j = 0; j < n; ++j) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Some are left out: the two that follow the last, and of signed types -1.
    indices.push_back(static_cast<Index>((state >> 33) % static_cast<std::uint64_t>(results + 3)));
    if (indices.back() == static_cast<Index>(results + 2)) indices.back() = static_cast<Index>(-1);
  }
  std::vector<float> sums(static_cast<std::size_t>(results) * columns, 42);
  must(tilefold_reduce_by_index(host, "sum", indices.data(), code<Index>, x.data(), code<float>, n,
                                static_cast<std::int64_t>(columns), results, 0, sums.data()));
  std::vector<std::int64_t> places(sums.size(), 42);
  must(tilefold_reduce_by_index(host, "arg_max", indices.data(), code<Index>, x.data(), code<float>,
                                n, static_cast<std::int64_t>(columns), results, 0, places.data()));
  for (std::size_t column = 0; column < columns; ++column) {
    const auto expected = by_index(indices, x, columns, column, static_cast<std::size_t>(results));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t at = i * columns + column;
      if (expected[i].empty()) {
        EXPECT_TRUE(same_bits(sums[at], -0.0f)) << i;
        EXPECT_EQ(places[at], -1);
        continue;
      }
      EXPECT_TRUE(same_bits(sums[at], tilefold::reduce(expected[i]))) << i << ", " << column;
      const auto row = static_cast<std::size_t>(places[at]);
      ASSERT_LT(row, indices.size());
      EXPECT_EQ(static_cast<std::size_t>(indices[row]), i);
      EXPECT_TRUE(same_bits(x[row * columns + column],
                            *std::max_element(expected[i].begin(), expected[i].end())));
    }
  }
}

TEST_F(CInterface, ItemsByIndex) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{3}}) {
    for (const std::int64_t results : {1, 5, 100}) {
      expect_by_index<std::int8_t>(host_, 300, results, columns);
      expect_by_index<std::uint8_t>(host_, 300, results, columns);
      expect_by_index<std::int16_t>(host_, 300, results, columns);
      expect_by_index<std::uint16_t>(host_, 300, results, columns);
      expect_by_index<std::uint64_t>(host_, 1, results, columns);
    }
    expect_by_index<std::int32_t>(host_, 100003, 3000, columns);
    expect_by_index<std::uint32_t>(host_, 100003, 7, columns);
    expect_by_index<std::int64_t>(host_, 200003, 100000, columns);
  }
}

TEST_F(CInterface, ItemsByIndexOfNothing) {
  float out[2] = {42, 42};
  const auto by_index_of = [&](std::int64_t n, std::int64_t columns, std::int64_t results) {
    return tilefold_reduce_by_index(host_, "sum", nullptr, int32_code, nullptr, code<float>, n,
                                    columns, results, 1, results * columns > 0 ? out : nullptr);
  };
  must(by_index_of(0, 1, 0));
  must(by_index_of(0, 0, 5));
  must(by_index_of(0, 5, 0));
  EXPECT_EQ(out[0], 42);
  must(by_index_of(0, 2, 1));
  EXPECT_TRUE(same_bits(out[0], -0.0f) && same_bits(out[1], -0.0f));
  std::int64_t bytes = 42;
  must(tilefold_reduce_by_index_workspace(host_, "sum", int32_code, 1000, 2, 3, &bytes));
  EXPECT_EQ(bytes, 0);
}

TEST_F(CInterface, BadArgumentsOfItemsByIndexAreNamed) {
  const std::uint64_t large[] = {1, ~std::uint64_t{0}};
  const std::int16_t indices[] = {0, 2, -3};
  const float x[] = {1, 2, 4};
  float out[3] = {42, 42, 42};
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto call = [&](tilefold_dtype type, std::int64_t n, std::int64_t columns,
                        std::int64_t results, const void* of = nullptr, const char* op = "sum") {
    return tilefold_reduce_by_index(host_, op, of == nullptr ? indices : of, type, x, code<float>,
                                    n, columns, results, 1, out);
  };
  const tilefold_dtype i16 = code<std::int16_t>;
  expect_error(call(i16, 3, 1, 3), TILEFOLD_INVALID_ARGUMENT,
               "tilefold_reduce_by_index: item 2 has the index -3, but there are 3 results");
  expect_error(call(i16, 3, 1, 2), TILEFOLD_INVALID_ARGUMENT,
               "item 1 has the index 2, but there are 2 results");
  expect_error(call(i16, 3, 0, 0), TILEFOLD_INVALID_ARGUMENT, "item 0 has the index 0");
  expect_error(call(code<std::uint64_t>, 2, 1, 3, large), TILEFOLD_INVALID_ARGUMENT,
               "item 1 has the index 18446744073709551615, but there are 3 results");
  expect_error(call(code<float>, 1, 1, 3), TILEFOLD_UNSUPPORTED,
               "indices are float32, and must be integers");
  expect_error(call({TILEFOLD_BOOL, 8, 1}, 1, 1, 3), TILEFOLD_UNSUPPORTED, "indices are bool");
  expect_error(call(i16, -1, 1, 3), TILEFOLD_INVALID_ARGUMENT, "n is -1");
  expect_error(call(i16, 1, -1, 3), TILEFOLD_INVALID_ARGUMENT, "columns is -1");
  expect_error(call(i16, 1, 1, -3), TILEFOLD_INVALID_ARGUMENT, "num_results is -3");
  expect_error(call(i16, 3, most / 2, 3), TILEFOLD_INVALID_ARGUMENT, "more than an array can hold");
  expect_error(call(i16, 3, 1, most), TILEFOLD_INVALID_ARGUMENT, "more than memory can hold");
  expect_error(call(i16, 3, 1, 3, reinterpret_cast<const char*>(indices) + 1),
               TILEFOLD_INVALID_ARGUMENT, "indices is the address");
  expect_error(call(i16, 3, 1, 3, nullptr, "sort"), TILEFOLD_UNKNOWN_OP, "'sort'");
  expect_error(
      tilefold_reduce_by_index(host_, "sum", nullptr, i16, x, code<float>, 1, 1, 3, 0, out),
      TILEFOLD_NULL_POINTER, "indices is null");
  expect_error(
      tilefold_reduce_by_index(host_, "sum", indices, i16, x, code<float>, 1, 1, 3, 0, nullptr),
      TILEFOLD_NULL_POINTER, "results is null");
  for (const float one : out) EXPECT_EQ(one, 42) << "nothing is written";
  must(tilefold_reduce_by_index(host_, "sum", indices, i16, x, code<float>, 3, 1, 3, 0, out));
  EXPECT_TRUE(same_bits(out[0], 1.0f) && same_bits(out[1], -0.0f) && same_bits(out[2], 2.0f));
}

TEST_F(CInterface, StatisticsHaveTheBitsOfTheirOwnOperations) {
  const auto check = [&]<class T>(const std::vector<T>& x) {
    tilefold_statistics found{};
    const auto n = static_cast<std::int64_t>(x.size());
    must(tilefold_stats(host_, x.data(), code<T>, n, &found));
    EXPECT_EQ(found.count, n);
    EXPECT_TRUE(same_bits(found.mean, reduced<double>("mean", x)));
    EXPECT_TRUE(same_bits(found.variance, reduced<double>("variance", x)));
    EXPECT_EQ(found.min, static_cast<double>(reduced<T>("min", x)));
    EXPECT_EQ(found.max, static_cast<double>(reduced<T>("max", x)));
  };
  check(items_of<float>(100003));
  check(items_of<double>(1000));
  check(items_of<std::int16_t>(1000));
}

TEST_F(CInterface, StatisticsOfNothing) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const tilefold_dtype boolean{TILEFOLD_BOOL, 8, 1};
  for (const tilefold_dtype type :
       {code<float>, code<double>, code<std::int8_t>, code<std::int64_t>, code<std::uint8_t>,
        code<std::uint64_t>, boolean}) {
    SCOPED_TRACE(testing::Message() << int{type.code} << ':' << int{type.bits});
    tilefold_statistics nothing{};
    must(tilefold_stats(host_, nullptr, type, 0, &nothing));
    EXPECT_EQ(nothing.count, 0);
    EXPECT_TRUE(std::isnan(nothing.mean) && std::isnan(nothing.variance));
    EXPECT_EQ(nothing.min, infinity);
    EXPECT_EQ(nothing.max, -infinity);
    const std::int64_t item = 1;
    const std::int64_t offsets[]{0, 0, 1};
    double numbers[12]{};
    must(tilefold_segmented_reduce(host_, "summary", &item, type, 1, offsets, int64_code, 2,
                                   numbers));
    EXPECT_EQ(numbers[0], 0);
    EXPECT_EQ(numbers[4], infinity);
    EXPECT_EQ(numbers[5], -infinity);
    EXPECT_EQ(numbers[6], 1);
    EXPECT_EQ(numbers[10], numbers[7]);  // of one item, whose mean is the item
    EXPECT_EQ(numbers[11], numbers[7]);
  }
}

// ---- nothing, and what is wrong

TEST_F(CInterface, NothingGivesTheIdentityOrAnError) {
  float sum = 1;
  must(tilefold_reduce(host_, "sum", nullptr, code<float>, 0, &sum));
  EXPECT_TRUE(same_bits(sum, -0.0f));
  float product = 0;
  must(tilefold_reduce(host_, "product", nullptr, code<float>, 0, &product));
  EXPECT_EQ(product, 1.0f);
  for (const char* op : {"mean", "variance", "standard_deviation", "arg_min", "arg_max"}) {
    double untouched = 42;
    expect_error(tilefold_reduce(host_, op, nullptr, code<float>, 0, &untouched), TILEFOLD_EMPTY,
                 op);
    EXPECT_EQ(untouched, 42);
    const std::int64_t extents[] = {3, 0};
    const std::int32_t axis = 1;
    expect_error(tilefold_axis_reduce(host_, op, nullptr, code<float>, 2, extents, nullptr, 1,
                                      &axis, &untouched, nullptr),
                 TILEFOLD_EMPTY, op);
  }
}

template <class T>
class EmptySegmentsOf : public CInterface {};
TYPED_TEST_SUITE(EmptySegmentsOf, real_types);

TYPED_TEST(EmptySegmentsOf, HaveTheResultOfNothing) {
  using T = TypeParam;
  const std::vector<T> x = items_of<T>(5);
  const std::int32_t offsets[] = {2, 2, 5};
  const auto first_of = [&]<class Result>(const char* op, Result) {
    Result results[2];
    EXPECT_EQ(tilefold_segmented_reduce(this->host_, op, x.data(), code<T>, 5, offsets, int32_code,
                                        2, results),
              TILEFOLD_OK)
        << op << ": " << tilefold_last_error();
    return results[0];
  };
  const auto summary = first_of("summary", precompiled::summary_of_items{});
  EXPECT_EQ(summary.count, 0);
  EXPECT_TRUE(std::isnan(summary.mean));
  EXPECT_TRUE(std::isnan(summary.variance));
  EXPECT_TRUE(std::isnan(summary.population_variance));
  if constexpr (std::is_integral_v<T>) {
    // Of nothing the least is the greatest number of the type, and the other way round.
    using limits = std::numeric_limits<T>;
    EXPECT_EQ(first_of("min", T{}), limits::max());
    EXPECT_EQ(first_of("max", T{}), limits::lowest());
    EXPECT_EQ(first_of("sum64", std::int64_t{1}), 0);
    EXPECT_EQ(first_of("product64", std::int64_t{0}), 1);
    EXPECT_EQ(first_of("bit_and", T{}), static_cast<T>(~T{}));
    EXPECT_EQ(first_of("bit_or", T{1}), 0);
    EXPECT_EQ(first_of("bit_xor", T{1}), 0);
  }
  EXPECT_EQ(summary.min, std::numeric_limits<double>::infinity());
  EXPECT_EQ(summary.max, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(first_of("count_nonzero", std::int64_t{1}), 0);
  EXPECT_EQ(first_of("arg_min", std::int64_t{0}), -1);
}

TYPED_TEST(CInterfaceOf, LogSoftmaxIsTheItemsLessTheirRowsLogsumexp) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    T x = 1;
    this->expect_error(tilefold_log_softmax(this->host_, &x, code<T>, 1, 1, &x, code<T>),
                       TILEFOLD_UNSUPPORTED, "there is none of");
  } else {
    const std::int64_t rows = 7;
    const std::int64_t length = 100;
    const std::vector<T> x = items_of<T>(rows * length);
    std::vector<double> sums(rows);
    must(tilefold_segmented_reduce_equal(this->host_, "logsumexp", x.data(), code<T>, rows, length,
                                         sums.data()));
    std::vector<T> got(x.size());
    must(tilefold_log_softmax(this->host_, x.data(), code<T>, rows, length, got.data(), code<T>));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_same_v<T, double>) {
        EXPECT_TRUE(same_bits(got[i], x[i] - sums[i / length])) << i;
      } else {
        const double item = static_cast<double>(static_cast<float>(x[i]));
        EXPECT_TRUE(same_bits(got[i], static_cast<T>(static_cast<float>(item - sums[i / length]))))
            << i;
      }
    }
  }
}

TEST_F(CInterface, LogSoftmaxNamesTheBadValue) {
  float x[4] = {1, 2, 3, 4};
  const auto f32 = code<float>;
  expect_error(tilefold_log_softmax(host_, x, f32, -1, 2, x, f32), TILEFOLD_INVALID_ARGUMENT,
               "rows is -1");
  expect_error(tilefold_log_softmax(host_, x, f32, 2, -2, x, f32), TILEFOLD_INVALID_ARGUMENT,
               "length is -2");
  expect_error(tilefold_log_softmax(host_, nullptr, f32, 2, 2, x, f32), TILEFOLD_NULL_POINTER,
               "items is null");
  expect_error(tilefold_log_softmax(host_, x, f32, 2, 2, x, code<half>), TILEFOLD_UNSUPPORTED,
               "float32 with results of float16");
  expect_error(
      tilefold_log_softmax(host_, x, f32, std::int64_t{1} << 40, std::int64_t{1} << 40, x, f32),
      TILEFOLD_INVALID_ARGUMENT, "rows of");
  EXPECT_EQ(x[3], 4);
  must(tilefold_log_softmax(host_, nullptr, f32, 0, 2, nullptr, f32));
  must(tilefold_log_softmax(host_, nullptr, f32, 2, 0, nullptr, f32));
}

TEST_F(CInterface, ErrorsNameTheBadValue) {
  const std::vector<float> x{1, 2, 3};
  float out = 42;
  const auto f32 = code<float>;
  expect_error(tilefold_reduce(nullptr, "sum", x.data(), f32, 3, &out), TILEFOLD_NULL_POINTER,
               "executor is null");
  expect_error(tilefold_reduce(host_, nullptr, x.data(), f32, 3, &out), TILEFOLD_NULL_POINTER,
               "op is null");
  expect_error(tilefold_reduce(host_, "summ", x.data(), f32, 3, &out), TILEFOLD_UNKNOWN_OP,
               "'summ'; there are sum, sum64");
  expect_error(tilefold_reduce(host_, "statistics", x.data(), f32, 3, &out), TILEFOLD_UNKNOWN_OP,
               "'statistics'");
  expect_error(tilefold_reduce(host_, std::string(64, 'x').c_str(), x.data(), f32, 3, &out),
               TILEFOLD_UNKNOWN_OP, "'" + std::string(64, 'x') + "'; there are sum");
  expect_error(tilefold_reduce(host_, std::string(100000, 'x').c_str(), x.data(), f32, 3, &out),
               TILEFOLD_UNKNOWN_OP, "'" + std::string(64, 'x') + "...'; there are sum");
  expect_error(tilefold_reduce(host_, "bit_or", x.data(), f32, 3, &out), TILEFOLD_UNSUPPORTED,
               "no bit_or of float32");
  expect_error(tilefold_reduce(host_, "sum", x.data(), {TILEFOLD_FLOAT, 8, 1}, 3, &out),
               TILEFOLD_UNSUPPORTED, "code 2, 8 bits and 1 lanes");
  expect_error(tilefold_reduce(host_, "sum", x.data(), {TILEFOLD_FLOAT, 32, 4}, 3, &out),
               TILEFOLD_UNSUPPORTED, "4 lanes");
  expect_error(tilefold_reduce(host_, "sum", x.data(), f32, -3, &out), TILEFOLD_INVALID_ARGUMENT,
               "n is -3");
  expect_error(tilefold_reduce(host_, "sum", nullptr, f32, 3, &out), TILEFOLD_NULL_POINTER,
               "items is null");
  expect_error(tilefold_reduce(host_, "sum", x.data(), f32, 3, nullptr), TILEFOLD_NULL_POINTER,
               "result is null");
  const std::vector<std::int32_t> offsets{0, 2, 1, 9};
  expect_error(tilefold_segmented_reduce(host_, "sum", x.data(), f32, 3, offsets.data(), int32_code,
                                         3, &out),
               TILEFOLD_INVALID_ARGUMENT, "segment 1 is [2, 1) of 3 items");
  expect_error(
      tilefold_segmented_reduce(host_, "sum", x.data(), f32, 3, offsets.data(), f32, 3, &out),
      TILEFOLD_UNSUPPORTED, "offsets are float32");
  // Believed offsets tell whether there are items.
  const std::vector<std::int64_t> wide{0, 0, 3};
  expect_error(
      tilefold_segmented_reduce(host_, "sum", nullptr, f32, -1, wide.data(), int64_code, 2, &out),
      TILEFOLD_NULL_POINTER, "items is null");
  expect_error(tilefold_segmented_reduce(host_, "mean", nullptr, f32, -1, offsets.data(),
                                         int32_code, 1, &out),
               TILEFOLD_NULL_POINTER, "items is null");
  expect_error(
      tilefold_segmented_reduce(host_, "sum", nullptr, f32, 3, wide.data(), int64_code, 2, &out),
      TILEFOLD_NULL_POINTER, "items is null");
  expect_error(tilefold_segmented_reduce_equal(host_, "sum", x.data(), f32,
                                               std::numeric_limits<std::int64_t>::max(), 2, &out),
               TILEFOLD_INVALID_ARGUMENT, "9223372036854775807 segments of 2 items");
  const std::int64_t extents[] = {3, -1};
  const std::int32_t axes_named[] = {0, 0};
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 2, extents, nullptr, 1, axes_named,
                                    &out, nullptr),
               TILEFOLD_BAD_SHAPE, "extent 1 is -1");
  const std::int64_t huge[] = {std::int64_t{1} << 32, std::int64_t{1} << 32};
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 2, huge, nullptr, 1, axes_named,
                                    &out, nullptr),
               TILEFOLD_BAD_SHAPE, "extents of 4294967296 x 4294967296 are more items");
  const std::int64_t none_of_huge[] = {0, std::int64_t{1} << 62, 4};
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 3, none_of_huge, nullptr, 1,
                                    axes_named, &out, nullptr),
               TILEFOLD_BAD_SHAPE, "extents of 0 x 4611686018427387904 x 4 are more items");
  const std::int64_t good[] = {3, 1};
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 2, good, nullptr, 2, axes_named,
                                    &out, nullptr),
               TILEFOLD_BAD_SHAPE, "named twice");
  const std::int32_t absent = 7;
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 2, good, nullptr, 1, &absent, &out,
                                    nullptr),
               TILEFOLD_BAD_SHAPE, "no axis 7");
  expect_error(tilefold_axis_reduce(host_, "sum", x.data(), f32, 9, good, nullptr, 1, &absent, &out,
                                    nullptr),
               TILEFOLD_BAD_SHAPE, "rank is 9");
  expect_error(tilefold_reduce_by_key(host_, "sum", x.data(), {TILEFOLD_COMPLEX, 64, 1}, x.data(),
                                      f32, 1, &out, &out, nullptr),
               TILEFOLD_UNSUPPORTED, "keys cannot be complex64");
  expect_error(tilefold_reduce_by_key(host_, "sum", nullptr, int32_code, nullptr, f32, 0, nullptr,
                                      nullptr, nullptr),
               TILEFOLD_NULL_POINTER, "num_runs is null");
  EXPECT_EQ(out, 42) << "nothing is written";
  tilefold_executor* none = nullptr;
  expect_error(tilefold_host_executor(-1, &none), TILEFOLD_INVALID_ARGUMENT, "threads is -1");
  expect_error(tilefold_host_executor(0, nullptr), TILEFOLD_NULL_POINTER, "executor is null");
  if (tilefold_has_cuda() == 0) {
    expect_error(tilefold_cuda_executor(0, nullptr, &none), TILEFOLD_UNSUPPORTED, "without CUDA");
    expect_error(tilefold_stream_executor(0, nullptr, &none), TILEFOLD_UNSUPPORTED, "without CUDA");
  } else if (tilefold_cuda_executor(0, nullptr, &none) == TILEFOLD_OK) {
    tilefold_destroy(none);
    none = nullptr;
  } else {
    // On a machine without a GPU the library loads, and says so.
    EXPECT_NE(std::string(tilefold_last_error()).find("CUDA device"), std::string::npos)
        << tilefold_last_error();
  }
  EXPECT_EQ(none, nullptr);
  tilefold_destroy(nullptr);
  must(tilefold_reduce(host_, "sum", x.data(), f32, 3, &out));
  EXPECT_EQ(out, 6) << "the executor can be used again";
  for (const std::int64_t num_items : {-1, 0}) {
    must(tilefold_segmented_reduce(host_, "sum", nullptr, f32, num_items, wide.data(), int64_code,
                                   1, &out));
    EXPECT_TRUE(same_bits(out, -0.0f)) << "a segment of nothing";
    out = 42;
  }
}

TEST_F(CInterface, WhatMemoryCannotHoldIsRefused) {
  const tilefold_dtype f64 = code<double>;
  alignas(16) double x[4] = {1, 2, 3, 4};
  double out = 42;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::string more = "more than memory can hold";
  // Whose bytes are no number of 64 bits.
  for (const std::int64_t n : {most, std::int64_t{1} << 60}) {
    expect_error(tilefold_reduce(host_, "sum", x, f64, n, &out), TILEFOLD_INVALID_ARGUMENT, more);
    expect_error(tilefold_segmented_reduce_equal(host_, "sum", x, f64, 1, n, &out),
                 TILEFOLD_INVALID_ARGUMENT, more);
    expect_error(tilefold_log_softmax(host_, x, f64, 1, n, &out, f64), TILEFOLD_INVALID_ARGUMENT,
                 more);
    expect_error(tilefold_dot(host_, x, x, f64, n, &out), TILEFOLD_INVALID_ARGUMENT, more);
    std::int64_t runs = 42;
    expect_error(tilefold_reduce_by_key(host_, "sum", x, f64, x, f64, n, &out, &out, &runs),
                 TILEFOLD_INVALID_ARGUMENT, more);
  }
  // Addresses where no item can be.
  const void* const odd = reinterpret_cast<const char*>(x) + 1;
  void* const odd_out = reinterpret_cast<char*>(&out) + 4;
  expect_error(tilefold_reduce(host_, "sum", odd, f64, 2, &out), TILEFOLD_INVALID_ARGUMENT,
               "no multiple of 8, as float64");
  expect_error(tilefold_reduce(host_, "sum", x, f64, 2, odd_out), TILEFOLD_INVALID_ARGUMENT,
               "result is the address");
  const std::int64_t extents[] = {2, 2};
  const std::int32_t axis = 1;
  expect_error(
      tilefold_axis_reduce(host_, "sum", odd, f64, 2, extents, nullptr, 1, &axis, &out, nullptr),
      TILEFOLD_INVALID_ARGUMENT, "items is the address");
  // Strides that lead out of every memory.
  for (const std::int64_t stride : {most, -most, most / 8, -most - 1}) {
    const std::int64_t strides[] = {stride, stride};
    expect_error(
        tilefold_axis_reduce(host_, "sum", x, f64, 2, extents, strides, 1, &axis, &out, nullptr),
        TILEFOLD_BAD_SHAPE, "");
  }
  EXPECT_EQ(out, 42);
}

// Each pointer of each function, one byte behind an address that is right.
TEST_F(CInterface, MisalignedPointersAreRefused) {
  constexpr tilefold_dtype f64 = code<double>;
  constexpr tilefold_dtype f32 = code<float>;
  alignas(16) std::int64_t sound[8] = {1, 2, 1, 2, 1, 2, 1, 2};
  alignas(16) std::int64_t out[8] = {42, 42, 42, 42, 42, 42, 42, 42};
  double* const x = reinterpret_cast<double*>(sound);
  auto* const integers = reinterpret_cast<std::int32_t*>(sound);
  const std::int32_t axis = 1;
  const std::int64_t extents[] = {2, 2};
  tilefold_piece* piece = nullptr;
  tilefold_accumulator *sum = nullptr, *narrow = nullptr;
  must(tilefold_piece_create("sum", f64, 0, &piece));
  must(tilefold_accumulator_create(f64, &sum));
  must(tilefold_accumulator_create(f32, &narrow));
  // A pointer to T, aligned for it but for `off` bytes.
  const auto at = [](auto* pointer, int off) {
    return reinterpret_cast<decltype(pointer)>(reinterpret_cast<std::uintptr_t>(pointer) +
                                               static_cast<std::uintptr_t>(off));
  };
  const auto check = [&](const char* name, int alignment, const auto& call) {
    SCOPED_TRACE(name);
    for (const int off : {1, alignment / 2}) {
      expect_error(call(off), TILEFOLD_INVALID_ARGUMENT, std::string(name) + " is the address ");
      expect_error(call(off), TILEFOLD_INVALID_ARGUMENT,
                   "no multiple of " + std::to_string(alignment) + ", as ");
    }
    for (const std::int64_t word : out) EXPECT_EQ(word, 42);
  };
  const auto axes = [&](const std::int64_t* in, const std::int64_t* strides, const std::int32_t* of,
                        const std::int64_t* result_strides, void* results) {
    return tilefold_axis_reduce(host_, "sum", x, f64, 2, in, strides, 1, of, results,
                                result_strides);
  };
  check("x", 8, [&](int off) { return tilefold_dot(host_, at(x, off), x, f64, 2, out); });
  check("y", 8, [&](int off) { return tilefold_dot(host_, x, at(x, off), f64, 2, out); });
  check("result", 8, [&](int off) { return tilefold_dot(host_, x, x, f64, 2, at(out, off)); });
  check("result", 4, [&](int off) { return tilefold_dot(host_, x, x, f32, 2, at(out, off)); });
  check("result", 8, [&](int off) {
    return tilefold_stats(host_, x, f64, 2, reinterpret_cast<tilefold_statistics*>(at(out, off)));
  });
  check("offsets", 4, [&](int off) {
    return tilefold_segmented_reduce(host_, "sum", x, f64, 2, at(integers, off), code<std::int32_t>,
                                     1, out);
  });
  check("results", 8, [&](int off) {
    return tilefold_segmented_reduce_equal(host_, "sum", x, f64, 1, 2, at(out, off));
  });
  check("results", 4,
        [&](int off) { return tilefold_log_softmax(host_, x, f64, 1, 2, at(out, off), f32); });
  check("num_runs", 8, [&](int off) {
    return tilefold_reduce_by_key(host_, "sum", x, f64, x, f64, 2, out, out, at(out, off));
  });
  check("keys", 4, [&](int off) {
    return tilefold_reduce_by_key(host_, "sum", at(integers, off), code<std::int32_t>, x, f64, 2,
                                  out, out, out);
  });
  check("keys_out", 8, [&](int off) {
    return tilefold_reduce_by_key(host_, "sum", x, f64, x, f64, 2, at(out, off), out, out);
  });
  check("extents", 8,
        [&](int off) { return axes(at(extents, off), nullptr, &axis, nullptr, out); });
  check("strides", 8,
        [&](int off) { return axes(extents, at(extents, off), &axis, nullptr, out); });
  check("axes", 4, [&](int off) { return axes(extents, nullptr, at(&axis, off), nullptr, out); });
  check("result_strides", 8,
        [&](int off) { return axes(extents, nullptr, &axis, at(extents, off), out); });
  check("results", 8,
        [&](int off) { return axes(extents, nullptr, &axis, nullptr, at(out, off)); });
  check("bytes", 8,
        [&](int off) { return tilefold_workspace(host_, "sum", f64, 2, 1, at(out, off)); });
  check("count", 4, [&](int off) {
    return tilefold_result("sum", f64, nullptr, at(reinterpret_cast<std::int32_t*>(out), off));
  });
  const auto dtype_at = [&](int off) { return at(reinterpret_cast<tilefold_dtype*>(out), off); };
  static_assert(alignof(tilefold_dtype) == 2 && sizeof(tilefold_dtype) == 4);
  check("result", 2, [&](int off) { return tilefold_result("sum", f64, dtype_at(off), nullptr); });
  check("dtype", 2, [&](int off) {
    return tilefold_piece_info(piece, nullptr, dtype_at(off), nullptr, nullptr);
  });
  check("executor", 8, [&](int off) {
    return tilefold_host_executor(1, at(reinterpret_cast<tilefold_executor**>(out), off));
  });
  check("items", 8, [&](int off) { return tilefold_piece_append(piece, host_, at(x, off), 2); });
  check("result", 8, [&](int off) { return tilefold_piece_value(piece, at(out, off)); });
  check("begin", 8, [&](int off) {
    return tilefold_piece_info(piece, nullptr, nullptr, at(out, off), nullptr);
  });
  check("end", 8, [&](int off) {
    return tilefold_piece_info(piece, nullptr, nullptr, nullptr, at(out, off));
  });
  check("size", 8, [&](int off) { return tilefold_piece_bytes(piece, nullptr, 0, at(out, off)); });
  check("items", 8, [&](int off) { return tilefold_accumulator_add(sum, host_, at(x, off), 2); });
  check("result", 8, [&](int off) { return tilefold_accumulator_value(sum, at(out, off)); });
  check("result", 4, [&](int off) { return tilefold_accumulator_value(narrow, at(out, off)); });
  check("result", 8, [&](int off) { return tilefold_accumulator_mean(sum, 2, at(out, off)); });
  check("size", 8,
        [&](int off) { return tilefold_accumulator_bytes(sum, nullptr, 0, at(out, off)); });
  tilefold_piece_destroy(piece);
  tilefold_accumulator_destroy(sum);
  tilefold_accumulator_destroy(narrow);
}

// Accumulators of every type that has them write where a result of that type may lie.
TEST_F(CInterface, ResultsOfAccumulatorsAreAlignedForTheirType) {
  int types = 0;
  for (const tilefold_dtype type :
       {code<std::int8_t>, code<std::int16_t>, code<std::int32_t>, code<std::int64_t>,
        code<std::uint8_t>, code<std::uint16_t>, code<std::uint32_t>, code<std::uint64_t>,
        code<half>, code<bfloat16>, code<float>, code<double>, code<bool>}) {
    for (const bool is_mean : {false, true}) {
      tilefold_dtype result{};
      must(tilefold_result(is_mean ? "exact_mean" : "exact_sum", type, &result, nullptr));
      tilefold_accumulator* sum = nullptr;
      must(tilefold_accumulator_create(type, &sum));
      alignas(16) char out[32];
      const int bytes = result.bits / 8;
      for (const int off : {bytes, 8 + bytes}) {
        std::memset(out, 0x5a, sizeof out);
        must(is_mean ? tilefold_accumulator_mean(sum, 3, out + off)
                     : tilefold_accumulator_value(sum, out + off));
        for (int i = 0; i < 32; ++i) {
          EXPECT_TRUE(out[i] == 0x5a || (i >= off && i < off + bytes)) << i;
        }
        EXPECT_NE(out[off + bytes - 1], 0x5a);
      }
      tilefold_accumulator_destroy(sum);
      ++types;
    }
  }
  EXPECT_EQ(types, 26);
}

// No element is read, wherever its strides would lead.
TEST_F(CInterface, EmptyViewsMayHaveAnyStrides) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t extents[] = {2, 2, 0};
  const std::int64_t strides[] = {most, -most - 1, most};
  for (const std::int32_t axis : {0, 1, 2}) {
    double out[4] = {42, 42, 42, 42};
    must(tilefold_axis_reduce(host_, "sum", nullptr, code<double>, 3, extents, strides, 1, &axis,
                              out, nullptr));
    for (const double value : out) EXPECT_EQ(value, axis == 2 ? -0.0 : 42.0);
  }
}

TEST_F(CInterface, EachThreadHasItsOwnMessage) {
  EXPECT_NE(tilefold_reduce(host_, "mine", nullptr, code<float>, 0, nullptr), TILEFOLD_OK);
  std::thread([] {
    EXPECT_STREQ(tilefold_last_error(), "");
    EXPECT_NE(tilefold_host_executor(-5, nullptr), TILEFOLD_OK);
  }).join();
  EXPECT_NE(std::string(tilefold_last_error()).find("'mine'"), std::string::npos);
}

// Every value of a 16-bit type that is not negative, in order; an infinity counts as one more.
template <class T>
std::vector<double> values_of_16_bits(std::uint16_t infinity) {
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    values.push_back(static_cast<double>(static_cast<float>(__builtin_bit_cast(T, bits))));
  }
  const double last = values.back();
  values.push_back(last + (last - values[values.size() - 2]));
  return values;
}

// The nearest of these values, the even one of two, by bits: what rounding once gives.
std::uint16_t nearest_of(const std::vector<double>& values, double x) {
  const double size = std::fabs(x);
  const auto above = std::lower_bound(values.begin(), values.end(), size);
  auto i =
      above == values.end() ? values.size() - 1 : static_cast<std::size_t>(above - values.begin());
  if (i > 0 && i < values.size() && above != values.end()) {
    const double up = values[i] - size;
    const double down = size - values[i - 1];
    if (down < up || (down == up && (i - 1) % 2 == 0)) --i;
  }
  return static_cast<std::uint16_t>(i | (std::signbit(x) ? 0x8000u : 0u));
}

TEST_F(CInterface, RoundsResultsOnce) {
  const tilefold_dtype f64 = code<double>;
  const auto mean_as = [&](double x, tilefold_dtype type) {
    std::uint64_t result = 0xeeeeeeeeeeeeeeee;
    must(tilefold_reduce_as(host_, "mean", &x, f64, 1, &result, type));
    return result;
  };
  const auto check = [&](double x, const std::vector<double>& halves,
                         const std::vector<double>& brains) {
    EXPECT_EQ(mean_as(x, code<half>), 0xeeeeeeeeeeee0000 | nearest_of(halves, x)) << x;
    EXPECT_EQ(mean_as(x, code<bfloat16>), 0xeeeeeeeeeeee0000 | nearest_of(brains, x)) << x;
    EXPECT_EQ(mean_as(x, code<float>),
              0xeeeeeeee00000000 | __builtin_bit_cast(std::uint32_t, static_cast<float>(x)))
        << x;
    EXPECT_EQ(mean_as(x, f64), __builtin_bit_cast(std::uint64_t, x)) << x;
  };
  const auto halves = values_of_16_bits<half>(0x7c00);
  const auto brains = values_of_16_bits<bfloat16>(0x7f80);
  const unsigned seed = std::random_device{}();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  // Around the middle of two neighbours, where a float in between would be rounded twice.
  for (const auto* values : {&halves, &brains}) {
    for (int k = 0; k < 3000; ++k) {
      const std::size_t i = k == 0 ? values->size() - 1 : 1 + random() % (values->size() - 1);
      const double middle = ((*values)[i - 1] + (*values)[i]) / 2;
      for (const double size : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300),
                                (*values)[i - 1], middle * (1 + 0x1p-30)}) {
        check(random() % 2 == 0 ? size : -size, halves, brains);
      }
    }
  }
  for (const double x : {0.0, 5e-324, 1e300, 0x1p-149, 0x1p-150, 0x1.8p-150, 3.5e38, 65504.0}) {
    check(x, halves, brains);
    check(-x, halves, brains);
  }
  const double nan = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(mean_as(nan, code<half>), 0xeeeeeeeeeeee7e00);
  EXPECT_EQ(mean_as(nan, code<bfloat16>), 0xeeeeeeeeeeee7fc0);
  EXPECT_EQ(mean_as(nan, code<float>), 0xeeeeeeee7fc00000);
}

TEST_F(CInterface, RoundsResultsOfAxes) {
  const std::vector<float> x = items_of<float>(6);
  const std::int64_t extents[] = {3, 2};
  const std::int64_t apart[] = {-2};
  for (const char* op : {"mean", "variance", "population_variance", "standard_deviation",
                         "population_standard_deviation", "l1", "l2", "logsumexp"}) {
    for (const std::int32_t axis : {0, 1}) {
      const std::size_t n = axis == 0 ? 2 : 3;
      std::vector<double> wide(n);
      std::vector<float> narrow(2 * n, -1.0f);
      must(tilefold_axis_reduce(host_, op, x.data(), code<float>, 2, extents, nullptr, 1, &axis,
                                wide.data(), nullptr));
      must(tilefold_axis_reduce_as(host_, op, x.data(), code<float>, 2, extents, nullptr, 1, &axis,
                                   narrow.data() + 2 * n - 2, code<float>, apart));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(narrow[2 * n - 2 - 2 * i], static_cast<float>(wide[i])) << op << axis;
        EXPECT_EQ(narrow[2 * n - 1 - 2 * i], -1.0f) << op << axis;
      }
    }
  }
}

TEST_F(CInterface, RefusesTypesThatResultsAreNotRoundedTo) {
  const std::vector<float> x = items_of<float>(4);
  double result = 0.5;
  const auto as = [&](const char* op, tilefold_dtype type) {
    return tilefold_reduce_as(host_, op, x.data(), code<float>, 4, &result, type);
  };
  expect_error(as("mean", code<std::int32_t>), TILEFOLD_UNSUPPORTED,
               "tilefold_reduce_as: result_dtype is int32, and the results of mean of float32 are "
               "float64 or a narrower floating type");
  expect_error(as("sum", code<half>), TILEFOLD_UNSUPPORTED,
               "result_dtype is float16, and the results of sum of float32 are float32");
  expect_error(as("sum64", code<float>), TILEFOLD_UNSUPPORTED, "of float32 are float64");
  EXPECT_EQ(result, 0.5);
  must(as("sum", code<float>));
}

TEST_F(CInterface, SaysItsVersion) {
  EXPECT_EQ(tilefold_version(), 10000u * TILEFOLD_C_VERSION_MAJOR +
                                    100u * TILEFOLD_C_VERSION_MINOR + TILEFOLD_C_VERSION_PATCH);
  EXPECT_EQ(std::string(tilefold_version_text()), std::to_string(TILEFOLD_C_VERSION_MAJOR) + "." +
                                                      std::to_string(TILEFOLD_C_VERSION_MINOR) +
                                                      "." +
                                                      std::to_string(TILEFOLD_C_VERSION_PATCH));
  EXPECT_STREQ(tilefold_status_name(TILEFOLD_EMPTY), "TILEFOLD_EMPTY");
  EXPECT_STREQ(tilefold_status_name(-1), "an unknown status");
  std::int64_t workspace = -1;
  must(tilefold_workspace(host_, "sum", code<float>, 1 << 30, 1, &workspace));
  EXPECT_EQ(workspace, 0);
}

// ---- from C++

TEST(Precompiled, HasTheNamesBitsAndExceptionsOfTheTemplates) {
  namespace p = tilefold::precompiled;
  p::host_executor exec(2);
  const auto x = items_of<float>(100003);
  const auto n = static_cast<std::int64_t>(x.size());
  EXPECT_TRUE(same_bits(p::reduce(exec, x.data(), n), tilefold::reduce(x)));
  EXPECT_TRUE(same_bits(p::reduce(exec, x.data(), n, p::mean), tilefold::reduce(x, r::mean{})));
  const p::extremes<float> found = p::reduce(exec, x.data(), n, p::minmax);
  EXPECT_EQ(found.min, tilefold::reduce(x, minimum{}));
  EXPECT_EQ(found.max, tilefold::reduce(x, maximum{}));
  static_assert(std::same_as<decltype(p::reduce(exec, x.data(), n, p::arg_min)), std::int64_t>);
  const std::uint64_t great[] = {UINT64_MAX, 1};
  const p::checked_value<std::uint64_t> sum = p::reduce(exec, great, 2, p::checked_sum);
  EXPECT_EQ(sum.value, 0u);
  EXPECT_EQ(sum.fits, 0u);
  const std::int8_t bytes[] = {100, 100};
  EXPECT_EQ(p::reduce(exec, bytes, 2), 200);
  const std::int32_t offsets[] = {0, 5, 9};
  std::int64_t places[2];
  p::segmented_reduce_into(exec, x.data(), offsets, 2, places, p::arg_max, n);
  EXPECT_EQ(places[0], tilefold::max_element(x.begin(), x.begin() + 5) - x.begin());
  EXPECT_THROW((void)p::reduce(exec, x.data(), -1), invalid_range_error);
  EXPECT_THROW((void)p::reduce(exec, x.data(), 0, p::mean), empty_range_error);
  EXPECT_THROW((void)p::reduce(exec, static_cast<const float*>(nullptr), 3), null_pointer_error);
  EXPECT_THROW((void)p::reduce(exec, x.data(), 3, p::bit_or), error);
  EXPECT_THROW(p::host_executor(-1), invalid_range_error);
}

// A result of another size than C writes is memory that is overwritten.
TEST(Precompiled, ResultsHaveTheSizeThatCWrites) {
  namespace p = tilefold::precompiled;
  const auto of_items = []<class T>(T) {
    const auto check = []<class Op>(const Op& op) {
      tilefold_dtype type{};
      std::int32_t count = 0;
      const char* const name = op.template name_for<T>();
      if (tilefold_result(name, code<T>, &type, &count) != TILEFOLD_OK) return;
      EXPECT_EQ(sizeof(typename Op::template result<T>),
                static_cast<unsigned>(type.bits / 8 * count))
          << name << " of items of code " << int{code<T>.code} << " and " << int{code<T>.bits}
          << " bits";
    };
    const auto check_all = [&](const auto&... ops) { (check(ops), ...); };
    check_all(p::sum, p::sum64, p::product, p::product64, p::min, p::max, p::minmax, p::arg_min,
              p::arg_max, p::any, p::all, p::count_nonzero, p::bit_and, p::bit_or, p::bit_xor,
              p::mean, p::variance, p::population_variance, p::standard_deviation,
              p::population_standard_deviation, p::l1, p::l2, p::linf, p::logsumexp,
              p::softmax_pair, p::compensated_sum, p::exact_sum, p::exact_mean, p::checked_sum,
              p::summary, p::torch_sum, p::torch_product);
  };
  const auto of_all = [&](auto... zeros) { (of_items(zeros), ...); };
  of_all(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{}, std::uint8_t{},
         std::uint16_t{}, std::uint32_t{}, std::uint64_t{}, half{}, bfloat16{}, float{}, double{},
         bool{});
  p::host_executor exec(1);
  const int items[] = {-7, 3};
  EXPECT_EQ(p::reduce(exec, items, 2, p::linf), 7.0);
}

TEST(Precompiled, AxesStatisticsDotsAndRowsAreThoseOfTheTemplates) {
  namespace p = tilefold::precompiled;
  p::host_executor exec(2);
  const std::int64_t rows = 300, columns = 41;
  const auto x = items_of<float>(rows * columns);
  const auto n = static_cast<std::int64_t>(x.size());

  std::vector<float> sums(static_cast<std::size_t>(columns)), wanted(sums);
  p::axis_reduce_into(exec, p::array_view<float>{x.data(), {rows, columns}}, {0}, sums.data(),
                      p::sum);
  axis_reduce(test_view{x.data(), right_layout({rows, columns})},
              test_view{wanted.data(), right_layout({columns})}, 0);
  for (std::size_t c = 0; c < sums.size(); ++c) EXPECT_TRUE(same_bits(sums[c], wanted[c])) << c;
  // Transposed, every second column, results from the last to the first.
  std::vector<double> means(20), wanted_means(20);
  p::axis_reduce_into(exec, p::array_view<float>{x.data(), {20, rows}, {2, columns}}, {1},
                      means.data() + 19, p::mean, {-1});
  axis_reduce(test_view{x.data(), view_layout{{20, rows}, {2, columns}}},
              test_view{wanted_means.data(), right_layout({20})}, 1, r::mean{});
  for (std::size_t c = 0; c < 20; ++c) {
    EXPECT_TRUE(same_bits(means[19 - c], wanted_means[c])) << c;
  }
  std::int64_t place = -1;
  p::axis_reduce_into(exec, p::array_view<float>{x.data(), {rows, columns}}, {0, 1}, &place,
                      p::arg_max);
  EXPECT_EQ(place, tilefold::max_element(x) - x.begin());

  const p::statistics found = p::stats(exec, x.data(), n);
  EXPECT_EQ(found.count, n);
  EXPECT_TRUE(same_bits(found.mean, tilefold::reduce(x, r::mean{})));
  EXPECT_TRUE(same_bits(found.variance, tilefold::reduce(x, r::variance{})));
  EXPECT_EQ(found.min, tilefold::reduce(x, minimum{}));
  EXPECT_EQ(found.max, tilefold::reduce(x, maximum{}));

  const auto y = items_of<float>(n + 1);
  EXPECT_TRUE(same_bits(p::dot(exec, x.data(), y.data() + 1, n),
                        tilefold::transform_reduce(x.begin(), x.end(), y.begin() + 1, r::dot{})));
  const bool flags[] = {true, false, true};
  static_assert(std::same_as<decltype(p::reduce(exec, flags, 3, p::min)), bool>);
  EXPECT_FALSE(p::reduce(exec, flags, 3, p::min));
  const p::extremes<bool> ends = p::reduce(exec, flags, 3, p::minmax);
  EXPECT_TRUE(!ends.min && ends.max);
  auto part = p::reduce_piece(exec, flags, 1, 0, p::minmax);
  part.append(exec, flags + 1, 2);
  EXPECT_TRUE(!part.value().min && part.value().max);
  const std::int8_t bytes[] = {100, 100};
  EXPECT_EQ(p::dot(exec, bytes, bytes, 2), 20000);

  std::vector<float> logs(x.size()), wanted_logs(x.size());
  p::log_softmax_into(exec, x.data(), rows, columns, logs.data());
  log_softmax(host_executor(), x.data(), rows, columns, wanted_logs.data());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same_bits(logs[i], wanted_logs[i])) << i;
  EXPECT_EQ(p::workspace_bytes<float>(exec, n, p::mean), 0);
}

TEST(Precompiled, ErrorsOfAxesNameTheValue) {
  namespace p = tilefold::precompiled;
  p::host_executor exec;
  const std::vector<float> x(24, 1.0f);
  std::vector<float> out(24, 3.0f);
  const auto message = [&](const p::array_view<float>& in, const p::axis_numbers& axes,
                           const p::axis_numbers& strides = {}) -> std::string {
    try {
      p::axis_reduce_into(exec, in, axes, out.data(), p::sum, strides);
    } catch (const shape_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_NE(message({x.data(), {4, 6}}, {2}).find("no axis 2"), std::string::npos)
      << message({x.data(), {4, 6}}, {2});
  // Not axis 0, which is what is left of it in 32 bits.
  EXPECT_NE(message({x.data(), {4, 6}}, {std::int64_t{1} << 32}), "no error");
  EXPECT_NE(message({x.data(), {4, 6}, {1}}, {0}).find("in has 1 strides for 2 axes"),
            std::string::npos);
  EXPECT_NE(message({x.data(), {4, 6}}, {0}, {1, 2}).find("out has 2 strides for 1 axes"),
            std::string::npos);
  EXPECT_THROW(p::axis_numbers({1, 1, 1, 1, 1, 1, 1, 1, 1}), shape_error);
  EXPECT_EQ(out, std::vector<float>(24, 3.0f));
}

TEST(Precompiled, PiecesAndAccumulatorsAreThoseOfTheTemplates) {
  namespace p = tilefold::precompiled;
  p::host_executor exec(2);
  const auto x = items_of<float>(100003);
  const auto n = static_cast<std::int64_t>(x.size());
  const auto cut_in_three = [&](auto op) {
    auto left = p::reduce_piece(exec, x.data(), 777, 0, op);
    auto middle = p::reduce_piece(exec, x.data() + 777, 5000, 777, op);
    auto right = p::reduce_piece(exec, x.data() + 5777, 10000, 5777, op);
    right.append(exec, x.data() + 15777, n - 15777);
    middle.merge(right.from_bytes(right.to_bytes()));
    left.merge(std::move(middle));
    EXPECT_EQ(left.begin(), 0);
    EXPECT_EQ(left.end(), n);
    return left.value();
  };
  EXPECT_TRUE(same_bits(cut_in_three(p::sum), tilefold::reduce(x)));
  EXPECT_TRUE(same_bits(cut_in_three(p::mean), tilefold::reduce(x, r::mean{})));
  EXPECT_TRUE(same_bits(cut_in_three(p::variance), tilefold::reduce(x, r::variance{})));
  const p::extremes<float> ends = cut_in_three(p::minmax);
  EXPECT_EQ(ends.min, tilefold::reduce(x, minimum{}));
  EXPECT_EQ(ends.max, tilefold::reduce(x, maximum{}));
  EXPECT_EQ(cut_in_three(p::arg_max), tilefold::max_element(x.begin(), x.end()) - x.begin());
  EXPECT_EQ(cut_in_three(p::count_nonzero),
            std::ranges::count_if(x, [](float v) { return v != 0; }));
  static_assert(std::same_as<decltype(cut_in_three(p::any)), bool>);

  auto sums = p::reduce_piece(exec, x.data(), 10, 5);
  EXPECT_THROW((void)sums.value(), invalid_range_error);
  EXPECT_THROW(sums.append(exec, nullptr, 1), null_pointer_error);
  EXPECT_THROW(sums.merge(p::reduce_piece(exec, x.data(), 10, 16)), invalid_range_error);
  EXPECT_EQ(sums.end(), 15);
  const p::piece<float, p::detail::accumulated> products(p::product);
  EXPECT_THROW((void)products.from_bytes(sums.to_bytes()), format_error);
  EXPECT_THROW((void)sums.from_bytes(std::vector<std::byte>(40)), format_error);
  const p::piece<double, p::detail::accumulated> doubles(p::sum);
  EXPECT_THROW((void)doubles.from_bytes(sums.to_bytes()), format_error);
  EXPECT_THROW((p::piece<float, p::detail::accumulated>(p::sum, -1)), invalid_range_error);
  EXPECT_THROW((void)(p::piece<float, p::detail::always<double>::of>(p::mean).value()),
               empty_range_error);
  const auto taken = std::move(sums);
  EXPECT_THROW((void)sums.begin(), null_pointer_error);
  EXPECT_EQ(taken.begin(), 5);

  tilefold::exact_accumulator<float> expected;
  expected.add(x.begin(), x.end());
  p::exact_accumulator<float> total, half_of_it;
  total.add(exec, x.data() + 5000, n - 5000);
  half_of_it.add(exec, x.data(), 5000);
  total.merge(half_of_it);
  EXPECT_TRUE(same_bits(total.value(), expected.value()));
  EXPECT_TRUE(same_bits(total.mean(n), expected.mean(n)));
  const auto bytes = total.to_bytes();
  EXPECT_TRUE(std::ranges::equal(bytes, expected.to_bytes()));
  const auto back = p::exact_accumulator<float>::from_bytes(bytes);
  EXPECT_EQ(back.to_bytes(), bytes);
  EXPECT_THROW((void)p::exact_accumulator<double>::from_bytes(bytes), format_error);
  EXPECT_THROW((void)total.mean(0), invalid_range_error);
  p::exact_accumulator<std::int32_t> whole;
  const std::int32_t most[] = {2147483647, 2147483647};
  whole.add(exec, most, 2);
  static_assert(std::same_as<decltype(whole.value()), std::int64_t>);
  EXPECT_EQ(whole.value(), 4294967294);
  EXPECT_EQ(whole.mean(4), 1073741823.5);
}

}  // namespace
}  // namespace tilefold::test
