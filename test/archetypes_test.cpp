// SPDX-License-Identifier: Apache-2.0
//
// Every verb of the host with items, keys and accumulators that can do nothing but what the docs
// ask for (support/archetype.hpp): one that is copied as bytes, and one that is not.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

#include "support/archetype.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

// The same with a copy constructor and a destructor, so that its bytes may not be copied.
class heavy_archetype : public archetype {
 public:
  using archetype::archetype;
  heavy_archetype(const heavy_archetype& other) : archetype(other) {}
  heavy_archetype& operator=(const heavy_archetype&) = default;
  ~heavy_archetype() {}  // NOLINT(modernize-use-equals-default)
};
static_assert(std::is_trivially_copyable_v<archetype>);
static_assert(!std::is_trivially_copyable_v<heavy_archetype>);

template <class T>
class Archetypes : public testing::Test {
 protected:
  static constexpr std::size_t n = 20000;

  static std::vector<T> make() {
    std::vector<T> items;
    for (std::uint32_t i = 0; i < n; ++i) items.push_back(T(2 * i + 1, i * i + 7));
    return items;
  }
  // By a loop: of whole numbers the order of evaluation does not matter.
  T fold(std::size_t first, std::size_t count, std::size_t step = 1) const {
    T all = items[first];
    for (std::size_t i = 1; i < count; ++i) all = composition<T>()(all, items[first + i * step]);
    return all;
  }
  static void same(const T& found, const T& expected) {
    ASSERT_EQ(found.factor(), expected.factor());
    ASSERT_EQ(found.term(), expected.term());
  }

  const std::vector<T> items = make();
  const composition<T> op{};
  const T one{1, 0};
  std::vector<T> out{n, one};
};
using archetypes = testing::Types<archetype, heavy_archetype>;
TYPED_TEST_SUITE(Archetypes, archetypes);

TYPED_TEST(Archetypes, AreReduced) {
  for (const int count : {1, 2, 5, 8, 255, 256, 257, 20000}) {
    const auto n = static_cast<std::size_t>(count);
    const auto* const first = this->items.data();
    this->same(reduce(first, first + n, this->op), this->fold(0, n));
    this->same(reduce(host_executor(2), first, first + n, this->one, this->op), this->fold(0, n));
    reduce_into(host_executor(), first, first + n, this->out.begin(), this->op);
    this->same(this->out[0], this->fold(0, n));
  }
  this->same(reduce(this->items.begin(), this->items.begin(), if_empty(this->op, this->one)),
             this->one);
}

TYPED_TEST(Archetypes, ArePassedThroughFunctions) {
  using T = TypeParam;
  const auto copied = [](const T& x) { return x; };
  const auto chosen = [](const T& x, const T&) { return x; };
  this->same(transform_reduce(this->items, this->one, this->op, copied), this->fold(0, this->n));
  this->same(transform_reduce(this->items.begin(), this->items.end(), this->items.begin(),
                              this->one, this->op, chosen),
             this->fold(0, this->n));
  const auto made = r::make_reducer(copied, this->op, copied);
  this->same(reduce(this->items, made), this->fold(0, this->n));
  const auto odd = [](const T& x) { return x.term() % 2 != 0; };
  EXPECT_EQ(count_if(this->items, odd), static_cast<std::int64_t>(this->n) / 2);
  const auto two = reduce(this->items, r::fuse(made, r::count()));
  this->same(two.template get<0>(), this->fold(0, this->n));
}

TYPED_TEST(Archetypes, AreFoldedBySegments) {
  using T = TypeParam;
  const std::vector<std::int64_t> offsets{0, 1, 1, 9, 300, 20000};
  segmented_reduce(this->items.begin(), offsets.begin(), 5, this->out.begin(), this->one, this->op);
  this->same(this->out[1], this->one);
  this->same(this->out[2], this->fold(1, 8));
  this->same(this->out[4], this->fold(300, 19700));
  segmented_reduce(this->items.begin(), 200, 100, this->out.begin(), this->one, this->op);
  for (std::size_t i = 0; i < 200; ++i) this->same(this->out[i], this->fold(100 * i, 100));
  const std::vector<const T*> arrays{this->items.data() + 3, this->items.data()};
  const std::vector<int> lengths{500, 1};
  batched_reduce(arrays.begin(), lengths.begin(), 2, this->out.begin(), this->one, this->op);
  this->same(this->out[0], this->fold(3, 500));
}

