// SPDX-License-Identifier: Apache-2.0
//
// Which folds the library tilefold::host holds precompiled, with vector instructions chosen when
// the program runs: the library's own operators over contiguous arrays of arithmetic types. Only
// the threaded mode of the executor asks; header-only use never refers to the functions declared
// here.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/exact/exact_blocks.hpp>
#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

namespace tilefold {

enum class nan_rule;

}  // namespace tilefold

namespace tilefold::reducers {

struct l2;
struct rms;
struct mean;
template <class Predicate>
struct any;
template <class Predicate>
struct all;
template <nan_rule Nan>
struct minmax;

}  // namespace tilefold::reducers

namespace tilefold::detail {

struct truth;

}  // namespace tilefold::detail

namespace tilefold::detail::host {

enum class simd_type {
  none,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  brain16,
  float32,
  float64,
  truth,  // a byte, true unless it is 0: of arrays whose type is known only when the program runs
  complex64,
  complex128,
};

enum class simd_op {
  none,
  plus,
  multiplies,
  minimum,
  maximum,
  minimum_number,
  maximum_number,
  bit_and,
  bit_or,
  bit_xor,
  dot,              // plus over the products of two arrays
  squares,          // what reducers::l2 keeps of an array
  counted_squares,  // what reducers::rms keeps
  counted_sum,      // what reducers::mean keeps
  any,              // whether an item is not zero
  all,              // whether no item is zero
  count,            // how many items are not zero
  extremes,         // minimum and maximum
  number_extremes,  // minimum_number and maximum_number
  // The first place of the result of four of these operators: its key as `ranking` has it
  // (reducers/arg.hpp), and the item's index in 64 bits. The accumulator is the key.
  first_minimum,
  first_maximum,
  first_minimum_number,
  first_maximum_number,
};

/// Folds n >= 1 items of an array (of two, read in step, for dot) and stores the accumulator.
using simd_fold = void (*)(const void* first, const void* second, std::int64_t n, void* result);

/// The precompiled fold for the vector instructions of this machine, or null if there is none.
simd_fold find_simd_fold(simd_op op, simd_type value, simd_type accumulator);

/// Folds up to most_short_arrays arrays of up to `most_items` items each, and stores their
/// accumulators one after the other; of an array without items, anything. Null if there is none.
struct simd_short_fold {
  void (*run)(const void* const* arrays, const std::int32_t* counts, std::int64_t n,
              void* results) = nullptr;
  /// Folds n arrays of `length` items each, one after the other from `first` on.
  void (*run_equal)(const void* first, std::int64_t length, std::int64_t n,
                    void* results) = nullptr;
  std::int64_t most_items = 0;
};
inline constexpr std::int64_t most_short_arrays = 512;

/// The precompiled fold of many short arrays at once for the vector instructions of this machine.
simd_short_fold find_short_fold(simd_op op, simd_type value, simd_type accumulator);

/// Folds of columns that stand side by side; null if there are none.
struct simd_columns {
  static constexpr int levels_of_run = 3;
  static constexpr int rows_of_run = 1 << levels_of_run;

