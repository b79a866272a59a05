// SPDX-License-Identifier: Apache-2.0
//
// A sum that is exact: it can be added to in any order, in pieces, on any machine, and its value is
// that of the real sum, rounded once.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/float_control.hpp>
#include <tilefold/detail/exact/balanced_state.hpp>
#include <tilefold/detail/exact/exact_blocks.hpp>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold {

namespace detail {
struct exact_access;
}

/// The exact sum of items of type T: half, bfloat16, the types of 8 bits, float, double or any
/// integer. Trivially copyable, for host and device; 24 bytes for halves and integers, 56 for float
/// and bfloat16, 280 for double. Exact for up to 2^63 items.
///
/// The value depends on the items alone, not on their order nor on how they were split among
/// accumulators. So do the bytes: two accumulators that were given equal items are equal.
///
/// - The result is the real sum, rounded to nearest even once. It overflows only if the real sum
///   does.
/// - A NaN, or infinities of both signs, give the canonical NaN; infinities of one sign give
///   themselves.
/// - An exact zero is +0, unless every item is -0; of no items it is +0.
/// - Sums of integers are exact in 128 bits; a result of an integer type is the sum modulo 2^bits.
///   (Whether it fits: the reducer checked_sum.)
template <class T>
  requires detail::exactly_summable<T>
class exact_accumulator {
  using state_type = detail::balanced_state<typename detail::exact_format<T>::sum>;
  using float_state_type = detail::balanced_state<typename detail::exact_format<float>::sum>;

 public:
  using value_type = T;

  /// The sum of no items.
  TILEFOLD_HD exact_accumulator() : state_(state_type::nothing()) {}
  /// Of one item. Of types whose values all are exact in such a sum: T, narrower floating types,
  /// and for integers all integers.
  template <class U>
    requires detail::adds_exactly<U, T>
  TILEFOLD_HD explicit exact_accumulator(const U& x) : exact_accumulator() {
    add(x);
  }

  template <class U>
    requires detail::adds_exactly<U, T>
  TILEFOLD_HD void add(const U& x) {
    state_.add(detail::exact_item(x));
  }
  template <detail::number U>
    requires(!detail::adds_exactly<U, T>)
  TILEFOLD_HD void add(const U&) {
    static_assert(detail::adds_exactly<U, T>,
                  "tilefold: this sum is not exact for every value of the item's type: convert the "
                  "item first, or take an exact_accumulator of another type");
  }

  /// Every item of a range, on the host, in any mode of the processor.
  template <std::input_iterator It, std::sentinel_for<It> End>
  void add(It first, End last) {
    for (; first != last; ++first) add(static_cast<std::iter_value_t<It>>(*first));
  }
  template <std::contiguous_iterator It, std::sized_sentinel_for<It> End>
    requires(std::same_as<std::iter_value_t<It>, T> && !std::integral<T>)
  void add(It first, End last) {
    const T* const items = std::to_address(first);
    const auto n = static_cast<std::int64_t>(last - first);
    // Running sums would lose bits in another.
    detail::host::in_default_float_mode([&] { add_blocks(items, n); });
  }
  template <class Range>
    requires detail::adds_exactly<std::iter_value_t<decltype(std::begin(std::declval<Range&>()))>,
                                  T>
  void add(Range&& range) {
    add(std::begin(range), std::end(range));
  }

  /// The same, folded by an executor from memory that it reads: on a GPU one launch, for which the
  /// call waits. Items are of type T. Throws as reduce() does; an exception leaves the accumulator
  /// as it was. (In tilefold/reducers/exact.hpp.)
  template <executor Exec, class It>
  void add(Exec&& exec, It first, It last);
  template <executor Exec, class Range>
  void add(Exec&& exec, Range&& range);

  /// Adds all items that were added to `other`.
  TILEFOLD_HD void merge(const exact_accumulator& other) { state_.add(other.state_); }

  /// The sum, rounded once to Result: T by default, of integers 64 bits.
  template <class Result = typename detail::exact_result<T>::type>
  TILEFOLD_HD Result value() const {
    return detail::value_of<Result>(state_.wide());
  }

  /// The mean of n > 0 items, rounded once.
  template <class Result = std::conditional_t<std::integral<T>, double, T>>
  TILEFOLD_HD Result mean(std::int64_t n) const {
    return detail::mean_of<Result>(state_.wide(), n);
  }

  friend TILEFOLD_HD bool operator==(const exact_accumulator& x, const exact_accumulator& y) {
    return same_words(x.state_.canonical(), y.state_.canonical());
  }

  /// What to_bytes() takes: four letters, a version, the kind of items, the number of words, then
  /// marks, words and a checksum, the least byte of each first.
  static constexpr std::size_t num_bytes = 8 + 8 + 8 * state_type::words + 8;

  std::array<std::byte, num_bytes> to_bytes() const {
    std::array<std::byte, num_bytes> bytes{};
    const state_type state = state_.canonical();
    put(bytes, 0, header());
    put(bytes, 1, state.marks);
    for (std::size_t i = 0; i < words; ++i) put(bytes, 2 + i, state.sum.word[i]);
    put(bytes, checksum_place, checksum(bytes));
    return bytes;
  }

