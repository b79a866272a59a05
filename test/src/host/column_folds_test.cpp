// SPDX-License-Identifier: Apache-2.0
//
// Columns that stand side by side, on every instruction set of this machine: each has the bits of
// the oracle, whatever the type, the operator, the number of columns and of rows, and nothing
// beyond the last one is read. Means, and places of extremes, too.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/guarded_memory.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace host = detail::host;
namespace r = reference;

struct shape {
  std::int64_t rows;
  std::int64_t width;
};

// Around vectors of every type, runs of rows and blocks of columns; the last ones are shared by
// threads.
const std::vector<shape> shapes{{1, 5},   {2, 17},    {3, 64},   {7, 33},   {8, 130}, {9, 31},
                                {15, 66}, {16, 3},    {17, 129}, {100, 48}, {64, 1},  {257, 20},
                                {5, 700}, {12, 4100}, {4099, 7}, {3000, 65}};

template <class Body>
void for_each_target(const Body& body) {
  for (int i = 0; const char* name = host::simd_target(i); ++i) {
    SCOPED_TRACE(name);
    host::use_simd_target(name);
    body();
  }
  host::use_simd_target(nullptr);
}

template <class T>
class matrix {
 public:
  /// Rows stand `gap` items apart; the last item is the last of its memory.
  matrix(pattern p, shape s, std::int64_t gap)
      : shape_(s),
        stride_(s.width + gap),
        items_(make_items<T>(p, (s.rows - 1) * stride_ + s.width, seed())),
        memory_(items_.size() * sizeof(T)),
        first_(memory_.at_the_end(items_)) {}

  auto view() const {
    return test_view{first_, view_layout{{shape_.rows, shape_.width}, {stride_, 1}}};
  }
  std::vector<T> column(std::int64_t c) const {
    std::vector<T> found;
    for (std::int64_t i = 0; i < shape_.rows; ++i) {
      found.push_back(items_[static_cast<std::size_t>(i * stride_ + c)]);
    }
    return found;
  }

 private:
  shape shape_;
  std::int64_t stride_;
  std::vector<T> items_;
  guarded_memory memory_;
  const T* first_;
};

template <class T>
bool is_same(const T& got, const T& wanted) {
  return same_bits(got, wanted);
}
template <class T>
bool is_same(const reducers::indexed_value<T>& got, const reducers::indexed_value<T>& wanted) {
  return got.index == wanted.index && same_bits(got.value, wanted.value);
}

