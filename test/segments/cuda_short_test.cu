// SPDX-License-Identifier: Apache-2.0
//
// Segments by offsets of which most are so short that a lane folds one by itself, and so many that
// a launch looks for that: around the lengths at which a segment waits for others, is left to a
// warp or to blocks; with empty ones, at every address, and at the ends of memory.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>

#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

constexpr std::int64_t many = detail::cuda::least_short_trees;
constexpr int in_lane = detail::cuda::short_tree_items;
constexpr int most_mean = detail::cuda::most_short_mean;

/// Accumulators of a word, by which lanes take whole trees. Neither commutative nor associative.
struct short_hashes : fold_of<std::uint32_t, std::uint32_t> {
  static std::vector<std::uint32_t> items(std::int64_t n) {
    return items_of_any_bits<std::uint32_t>(n);
  }
  static std::uint32_t initial() { return 12345; }
  static short_node_hash op() { return {}; }
  static std::uint32_t lift(std::uint32_t item, std::int64_t) { return item; }
  static std::uint32_t combine(std::uint32_t a, std::uint32_t b) { return op()(a, b); }
  static std::uint32_t project(std::uint32_t a) { return a; }
};

using run = segments_run<on_gpu, by_offsets<std::int32_t>, short_hashes>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfWords, Segments, ::testing::Types<run>);
INSTANTIATE_TYPED_TEST_SUITE_P(OfWords, SanitizeSegments, ::testing::Types<run>);

template <class Form>
class ShortSegments : public ::testing::Test {
 protected:
  using items = segments_of<segments_run<on_gpu, Form, short_hashes>>;

  // Where the first segment begins: offsets need not count from zero.
  static constexpr std::int64_t origin = 1000003;

  static void have_their_trees(const std::vector<std::int64_t>& lengths, const char* what) {
    const segments all = test::in_a_row(lengths, origin);
    items of(end_of(all));
    ASSERT_TRUE(of.have_their_trees(all)) << what;
  }
};
using forms = ::testing::Types<by_offsets<std::int32_t>, by_offsets<std::int64_t>>;
TYPED_TEST_SUITE(ShortSegments, forms);

// Most up to what a lane takes; some that many lanes fold, a few for a warp or for blocks.
TYPED_TEST(ShortSegments, AmongSomeThatAreLonger) {
  shape_stream random(seed());
  std::vector<std::int64_t> lengths{0, 1, 70001};
  while (static_cast<std::int64_t>(lengths.size()) < many + 77) {
    std::int64_t length = random.below(in_lane + 2);
    if (random.one_in(4)) length = 0;
    if (random.one_in(400)) length = 500 + random.below(26);
    if (random.one_in(100000)) length = random.below(20000);
    lengths.push_back(length);
  }
  lengths.back() = 17000;
  this->have_their_trees(lengths, "around the limits");
}

// More neighbours for blocks than a warp has a list for: where memory begins, inside, and where it
// ends.
TYPED_TEST(ShortSegments, AmongManyNeighboursForBlocks) {
  shape_stream random(seed());
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < many; ++i) lengths.push_back(random.below(6));
  for (const std::int64_t at : {std::int64_t{3}, many / 2 + 3, many - 23}) {
    for (std::int64_t i = at; i < at + 20; ++i) {
      lengths[static_cast<std::size_t>(i)] = 16385 + random.below(100);
    }
  }
  this->have_their_trees(lengths, "many for blocks");
}

// From none to all of 32 neighbours wait to be dealt.
TYPED_TEST(ShortSegments, OfWhichSomeWait) {
  shape_stream random(seed());
  for (const int waiting : {0, 1, 31, 32}) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < many; ++i) {
      // Where a launch looks, they are short.
      const bool waits = i % (many / 32) >= 32 && random.below(32) < waiting;
      lengths.push_back(waits ? in_lane + 1 + random.below(4) : random.below(in_lane + 1));
    }
    this->have_their_trees(lengths, "some of 32 wait");
  }
}

TYPED_TEST(ShortSegments, OfOneLength) {
  for (const std::int64_t length : {0, 1, 3, in_lane - 1, in_lane, in_lane + 1, most_mean}) {
    this->have_their_trees(std::vector<std::int64_t>(many, length), "of one length");
  }
}

// Around the number from which on a launch looks, and around the length that counts as short.
TYPED_TEST(ShortSegments, AboutAsManyAndAsShort) {
  shape_stream random(seed());
  for (const std::int64_t count : {many - 1, many, many + 1, many + 33}) {
    for (const std::int64_t mean : {4, most_mean + 1}) {
      std::vector<std::int64_t> lengths;
      for (std::int64_t i = 0; i < count; ++i) lengths.push_back(random.below(2 * mean + 1));
      this->have_their_trees(lengths, "about as many");
    }
  }
}

// In some places short, in others not.
TYPED_TEST(ShortSegments, InSomePlaces) {
  for (const std::int64_t places : {8, 23, 24, 31}) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < many; ++i) {
      lengths.push_back(i / (many / 32) < places ? i % 5 : i % 40);
    }
    this->have_their_trees(lengths, "in some places");
  }
}

// Memory begins with the first item and ends with the last one.
template <class Form>
class SanitizeShortSegments : public ShortSegments<Form> {};
TYPED_TEST_SUITE(SanitizeShortSegments, forms);

TYPED_TEST(SanitizeShortSegments, EndsOfArrays) {
  shape_stream random(seed());
  for (const bool waits : {false, true}) {
    // Empty ones first and last, so that those with items lie in several batches.
    std::vector<std::int64_t> lengths(many, 0);
    for (std::int64_t i = many / 8; i < many - many / 8; ++i) {
      lengths[static_cast<std::size_t>(i)] =
          random.one_in(8) ? random.below(waits ? 3 * in_lane : in_lane + 1) : 0;
    }
    const segments all = test::in_a_row(lengths);
    for (const std::size_t shift : {0, 4}) {
      typename TestFixture::items of(end_of(all), shift);
      ASSERT_TRUE(of.have_their_trees(all, shift)) << (waits ? "some wait" : "none waits");
    }
  }
}

}  // namespace
}  // namespace tilefold::test
