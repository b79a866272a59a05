// SPDX-License-Identifier: Apache-2.0
//
// One suite for segments: every form in which they are told to the library, every kind of
// accumulator, on the host and on a GPU. Each segment has the bits of its own neighbour tree,
// whatever its length, place and neighbours.
//
// A run of the suite is a place to run at (below), a form (below) and a fold (folds.hpp): which
// items, what becomes of each, and how two are joined. The tests say the shapes
// (support/segment_shapes.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/order.hpp"
#include "../support/seed.hpp"
#include "../support/segment_shapes.hpp"
#include "folds.hpp"

namespace tilefold::test {

// ---- forms: fold() tells the library where the segments are

/// In a row, by their offsets.
template <class Offset = std::int64_t>
struct by_offsets {
  static constexpr bool in_a_row = true;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    std::vector<Offset> offsets{static_cast<Offset>(all.front().first)};
    for (const auto& [begin, end] : all) offsets.push_back(static_cast<Offset>(end));
    typename Place::template array<Offset> told(offsets);
    segmented_reduce(exec, first, static_cast<const Offset*>(told.data()), all.size(), out,
                     folding...);
  }
};

/// In a row, by their offsets, with the length of the longest.
struct by_bounded_offsets {
  static constexpr bool in_a_row = true;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    std::vector<std::int64_t> offsets{all.front().first};
    std::int64_t longest = 0;
    for (const auto& [begin, end] : all) {
      offsets.push_back(end);
      longest = std::max(longest, end - begin);
    }
    typename Place::template array<std::int64_t> told(offsets);
    segmented_reduce(exec, first, static_cast<const std::int64_t*>(told.data()), all.size(),
                     segment_bound(longest), out, folding...);
  }
};

/// In a row, by their offsets, of which only memory tells how many there are.
struct by_deferred_offsets {
  static constexpr bool in_a_row = true;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    std::vector<std::int32_t> offsets{static_cast<std::int32_t>(all.front().first)};
    for (const auto& [begin, end] : all) offsets.push_back(static_cast<std::int32_t>(end));
    typename Place::template array<std::int32_t> told(offsets);
    typename Place::template array<std::int64_t> number(
        std::vector<std::int64_t>{static_cast<std::int64_t>(all.size())});
    const auto* const at = static_cast<const std::int64_t*>(number.data());
    segmented_reduce(exec, first, static_cast<const std::int32_t*>(told.data()),
                     deferred(at, all.size() + 3000), out, folding...);
  }
};

/// The first of them alone, of a length that only memory tells; the others by their offsets.
struct by_deferred_length {
  static constexpr bool in_a_row = true;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    by_offsets<>::fold<Place>(exec, first, all, out, folding...);
    const auto& [begin, end] = all.front();
    typename Place::template array<std::int64_t> length(std::vector<std::int64_t>{end - begin});
    const auto* const at = static_cast<const std::int64_t*>(length.data());
    reduce_into(exec, first + begin, deferred(at, end - begin + 100), out, folding...);
    exec.synchronize();
  }
};

/// Anywhere, by where each begins and ends.
template <class Offset = std::int64_t>
struct by_begins_and_ends {
  static constexpr bool in_a_row = false;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    std::vector<Offset> begins, ends;
    for (const auto& [begin, end] : all) {
      begins.push_back(static_cast<Offset>(begin));
      ends.push_back(static_cast<Offset>(end));
    }
    typename Place::template array<Offset> told_begins(begins), told_ends(ends);
    segmented_reduce(exec, first, static_cast<const Offset*>(told_begins.data()),
                     static_cast<const Offset*>(told_ends.data()), all.size(), out, folding...);
  }
};

/// In a row, all of one length.
struct of_one_length {
  static constexpr bool in_a_row = true;
  static constexpr bool alike = true;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    const std::int64_t length = all.front().second - all.front().first;
    segmented_reduce(exec, first + all.front().first, all.size(), length, out, folding...);
  }
};

