// SPDX-License-Identifier: Apache-2.0
//
// Short arrays folded many at once, on every instruction set of this machine: each has the bits of
// the oracle, whatever its length, its place, its neighbours and their number, and nothing beyond
// it is read. The same through segmented_reduce, where long and empty segments stand between.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/guarded_memory.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

namespace host = detail::host;
namespace r = reference;

template <class Body>
void for_each_target(Body body) {
  for (int i = 0; const char* name = host::simd_target(i); ++i) {
    SCOPED_TRACE(name);
    host::use_simd_target(name);
    body();
  }
  host::use_simd_target(nullptr);
}

template <class T, class Op, class Reference>
class short_arrays {
 public:
  explicit short_arrays(pattern p)
      : items_(make_items<T>(p, 4000, seed())),
        memory_(items_.size() * sizeof(T)),
        first_(memory_.at_the_end(items_)) {}

  /// Arrays of these lengths: the first one ends with the memory, the others lie anywhere.
  void expect_oracle(const std::vector<std::int64_t>& lengths) {
    const auto fold = find();
    if (fold.run == nullptr) return;
    std::vector<std::int64_t> starts;
    std::vector<const void*> arrays;
    std::vector<std::int32_t> counts;
    const auto size = static_cast<std::int64_t>(items_.size());
    for (const std::int64_t length : lengths) {
      const std::int64_t n = std::min(length, fold.most_items);
      const auto any = static_cast<std::int64_t>(bits_() % 3000);
      starts.push_back(starts.empty() ? size - n : any);
      arrays.push_back(first_ + starts.back());
      counts.push_back(static_cast<std::int32_t>(n));
    }
    std::vector<T> got(lengths.size());
    fold.run(arrays.data(), counts.data(), static_cast<std::int64_t>(arrays.size()), got.data());
    expect_oracle_of(starts, counts, got);
  }

  /// `count` arrays of `length` items that end with the memory.
  void expect_oracle_of_equal(std::int64_t length, std::int64_t count) {
    const auto fold = find();
    const auto size = static_cast<std::int64_t>(items_.size());
    if (length > fold.most_items || length * count > size) return;
    std::vector<std::int64_t> starts;
    for (std::int64_t i = count; i > 0; --i) starts.push_back(size - i * length);
    const std::vector<std::int32_t> counts(starts.size(), static_cast<std::int32_t>(length));
    std::vector<T> got(starts.size());
    fold.run_equal(first_ + starts[0], length, count, got.data());
    expect_oracle_of(starts, counts, got);
  }

 private:
  static host::simd_short_fold find() {
    constexpr host::simd_key key = host::simd_key_of<detail::op_reducer<T, Op>, const T*>;
    return host::find_short_fold(key.op, key.value, key.accumulator);
  }

  void expect_oracle_of(const std::vector<std::int64_t>& starts,
                        const std::vector<std::int32_t>& counts, const std::vector<T>& got) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (counts[i] == 0) continue;
      const auto from = items_.begin() + starts[i];
      const T wanted = neighbour_tree(Reference{}, std::vector<T>(from, from + counts[i]));
      ASSERT_TRUE(same_bits(r::with_one_nan(got[i]), r::with_one_nan(wanted)))
          << "array " << i << " of " << got.size() << ", " << counts[i] << " items";
    }
  }

  std::vector<T> items_;
  guarded_memory memory_;
  T* first_;
  shape_stream bits_{seed()};
};

