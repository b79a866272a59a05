// SPDX-License-Identifier: Apache-2.0
//
// tilefold from a library that is compiled already: g++ or clang, without nvcc and in no time,
// calls the folds of libtilefold, on the host or a GPU. The names, exceptions and bits are those of
// the templates. Link tilefold::precompiled. Templates (tilefold.hpp) and this header may be used
// in one program: everything here is in a namespace of its own.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilefold/tilefold.h>
#include <tilefold/error.hpp>
#include <tilefold/half.hpp>

namespace tilefold::precompiled {

namespace detail {

/// Throws what a call of the C interface says.
inline void check(tilefold_status status) {
  const std::string what = status == TILEFOLD_OK ? "" : tilefold_last_error();
  switch (status) {
    case TILEFOLD_OK:
      return;
    case TILEFOLD_INVALID_ARGUMENT:
      throw invalid_range_error(what);
    case TILEFOLD_NULL_POINTER:
      throw null_pointer_error(what);
    case TILEFOLD_EMPTY:
      throw empty_range_error(what);
    case TILEFOLD_BAD_SHAPE:
      throw shape_error(what);
    case TILEFOLD_MEMORY_SPACE:
      throw memory_space_error(what);
    case TILEFOLD_NO_MEMORY:
      throw allocation_error(what, 0);
    case TILEFOLD_CAPTURE:
      throw capture_error(what);
    case TILEFOLD_FLOAT_MODE:
      throw float_mode_error(what);
    case TILEFOLD_CUDA:
      throw cuda_error(what, 0);
    case TILEFOLD_FORMAT:
      throw format_error(what);
    default:
      throw error(what);
  }
}

template <class T>
inline constexpr tilefold_dtype dtype_of = T::is_no_item_of_tilefold;
template <std::signed_integral T>
inline constexpr tilefold_dtype dtype_of<T> = {TILEFOLD_INT, 8 * sizeof(T), 1};
template <std::unsigned_integral T>
inline constexpr tilefold_dtype dtype_of<T> = {TILEFOLD_UINT, 8 * sizeof(T), 1};
template <>
inline constexpr tilefold_dtype dtype_of<bool> = {TILEFOLD_BOOL, 8, 1};
template <>
inline constexpr tilefold_dtype dtype_of<half> = {TILEFOLD_FLOAT, 16, 1};
template <>
inline constexpr tilefold_dtype dtype_of<bfloat16> = {TILEFOLD_BFLOAT, 16, 1};
template <>
inline constexpr tilefold_dtype dtype_of<float> = {TILEFOLD_FLOAT, 32, 1};
template <>
inline constexpr tilefold_dtype dtype_of<double> = {TILEFOLD_FLOAT, 64, 1};
template <>
inline constexpr tilefold_dtype dtype_of<std::complex<float>> = {TILEFOLD_COMPLEX, 64, 1};
template <>
inline constexpr tilefold_dtype dtype_of<std::complex<double>> = {TILEFOLD_COMPLEX, 128, 1};

template <class T>
using in_64_bits = std::conditional_t<
    std::integral<T>,
    std::conditional_t<std::is_signed_v<T> || std::same_as<T, bool>, std::int64_t, std::uint64_t>,
    double>;

template <class T>
using in_32_bits =
    std::conditional_t<std::integral<T>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>, float>;

template <class T>
using accumulated = std::conditional_t<std::same_as<T, bool>, std::int64_t,
                                       std::conditional_t<(sizeof(T) < 4), in_32_bits<T>, T>>;

template <class T>
using exactly_summed = std::conditional_t<std::integral<T>, in_64_bits<T>, T>;
template <class T>
using exactly_divided = std::conditional_t<std::integral<T>, double, T>;
template <class T>
using greatest_size =
    std::conditional_t<std::integral<T> || std::same_as<T, double>, double, float>;

}  // namespace detail

/// Of minmax.
template <class T>
struct extremes {
  T min;
  T max;
};
/// Of checked_sum: the sum modulo 2^64, and 1 if that is the sum, 0 if not.
template <class T>
struct checked_value {
  T value;
  T fits;
};
/// Of summary, all as double.
struct summary_of_items {
  double count;
  double mean;
  double variance;  // of a sample
  double population_variance;
  double min;
  double max;
};
/// Of softmax_pair.
struct max_and_sum {
  double max;
  double sum;
};

namespace detail {

template <class T>
using itself = T;
template <class T>
using checked_in_64_bits = checked_value<in_64_bits<T>>;
template <class Type>
struct always {
  template <class T>
  using of = Type;
};

/// Deletes what the C interface made.
template <class Handle, void (*Destroy)(Handle*)>
struct destroys {
  void operator()(Handle* handle) const { Destroy(handle); }
};
template <class Handle, void (*Destroy)(Handle*)>
using held = std::unique_ptr<Handle, destroys<Handle, Destroy>>;

/// An operation by name, and the type of its result.
template <template <class> class Result>
struct op {
  const char* name;
  const char* name_of_narrow = nullptr;  // of integers narrower than 64 bits, if that is another