/// Anywhere, as arrays; those without items are null pointers.
struct as_arrays {
  static constexpr bool in_a_row = false;
  static constexpr bool alike = false;

  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    std::vector<It> arrays;
    std::vector<std::int32_t> lengths;
    for (const auto& [begin, end] : all) {
      arrays.push_back(begin < end ? first + begin : It{});
      lengths.push_back(static_cast<std::int32_t>(end - begin));
    }
    typename Place::template array<It> told(arrays);
    typename Place::template array<std::int32_t> told_lengths(lengths);
    batched_reduce(exec, static_cast<const It*>(told.data()),
                   static_cast<const std::int32_t*>(told_lengths.data()), all.size(), out,
                   folding...);
  }
};

/// Another form under a policy.
template <class Form, int Nt, int Vt>
struct under_policy : Form {
  template <class Place, class Exec, class It, class Out, class... Fold>
  static void fold(Exec& exec, It first, const segments& all, Out* out, const Fold&... folding) {
    auto tuned = with_policy<tile_policy{Nt, Vt}>(exec);
    Form::template fold<Place>(tuned, first, all, out, folding...);
  }
};

// ---- the check

/// `Place` says where memory is, which executor folds, and whether that is a GPU.
template <class Place, class Form, class Fold>
struct segments_run {
  using place = Place;
  using form = Form;
  using fold = Fold;
};

/// n items of a fold and a little more, and copies of them in the place's memory.
template <class Run>
class segments_of {
  using fold_type = typename Run::fold;
  using item = typename fold_type::item;
  using result = typename fold_type::result;

 public:
  explicit segments_of(std::int64_t n, std::size_t most_shift = 16)
      : items_(fold_type::items(n)),
        memory_(std::vector<char>(items_.size() * sizeof(item) + most_shift)) {}

  /// Whether all segments have their values, where the first item lies `shift` bytes past an
  /// aligned address.
  ::testing::AssertionResult have_their_trees(const segments& all, std::size_t shift) {
    return have(all, trees_of(all), shift);
  }
  ::testing::AssertionResult have_their_trees(const segments& all) {
    const auto expected = trees_of(all);
    for (const std::size_t shift : shifts()) {
      const auto found = have(all, expected, shift);
      if (!found) return found;
    }
    return ::testing::AssertionSuccess();
  }
  /// The same for segments that are told several times: expected[i % expected.size()] is known.
  ::testing::AssertionResult have(const segments& all, const std::vector<result>& expected,
                                  std::size_t shift) {
    if (shift != shift_) {
      memory_.assign(reinterpret_cast<const char*>(items_.data()),
                     static_cast<std::int64_t>(items_.size() * sizeof(item)),
                     static_cast<std::int64_t>(shift));
      shift_ = shift;
    }
    const auto* const at = reinterpret_cast<const item*>(memory_.data() + shift);
    typename Run::place::template array<result> out(unwritten(all.size()));
    Run::form::template fold<typename Run::place>(exec_, fold_type::first(at), all, out.data(),
                                                  fold_type::initial(), fold_type::op());
    const auto got = out.to_host();
    std::size_t wrong = 0;
    ::testing::AssertionResult failure = ::testing::AssertionFailure();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const result& right = expected[i % expected.size()];
      if (std::memcmp(&got[i], &right, sizeof(result)) == 0) continue;
      if (++wrong <= 5) {
        failure << "segment " << i << " [" << all[i].first << ", " << all[i].second << ") ";
      }
    }
    if (wrong == 0) return ::testing::AssertionSuccess();
    return failure << wrong << " of " << all.size() << " segments are wrong, " << shift
                   << " bytes past an aligned address";
  }

  std::vector<result> trees_of(const segments& all) const {
    std::vector<result> expected;
    for (const auto& [begin, end] : all) expected.push_back(tree_of(begin, end));
    return expected;
  }

  /// Places of the first item, in bytes.
  static std::vector<std::size_t> shifts() {
    std::vector<std::size_t> all;
    const std::size_t most = alignof(item) < 4 ? 8 / alignof(item) : 16 / alignof(item);
    for (std::size_t i = 0; i < most; ++i) all.push_back(i * alignof(item));
    return all;
  }

 private:
  using acc = std::remove_cvref_t<decltype(fold_type::lift(item(), std::int64_t{0}))>;

  result tree_of(std::int64_t begin, std::int64_t end) const {
    const auto join = [](const acc& a, const acc& b) { return fold_type::combine(a, b); };
    const acc before = fold_type::initial();
    if (begin >= end) return fold_type::project(before);
    running_fold<decltype(join), acc> fold(join);
    for (std::int64_t i = begin; i < end; ++i) {
      fold.push(fold_type::lift(items_[static_cast<std::size_t>(i)], i - begin));
    }
    return fold_type::project(join(before, fold.value()));
  }
  static std::vector<result> unwritten(std::size_t n) {
    std::vector<result> results(n);
    if (n > 0) std::memset(static_cast<void*>(results.data()), 0xee, n * sizeof(result));
    return results;
  }

  std::vector<item> items_;
  typename Run::place::template array<char> memory_;
  std::size_t shift_ = std::numeric_limits<std::size_t>::max();
  typename Run::place::executor exec_;
};