template <class T, class Op, class Reference>
void expect_oracle_of_all_kinds() {
  SCOPED_TRACE(::testing::internal::GetTypeName<T>());
  shape_stream bits(seed());
  for (const pattern p : patterns_of<T>()) {
    SCOPED_TRACE(name_of(p));
    short_arrays<T, Op, Reference> arrays(p);
    std::vector<std::int64_t> every;
    for (std::int64_t n = 1; n <= 140; ++n) {
      every.push_back(n);
      arrays.expect_oracle({n});
      arrays.expect_oracle(std::vector<std::int64_t>(37, n));
      for (const std::int64_t count : {1, 16, 37, 512}) arrays.expect_oracle_of_equal(n, count);
    }
    arrays.expect_oracle(every);
    for (std::int64_t count = 1; count <= host::most_short_arrays; count += 73) {
      for (const std::int64_t longest : {3, 20, 70, 200}) {
        arrays.expect_oracle(random_lengths(bits, count, longest));
      }
      // Most of them of a vector at most or of no item, some longer.
      for (const std::uint64_t one_in : {5, 9, 40}) {
        std::vector<std::int64_t> lengths;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto n = static_cast<std::int64_t>(bits() % (bits() % one_in == 0 ? 130 : 9));
          lengths.push_back(n);
        }
        arrays.expect_oracle(lengths);
      }
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(ShortFolds, HaveTheBitsOfTheOracle) {
  for_each_target([] {
    expect_oracle_of_all_kinds<float, plus, std::plus<>>();
    expect_oracle_of_all_kinds<double, plus, std::plus<>>();
    expect_oracle_of_all_kinds<float, multiplies, std::multiplies<>>();
    expect_oracle_of_all_kinds<std::uint32_t, plus, std::plus<>>();
    expect_oracle_of_all_kinds<std::uint64_t, plus, std::plus<>>();
  });
}

TEST(ShortFolds, AreThereWhereVectorsAreWide) {
  for (int i = 0; const char* name = host::simd_target(i); ++i) {
    host::use_simd_target(name);
    const auto fold = host::find_short_fold(host::simd_op::plus, host::simd_type::float32,
                                            host::simd_type::float32);
    const std::string target = name;
    const bool wide = target == "AVX2" || target.starts_with("AVX3");
    EXPECT_EQ(fold.run != nullptr, wide) << target;
    EXPECT_EQ(fold.most_items >= 32, wide) << target;
  }
  host::use_simd_target(nullptr);
}

// Segments that follow each other, as many as several blocks, by one thread and by eight.
TEST(ShortFolds, ServeSegmentsAmongOthers) {
  const auto items = make_items<float>(pattern::mixed, 3000000, seed());
  shape_stream bits(seed());
  const host_executor one(1), eight(8);
  for_each_target([&] {
    for (int round = 0; round < 12; ++round) {
      std::vector<std::int32_t> offsets{static_cast<std::int32_t>(bits() % 64)};
      for (const std::int64_t n : random_lengths(bits, 20000, 2000)) {
        if (offsets.back() + n > static_cast<std::int64_t>(items.size())) break;
        offsets.push_back(offsets.back() + static_cast<std::int32_t>(n));
      }
      const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
      std::vector<float> by_one(offsets.size()), by_eight(offsets.size());
      tilefold::segmented_reduce(one, items.data(), offsets.data(), segments, by_one.data());
      tilefold::segmented_reduce(eight, items.data(), offsets.data(), segments, by_eight.data());
      for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const float alone =
            tilefold::reduce(one, items.begin() + offsets[i], items.begin() + offsets[i + 1]);
        ASSERT_TRUE(same_bits(by_one[i], alone)) << "segment " << i << " of round " << round;
        ASSERT_TRUE(same_bits(by_eight[i], alone)) << "segment " << i << " of round " << round;
      }
    }
  });
}

// Lengths that are all alike, which offsets tell; and those of which one or two neighbours have
// another one, wherever they stand.
TEST(ShortFolds, ServeOffsetsOfOneLength) {
  const auto items = make_items<float>(pattern::mixed, 200000, seed());
  const host_executor one(1);
  for_each_target([&] {
    for (const std::int32_t n : {1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 128}) {
      for (const std::int32_t segments : {1, 15, 16, 17, 511, 512, 513, 1500}) {
        for (const std::int32_t moved : {0, 1, 2, 15, 16, 17, 500, 512, 1024, segments - 1}) {
          if (moved > segments) continue;
          std::vector<std::int32_t> offsets;
          for (std::int32_t i = 0; i <= segments; ++i) offsets.push_back(5 + i * n);
          if (moved > 0) offsets[static_cast<std::size_t>(moved)] -= 1;
          std::vector<float> sums(static_cast<std::size_t>(segments));
          tilefold::segmented_reduce(one, items.data(), offsets.data(), segments, sums.data());
          for (std::size_t i = 0; i < sums.size(); ++i) {
            const float alone =
                tilefold::reduce(one, items.begin() + offsets[i], items.begin() + offsets[i + 1]);
            ASSERT_TRUE(same_bits(sums[i], alone))
                << "segment " << i << " of " << n << " items, offset " << moved << " moved";
          }
        }
      }
    }
  });
}

// A bound that is not kept: what lies beyond it is left out, of segments that are all alike, too.
TEST(ShortFolds, LeaveOutWhatIsBeyondABound) {
  const auto items = make_items<float>(pattern::mixed, 20000, seed());
  const host_executor one(1);
  for_each_target([&] {
    for (const std::int64_t n : {2, 4, 9, 16}) {
      std::vector<std::int64_t> offsets;
      for (std::int64_t i = 0; i <= 1000; ++i) offsets.push_back(i * n);
      for (const std::int64_t bound : {n - 1, n, n + 1}) {
        std::vector<float> sums(1000);
        tilefold::segmented_reduce_into(one, items.data(), offsets.data(), 1000,
                                        segment_bound(bound), sums.data());
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const auto first = items.begin() + offsets[i];
          ASSERT_TRUE(same_bits(sums[i], tilefold::reduce(one, first, first + std::min(n, bound))))
              << "segment " << i << " of " << n << " items, bound " << bound;
        }
      }
    }
  });
}

