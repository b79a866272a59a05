// SPDX-License-Identifier: Apache-2.0
//
// What the suite of segments folds: items of 1 to 8 bytes, pointers and other iterators,
// accumulators of 4 to 32 bytes, operators and reducers, with indices and without. All but sums
// tell of the tree.
//
// A fold says its items, its operator or reducer, and for the oracle what becomes of an item
// (lift), of two values (combine) and of the last (project).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "../support/items.hpp"
#include "../support/order.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {

/// Defaults of a fold.
template <class Item, class Result>
struct fold_of {
  using item = Item;
  using result = Result;                   // without padding, so that its bytes can be compared
  static constexpr bool is_cheap = false;  // for the oracle, so that it may fold millions of items

  static const item* first(const item* at) { return at; }
};

/// By a reducer.
template <class Item, class Result, class Reducer>
struct reduced : fold_of<Item, Result> {
  static Reducer op() { return {}; }
  static auto lift(const Item& item, std::int64_t index) {
    if constexpr (detail::is_indexed<Reducer>) {
      return op().lift(item, index);
    } else {
      return op().lift(item);
    }
  }
  template <class Acc>
  static Acc combine(const Acc& a, const Acc& b) {
    return op().combine(a, b);
  }
  template <class Acc>
  static Result project(const Acc& a) {
    return static_cast<Result>(op().project(a));
  }
};

/// Items of any bits.
template <class T>
std::vector<T> items_of_any_bits(std::int64_t n) {
  bit_stream bits(seed());
  std::vector<T> items(static_cast<std::size_t>(n));
  for (T& item : items) {
    const std::uint64_t number = bits.next();
    std::memcpy(&item, &number, sizeof item);
  }
  return items;
}

/// The bytes of an item as a number.
template <class T>
TILEFOLD_HD std::uint64_t number_of_bytes(const T& item) {
  unsigned char bytes[sizeof(T)];
  memcpy(bytes, &item, sizeof(T));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) number = number * 263 + bytes[i] + 1;
  return number;
}

// ---- 16 bytes: items that are their own index, and an operator

struct index_hashes : fold_of<std::uint32_t, lifted_hash> {
  static constexpr bool is_cheap = true;

  static std::vector<std::uint32_t> items(std::int64_t n) {
    std::vector<std::uint32_t> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::uint32_t>(i));
    return all;
  }
  static lifted_hash initial() { return lifted_hash(leaf_hash(std::int64_t{1} << 40)); }
  static lifted_node_hash op() { return {}; }
  static lifted_hash lift(std::uint32_t item, std::int64_t) { return lifted_hash(item); }
  static lifted_hash combine(const lifted_hash& a, const lifted_hash& b) { return op()(a, b); }
  static lifted_hash project(const lifted_hash& a) { return a; }
};

// ---- 8 bytes, commutative, with indices

/// A number that tells of items and of their places in their segment.
struct weighted_by_place {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;
  static constexpr bool commutative = true;

  TILEFOLD_HD std::uint64_t lift(std::uint32_t item, std::int64_t place) const {
    return mixed_bits((static_cast<std::uint64_t>(place) << 32) + item);
  }
  TILEFOLD_HD std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
  TILEFOLD_HD std::uint64_t project(std::uint64_t a) const { return a; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return 0;
  }
};

struct places : reduced<std::uint32_t, std::uint64_t, weighted_by_place> {
  static std::vector<std::uint32_t> items(std::int64_t n) { return index_hashes::items(n); }
  static std::uint64_t initial() { return 7; }
};

// ---- 8 bytes, commutative, of items of 1 to 3 bytes that may begin anywhere

struct pair_of_bytes {
  unsigned char byte[2];
};
struct three_bytes {
  unsigned char byte[3];
};

struct sum_of_numbers {
  using reducer_concept = reducer_tag;
  static constexpr bool commutative = true;

  template <class T>
  TILEFOLD_HD std::uint64_t lift(const T& item) const {
    return mixed_bits(number_of_bytes(item));
  }
  TILEFOLD_HD std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
  TILEFOLD_HD std::uint64_t project(std::uint64_t a) const { return a; }
};

