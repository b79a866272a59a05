// SPDX-License-Identifier: Apache-2.0
//
// Pieces of the C interface: what a part of a sequence brings to a fold (tilefold/piece.hpp), of
// any operation and items. They are the host's; a GPU's blocks come to them as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/host/many_folds.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/tree.hpp>

#include "job.hpp"

namespace tilefold::capi {

/// Items [begin(), end()) of a sequence, as values of their blocks.
class piece_state {
 public:
  piece_state() = default;
  piece_state(const piece_state&) = delete;  // held by its address
  piece_state& operator=(const piece_state&) = delete;
  virtual ~piece_state() = default;

  virtual std::int64_t begin() const = 0;
  virtual std::int64_t end() const = 0;
  /// The values of its blocks as they lie in memory.
  virtual std::span<const std::byte> values() const = 0;

  /// Adds n >= 1 items that follow, folded on the host.
  virtual void append(host_executor& exec, const void* items, dtype type, std::int64_t n) = 0;
  /// Adds a block of `size` items that follow, whose value is known.
  virtual void append_value(const void* value, std::int64_t size) = 0;
  /// Adds the items of one of the same operation and items, which follow.
  virtual void merge(const piece_state& next) = 0;
  /// Writes the fold of items from 0 on.
  virtual void write_value(void* result) const = 0;
  /// Becomes the piece of items [begin, end) with these values. Throws format_error, which begins
  /// with `who`, if a value cannot be that of its block's items.
  virtual void assign(std::int64_t begin, std::int64_t end, const std::byte* values,
                      const std::string& who) = 0;
};

/// From which operation's results the values of blocks follow. So a GPU needs no kernels for pieces
/// of their own.
struct block_rule {
  bool is_known;
  op by;                      // exact_sum: accumulators of exact sums stand for its results
  std::int64_t result_bytes;  // of `by`
  /// Makes the value of a block of `size` items of its result; null: they are the same.
  void (*make)(const void* result, std::int64_t size, void* value);

  void write(const void* result, std::int64_t size, void* value) const {
    if (make != nullptr) {
      make(result, size, value);
    } else {
      std::memcpy(value, result, static_cast<std::size_t>(result_bytes));
    }
  }
};

/// What is the same of all pieces of an operation and a type of items.
struct piece_kind {
  bool one_block;            // the order does not matter
  std::int64_t value_bytes;  // of a block
  block_rule blocks;
  std::unique_ptr<piece_state> (*make)(std::int64_t position);

  std::int64_t num_values(std::int64_t begin, std::int64_t end) const {
    return one_block ? (begin < end ? 1 : 0) : tree::aligned_blocks{begin, end}.count();
  }
  std::int64_t block_size(std::int64_t begin, std::int64_t end, int i) const {
    const tree::aligned_blocks blocks{begin, end};
    return one_block ? end - begin : blocks.first(i + 1) - blocks.first(i);
  }
};

template <class Reducer>
inline constexpr bool is_op_reducer = false;
template <class Acc, class Op, class Lift>
inline constexpr bool is_op_reducer<detail::op_reducer<Acc, Op, Lift>> = true;

template <class It>
struct items_read {
  using type = typename It::value_type;
};
template <class T>
struct items_read<const T*> {
  using type = T;
};

/// Operations that write the accumulator as it is, but for NaNs, which all become one.
constexpr bool writes_accumulators(op which) {
  return which == op::minmax || which == op::l1 || which == op::linf || which == op::softmax_pair ||
         which == op::any || which == op::all;
}

/// Those of bool are folded as bytes, which are the bytes of the result.
constexpr bool is_extreme(op which) {
  return which == op::min || which == op::max || which == op::minmax;
}

/// Of items that It reads, folded with what Make makes for an operation; the value is an Out.
template <op Which, class It, class Out, class Make>
class piece_of final : public piece_state {
  static auto bound() {
    return detail::bind<void, It>(detail::init_and_op{detail::no_init{}, Make{}()},
                                  detail::as_is{});
  }
  using reducer = std::remove_cvref_t<decltype(bound().reducer)>;
  using accumulator = typename reducer::accumulator;
  using list = detail::block_list<reducer>;
  static_assert(std::is_trivially_copyable_v<accumulator>);