/// fold(executor, matrix, results) gives expected(items of the column) for every column.
template <class T, class Result, class Fold, class Expected>
void for_each_column(const Fold& fold, const Expected& expected) {
  SCOPED_TRACE(::testing::internal::GetTypeName<T>());
  for (const pattern p : patterns_of<T>()) {
    std::int64_t gap = 0;
    for (const shape s : shapes) {
      if (p != pattern::mixed && s.rows * s.width > 6000) continue;
      const matrix<T> m(p, s, gap++ % 3);
      const std::int64_t step = s.width < 200 ? 1 : 37;
      std::vector<Result> wanted;
      for (std::int64_t c = 0; c < s.width; c += step) wanted.push_back(expected(m.column(c)));
      for_each_target([&] {
        for (const int threads : {1, 3}) {
          std::vector<Result> out(static_cast<std::size_t>(s.width));
          fold(host_executor(threads), m.view(), test_view{out.data(), right_layout({s.width})});
          for (std::int64_t c = 0; c < s.width; c += step) {
            ASSERT_TRUE(is_same(out[static_cast<std::size_t>(c)],
                                wanted[static_cast<std::size_t>(c / step)]))
                << name_of(p) << ", " << s.rows << " x " << s.width << ", column " << c << ", "
                << threads << " threads";
          }
        }
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class Op, class Reference, class T, class Acc>
void has_the_bits_of_the_oracle() {
  constexpr auto key = host::simd_key_of<detail::op_reducer<Acc, Op>, const T*>;
  ASSERT_NE(host::find_simd_columns(key.op, key.value, key.accumulator).join, nullptr)
      << "this would test another way";
  for_each_column<T, Acc>(
      [](const host_executor& exec, const auto& in, const auto& out) {
        axis_reduce<Acc>(exec, in, out, axes{0}, Op{});
      },
      [](const std::vector<T>& column) { return r::fold<Acc>(Reference{}, column); });
}

template <class Op, class Reference, class... T>
void of_types() {
  (has_the_bits_of_the_oracle<Op, Reference, T, T>(), ...);
}

template <class Op, class Reference>
void sums_or_products() {
  of_types<Op, Reference, float, double, std::int32_t, std::uint32_t, std::int64_t,
           std::uint64_t>();
  has_the_bits_of_the_oracle<Op, Reference, half, float>();
  has_the_bits_of_the_oracle<Op, Reference, bfloat16, float>();
  has_the_bits_of_the_oracle<Op, Reference, float, double>();
  has_the_bits_of_the_oracle<Op, Reference, std::int8_t, std::int32_t>();
  has_the_bits_of_the_oracle<Op, Reference, std::uint8_t, std::uint32_t>();
  has_the_bits_of_the_oracle<Op, Reference, std::int16_t, std::int32_t>();
  has_the_bits_of_the_oracle<Op, Reference, std::uint16_t, std::uint32_t>();
  has_the_bits_of_the_oracle<Op, Reference, std::int32_t, std::int64_t>();
  has_the_bits_of_the_oracle<Op, Reference, std::uint32_t, std::uint64_t>();
}

template <class Op, class Reference>
void extremes() {
  of_types<Op, Reference, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
           std::uint32_t, std::int64_t, std::uint64_t, half, bfloat16, float, double>();
}

TEST(ColumnFolds, Sums) { sums_or_products<plus, r::plus>(); }
TEST(ColumnFolds, Products) {
  sums_or_products<multiplies, r::multiplies>();
  has_the_bits_of_the_oracle<multiplies, r::multiplies, std::int8_t, std::int64_t>();
  has_the_bits_of_the_oracle<multiplies, r::multiplies, std::uint8_t, std::uint64_t>();
  has_the_bits_of_the_oracle<multiplies, r::multiplies, std::int16_t, std::int64_t>();
  has_the_bits_of_the_oracle<multiplies, r::multiplies, std::uint16_t, std::uint64_t>();
}
TEST(ColumnFolds, Minima) { extremes<minimum, r::minimum>(); }
TEST(ColumnFolds, Maxima) { extremes<maximum, r::maximum>(); }
TEST(ColumnFolds, MinimaOfNumbers) { extremes<minimum_number, r::minimum_number>(); }
TEST(ColumnFolds, MaximaOfNumbers) { extremes<maximum_number, r::maximum_number>(); }

// Reals of a pattern, two by two.
template <class Real>
std::vector<std::complex<Real>> complex_items(pattern p, std::int64_t n) {
  const auto parts = make_items<Real>(p, 2 * n, seed());
  std::vector<std::complex<Real>> items;
  for (std::size_t i = 0; i < parts.size(); i += 2) items.emplace_back(parts[i], parts[i + 1]);
  return items;
}

template <class Op, class Reference, class Real>
void complex_folds() {
  using item = std::complex<Real>;
  for (const pattern p : patterns_of<Real>()) {
    for (const shape s : shapes) {
      const auto items = complex_items<Real>(p, s.rows * s.width);
      guarded_memory memory(items.size() * sizeof(item));
      const item* const first = memory.at_the_end(items);
      const auto expected = [&](std::int64_t begin, std::int64_t n, std::int64_t step) {
        std::vector<item> some;
        for (std::int64_t i = 0; i < n; ++i) {
          some.push_back(items[static_cast<std::size_t>(begin + i * step)]);
        }
        return r::fold<item>(Reference{}, some);
      };
      const auto size = static_cast<std::int64_t>(items.size());
      const std::int64_t step = s.width < 200 ? 1 : 37;
      std::vector<item> wanted;
      for (std::int64_t c = 0; c < s.width; c += step) {
        wanted.push_back(expected(c, s.rows, s.width));
      }
      const item wanted_in_a_row = expected(0, size, 1);
      for_each_target([&] {
        for (const int threads : {1, 3}) {
          const host_executor exec(threads);
          const test_view in{first, view_layout{{s.rows, s.width}, {s.width, 1}}};
          std::vector<item> out(static_cast<std::size_t>(s.width));
          axis_reduce(exec, in, test_view{out.data(), right_layout({s.width})}, axes{0}, Op{});
          for (std::int64_t c = 0; c < s.width; c += step) {
            ASSERT_TRUE(same_bits(out[static_cast<std::size_t>(c)],
                                  wanted[static_cast<std::size_t>(c / step)]))
                << name_of(p) << ", " << s.rows << " x " << s.width << ", column " << c;
          }
          ASSERT_TRUE(same_bits(reduce(exec, first, first + size, Op{}), wanted_in_a_row))
              << name_of(p) << ", " << size << " in a row, " << threads << " threads";
        }
      });
    }
  }
}

TEST(ColumnFolds, SumsOfComplexNumbers) {
  complex_folds<plus, r::plus, float>();
  complex_folds<plus, r::plus, double>();
}
TEST(ColumnFolds, ProductsOfComplexNumbers) {
  constexpr auto type = host::simd_type::complex64;
  ASSERT_NE(host::find_simd_columns(host::simd_op::multiplies, type, type).join, nullptr);
  ASSERT_NE(host::find_simd_fold(host::simd_op::multiplies, type, type), nullptr)
      << "this would test another way";
  complex_folds<multiplies, r::multiplies, float>();
  complex_folds<multiplies, r::multiplies, double>();
}

// Whether items are true: not 0, or a NaN.
template <class T>
bool is_true(const T& item) {
  return item != T{} || item != item;
}

template <class T>
void questions() {
  constexpr auto key = host::columns_key<detail::source<const T*>,
                                         detail::bound_reducer<reducers::any<>, detail::as_is, T>>;
  ASSERT_NE(host::find_simd_columns(key.op, key.value, key.accumulator).join, nullptr)
      << "this would test another way";
  // Of few that are true, and of few that are not.
  for (const shape s : shapes) {
    for (const std::uint64_t rare : {0, 1, 2}) {
      bit_stream random(seed());
      std::vector<T> items;
      for (std::int64_t i = 0; i < s.rows * s.width; ++i) {
        const bool is_rare = random.below(static_cast<std::uint64_t>(2 * s.rows)) == 0;
        const T zero =
            std::is_floating_point_v<T> && random.below(2) == 0 ? static_cast<T>(-0.0) : T{};
        const T other = static_cast<T>(1 + random.below(100));
        items.push_back(rare == 2 || is_rare == (rare == 1) ? other : zero);
      }
      if (s.rows > 3 && std::is_floating_point_v<T>) {
        items[items.size() / 2] = std::numeric_limits<T>::quiet_NaN();
      }
      guarded_memory memory(items.size() * sizeof(T));
      const T* const first = memory.at_the_end(items);
      for_each_target([&] {
        for (const int threads : {1, 3}) {
          const test_view in{first, view_layout{{s.rows, s.width}, {s.width, 1}}};
          const auto width = static_cast<std::size_t>(s.width);
          const auto any = std::make_unique<bool[]>(width);
          const auto all = std::make_unique<bool[]>(width);
          const auto layout = right_layout({s.width});
          axis_reduce(host_executor(threads), in, test_view{any.get(), layout}, 0,
                      reducers::any<>{});
          axis_reduce(host_executor(threads), in, test_view{all.get(), layout}, 0,
                      reducers::all<>{});
          for (std::size_t c = 0; c < width; ++c) {
            std::int64_t found = 0;
            for (std::size_t i = c; i < items.size(); i += width) found += is_true(items[i]);
            ASSERT_EQ(any[c], found > 0) << s.rows << " x " << s.width << ", column " << c;
            ASSERT_EQ(all[c], found == s.rows) << s.rows << " x " << s.width << ", column " << c;
          }
        }
      });
    }
  }
}

TEST(ColumnFolds, WhetherItemsAreTrue) {
  questions<std::int8_t>();
  questions<std::uint16_t>();
  questions<std::int32_t>();
  questions<std::uint64_t>();
  questions<float>();
  questions<double>();
}

// The sum of two doubles as if exponents had no upper end: far away in units of 2^64, where what is
// too small for a double is far below the last bit.
long double far_sum(long double a, long double b) {
  if (!(std::fabs(a) < 0x1p1000L && std::fabs(b) < 0x1p1000L)) {
    const double sum = static_cast<double>(a * 0x1p-64L) + static_cast<double>(b * 0x1p-64L);
    return static_cast<long double>(sum) * 0x1p64L;
  }
  return static_cast<double>(a) + static_cast<double>(b);
}

// A mean is such a sum, divided; that of finite numbers is finite.
double mean_of_sum(long double sum, double n) {
  if (std::isinf(sum) || std::fabs(sum) <= std::numeric_limits<double>::max()) {
    return static_cast<double>(sum) / n;
  }
  const double mean = static_cast<double>(sum * 0x1p-64L) / n * 0x1p64;
  return std::isinf(mean) ? std::copysign(std::numeric_limits<double>::max(), mean) : mean;
}

template <class T>
void means() {
  for_each_column<T, double>(
      [](const host_executor& exec, const auto& in, const auto& out) {
        axis_reduce(exec, in, out, 0, reducers::mean{});
      },
      [](const std::vector<T>& column) {
        std::vector<long double> items;
        for (const T& x : column) items.push_back(detail::convert<double>(x));
        const long double sum = neighbour_tree(far_sum, std::move(items));
        return r::with_one_nan(mean_of_sum(sum, static_cast<double>(column.size())));
      });
}

TEST(ColumnFolds, Means) {
  means<float>();
  means<double>();
  means<half>();
  means<std::int16_t>();
}

// What a variance keeps, and joins: of as many items, a power of two, by the distance of their
// sums, else by that of their means.
struct moments {
  double count;
  double sum;
  double deviations;
};
moments joined(const moments& a, const moments& b) {
  const bool even = a.count == b.count && std::exp2(std::floor(std::log2(a.count))) == a.count;
  const double distance =
      even ? r::rounded(b.sum - a.sum)
           : r::rounded(r::rounded(b.sum / b.count) - r::rounded(a.sum / a.count));
  const double share = r::rounded(b.count / (a.count + b.count));
  const double weight = even ? 0.5 / a.count : r::rounded(a.count * share);
  const double between = r::rounded(r::rounded(distance * weight) * distance);
  return {a.count + b.count, r::rounded(a.sum + b.sum),
          r::rounded(r::rounded(a.deviations + b.deviations) + between)};
}

template <class T>
void variances() {
  ASSERT_NE(host::find_simd_deviations(host::simd_type_of<T>()).join, nullptr)
      << "this would test another way";
  for_each_column<T, double>(
      [](const host_executor& exec, const auto& in, const auto& out) {
        axis_reduce(exec, in, out, 0, reducers::variance(divisor::population));
      },
      [](const std::vector<T>& column) -> double {
        std::vector<moments> items;
        bool all_finite = true;
        for (const T& item : column) {
          const auto x = detail::convert<double>(item);
          items.push_back({1.0, x, x - x});
          all_finite = all_finite && std::isfinite(x);
        }
        const moments all = neighbour_tree(joined, std::move(items));
        if (all_finite && !std::isfinite(all.sum)) {
          // Beyond the range of doubles: as one array, without the library's vectors.
          const basic_host_executor<host::serial> plain;
          return reduce(plain, column.begin(), column.end(),
                        reducers::variance(divisor::population));
        }
        return r::with_one_nan(all.deviations / all.count);
      });
}

TEST(ColumnFolds, Variances) {
  variances<std::int8_t>();
  variances<std::uint16_t>();
  variances<std::int32_t>();
  variances<std::uint32_t>();
  variances<std::int64_t>();
  variances<std::uint64_t>();
  variances<half>();
  variances<bfloat16>();
  variances<float>();
  variances<double>();
}

// The first of equal items, of which -0 is less than +0; a NaN before all others, or after them.
template <class Reducer, class T>
void places(bool largest, bool nan_counts) {
  const auto before = [=](T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) != std::isnan(b) && std::isnan(a) == nan_counts;
      }
      if (a == b) return std::signbit(a) != std::signbit(b) && std::signbit(a) != largest;
    }
    return largest ? b < a : a < b;
  };
  for_each_column<T, reducers::indexed_value<T>>(
      [](const host_executor& exec, const auto& in, const auto& out) {
        axis_reduce(exec, in, out, 0, Reducer{});
      },
      [&](const std::vector<T>& column) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < column.size(); ++i) {
          if (before(column[i], column[best])) best = i;
        }
        return reducers::indexed_value<T>{r::with_one_nan(column[best]),
                                          static_cast<std::int64_t>(best)};
      });
}