// ---- the tests

template <class Run>
class Segments : public ::testing::Test {
 protected:
  static constexpr bool alike = Run::form::alike;
  static constexpr bool in_a_row = Run::form::in_a_row;
};
TYPED_TEST_SUITE_P(Segments);

TYPED_TEST_P(Segments, OfEveryLength) {
  if constexpr (TestFixture::alike) {
    // Of short ones a few, a hundred or so, and as many as there are items for.
    constexpr bool many = TypeParam::place::is_gpu && TypeParam::fold::is_cheap;
    const std::int64_t n = many ? 1 << 20 : 200000;
    const std::int64_t most = many ? 20000 : 40;
    segments_of<TypeParam> items(1 << 20);
    for (const std::int64_t length : equal_lengths()) {
      const std::int64_t room = length == 0 ? most : std::max<std::int64_t>(n / length, 1);
      const auto expected = items.trees_of(of_length(std::min(most, room), length));
      for (std::int64_t count = 4; count < 10 * most; count *= 10) {
        const segments all = of_length(std::min({count, most, room}), length);
        for (const std::size_t shift : items.shifts()) {
          ASSERT_TRUE(items.have(all, expected, shift)) << all.size() << " of length " << length;
        }
        if (count >= std::min(most, room)) break;
      }
    }
  } else {
    auto lengths = every_length(seed());
    segments_of<TypeParam> items(end_of(test::in_a_row(lengths)));
    // Few, and among many empty ones, which are folded in another way.
    for (const std::size_t empty : {0, 1024}) {
      lengths.resize(lengths.size() + empty, 0);
      ASSERT_TRUE(items.have_their_trees(test::in_a_row(lengths))) << empty << " empty ones";
    }
  }
}

TYPED_TEST_P(Segments, OfRandomLengths) {
  if constexpr (!TestFixture::alike) {
    shape_stream random(seed());
    segments_of<TypeParam> items(3300000);
    const std::size_t shift = items.shifts().back();
    for (const int level : {1, 2, 3, 4, 5, 6, 8}) {
      const segments all = test::in_a_row(many_lengths(random, level));
      ASSERT_TRUE(items.have_their_trees(all, level % 2 == 0 ? 0 : shift))
          << "lengths below 2^" << level;
    }
    for (const std::int64_t most : {5, 40, 600, 3000, 30000}) {
      std::vector<std::int64_t> lengths;
      for (int i = 0; i < 60; ++i) lengths.push_back(1 + random.below(most));
      for (const std::size_t empty : {0, 1024}) {
        lengths.resize(lengths.size() + empty, 0);
        ASSERT_TRUE(items.have_their_trees(test::in_a_row(lengths, most % 7), 0))
            << "60 up to " << most << ", " << empty << " empty ones";
      }
    }
  }
}

// A few, so that several workers share one, and parts of them that are not whole.
TYPED_TEST_P(Segments, ThatAreLong) {
  segments_of<TypeParam> items(3000000);
  if constexpr (TestFixture::alike) {
    ASSERT_TRUE(items.have_their_trees(of_length(2, 1 << 20, 1), 0));
    ASSERT_TRUE(items.have_their_trees(of_length(2, 1400003), 0));
  } else {
    ASSERT_TRUE(
        items.have_their_trees(test::in_a_row({100, 1000003, 1, 70000, 16385, 300007}, 3), 0));
  }
}