  /// The accumulator that gave these bytes. Throws format_error if they are truncated, altered, of
  /// items of another kind (types whose sums have one form are of one: float and bfloat16; half and
  /// those of 8 bits; signed integers; unsigned ones), or of another version.
  static exact_accumulator from_bytes(std::span<const std::byte> bytes) {
    if (bytes.size() != num_bytes) {
      throw format_error("tilefold: an exact accumulator of this type has " +
                         std::to_string(num_bytes) + " bytes, got " + std::to_string(bytes.size()));
    }
    const std::uint64_t head = get(bytes, 0);
    if (static_cast<std::uint32_t>(head) != letters) {
      throw format_error("tilefold: these bytes are no exact accumulator: they begin with " +
                         std::to_string(static_cast<std::uint32_t>(head)) + " in place of " +
                         std::to_string(letters));
    }
    if ((head >> 32 & 0xff) != version) {
      throw format_error("tilefold: an exact accumulator of version " +
                         std::to_string(head >> 32 & 0xff) + "; this program knows version " +
                         std::to_string(version));
    }
    if (head != header()) {
      throw format_error("tilefold: an exact accumulator of items of kind " +
                         std::to_string(head >> 40 & 0xff) + ", asked for kind " +
                         std::to_string(header() >> 40 & 0xff));
    }
    if (get(bytes, checksum_place) != checksum(bytes)) {
      throw format_error("tilefold: the bytes of an exact accumulator have been altered");
    }
    exact_accumulator result;
    result.state_.marks = get(bytes, 1);
    for (std::size_t i = 0; i < words; ++i) result.state_.sum.word[i] = get(bytes, 2 + i);
    // The words must be written as they are.
    if (!same_words(result.state_, result.state_.canonical()) ||
        !detail::marks_fit(result.state_.marks, result.state_.sum.is_zero())) {
      throw format_error("tilefold: no items leave such bytes of an exact accumulator: marks are " +
                         std::to_string(result.state_.marks));
    }
    return result;
  }

 private:
  friend struct detail::exact_access;

  void add_blocks(const T* items, std::int64_t n) {
    constexpr detail::exact_cutter cutter =
        detail::plain_cuts<T, detail::exact_term::item>::cutter();
    using sum_type = typename state_type::state_type;
    sum_type sum = sum_type::nothing();
    detail::exact_blocks<sum_type> blocks(cutter, sum);
    for (std::int64_t i = 0; i < n; i += cutter.block) {
      const std::int64_t size = n - i < cutter.block ? n - i : cutter.block;
      blocks.add(items + i, nullptr, size, [&](auto& to, std::int64_t k) {
        to.add(static_cast<double>(detail::exact_item(items[i + k])));
      });
    }
    state_.add(state_type::of(sum));
  }

  static constexpr std::size_t words = state_type::words;
  static constexpr std::size_t checksum_place = 2 + words;
  static constexpr std::uint32_t letters = 0x41584654;  // "TFXA"
  static constexpr std::uint64_t version = 2;

  // Types whose sums have one form are of one kind.
  static constexpr std::uint64_t kind() {
    return std::signed_integral<T>                      ? 1
           : std::unsigned_integral<T>                  ? 2
           : std::same_as<T, double>                    ? 5
           : std::same_as<state_type, float_state_type> ? 4
                                                        : 3;
  }
  static constexpr std::uint64_t header() {
    return letters | version << 32 | kind() << 40 | std::uint64_t{state_type::words} << 48;
  }

  TILEFOLD_HD static bool same_words(const state_type& a, const state_type& b) {
    bool same = a.marks == b.marks;
    for (int i = 0; i < state_type::words; ++i) same = same && a.sum.word[i] == b.sum.word[i];
    return same;
  }

  static void put(std::span<std::byte, num_bytes> bytes, std::size_t word, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[8 * word + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
    }
  }
  static std::uint64_t get(std::span<const std::byte> bytes, std::size_t word) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      value |= static_cast<std::uint64_t>(bytes[8 * word + i]) << (8 * i);
    }
    return value;
  }

  // FNV-1a of all that stands before it.
  static std::uint64_t checksum(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < 8 * checksum_place; ++i) {
      hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3u;
    }
    return hash;
  }

  state_type state_;
};

namespace detail {

/// The accumulator of a sum that was made elsewhere, and the state inside one.
struct exact_access {
  template <class Accumulator>
  TILEFOLD_HD static auto& state_of(Accumulator& accumulator) {
    return accumulator.state_;
  }

  template <class T>
  TILEFOLD_HD static exact_accumulator<T> accumulator_of(
      const typename exact_format<T>::sum& state) {
    exact_accumulator<T> result;
    result.state_ = balanced_state<typename exact_format<T>::sum>::of(state);
    return result;
  }
};

}  // namespace detail

}  // namespace tilefold