  template <class T>
  using result = Result<T>;

  /// The name in C of the operation with items of T.
  template <class T>
  constexpr const char* name_for() const {
    constexpr bool is_narrow = std::integral<T> && !std::same_as<T, bool> && sizeof(T) < 8;
    return is_narrow && name_of_narrow != nullptr ? name_of_narrow : name;
  }
};

}  // namespace detail

inline constexpr detail::op<detail::accumulated> sum{"sum", "sum32"};
inline constexpr detail::op<detail::in_64_bits> sum64{"sum64"};
inline constexpr detail::op<detail::accumulated> product{"product", "product32"};
inline constexpr detail::op<detail::in_64_bits> product64{"product64"};
inline constexpr detail::op<detail::itself> min{"min"};
inline constexpr detail::op<detail::itself> max{"max"};
inline constexpr detail::op<extremes> minmax{"minmax"};
inline constexpr detail::op<detail::always<std::int64_t>::of> arg_min{"arg_min"};
inline constexpr detail::op<detail::always<std::int64_t>::of> arg_max{"arg_max"};
inline constexpr detail::op<detail::always<bool>::of> any{"any"};
inline constexpr detail::op<detail::always<bool>::of> all{"all"};
inline constexpr detail::op<detail::always<std::int64_t>::of> count_nonzero{"count_nonzero"};
inline constexpr detail::op<detail::itself> bit_and{"bit_and"};
inline constexpr detail::op<detail::itself> bit_or{"bit_or"};
inline constexpr detail::op<detail::itself> bit_xor{"bit_xor"};
inline constexpr detail::op<detail::always<double>::of> mean{"mean"};
inline constexpr detail::op<detail::always<double>::of> variance{"variance"};
inline constexpr detail::op<detail::always<double>::of> population_variance{"population_variance"};
inline constexpr detail::op<detail::always<double>::of> standard_deviation{"standard_deviation"};
inline constexpr detail::op<detail::always<double>::of> population_standard_deviation{
    "population_standard_deviation"};
inline constexpr detail::op<detail::always<double>::of> l1{"l1"};
inline constexpr detail::op<detail::always<double>::of> l2{"l2"};
inline constexpr detail::op<detail::greatest_size> linf{"linf"};
inline constexpr detail::op<detail::always<double>::of> logsumexp{"logsumexp"};
inline constexpr detail::op<detail::always<max_and_sum>::of> softmax_pair{"softmax_pair"};
inline constexpr detail::op<detail::itself> compensated_sum{"compensated_sum"};
inline constexpr detail::op<detail::exactly_summed> exact_sum{"exact_sum"};
inline constexpr detail::op<detail::exactly_divided> exact_mean{"exact_mean"};
inline constexpr detail::op<detail::checked_in_64_bits> checked_sum{"checked_sum"};
inline constexpr detail::op<detail::always<summary_of_items>::of> summary{"summary"};
inline constexpr detail::op<detail::accumulated> torch_sum{"torch_sum"};
inline constexpr detail::op<detail::accumulated> torch_product{"torch_product"};

/// An executor of libtilefold; host_executor and cuda_executor make one.
class executor {
 public:
  tilefold_executor* get() const { return handle_.get(); }