template <class T>
void places_of() {
  places<reducers::arg_min<>, T>(false, true);
  places<reducers::arg_max<>, T>(true, true);
  places<reducers::arg_min<nan_rule::ignore>, T>(false, false);
  places<reducers::arg_max<nan_rule::ignore>, T>(true, false);
}

// The same of arrays, alone and as rows, whose items are taken as columns.
template <class Reducer, class T>
void places_in_arrays() {
  SCOPED_TRACE(::testing::internal::GetTypeName<T>());
  constexpr std::int64_t most = 70001;
  for (const pattern p : patterns_of<T>()) {
    const auto items = make_items<T>(p, most, seed());
    guarded_memory memory(items.size() * sizeof(T));
    const T* const last = memory.at_the_end(items) + most;
    for (const std::int64_t n : {1, 63, 511, 512, 513, 1000, 4096, 4171, 30000, 70001}) {
      // On one thread, without the library's vectors: an order of its own.
      const basic_host_executor<host::serial> plain;
      const auto wanted = tilefold::reduce(plain, last - n, last, Reducer{});
      for_each_target([&] {
        for (const int threads : {1, 3}) {
          const auto got = tilefold::reduce(host_executor(threads), last - n, last, Reducer{});
          ASSERT_EQ(got.index, wanted.index) << name_of(p) << ", n = " << n;
          ASSERT_TRUE(same_bits(got.value, wanted.value)) << name_of(p) << ", n = " << n;
        }
      });
      std::vector<reducers::indexed_value<T>> both(2);
      segmented_reduce(host_executor(2), last - n, 2, n / 2, both.begin(),
                       if_empty(Reducer{}, wanted));
      for (std::int64_t i = 0; i < 2 && n > 1; ++i) {
        const T* const row = last - n + i * (n / 2);
        const auto of_row = tilefold::reduce(plain, row, row + n / 2, Reducer{});
        ASSERT_EQ(both[static_cast<std::size_t>(i)].index, of_row.index) << name_of(p) << n;
      }
    }
  }
}

TEST(ColumnFolds, PlacesInArrays) {
  places_in_arrays<reducers::arg_min<>, float>();
  places_in_arrays<reducers::arg_max<>, float>();
  places_in_arrays<reducers::arg_max<>, double>();
  places_in_arrays<reducers::arg_min<nan_rule::ignore>, double>();
}

TEST(ColumnFolds, PlacesOfFloats) { places_of<float>(); }
TEST(ColumnFolds, PlacesOfDoubles) { places_of<double>(); }

template <class T>
void places_of_integers() {
  constexpr auto key =
      host::place_key<detail::source<detail::index_iterator, const T*>,
                      detail::bound_reducer<reducers::arg_min<>, detail::as_is, T>>;
  ASSERT_NE(host::find_simd_places(key.op, key.value, key.accumulator), nullptr)
      << "this would test another way";
  places<reducers::arg_min<>, T>(false, true);
  places<reducers::arg_max<>, T>(true, true);
}
TEST(ColumnFolds, PlacesOfIntegers) {
  places_of_integers<std::int32_t>();
  places_of_integers<std::uint32_t>();
  places_of_integers<std::int64_t>();
  places_of_integers<std::uint64_t>();
}

}  // namespace
}  // namespace tilefold::test