// Around the number of segments that one launch folds, with a long one at either end.
TYPED_TEST_P(Segments, AboutAsManyAsCountAsFew) {
  if constexpr (!TestFixture::alike) {
    segments_of<TypeParam> items(120000);
    for (const std::size_t count : {1, 2, 511, 512, 513, 1023, 1024, 1025}) {
      std::vector<std::int64_t> lengths(count, 3);
      lengths.front() = 70000;
      lengths.back() = 40001;
      ASSERT_TRUE(items.have_their_trees(test::in_a_row(lengths), items.shifts()[1]))
          << count << " segments";
    }
  }
}

TYPED_TEST_P(Segments, WithGapsOverlapsAndInAnyOrder) {
  if constexpr (!TestFixture::in_a_row) {
    shape_stream random(seed());
    const std::int64_t n = 1 << 18;
    segments_of<TypeParam> items(n);
    for (const std::int64_t count : {1, 2, 31, 33, 1000, 40000}) {
      ASSERT_TRUE(items.have_their_trees(anywhere(random, count, n), items.shifts().back()))
          << count << " segments";
    }
  }
}

// More slices of long ones than there are places for their values: the rest is folded in another
// way, or slices are larger where segments are few.
TYPED_TEST_P(Segments, ThatAreLongerThanTheQueueHolds) {
  if constexpr (TypeParam::place::is_gpu && !TestFixture::in_a_row) {
    const std::int64_t n = 200000;
    segments_of<TypeParam> items(n);
    segments all;
    for (int i = 0; i < 64; ++i) all.emplace_back(i, n - i % 32);
    const auto expected = items.trees_of(all);
    for (const std::size_t count : {1000, 6000}) {
      while (all.size() < count) all.push_back(all[all.size() % 64]);
      for (int again = 0; again < 2; ++again) {
        ASSERT_TRUE(items.have(all, expected, items.shifts()[1])) << count << " segments";
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Segments, OfEveryLength, OfRandomLengths, ThatAreLong,
                            AboutAsManyAsCountAsFew, WithGapsOverlapsAndInAnyOrder,
                            ThatAreLongerThanTheQueueHolds);

// ---- in memory that holds them and no more

template <class Run>
class SanitizeSegments : public ::testing::Test {};
TYPED_TEST_SUITE_P(SanitizeSegments);

TYPED_TEST_P(SanitizeSegments, EndsOfArrays) {
  constexpr std::size_t item_bytes = sizeof(typename TypeParam::fold::item);
  for (const std::int64_t length : {1, 7, 16, 33, 500, 513, 1030, 5000}) {
    for (const std::size_t shift : {std::size_t{0}, item_bytes}) {
      segments_of<TypeParam> items(3 * length, shift);
      ASSERT_TRUE(items.have_their_trees(of_length(3, length), shift)) << length;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(SanitizeSegments, EndsOfArrays);

// ---- offsets of every width

/// As far as the type goes: the last offset is its largest number, or 2^20.
template <class Place, class Offset>
void takes_offsets_of() {
  SCOPED_TRACE(::testing::Message() << sizeof(Offset) << " bytes, "
                                    << (std::is_signed_v<Offset> ? "signed" : "unsigned"));
  shape_stream random(seed());
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<Offset>::max());
  const auto last = static_cast<std::int64_t>(std::min<std::uint64_t>(largest, 1 << 20));
  segments all;
  while (all.empty() || all.back().second < last) {
    const std::int64_t begin = all.empty() ? 0 : all.back().second;
    const std::int64_t longest = random.one_in(100) ? last : 60;
    all.emplace_back(begin, std::min(last, begin + random.below(longest)));
  }
  segments_of<segments_run<Place, by_offsets<Offset>, index_hashes>> items(last);
  ASSERT_TRUE(items.have_their_trees(all, 4));
}

template <class Place>
void takes_offsets_of_every_width() {
  takes_offsets_of<Place, std::int8_t>();
  takes_offsets_of<Place, std::uint8_t>();
  takes_offsets_of<Place, std::int16_t>();
  takes_offsets_of<Place, std::uint16_t>();
  takes_offsets_of<Place, std::int32_t>();
  takes_offsets_of<Place, std::uint32_t>();
  takes_offsets_of<Place, std::int64_t>();
  takes_offsets_of<Place, std::uint64_t>();
}

}  // namespace tilefold::test