template <class T>
struct sums : reduced<T, std::uint64_t, sum_of_numbers> {
  static std::vector<T> items(std::int64_t n) { return items_of_any_bits<T>(n); }
  static std::uint64_t initial() { return 7; }
};

// ---- 4 bytes, of narrow items

/// 32 bits that tell of the tree and of all items.
struct short_hashes {
  using reducer_concept = reducer_tag;

  template <class T>
  TILEFOLD_HD std::uint32_t lift(const T& item) const {
    return static_cast<std::uint32_t>(mixed_bits(number_of_bytes(item)));
  }
  TILEFOLD_HD std::uint32_t combine(std::uint32_t a, std::uint32_t b) const {
    return short_node_hash{}(a, b);
  }
  TILEFOLD_HD std::uint32_t project(std::uint32_t a) const { return a; }
};

template <class T>
struct narrow : reduced<T, std::uint32_t, short_hashes> {
  static std::vector<T> items(std::int64_t n) { return items_of_any_bits<T>(n); }
  static std::uint32_t initial() { return 7; }
};

// ---- 24 bytes, with indices

struct wide_hash {
  std::uint64_t hash;
  std::int64_t first, count;
};

struct wide_hashes {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD wide_hash lift(const T& item, std::int64_t index) const {
    const std::uint64_t place = mixed_bits(static_cast<std::uint64_t>(index));
    return {mixed_bits(number_of_bytes(item) + place), index, 1};
  }
  TILEFOLD_HD wide_hash combine(const wide_hash& a, const wide_hash& b) const {
    return {mixed_bits(3 * a.hash + mixed_bits(b.hash)), a.first, a.count + b.count};
  }
  TILEFOLD_HD wide_hash project(const wide_hash& a) const { return a; }
};

/// The same, but nodes of equally many items need not be told apart by their order.
struct among_equals_hashes : wide_hashes {
  TILEFOLD_HD wide_hash combine(const wide_hash& a, const wide_hash& b) const {
    const bool equal = a.count == b.count && (a.count & (a.count - 1)) == 0;
    return equal ? of_equals(a, b) : wide_hashes::combine(a, b);
  }
  TILEFOLD_HD static wide_hash of_equals(const wide_hash& a, const wide_hash& b) {
    return {mixed_bits(a.hash ^ b.hash) + a.hash + b.hash, a.first < b.first ? a.first : b.first,
            a.count + b.count};
  }
};

struct three_halves {
  std::uint16_t a, b, c;
};

template <class T, class Reducer = wide_hashes>
struct wide : reduced<T, wide_hash, Reducer> {
  static std::vector<T> items(std::int64_t n) { return items_of_any_bits<T>(n); }
  static wide_hash initial() { return {77, -1, 0}; }
};

// ---- 32 bytes and more, of floats: nodes of equally many items are joined in a way of their own

/// Without padding.
struct statistics {
  double mean, variance, min, max;

  statistics() = default;
  template <class Results>
  TILEFOLD_HD explicit statistics(const Results& of)
      : mean(of.template get<0>()),
        variance(of.template get<1>()),
        min(detail::convert<double>(of.template get<2>())),
        max(detail::convert<double>(of.template get<3>())) {}
};

using four_statistics = decltype(reducers::fuse(reducers::mean{}, reducers::variance{},
                                                reducers::min<>{}, reducers::max<>{}));

template <class T>
struct statistics_of : reduced<T, statistics, four_statistics> {
  static std::vector<T> items(std::int64_t n) { return make_items<T>(pattern::mixed, n, seed()); }
  // There is no mean of nothing, so segments, which may be empty, begin with the item 1.
  static auto initial() { return four_statistics{}.lift(static_cast<T>(1.0f)); }
};

}  // namespace tilefold::test

template <>
struct tilefold::detail::ways<tilefold::test::among_equals_hashes> {
  static constexpr bool commutative_among_equals = true;

  TILEFOLD_HD static test::wide_hash combine_equals(const test::among_equals_hashes&,
                                                    const test::wide_hash& a,
                                                    const test::wide_hash& b) {
    return test::among_equals_hashes::of_equals(a, b);
  }
};