TYPED_TEST(Archetypes, AreKeysAndValues) {
  using T = TypeParam;
  std::vector<T> keys, keys_out(this->n, this->one);
  for (std::uint32_t i = 0; i < this->n; ++i) keys.push_back(T(i / 40, i));
  const auto runs = reduce_by_key(keys.begin(), keys.end(), this->items.begin(), keys_out.begin(),
                                  this->out.begin(), equal_factors<T>(), this->op);
  ASSERT_EQ(runs, 500);
  for (std::size_t i = 0; i < 500; ++i) {
    this->same(this->out[i], this->fold(40 * i, 40));
    this->same(keys_out[i], keys[40 * i]);
  }
}

TYPED_TEST(Archetypes, AreFoldedAlongAxes) {
  const test_view matrix{this->items.data(), right_layout({200, 100})};
  const test_view rows{this->out.data(), right_layout({200})};
  axis_reduce(matrix, rows, axes{1}, this->one, this->op);
  for (std::size_t i = 0; i < 200; ++i) this->same(this->out[i], this->fold(100 * i, 100));
  const test_view columns{this->out.data(), right_layout({100})};
  axis_reduce(matrix, columns, axes{0}, this->one, this->op);
  for (std::size_t i = 0; i < 100; ++i) this->same(this->out[i], this->fold(i, 200, 100));
}

TYPED_TEST(Archetypes, AreFoldedInPieces) {
  const auto* const first = this->items.data();
  auto whole = reduce_piece(host_executor(), first, first + 3333, 0, this->op);
  whole.merge(reduce_piece(host_executor(), first + 3333, first + this->n, 3333, this->op));
  this->same(whole.value(), this->fold(0, this->n));
}

TYPED_TEST(Archetypes, AreFoundByComparators) {
  const less_by_term<TypeParam> less;
  EXPECT_EQ(min_element(this->items, less) - this->items.begin(), 0);
  EXPECT_EQ(max_element(this->items, less) - this->items.end(), -1);
  this->same(max_value(this->items, less), this->items.back());
  const auto extremes = minmax_element(this->items, less);
  EXPECT_EQ(extremes.first - this->items.begin(), 0);
  EXPECT_EQ(extremes.second - this->items.end(), -1);
  const auto term = [](const TypeParam& x) { return x.term(); };
  EXPECT_EQ(reduce(this->items, r::arg_min_by{term}).index, 0);
  EXPECT_EQ(reduce(this->items, r::arg_min_by{term, std::greater<>()}).index,
            static_cast<std::int64_t>(this->n) - 1);
}

TYPED_TEST(Archetypes, AreWrittenThroughOutputs) {
  using T = TypeParam;
  const auto copied = [](const T& x) { return x; };
  const auto chosen = [](const T&, const T& y) { return y; };
  const auto* const first = this->items.data();
  const auto* const last = first + this->n;
  const host_executor exec(2);
  transform_reduce_into(exec, first, last, this->out.begin(), this->one, this->op, copied);
  transform_reduce_into(exec, first, last, first, this->out.begin() + 1, this->one, this->op,
                        chosen);
  this->same(this->out[0], this->fold(0, this->n));
  this->same(this->out[1], this->fold(0, this->n));
  this->same(inner_product(exec, first, last, first, this->one, this->op, chosen),
             this->fold(0, this->n));
}

TYPED_TEST(Archetypes, AreFoldedByEveryFormOfSegments) {
  const std::vector<std::int64_t> begins{5, 0, 7}, ends{5, 9000, 20000};
  segmented_reduce(this->items.begin(), begins.begin(), ends.begin(), 3, this->out.begin(),
                   this->one, this->op);
  this->same(this->out[0], this->one);
  this->same(this->out[1], this->fold(0, 9000));
  this->same(this->out[2], this->fold(7, 19993));
  const std::vector<std::int64_t> offsets{0, 9000, 9001, 20000};
  const std::int64_t number = 2;
  const host_executor exec(2);
  segmented_reduce(checked(exec, 20000), this->items.begin(), offsets.begin(), deferred(&number, 3),
                   this->out.begin() + 10, this->one, this->op);
  this->same(this->out[10], this->fold(0, 9000));
  this->same(this->out[11], this->items[9000]);
  this->same(this->out[12], this->one);
}