// The same arrays at every other place, or from behind: one length, but not in a row.
TEST(ShortFolds, OfOneLengthNeedNotLieInARow) {
  const auto items = make_items<float>(pattern::mixed, 40000, seed());
  const host_executor one(1);
  for_each_target([&] {
    for (const std::int64_t step : {-16, 8, 17, 32}) {
      std::vector<std::int64_t> begins, ends;
      for (std::int64_t i = 0; i < 600; ++i) {
        begins.push_back(step < 0 ? 39000 + i * step : i * step);
        ends.push_back(begins.back() + 16);
      }
      std::vector<float> sums(begins.size());
      tilefold::segmented_reduce(one, items.data(), begins.data(), ends.data(), 600, sums.data());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const float alone =
            tilefold::reduce(one, items.begin() + begins[i], items.begin() + ends[i]);
        ASSERT_TRUE(same_bits(sums[i], alone)) << "segment " << i << ", step " << step;
      }
    }
  });
}

// Equal lengths of items that do not lie in a row, and of such as are made of something.
TEST(ShortFolds, AreNotForEverything) {
  struct no_default {
    explicit no_default(std::uint32_t n) : value(n) {}
    std::uint32_t value;
  };
  const auto join = [](const no_default& a, const no_default& b) {
    return no_default(3 * a.value + b.value);
  };
  std::vector<no_default> items;
  std::deque<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    items.push_back(no_default(i * i));
    numbers.push_back(i * i);
  }
  std::vector<no_default> joined(250, no_default(0));
  std::vector<std::uint32_t> sums(250);
  const host_executor two(2);
  tilefold::segmented_reduce(two, items.begin(), 250, 4, joined.begin(), no_default(1), join);
  tilefold::segmented_reduce(two, numbers.begin(), 250, 4, sums.begin());
  for (std::size_t i = 0; i < 250; ++i) {
    const auto x = [&](std::size_t k) { return numbers[4 * i + k]; };
    EXPECT_EQ(joined[i].value, 3 * 1 + 3 * (3 * x(0) + x(1)) + (3 * x(2) + x(3)));
    EXPECT_EQ(sums[i], x(0) + x(1) + x(2) + x(3));
  }
}

// Runs of every length up to 300, long ones among them.
TEST(ShortFolds, ServeRunsOfKeys) {
  const auto items = make_items<float>(pattern::mixed, 1000000, seed());
  shape_stream bits(seed());
  for (const int threads : {1, 8}) {
    std::vector<std::int32_t> keys;
    std::vector<std::int64_t> ends;
    while (keys.size() < items.size()) {
      const std::int64_t n =
          bits() % 500 == 0 ? 20000 : 1 + static_cast<std::int64_t>(bits() % 300);
      const auto left = static_cast<std::int64_t>(items.size() - keys.size());
      keys.insert(keys.end(), static_cast<std::size_t>(std::min(n, left)),
                  static_cast<std::int32_t>(ends.size()));
      ends.push_back(static_cast<std::int64_t>(keys.size()));
    }
    std::vector<std::int32_t> keys_out(ends.size());
    std::vector<float> sums(ends.size());
    const host_executor executor(threads);
    const std::int64_t runs =
        tilefold::reduce_by_key(executor, keys.data(), keys.data() + keys.size(), items.data(),
                                keys_out.data(), sums.data());
    ASSERT_EQ(runs, static_cast<std::int64_t>(ends.size()));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto first = items.begin() + (i == 0 ? 0 : ends[i - 1]);
      const float alone = tilefold::reduce(host_executor(1), first, items.begin() + ends[i]);
      ASSERT_TRUE(same_bits(sums[i], alone)) << "run " << i;
      ASSERT_EQ(keys_out[i], static_cast<std::int32_t>(i));
    }
  }
}

}  // namespace
}  // namespace tilefold::test