  /// result[c] becomes the node of items c of n rows, 1 <= n <= rows_of_run. Of as many as a run
  /// has, those at `later` are asked for; they need not be there.
  void (*fold_rows)(const void* const* rows, const std::uintptr_t* later, std::int64_t n,
                    std::int64_t width, void* result) = nullptr;
  /// to[c] becomes the node of left[c] and right[c]; `to` may be one of the two.
  void (*join)(const void* left, const void* right, void* to, std::int64_t width) = nullptr;
};
simd_columns find_simd_columns(simd_op op, simd_type value, simd_type accumulator);

/// Folds of what a variance keeps of columns that stand side by side. A node's sums stand together,
/// one a column, and the squared deviations behind them. Null if there are none.
struct simd_deviations {
  /// `node` becomes that of n rows, 1 <= n <= simd_columns::rows_of_run.
  void (*fold_rows)(const void* const* rows, std::int64_t n, std::int64_t width,
                    double* node) = nullptr;
  /// `to` becomes the node of `left` and `right`, of so many rows each; it may be `right`.
  void (*join)(const double* left, std::int64_t left_rows, const double* right,
               std::int64_t right_rows, std::int64_t width, double* to) = nullptr;
};
simd_deviations find_simd_deviations(simd_type value);

/// Goes down n rows, the first of which has the number `first`: an item c whose key comes before
/// keys[c] takes its place, and its row's number becomes places[c]. Keys are those of `ranking`
/// (reducers/arg.hpp), places integers of the same size. Null if there is none.
using simd_places = void (*)(const void* const* rows, std::int64_t n, std::int64_t width,
                             std::int64_t first, void* keys, void* places);
simd_places find_simd_places(simd_op op, simd_type value, simd_type key);

/// How blocks of arrays are cut for an exact sum; without blocks if there is no way.
exact_cutter find_exact_cutter(exact_term term, simd_type type);

/// The instruction sets that this machine can choose from, by name: 0 is the best; null is past the
/// last. For tests and benchmarks.
const char* simd_target(int index);

/// Makes find_simd_fold() use the named set; null goes back to the best. Not while a fold runs.
void use_simd_target(const char* name);

/// What find() returns, which is kept for later calls. Threads that come before it is known each
/// call find(). (A local static has a lock: a child of fork() waits without end if a thread of the
/// parent held it.)
template <class Find>
auto found_once(const Find& find) {
  static_assert(std::is_empty_v<Find>, "one answer is kept for all captures");
  using found = decltype(find());
  static_assert(std::is_trivially_copyable_v<found> && sizeof(found) % sizeof(std::uintptr_t) == 0);
  constexpr std::size_t words = sizeof(found) / sizeof(std::uintptr_t);
  struct as_words {
    std::uintptr_t word[words];
  };
  static constinit std::atomic<std::uintptr_t> kept[words]{};
  static constinit std::atomic<bool> is_kept{};

  as_words answer;
  if (is_kept.load(std::memory_order_acquire)) {
    for (std::size_t i = 0; i < words; ++i) {
      answer.word[i] = kept[i].load(std::memory_order_relaxed);
    }
    return __builtin_bit_cast(found, answer);
  }
  const found result = find();
  answer = __builtin_bit_cast(as_words, result);
  for (std::size_t i = 0; i < words; ++i) {
    kept[i].store(answer.word[i], std::memory_order_relaxed);
  }
  is_kept.store(true, std::memory_order_release);
  return result;
}

template <class T>
constexpr simd_type simd_type_of() {
  if constexpr (std::same_as<T, bool>) {
    return simd_type::boolean;
  } else if constexpr (std::integral<T> && sizeof(T) <= 8) {
    constexpr int rank = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6;
    return static_cast<simd_type>(static_cast<int>(simd_type::int8) + rank +
                                  (std::is_signed_v<T> ? 0 : 1));
  } else if constexpr (is_half<T>) {
    return simd_type::float16;
  } else if constexpr (is_bfloat16<T>) {
    return simd_type::brain16;
  } else if constexpr (std::same_as<T, float>) {
    return simd_type::float32;
  } else if constexpr (std::same_as<T, double>) {
    return simd_type::float64;
  } else if constexpr (complex_like<T>) {
    using real = typename T::value_type;
    return std::same_as<real, float>    ? simd_type::complex64
           : std::same_as<real, double> ? simd_type::complex128
                                        : simd_type::none;
  } else {
    return simd_type::none;
  }
}

constexpr std::int64_t bytes_of(simd_type type) {
  switch (type) {
    case simd_type::none:
      return 0;
    case simd_type::boolean:
    case simd_type::truth:
    case simd_type::int8:
    case simd_type::uint8:
      return 1;
    case simd_type::int16:
    case simd_type::uint16:
    case simd_type::float16:
    case simd_type::brain16:
      return 2;
    case simd_type::int32:
    case simd_type::uint32:
    case simd_type::float32:
      return 4;
    case simd_type::complex128:
      return 16;
    default:
      return 8;
  }
}

/// An iterator over an array of a type that is known when the program runs.
template <class It>
concept knows_array = requires(const It& it) {
  { it.array() } -> std::same_as<const void*>;
  { it.array_type() } -> std::same_as<simd_type>;
  { it.array_op(simd_op{}) } -> std::same_as<simd_op>;
};

/// An iterator over items in an array.
template <class It>
concept reads_array = std::contiguous_iterator<It> || knows_array<It>;

/// A reducer as it folds items that an iterator computed once they stand in an array: they need not
/// be closed.
template <class Reducer>
struct of_stored {
  using type = Reducer;
  static const type& of(const Reducer& reducer) { return reducer; }
};
template <class Acc, class Op>
struct of_stored<op_reducer<Acc, Op, as_computed>> {
  using type = op_reducer<Acc, Op, as_is>;
  static type of(const op_reducer<Acc, Op, as_computed>& reducer) { return {reducer.op, {}}; }
};
template <class R, class... Values>
struct of_stored<bound_reducer<R, as_computed, Values...>> {
  using type = bound_reducer<R, as_is, Values...>;
  static type of(const bound_reducer<R, as_computed, Values...>& reducer) {
    return {reducer.reducer, {}};
  }
};

template <class Op>
inline constexpr simd_op simd_op_of = simd_op::none;
template <>
inline constexpr simd_op simd_op_of<plus> = simd_op::plus;
template <>
inline constexpr simd_op simd_op_of<multiplies> = simd_op::multiplies;
template <>
inline constexpr simd_op simd_op_of<minimum> = simd_op::minimum;
template <>
inline constexpr simd_op simd_op_of<maximum> = simd_op::maximum;
template <>
inline constexpr simd_op simd_op_of<minimum_number> = simd_op::minimum_number;
template <>
inline constexpr simd_op simd_op_of<maximum_number> = simd_op::maximum_number;
template <>
inline constexpr simd_op simd_op_of<bit_and> = simd_op::bit_and;
template <>
inline constexpr simd_op simd_op_of<bit_or> = simd_op::bit_or;
template <>
inline constexpr simd_op simd_op_of<bit_xor> = simd_op::bit_xor;

/// What to ask find_simd_fold() for a reducer over these iterators; `op` is none if it is no use.
struct simd_key {
  simd_op op = simd_op::none;
  simd_type value = simd_type::none;
  simd_type accumulator = simd_type::none;
};

template <class Reducer, class... Its>
inline constexpr simd_key simd_key_of{};

template <class Acc, class Op, std::contiguous_iterator It>
inline constexpr simd_key simd_key_of<op_reducer<Acc, Op, as_is>, It>{
    simd_op_of<Op>, simd_type_of<std::iter_value_t<It>>(), simd_type_of<Acc>()};

template <std::floating_point T, std::contiguous_iterator It1, std::contiguous_iterator It2>
  requires std::same_as<T, std::iter_value_t<It1>> && std::same_as<T, std::iter_value_t<It2>>
inline constexpr simd_key simd_key_of<op_reducer<T, plus, multiplies>, It1, It2>{
    simd_op::dot, simd_type_of<T>(), simd_type_of<T>()};

/// What to ask find_simd_fold() for a whole range: for some reducers only whole ranges have such a
/// fold.
template <class Reducer, class... Its>
inline constexpr simd_key range_key_of = simd_key_of<Reducer, Its...>;
template <std::floating_point T, std::contiguous_iterator It>
inline constexpr simd_key range_key_of<bound_reducer<reducers::l2, as_is, T>, It>{
    simd_op::squares, simd_type_of<T>(), simd_type::float64};
template <std::floating_point T, std::contiguous_iterator It>
inline constexpr simd_key range_key_of<bound_reducer<reducers::rms, as_is, T>, It>{
    simd_op::counted_squares, simd_type_of<T>(), simd_type::float64};

// Sums of doubles may leave the range of a double: moments.hpp sees to them.
template <class T, std::contiguous_iterator It>
  requires(std::same_as<T, std::iter_value_t<It>> && !std::same_as<T, double>)
inline constexpr simd_key range_key_of<bound_reducer<reducers::mean, as_is, T>, It>{
    simd_op::counted_sum, simd_type_of<T>(), simd_type::float64};
template <class T, std::contiguous_iterator It>
  requires number<T> && std::same_as<T, std::iter_value_t<It>>
inline constexpr simd_key range_key_of<bound_reducer<reducers::any<truth>, as_is, T>, It>{
    simd_op::any, simd_type_of<T>(), simd_type::boolean};
template <class T, std::contiguous_iterator It>
  requires number<T> && std::same_as<T, std::iter_value_t<It>>
inline constexpr simd_key range_key_of<bound_reducer<reducers::all<truth>, as_is, T>, It>{
    simd_op::all, simd_type_of<T>(), simd_type::boolean};
template <nan_rule Nan, class T, std::contiguous_iterator It>
  requires std::same_as<T, std::iter_value_t<It>>
inline constexpr simd_key range_key_of<bound_reducer<reducers::minmax<Nan>, as_is, T>, It>{
    Nan == nan_rule{} ? simd_op::extremes : simd_op::number_extremes, simd_type_of<T>(),
    simd_type_of<T>()};

/// What to ask find_simd_fold() for a reducer over a source.
template <class Source, class Reducer>
inline constexpr simd_key source_key{};
template <class It, class Reducer>
inline constexpr simd_key source_key<source<It>, Reducer> = simd_key_of<Reducer, It>;

constexpr bool worth_asking(simd_key key) {
  return key.op != simd_op::none && key.value != simd_type::none &&
         key.accumulator != simd_type::none;
}

/// Where the items of an iterator stand in memory, and what to ask for their folds.
struct item_array {
  const std::byte* items = nullptr;
  std::int64_t item_bytes = 0;
  simd_key key;