TYPED_TEST(Archetypes, AreJoinedWithTheirRows) {
  using T = TypeParam;
  const auto copied = [](const T& x) { return x; };
  const auto made = r::make_reducer(copied, this->op, copied);
  transform_rows(host_executor(2), this->items.data(), 50, 400, this->out.data(), made, this->op);
  for (std::size_t i = 0; i < this->n; i += 97) {
    this->same(this->out[i], this->op(this->items[i], this->fold(i / 400 * 400, 400)));
  }
}

// Ranks send accumulators as bytes, so only these.
using ArchetypesOverRanks = Archetypes<archetype>;

TEST_F(ArchetypesOverRanks, AreFoldedByEveryVerb) {
  constexpr std::int64_t cuts[] = {0, 6000, 6000, 20000};
  std::vector<archetype> keys;
  for (std::uint32_t i = 0; i < n; ++i) keys.push_back(archetype(i / 5000, i));
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto begin = static_cast<std::size_t>(cuts[rank]);
    const std::int64_t count = cuts[rank + 1] - cuts[rank];
    const auto* const first = items.data() + begin;
    const host_executor exec(1);
    const auto all = ranks(comm, exec, count);
    same(reduce(all, first, first + count, op), fold(0, n));
    same(reduce(all, first, first + count, one, op), fold(0, n));

    // Rank 0 has segments [0, 100) and [100, 15000), rank 2 the last one.
    const std::vector<std::int64_t> offsets{0, 100, 15000, 20000};
    std::vector<archetype> found(3, one), keys_found(3, one);
    const std::size_t before = rank == 0 ? 0 : 2;
    const std::int64_t mine = rank == 0 ? 2 : rank == 2 ? 1 : 0;
    segmented_reduce(all, first, offsets.begin() + static_cast<std::ptrdiff_t>(before), mine,
                     found.begin(), one, op);
    if (rank == 0) same(found[1], fold(100, 14900));
    if (rank == 2) same(found[0], fold(15000, 5000));

    // Of the runs of 5000 two begin at rank 0.
    const auto* const my_keys = keys.data() + begin;
    ASSERT_EQ(reduce_by_key(all, my_keys, my_keys + count, first, keys_found.begin(), found.begin(),
                            equal_factors<archetype>(), op),
              rank == 1 ? 0 : 2);
    if (rank == 0) same(found[1], fold(5000, 5000));
    if (rank == 2) same(keys_found[0], keys[10000]);

    std::vector<archetype> sums(100, one);
    axis_reduce(all, test_view{first, right_layout({count / 100, 100})},
                test_view{sums.data(), right_layout({100})}, axes{0}, one, op);
    for (std::size_t i = 0; i < 100; ++i) same(sums[i], fold(i, 200, 100));
  });
}

// One whose & leads to a member: what is written there must not go astray.
struct pointed {
  double unit, v;
  double* operator&() { return std::addressof(v); }
  const double* operator&() const { return std::addressof(v); }
};

TEST(Archetypes, WithAddressesOfMembersAreNotOverwritten) {
  const auto add = [](const pointed& a, const pointed& b) {
    return pointed{a.unit + b.unit, a.v + b.v};
  };
  const std::vector<pointed> items(100, pointed{1, 2});
  const pointed sum = reduce(items, add);
  EXPECT_EQ(sum.unit, 100.0);
  EXPECT_EQ(sum.v, 200.0);
  std::vector<pointed> sums(10, pointed{0, 0});
  const test_view matrix{items.data(), right_layout({10, 10})};
  const test_view columns{sums.data(), right_layout({10})};
  axis_reduce(matrix, columns, axes{0}, pointed{0, 0}, add);
  EXPECT_EQ(sums[9].unit, 10.0);
  EXPECT_EQ(sums[9].v, 20.0);
}

}  // namespace
}  // namespace tilefold::test