  /// Waits until all that was called is done.
  void synchronize() { detail::check(tilefold_synchronize(get())); }
  /// Allocates workspace ahead.
  void reserve(std::int64_t bytes) { detail::check(tilefold_reserve(get(), bytes)); }
  /// Gives back workspace, after all work that uses it.
  void release() { detail::check(tilefold_release(get())); }

 protected:
  explicit executor(tilefold_executor* handle) : handle_(handle) {}

 private:
  detail::held<tilefold_executor, tilefold_destroy> handle_;
};

/// Folds host memory on `threads` threads, or all cores.
class host_executor : public executor {
 public:
  explicit host_executor(int threads = 0) : executor(made(threads)) {}

 private:
  static tilefold_executor* made(int threads) {
    tilefold_executor* handle = nullptr;
    detail::check(tilefold_host_executor(threads, &handle));
    return handle;
  }
};

/// Folds memory of a GPU in the order of `stream`, a cudaStream_t, on its device; null is the
/// default stream of `device`, or of device 0. Throws cuda_error where there is no GPU,
/// invalid_range_error if `stream` is one of another device than the one that is named.
class cuda_executor : public executor {
 public:
  explicit cuda_executor(void* stream = nullptr, int device = -1)
      : executor(made(stream, stream == nullptr && device == -1 ? 0 : device)) {}

 private:
  static tilefold_executor* made(void* stream, int device) {
    tilefold_executor* handle = nullptr;
    detail::check(tilefold_cuda_executor(device, stream, &handle));
    return handle;
  }
};

/// Folds n items into *out: at once on the host, in the order of the stream on a GPU, where out is
/// device, managed or pinned memory.
template <class T, template <class> class Result>
void reduce_into(executor& exec, const T* items, std::int64_t n,
                 typename detail::op<Result>::template result<T>* out, detail::op<Result> op) {
  detail::check(
      tilefold_reduce(exec.get(), op.template name_for<T>(), items, detail::dtype_of<T>, n, out));
}

/// The same on the host, returned.
template <class T, template <class> class Result>
auto reduce(host_executor& exec, const T* items, std::int64_t n, detail::op<Result> op) {
  typename detail::op<Result>::template result<T> value;
  precompiled::reduce_into(exec, items, n, &value, op);
  return value;
}
template <class T>
auto reduce(host_executor& exec, const T* items, std::int64_t n) {
  return precompiled::reduce(exec, items, n, sum);
}

/// Folds segment i, items [offsets[i], offsets[i + 1]), into out[i]. With num_items >= 0 a host
/// executor checks the offsets first.
template <class T, class Offset, template <class> class Result>
  requires(std::signed_integral<Offset> && sizeof(Offset) >= 4)
void segmented_reduce_into(executor& exec, const T* items, const Offset* offsets,
                           std::int64_t segments,
                           typename detail::op<Result>::template result<T>* out,
                           detail::op<Result> op, std::int64_t num_items = -1) {
  detail::check(tilefold_segmented_reduce(exec.get(), op.template name_for<T>(), items,
                                          detail::dtype_of<T>, num_items, offsets,
                                          detail::dtype_of<Offset>, segments, out));
}

/// Folds segments of equal length, one after the other.
template <class T, template <class> class Result>
void segmented_reduce_into(executor& exec, const T* items, std::int64_t segments,
                           std::int64_t length,
                           typename detail::op<Result>::template result<T>* out,
                           detail::op<Result> op) {
  detail::check(tilefold_segmented_reduce_equal(exec.get(), op.template name_for<T>(), items,
                                                detail::dtype_of<T>, segments, length, out));
}

/// Folds every run of equal keys.
template <class Key, class T, template <class> class Result>
void reduce_by_key_into(executor& exec, const Key* keys, std::int64_t n, const T* items,
                        Key* keys_out, typename detail::op<Result>::template result<T>* out,
                        std::int64_t* num_runs_out, detail::op<Result> op) {
  detail::check(tilefold_reduce_by_key(exec.get(), op.template name_for<T>(), keys,
                                       detail::dtype_of<Key>, items, detail::dtype_of<T>, n,
                                       keys_out, out, num_runs_out));
}

/// Up to 8 numbers, one of each axis: extents, strides, numbers of axes. Throws shape_error of
/// more.
class axis_numbers {
 public:
  axis_numbers() = default;
  axis_numbers(std::initializer_list<std::int64_t> numbers)
      : axis_numbers(std::span<const std::int64_t>(numbers.begin(), numbers.size())) {}
  axis_numbers(std::span<const std::int64_t> numbers) : count_(numbers.size()) {
    if (count_ > most) {
      throw shape_error("tilefold::precompiled: " + std::to_string(count_) +
                        " axes were named, and there are 8 at most");
    }
    for (std::size_t i = 0; i < count_; ++i) numbers_[i] = numbers[i];
  }

