// SPDX-License-Identifier: Apache-2.0
//
// What a part of a sequence brings to the fold of the whole: the values of its maximal aligned
// blocks (tree.hpp), at most 2 log2 of its length. Whoever holds them of all parts, in their order,
// makes of them the value of the whole with the bits of one fold:
//
//     part [0, 3)       0 1|2
//     part [3, 14)            3|4 5 6 7|8 9 10 11|12 13
//     pushed            0 1|2                          two that are halves of one block are
//                       0 1|2|3  ->  0 1|2 3  ->       combined at once
//                       0 1 2 3|4 5 6 7  ->  0 1 2 3 4 5 6 7 ...
//
// Where the order does not matter a part is one block. Host only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/error.hpp>

// GCC has a builtin for it from 11 on. What nvcc passes on to clang may not know it.
#if defined(__has_builtin) && !(defined(__clang__) && defined(__CUDACC__))
#if __has_builtin(__builtin_clear_padding)
#define TILEFOLD_CLEARS_PADDING 1
#endif
#endif

namespace tilefold::detail {

/// Sets the bytes between the members of `value` to zero, if the compiler can: so equal values that
/// are kept or sent have equal bytes, and nothing else of memory goes out.
template <class T>
void clear_padding([[maybe_unused]] T& value) {
#ifdef TILEFOLD_CLEARS_PADDING
  __builtin_clear_padding(__builtin_addressof(value));
#endif
}

/// A stack of at most `Most` values. Trivially copyable if T is; T need not be default
/// constructible nor assignable.
template <class T, int Most, bool Trivial = std::is_trivially_copyable_v<T>>
class value_stack {
 public:
  int size() const { return size_; }
  const T& operator[](int i) const {
    return *std::launder(reinterpret_cast<const T*>(bytes_.data() + place(i)));
  }
  void push(T value) {
    detail::clear_padding(*::new (static_cast<void*>(bytes_.data() + place(size_++))) T(value));
  }
  void pop() { --size_; }

  /// The bytes of all values, one after the other.
  std::span<const std::byte> bytes() const { return {bytes_.data(), place(size_)}; }
  void assign(const std::byte* bytes, int size) {
    size_ = size;
    if (size > 0) std::memcpy(bytes_.data(), bytes, place(size));
  }

 private:
  static constexpr std::size_t place(int i) { return static_cast<std::size_t>(i) * sizeof(T); }

  alignas(T) std::array<std::byte, place(Most)> bytes_;
  int size_ = 0;
};

template <class T, int Most>
class value_stack<T, Most, false> {
 public:
  int size() const { return static_cast<int>(values_.size()); }
  const T& operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  void push(T value) { values_.push_back(std::move(value)); }
  void pop() { values_.pop_back(); }

 private:
  std::vector<T> values_;
};

/// The bytes of `count` accumulators that ranks send.
template <class Acc>
constexpr std::size_t sent_bytes(int count) {
  static_assert(std::is_trivially_copyable_v<Acc>,
                "tilefold: ranks send accumulators as bytes, so they must be trivially copyable");
  return static_cast<std::size_t>(count) * sizeof(Acc);
}

/// The blocks of items [begin(), end()) of a sequence, and their values.
template <class Reducer>
class block_list {
 public:
  using accumulator = typename Reducer::accumulator;
  using blocks_type = blocks_of<Reducer>;
  static constexpr int most = blocks_type::most;

  explicit block_list(std::int64_t position) : begin_(position), end_(position) {}

  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  int count() const { return values_.size(); }
  const accumulator& value(int i) const { return values_[i]; }
  std::int64_t size(int i) const { return blocks_type{{begin_, end_}}.size(i); }
  const auto& values() const { return values_; }

  /// Adds a block of `size` items behind the last: one of a part that begins at end(). (Not
  /// inlined: the caller's function may be compiled for a target that can fuse,
  /// detail/core/closing.hpp.)
  [[gnu::noinline]] void push(const Reducer& reducer, accumulator value, std::int64_t size) {
    std::int64_t first = end_;
    end_ += size;
    if constexpr (blocks_type::one) {
      if (values_.size() > 0) join_last(reducer, value);
    } else {
      while ((first & -first) == size && first - size >= begin_) {
        join_last(reducer, value);
        first -= size;
        size *= 2;
      }
    }
    values_.push(std::move(value));
  }

  /// Adds what begins at end().
  void append(const Reducer& reducer, const block_list& next) {
    const blocks_type blocks{{next.begin_, next.end_}};
    for (int i = 0; i < next.count(); ++i) push(reducer, next.value(i), blocks.size_at(end_));
  }

  /// The fold of all items, which begin at 0 and are not none.
  [[gnu::noinline]] accumulator fold(const Reducer& reducer) const {
    accumulator folded = values_[values_.size() - 1];
    for (int i = values_.size() - 2; i >= 0; --i) {
      detail::replace(folded, closed_steps<Reducer>{reducer}.combine(values_[i], folded));
    }
    return folded;
  }

  /// The list of items [begin, end) with these values, in bytes, as many as blocks_type says, which
  /// another rank of this program made.
  static block_list from(std::int64_t begin, std::int64_t end, const std::byte* values) {
    block_list list(begin);
    list.end_ = end;
    list.values_.assign(values, blocks_type{{begin, end}}.count());
    return list;
  }

  /// The list of items [begin, end) with values in bytes from an unknown source. Throws
  /// format_error, which begins with `who`, if a value cannot be that of its block's items.
  static block_list from(std::int64_t begin, std::int64_t end, const std::byte* values,
                         const std::string& who) {
    const blocks_type blocks{{begin, end}};
    block_list list = from(begin, end, values);
    for (int i = 0; i < blocks.count(); ++i) {
      const std::int64_t first = blocks.first(i);
      const std::int64_t last = blocks.first(i + 1);
      if (block_claims<accumulator>::hold(list.values_[i], first, last)) continue;
      throw format_error(who + ": a piece of items " + std::to_string(begin) + " to " +
                         std::to_string(end) + " has an accumulator that items " +
                         std::to_string(first) + " to " + std::to_string(last) +
                         " cannot leave: a count, a place or a truth value in it is wrong");
    }
    return list;
  }

 private:
  void join_last(const Reducer& reducer, accumulator& value) {
    detail::replace(value,
                    closed_steps<Reducer>{reducer}.combine(values_[values_.size() - 1], value));
    values_.pop();
  }

  std::int64_t begin_;
  std::int64_t end_;
  value_stack<accumulator, most> values_;
};

/// The projected fold of elements [0, n) of `source`, n >= 1, by an executor that gives blocks.
template <class Policy, class Exec, class Source, class Reducer, class Init>
typename Reducer::result fold_of_blocks(const Exec& exec, const Source& source,
                                        const Reducer& reducer, const Init& init, std::int64_t n) {
  block_list<Reducer> list(0);
  exec.template fold_blocks<Policy>(
      source, reducer, 0, n, [&](const typename Reducer::accumulator& value, std::int64_t size) {
        list.push(reducer, value, size);
      });
  return detail::finish(closed_steps<Reducer>{reducer}, init, list.fold(reducer));
}

}  // namespace tilefold::detail