 public:
  static const piece_kind& kind() {
    static constexpr piece_kind what{detail::blocks_of<reducer>::one, sizeof(accumulator),
                                     piece_of::rule(), &piece_of::make};
    return what;
  }

  explicit piece_of(std::int64_t position) : blocks_(position) {}

  std::int64_t begin() const override { return blocks_.begin(); }
  std::int64_t end() const override { return blocks_.end(); }
  std::span<const std::byte> values() const override { return blocks_.values().bytes(); }

  void append(host_executor& exec, const void* items, dtype type, std::int64_t n) override {
    const auto fold = bound();
    list longer = blocks_;
    exec.template fold_blocks<detail::default_policy>(
        detail::in_whole(fold.source(exec, capi::items_of<It>(items, type)), end()), fold.reducer,
        end(), n, [&](const accumulator& value, std::int64_t size) {
          longer.push(fold.reducer, value, size);
        });
    blocks_ = std::move(longer);
  }

  void append_value(const void* value, std::int64_t size) override {
    alignas(accumulator) std::byte bytes[sizeof(accumulator)];
    std::memcpy(bytes, value, sizeof(accumulator));
    blocks_.push(bound().reducer, *reinterpret_cast<const accumulator*>(bytes), size);
  }

  void merge(const piece_state& next) override {
    list longer = blocks_;
    longer.append(bound().reducer, static_cast<const piece_of&>(next).blocks_);
    blocks_ = std::move(longer);
  }

  void write_value(void* result) const override {
    const auto fold = bound();
    const detail::closed_steps steps{fold.reducer};
    auto* const out = static_cast<Out*>(result);
    if (blocks_.count() > 0) {
      write(detail::finish(steps, fold.start, blocks_.fold(fold.reducer)), out);
    } else {
      write(detail::result_of_nothing(steps, fold.empty("piece")), out);
    }
  }

  void assign(std::int64_t begin, std::int64_t end, const std::byte* values,
              const std::string& who) override {
    blocks_ = list::from(begin, end, values, who);
  }

 private:
  static constexpr block_rule rule() {
    using item = typename items_read<It>::type;
    constexpr bool is_float = std::is_floating_point_v<item> || is_narrow_float<item>;
    constexpr std::int64_t bytes = sizeof(accumulator);
    if constexpr (std::is_same_v<accumulator, Out> &&
                  (is_op_reducer<reducer> || writes_accumulators(Which))) {
      return {true, Which, bytes, nullptr};
    } else if constexpr (is_extreme(Which) && std::is_same_v<item, std::uint8_t>) {
      static_assert(sizeof(Out) == sizeof(accumulator));
      return {true, Which, bytes, nullptr};
    } else if constexpr (Which == op::logsumexp && !exact_in_float<item>) {
      return {true, op::softmax_pair, bytes, nullptr};
    } else if constexpr (Which == op::mean && is_float) {
      return {true, op::sum64, sizeof(double), &piece_of::counted};
    } else if constexpr (Which == op::exact_sum && is_float) {
      return {true, op::exact_sum, bytes, nullptr};
    } else if constexpr (Which == op::exact_mean && is_float) {
      return {true, op::exact_sum, sizeof(decltype(accumulator::sum)), &piece_of::counted};
    } else {
      return {false, Which, 0, nullptr};
    }
  }
  template <class T>
  static constexpr bool exact_in_float = std::is_same_v<T, float> || is_narrow_float<T>;

  // The value is a sum and a count.
  static void counted(const void* result, std::int64_t size, void* value)
    requires requires(accumulator& sum) { sum.count; }
  {
    accumulator whole{};
    std::memcpy(static_cast<void*>(&whole.sum), result, sizeof whole.sum);
    whole.count = static_cast<decltype(whole.count)>(size);
    std::memcpy(value, &whole, sizeof whole);
  }

  static std::unique_ptr<piece_state> make(std::int64_t position) {
    return std::make_unique<piece_of>(position);
  }
  template <class Result>
  static void write(const Result& result, Out* out) {
    detail::write_through(out, detail::output_value<Out*>(result));
  }

  list blocks_;
};

}  // namespace tilefold::capi