  std::int32_t count() const { return static_cast<std::int32_t>(count_); }
  const std::int64_t* data() const { return numbers_; }
  std::int64_t operator[](std::size_t i) const { return numbers_[i]; }

 private:
  static constexpr std::size_t most = 8;

  std::size_t count_ = 0;
  std::int64_t numbers_[most] = {};
};

/// An array in memory: extents, and strides in items; without strides row-major.
template <class T>
struct array_view {
  const T* data;
  axis_numbers extents;
  axis_numbers strides = {};
};

/// Folds the axes `axes` of an array away; results stand in the axes that are left, row-major or
/// with strides counted in results:
///
///     axis_reduce_into(exec, array_view<float>{x, {rows, columns}}, {0}, sums, sum)
template <class T, template <class> class Result>
void axis_reduce_into(executor& exec, const array_view<T>& in, const axis_numbers& axes,
                      typename detail::op<Result>::template result<T>* out, detail::op<Result> op,
                      const axis_numbers& out_strides = {}) {
  const auto require_one_each = [](const axis_numbers& strides, std::int32_t axes_there,
                                   const char* name) {
    if (strides.count() == 0 || strides.count() == axes_there) return;
    throw shape_error("tilefold::precompiled::axis_reduce_into: " + std::string(name) + " has " +
                      std::to_string(strides.count()) + " strides for " +
                      std::to_string(axes_there) + " axes");
  };
  require_one_each(in.strides, in.extents.count(), "in");
  require_one_each(out_strides, in.extents.count() - axes.count(), "out");
  std::int32_t named[8] = {};
  for (std::int32_t i = 0; i < axes.count(); ++i) {
    // One that does not fit there is none that an array has.
    const std::int64_t axis = axes[static_cast<std::size_t>(i)];
    named[i] = axis == static_cast<std::int32_t>(axis) ? static_cast<std::int32_t>(axis) : -1;
  }
  const auto strides_of = [](const axis_numbers& strides) {
    return strides.count() == 0 ? nullptr : strides.data();
  };
  detail::check(tilefold_axis_reduce(exec.get(), op.template name_for<T>(), in.data,
                                     detail::dtype_of<T>, in.extents.count(), in.extents.data(),
                                     strides_of(in.strides), axes.count(), named, out,
                                     strides_of(out_strides)));
}

/// Count, mean, variance, min and max in one read, each with the bits of its own operation; of
/// nothing 0, NaN, NaN, infinity, -infinity.
using statistics = tilefold_statistics;

template <class T>
void stats_into(executor& exec, const T* items, std::int64_t n, statistics* out) {
  detail::check(tilefold_stats(exec.get(), items, detail::dtype_of<T>, n, out));
}
template <class T>
statistics stats(host_executor& exec, const T* items, std::int64_t n) {
  statistics found;
  precompiled::stats_into(exec, items, n, &found);
  return found;
}

/// The dot product of two arrays of n items, of the type of a sum of them.
template <class T>
void dot_into(executor& exec, const T* x, const T* y, std::int64_t n, detail::accumulated<T>* out) {
  detail::check(tilefold_dot(exec.get(), x, y, detail::dtype_of<T>, n, out));
}
template <class T>
auto dot(host_executor& exec, const T* x, const T* y, std::int64_t n) {
  detail::accumulated<T> found;
  precompiled::dot_into(exec, x, y, n, &found);
  return found;
}

/// Writes x - logsumexp(row) of every item x of `rows` rows of `length` items, one after the other.
/// T is float, double, half or bfloat16; Out is T, or float of the narrow ones. `out` may be
/// `items`.
template <class T, class Out>
void log_softmax_into(executor& exec, const T* items, std::int64_t rows, std::int64_t length,
                      Out* out) {
  detail::check(tilefold_log_softmax(exec.get(), items, detail::dtype_of<T>, rows, length, out,
                                     detail::dtype_of<Out>));
}

/// Bytes of workspace that a call over n items of T in `segments` segments can need, for reserve():
/// workspace_bytes<float>(exec, n, mean). 0 on the host.
template <class T, template <class> class Result>
std::int64_t workspace_bytes(const executor& exec, std::int64_t n, detail::op<Result> op,
                             std::int64_t segments = 1) {
  std::int64_t bytes = 0;
  detail::check(tilefold_workspace(exec.get(), op.template name_for<T>(), detail::dtype_of<T>, n,
                                   segments, &bytes));
  return bytes;
}

namespace detail {

/// What write(bytes, capacity, &size) writes.
template <class Write>
std::vector<std::byte> bytes_of(const Write& write) {
  std::int64_t size = 0;
  detail::check(write(nullptr, 0, &size));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  detail::check(write(bytes.data(), size, &size));
  return bytes;
}

}  // namespace detail

/// What items [begin(), end()) of a sequence of T bring to its fold, as tilefold::piece:
/// reduce_piece() makes one. In whatever parts a sequence is cut, by whatever executors those are
/// folded and in whatever groups they are merged, value() has the bits of reduce() over the whole.
///
/// - Memory: the host's, wherever items lie. One piece serves one thread at a time. It can be
///   moved; a copy comes from its bytes.
/// - On a GPU there are pieces of the operations that docs/c.md names; else error.
/// - An exception leaves the piece as it was. One that was moved from throws null_pointer_error.
template <class T, template <class> class Result>
class piece {
 public:
  using result_type = typename detail::op<Result>::template result<T>;