  const void* at(std::int64_t offset) const { return items + offset * item_bytes; }

  /// As a number, for it may be past the array.
  std::uintptr_t address_of(std::int64_t offset) const {
    return reinterpret_cast<std::uintptr_t>(items) +
           static_cast<std::uintptr_t>(offset * item_bytes);
  }

  /// Without a key if `Key` is no use.
  template <simd_key Key, class It>
  static item_array of(const It& it) {
    if constexpr (!worth_asking(Key)) {
      return {};
    } else if constexpr (knows_array<It>) {
      return {static_cast<const std::byte*>(it.array()),
              host::bytes_of(it.array_type()),
              {it.array_op(Key.op), it.array_type(), Key.accumulator}};
    } else {
      return {reinterpret_cast<const std::byte*>(std::to_address(it)),
              static_cast<std::int64_t>(sizeof(std::iter_value_t<It>)), Key};
    }
  }
};

/// A precompiled fold together with its input.
template <class Acc>
class bound_simd_fold {
 public:
  template <class It, class... Second>
  bound_simd_fold(simd_fold fold, const It& first, const Second&... second)
      : fold_(fold),
        item_bytes_(sizeof(std::iter_value_t<It>)),
        arrays_{reinterpret_cast<const std::byte*>(std::to_address(first)),
                reinterpret_cast<const std::byte*>(std::to_address(second))...} {}

  /// Of items of one array. There may be no fold.
  bound_simd_fold(simd_fold fold, const item_array& array)
      : fold_(fold), item_bytes_(array.item_bytes), arrays_{array.items} {}

  bool exists() const { return fold_ != nullptr; }

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  Acc operator()(std::int64_t first, std::int64_t n) const {
    struct {
      alignas(Acc) std::byte bytes[sizeof(Acc)];
    } result;
    const std::int64_t offset = first * item_bytes_;
    fold_(arrays_[0] + offset, arrays_[1] == nullptr ? nullptr : arrays_[1] + offset, n,
          result.bytes);
    return __builtin_bit_cast(Acc, result);
  }

 private:
  simd_fold fold_;
  std::int64_t item_bytes_;
  const std::byte* arrays_[2] = {nullptr, nullptr};
};

}  // namespace tilefold::detail::host