  /// The piece of no items, at `position` of a sequence. Throws invalid_range_error if that is
  /// negative, error if there is no such operation of T.
  explicit piece(detail::op<Result> op, std::int64_t position = 0) : op_(op) {
    tilefold_piece* made = nullptr;
    detail::check(
        tilefold_piece_create(op.template name_for<T>(), detail::dtype_of<T>, position, &made));
    handle_.reset(made);
  }

  std::int64_t begin() const { return looked_at().begin; }
  std::int64_t end() const { return looked_at().end; }
  detail::op<Result> op() const { return op_; }

  /// Adds n items that follow; returns when they are folded.
  void append(executor& exec, const T* items, std::int64_t n) {
    detail::check(tilefold_piece_append(handle_.get(), exec.get(), items, n));
  }
  /// Adds the items of `next`. Throws invalid_range_error unless it is of the same operation and
  /// begins where this piece ends.
  void merge(const piece& next) {
    detail::check(tilefold_piece_merge(handle_.get(), next.handle_.get()));
  }
  /// What reduce() returns for items [0, end()). Throws invalid_range_error unless the piece begins
  /// at 0, empty_range_error of no items if there is no result of those.
  result_type value() const {
    result_type found;
    detail::check(tilefold_piece_value(handle_.get(), &found));
    return found;
  }

  /// The piece in bytes, as those of C and Python (docs/c.md). tilefold::piece writes others.
  std::vector<std::byte> to_bytes() const {
    return detail::bytes_of([&](void* bytes, std::int64_t capacity, std::int64_t* size) {
      return tilefold_piece_bytes(handle_.get(), bytes, capacity, size);
    });
  }
  /// The piece that gave these bytes, of this piece's operation. Throws format_error, which says
  /// what is wrong, if they are truncated, altered, of another version, operation or type.
  piece from_bytes(std::span<const std::byte> bytes) const {
    tilefold_piece* made = nullptr;
    detail::check(
        tilefold_piece_from_bytes(bytes.data(), static_cast<std::int64_t>(bytes.size()), &made));
    piece found(made, op_);
    const facts of = found.looked_at();
    const tilefold_dtype own = detail::dtype_of<T>;
    if (of.op != std::string_view(op_.template name_for<T>()) || of.dtype.code != own.code ||
        of.dtype.bits != own.bits) {
      throw format_error("tilefold: these bytes are a piece of " + std::string(of.op) +
                         " of other items or another operation than " + op_.template name_for<T>());
    }
    return found;
  }

  tilefold_piece* get() const { return handle_.get(); }

 private:
  struct facts {
    std::string_view op;
    tilefold_dtype dtype;
    std::int64_t begin;
    std::int64_t end;
  };

  piece(tilefold_piece* made, detail::op<Result> op) : op_(op), handle_(made) {}

  facts looked_at() const {
    const char* name = "";
    facts found{};
    detail::check(
        tilefold_piece_info(handle_.get(), &name, &found.dtype, &found.begin, &found.end));
    found.op = name;
    return found;
  }

  detail::op<Result> op_;
  detail::held<tilefold_piece, tilefold_piece_destroy> handle_;
};

/// What n items bring to the fold of a longer sequence in which they stand from `position` on.
template <class T, template <class> class Result>
piece<T, Result> reduce_piece(executor& exec, const T* items, std::int64_t n, std::int64_t position,
                              detail::op<Result> op) {
  piece<T, Result> made(op, position);
  made.append(exec, items, n);
  return made;
}
template <class T>
auto reduce_piece(executor& exec, const T* items, std::int64_t n, std::int64_t position) {
  return precompiled::reduce_piece(exec, items, n, position, sum);
}

/// Folds n items in memory of a GPU, in the order of the stream, and returns the value on the host,
/// once it is there. For the operations that have pieces on a GPU (docs/c.md); else error, and
/// reduce_into() folds there. Throws empty_range_error of no items if there is no result of those.
template <class T, template <class> class Result>
auto reduce(cuda_executor& exec, const T* items, std::int64_t n, detail::op<Result> op) {
  return precompiled::reduce_piece(exec, items, n, 0, op).value();
}
template <class T>
auto reduce(cuda_executor& exec, const T* items, std::int64_t n) {
  return precompiled::reduce(exec, items, n, sum);
}

/// A sum without rounding, of items in any order, as tilefold::exact_accumulator; so are its bytes.
/// T is a floating type, an integer or bool. On the host, wherever items lie: on a GPU those of
/// floating types, else error. One accumulator serves one thread at a time. It can be moved; a copy
/// comes from its bytes. An exception leaves it as it was.
template <class T>
class exact_accumulator {
 public:
  /// The sum of nothing.
  exact_accumulator() {
    tilefold_accumulator* made = nullptr;
    detail::check(tilefold_accumulator_create(detail::dtype_of<T>, &made));
    handle_.reset(made);
  }

  /// Adds n items; returns when they are added.
  void add(executor& exec, const T* items, std::int64_t n) {
    detail::check(tilefold_accumulator_add(handle_.get(), exec.get(), items, n));
  }
  /// Adds all that `other` was given.
  void merge(const exact_accumulator& other) {
    detail::check(tilefold_accumulator_merge(handle_.get(), other.handle_.get()));
  }
  /// The sum, rounded once to T; of integers and bool in 64 bits.
  auto value() const {
    detail::exactly_summed<T> found;
    detail::check(tilefold_accumulator_value(handle_.get(), &found));
    return found;
  }
  /// The mean of n > 0 items, rounded once to T; of integers and bool to double.
  auto mean(std::int64_t n) const {
    detail::exactly_divided<T> found;
    detail::check(tilefold_accumulator_mean(handle_.get(), n, &found));
    return found;
  }

  /// Accumulators that were given equal items have equal bytes.
  std::vector<std::byte> to_bytes() const {
    return detail::bytes_of([&](void* bytes, std::int64_t capacity, std::int64_t* size) {
      return tilefold_accumulator_bytes(handle_.get(), bytes, capacity, size);
    });
  }
  /// The accumulator that gave these bytes; throws format_error for others.
  static exact_accumulator from_bytes(std::span<const std::byte> bytes) {
    tilefold_accumulator* made = nullptr;
    detail::check(tilefold_accumulator_from_bytes(detail::dtype_of<T>, bytes.data(),
                                                  static_cast<std::int64_t>(bytes.size()), &made));
    return exact_accumulator(made);
  }

  tilefold_accumulator* get() const { return handle_.get(); }

 private:
  explicit exact_accumulator(tilefold_accumulator* made) : handle_(made) {}

  detail::held<tilefold_accumulator, tilefold_accumulator_destroy> handle_;
};

}  // namespace tilefold::precompiled
