// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce and cub::DeviceSegmentedReduce with CUB's arguments: what a program changes is
// the namespace. Calls are asynchronous in their stream and answer with an error code, as CUB's are
// and do. Workspace is kept behind the stream (docs/streams.md), so the temporary storage that a
// call is given is not used; the call that asks for its size is told 1. The forms of one phase, of
// later CUBs, take no storage, and as their last argument a stream, what names one, or an
// environment. Nothing of CUB is included.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <cuda/std/limits>
#if __has_include(<cuda/__stream/get_stream.h>)  // from CCCL 3.1 on
#include <cuda/__stream/get_stream.h>
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/executor/kept_executors.cuh>
#include <tilefold/error.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

namespace tilefold::cub_compat {

namespace detail {

/// The code that CUB would have returned for an exception of ours.
template <class Call>
cudaError_t code_of(const Call& call) noexcept {
  try {
    call();
    return cudaSuccess;
  } catch (const cuda_error& e) {
    return static_cast<cudaError_t>(e.code());
  } catch (const allocation_error&) {
    return cudaErrorMemoryAllocation;
  } catch (const capture_error&) {
    return cudaErrorStreamCaptureUnsupported;
  } catch (...) {
    return cudaErrorInvalidValue;
  }
}

/// CUB's protocol: a call without storage asks how much there must be, and does nothing else.
template <class Build, class Call>
cudaError_t call(const void* storage, std::size_t& bytes, cudaStream_t stream, const Call& fold) {
  if (storage == nullptr) {
    bytes = 1;
    return cudaSuccess;
  }
  return detail::code_of([&] {
    tilefold::detail::lent_executor<Build> lent(stream);
    fold(lent.executor());
  });
}

template <class T>
concept items = tilefold::detail::item_iterator<T>;

#if __has_include(<cuda/__stream/get_stream.h>)
template <class T>
concept has_stream = std::invocable<cuda::get_stream_t, const T&>;
template <has_stream T>
cudaStream_t queried_stream(const T& environment) {
  return cuda::get_stream(environment).get();
}
#else
template <class T>
concept has_stream = false;
template <has_stream T>
cudaStream_t queried_stream(const T&);
#endif

// cuda::std::execution::env and prop, with a stream or without.
template <class T>
constexpr bool is_environment() {
  const std::string_view name = tilefold::detail::type_name<T>();
  const std::string_view of_template = name.substr(0, name.find('<'));
  return of_template.starts_with("cuda::std::") && of_template.find("execution::") != name.npos &&
         (of_template.ends_with("::env") || of_template.ends_with("::prop"));
}

/// What may stand last in a call of one phase.
template <class T>
concept environment =
    tilefold::detail::names_stream<T> || has_stream<T> || detail::is_environment<T>();

template <environment T>
cudaStream_t stream_of(const T& environment) {
  if constexpr (tilefold::detail::names_stream<T>) {
    return tilefold::detail::stream_of(environment);
  } else if constexpr (has_stream<T>) {
    return detail::queried_stream(environment);
  } else {
    return nullptr;
  }
}

/// The form of one phase.
template <class Build, environment Environment, class Call>
cudaError_t call_at_once(const Environment& environment, const Call& fold) {
  std::size_t bytes = 0;
  return detail::call<Build>(&bytes, bytes, detail::stream_of(environment), fold);
}

/// A function whose operator() is not const, as CUB takes it: each call has a copy.
template <class F>
struct with_copies {
  F function;

  TILEFOLD_NO_EXEC_CHECK
  template <class... Values>
    requires std::invocable<F&, const Values&...>
  TILEFOLD_HD auto operator()(const Values&... values) const {
    F copy = function;
    return copy(values...);
  }
};

/// `f`, or what stands for it where it is called with such values.
template <class... Values, class F>
auto function_on(const F& f) {
  if constexpr (tilefold::detail::needs_const<F, Values...>) {
    return with_copies<F>{f};
  } else {
    return f;
  }
}

/// The same of an operator on values of one of the types Ts.
template <class... Ts, class Op>
auto operator_on(const Op& op) {
  if constexpr ((tilefold::detail::needs_const<Op, Ts, Ts> || ...)) {
    return with_copies<Op>{op};
  } else {
    return op;
  }
}

// The bits of the largest finite number of the narrow floats, which std::numeric_limits does not
// know, and cuda::std::numeric_limits only if their headers came first.
template <class T>
inline constexpr unsigned largest_bits = tilefold::detail::is_half<T>         ? 0x7bff
                                         : tilefold::detail::is_bfloat16<T>   ? 0x7f7f
                                         : std::is_same_v<T, ::__nv_fp8_e4m3> ? 0x7e
                                                                              : 0x7b;

/// The largest value of a type, or the lowest, as CUB starts Min, Max, ArgMin and ArgMax with: T()
/// where no numeric_limits know the type. CUB writes it for a range or segment without items.
template <bool Largest, class T>
T extreme() {
  if constexpr (is_narrow_float<T>) {
    using word = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
    constexpr unsigned sign = Largest ? 0 : 1u << (8 * sizeof(T) - 1);
    return __builtin_bit_cast(T, static_cast<word>(largest_bits<T> | sign));
  } else if constexpr (std::numeric_limits<T>::is_specialized) {
    return Largest ? (std::numeric_limits<T>::max)() : std::numeric_limits<T>::lowest();
  } else {
    return Largest ? (cuda::std::numeric_limits<T>::max)() : cuda::std::numeric_limits<T>::lowest();
  }
}

template <class It>
auto min_of() {
  return if_empty(minimum{}, detail::extreme<true, std::iter_value_t<It>>());
}
template <class It>
auto max_of() {
  return if_empty(maximum{}, detail::extreme<false, std::iter_value_t<It>>());
}

/// A place as cub::KeyValuePair has it, or what else has a key (the index) and a value, or as
/// cuda::std::pair<int, T> has it.
template <class Pair, class R>
struct as_pair : R {
  template <class Acc>
  TILEFOLD_HD Pair project(const Acc& found) const {
    return as_pair::of(R::project(found));
  }
  template <class Found>
  TILEFOLD_HD static Pair of(const Found& found) {
    Pair pair;
    if constexpr (requires { pair.key; }) {
      pair.key = static_cast<decltype(pair.key)>(found.index);
      pair.value = static_cast<decltype(pair.value)>(found.value);
    } else {
      pair.first = static_cast<decltype(pair.first)>(found.index);
      pair.second = static_cast<decltype(pair.second)>(found.value);
    }
    return pair;
  }
};

/// What CUB's own writes for a segment without items.
template <class It, class Out, class R>
auto place_in_segment(bool largest) {
  using value = std::iter_value_t<It>;
  using pair = std::iter_value_t<Out>;
  const value none = largest ? detail::extreme<false, value>() : detail::extreme<true, value>();
  return if_empty(as_pair<pair, R>{},
                  as_pair<pair, R>::of(reducers::indexed_value<value>{none, 1}));
}

/// Where a place goes: its value through one iterator, its index through another.
template <class ValueOut, class IndexOut>
struct value_and_index {
  ValueOut value_out;
  IndexOut index_out;

  TILEFOLD_HD value_and_index operator*() const { return *this; }
  template <class Found>
  TILEFOLD_HD void operator=(const Found& found) const {
    *value_out = static_cast<std::iter_value_t<ValueOut>>(found.value);
    *index_out = static_cast<std::iter_value_t<IndexOut>>(found.index);
  }
};

template <class It, class Out>
using sum_of =
    tilefold::detail::accumulator_t<void, plus, std::iter_value_t<It>, std::iter_value_t<Out>>;

/// The accumulator that an operator chooses by itself.
template <class It, class Out>
using own_type = void;

/// Their sum, of no items T() where there is no identity, as CUB has it.
template <class It, class Out>
auto plus_of() {
  using sum = sum_of<It, Out>;
  if constexpr (!tilefold::detail::has_identity<plus, sum> && std::default_initializable<sum>) {
    return if_empty(plus{}, sum());
  } else {
    return plus{};
  }
}

/// segmented_reduce_into() as a call: of segments by their begins and ends, or of one size.
template <class Acc = void, class It, class Out, items Begins, items Ends, class... InitOp>
auto of_segments(It in, Out out, std::int64_t n, Begins begins, Ends ends, InitOp... init_op) {
  return
      [=](auto& exec) { segmented_reduce_into<Acc>(exec, in, begins, ends, n, out, init_op...); };
}
template <class Acc = void, class It, class Out, std::integral Size, class... InitOp>
auto of_segments(It in, Out out, std::int64_t n, Size size, InitOp... init_op) {
  return [=](auto& exec) { segmented_reduce_into<Acc>(exec, in, n, size, out, init_op...); };
}

using this_build = tilefold::detail::cuda::this_build;

}  // namespace detail

}  // namespace tilefold::cub_compat

namespace tilefold::detail {

template <class Pair, class R>
struct ways<cub_compat::detail::as_pair<Pair, R>> : ways<R> {};

}  // namespace tilefold::detail

namespace tilefold::cub_compat {

/// cub::DeviceReduce. Build is not for callers: it keeps units of one program apart that are
/// compiled for different GPUs.
template <class Build>
struct basic_device_reduce {
  template <class It, class Out, class N>
  static cudaError_t Sum(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into<detail::sum_of<It, Out>>(exec, in, in + n, out, detail::plus_of<It, Out>());
    });
  }

  template <class It, class Out, class N>
  static cudaError_t Min(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out, detail::min_of<It>());
    });
  }
  template <class It, class Out, class N>
  static cudaError_t Max(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out, detail::max_of<It>());
    });
  }

  template <detail::items It, class ValueOut, class IndexOut, std::integral N>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, It in, ValueOut value_out,
                            IndexOut index_out, N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_min<>{});
    });
  }
  template <detail::items It, class ValueOut, class IndexOut, std::integral N>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, It in, ValueOut value_out,
                            IndexOut index_out, N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_max<>{});
    });
  }

  // One cub::KeyValuePair, as CUB had it first.
  template <detail::items It, class Out, std::integral N>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, It in, Out out, N n,
                            cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out,
                  detail::as_pair<std::iter_value_t<Out>, reducers::arg_min<>>{});
    });
  }
  template <detail::items It, class Out, std::integral N>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, It in, Out out, N n,
                            cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out,
                  detail::as_pair<std::iter_value_t<Out>, reducers::arg_max<>>{});
    });
  }

  template <class It, class Out, class N, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, N n, Op op,
                            Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out, init,
                  detail::operator_on<std::iter_value_t<It>, Init>(op));
    });
  }

  template <class It, class Out, class N, class Op, class F, class Init>
  static cudaError_t TransformReduce(void* storage, std::size_t& bytes, It in, Out out, N n, Op op,
                                     F f, Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      fold_transformed(exec, in, n, out, op, f, init);
    });
  }

  template <class Keys, class KeysOut, class Values, class ValuesOut, class CountOut, class Op,
            class N>
  static cudaError_t ReduceByKey(void* storage, std::size_t& bytes, Keys keys, KeysOut keys_out,
                                 Values values, ValuesOut values_out, CountOut num_runs_out, Op op,
                                 N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_by_key_into(exec, keys, keys + n, values, keys_out, values_out, num_runs_out,
                         detail::operator_on<std::iter_value_t<Values>>(op));
    });
  }

  // In one phase.
  template <detail::items It, class Out, std::integral N, detail::environment S = cudaStream_t>
  static cudaError_t Sum(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into<detail::sum_of<It, Out>>(exec, in, in + n, out, detail::plus_of<It, Out>());
    });
  }
  template <detail::items It, class Out, std::integral N, detail::environment S = cudaStream_t>
  static cudaError_t Min(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into(exec, in, in + n, out, detail::min_of<It>()); });
  }
  template <detail::items It, class Out, std::integral N, detail::environment S = cudaStream_t>
  static cudaError_t Max(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into(exec, in, in + n, out, detail::max_of<It>()); });
  }
  template <detail::items It, class ValueOut, class IndexOut, std::integral N,
            detail::environment S = cudaStream_t>
  static cudaError_t ArgMin(It in, ValueOut value_out, IndexOut index_out, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_min<>{});
    });
  }
  template <detail::items It, class ValueOut, class IndexOut, std::integral N,
            detail::environment S = cudaStream_t>
  static cudaError_t ArgMax(It in, ValueOut value_out, IndexOut index_out, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_max<>{});
    });
  }
  template <detail::items It, class Out, std::integral N, class Op, class Init,
            detail::environment S = cudaStream_t>
  static cudaError_t Reduce(It in, Out out, N n, Op op, Init init, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, out, init,
                  detail::operator_on<std::iter_value_t<It>, Init>(op));
    });
  }
  template <detail::items It, class Out, std::integral N, class Op, class F, class Init,
            detail::environment S = cudaStream_t>
  static cudaError_t TransformReduce(It in, Out out, N n, Op op, F f, Init init, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { fold_transformed(exec, in, n, out, op, f, init); });
  }
  template <detail::items Keys, class KeysOut, detail::items Values, class ValuesOut,
            class CountOut, class Op, std::integral N, detail::environment S = cudaStream_t>
  static cudaError_t ReduceByKey(Keys keys, KeysOut keys_out, Values values, ValuesOut values_out,
                                 CountOut num_runs_out, Op op, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_by_key_into(exec, keys, keys + n, values, keys_out, values_out, num_runs_out,
                         detail::operator_on<std::iter_value_t<Values>>(op));
    });
  }

 private:
  template <class Executor, class It, class Out, class N, class Op, class F, class Init>
  static void fold_transformed(Executor& exec, It in, N n, Out out, const Op& op, const F& f,
                               const Init& init) {
    const auto function = detail::function_on<std::iter_value_t<It>>(f);
    using value = tilefold::detail::call_result_t<decltype(function), std::iter_value_t<It>>;
    transform_reduce_into(exec, in, in + n, out, init, detail::operator_on<value, Init>(op),
                          function);
  }

  template <class Executor, class ValueOut, class IndexOut>
  static auto both(const Executor& exec, const ValueOut& value_out, const IndexOut& index_out) {
    const auto values = exec.accessible(value_out, "the output of the value");
    const auto indices = exec.accessible(index_out, "the output of the index");
    return detail::value_and_index<std::remove_const_t<decltype(values)>,
                                   std::remove_const_t<decltype(indices)>>{values, indices};
  }
};

using DeviceReduce = basic_device_reduce<detail::this_build>;

// The forms of a function of DeviceSegmentedReduce: in two phases and in one, of segments by their
// begins and ends and of one size. Behind its accumulator stands the operator or reducer.
#define TILEFOLD_CUB_SEGMENTS(name, accumulator, ...)                                              \
  template <class It, class Out, detail::items Begins, detail::items Ends>                         \
  static cudaError_t name(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,       \
                          Begins begins, Ends ends, cudaStream_t stream = nullptr) {               \
    return detail::call<Build>(                                                                    \
        storage, bytes, stream,                                                                    \
        detail::of_segments<accumulator<It, Out>>(in, out, n, begins, ends, __VA_ARGS__));         \
  }                                                                                                \
  template <class It, class Out, std::integral Size>                                               \
  static cudaError_t name(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,       \
                          Size size, cudaStream_t stream = nullptr) {                              \
    return detail::call<Build>(                                                                    \
        storage, bytes, stream,                                                                    \
        detail::of_segments<accumulator<It, Out>>(in, out, n, size, __VA_ARGS__));                 \
  }                                                                                                \
  template <detail::items It, class Out, detail::items Begins, detail::items Ends,                 \
            detail::environment S = cudaStream_t>                                                  \
  static cudaError_t name(It in, Out out, std::int64_t n, Begins begins, Ends ends,                \
                          S stream = {}) {                                                         \
    return detail::call_at_once<Build>(                                                            \
        stream, detail::of_segments<accumulator<It, Out>>(in, out, n, begins, ends, __VA_ARGS__)); \
  }                                                                                                \
  template <detail::items It, class Out, std::integral Size, detail::environment S = cudaStream_t> \
  static cudaError_t name(It in, Out out, std::int64_t n, Size size, S stream = {}) {              \
    return detail::call_at_once<Build>(                                                            \
        stream, detail::of_segments<accumulator<It, Out>>(in, out, n, size, __VA_ARGS__));         \
  }

/// cub::DeviceSegmentedReduce: segments [begins[i], ends[i]), or of one size.
template <class Build>
struct basic_device_segmented_reduce {
  template <class It, class Out, detail::items Begins, detail::items Ends, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Begins begins, Ends ends, Op op, Init init,
                            cudaStream_t stream = nullptr) {
    return detail::call<Build>(
        storage, bytes, stream,
        detail::of_segments(in, out, n, begins, ends, init,
                            detail::operator_on<std::iter_value_t<It>, Init>(op)));
  }
  template <class It, class Out, std::integral Size, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Size size, Op op, Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(
        storage, bytes, stream,
        detail::of_segments(in, out, n, size, init,
                            detail::operator_on<std::iter_value_t<It>, Init>(op)));
  }
  template <detail::items It, class Out, detail::items Begins, detail::items Ends, class Op,
            class Init, detail::environment S = cudaStream_t>
  static cudaError_t Reduce(It in, Out out, std::int64_t n, Begins begins, Ends ends, Op op,
                            Init init, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, detail::of_segments(in, out, n, begins, ends, init,
                                    detail::operator_on<std::iter_value_t<It>, Init>(op)));
  }
  template <detail::items It, class Out, std::integral Size, class Op, class Init,
            detail::environment S = cudaStream_t>
  static cudaError_t Reduce(It in, Out out, std::int64_t n, Size size, Op op, Init init,
                            S stream = {}) {
    return detail::call_at_once<Build>(
        stream, detail::of_segments(in, out, n, size, init,
                                    detail::operator_on<std::iter_value_t<It>, Init>(op)));
  }

  TILEFOLD_CUB_SEGMENTS(Sum, detail::sum_of, detail::plus_of<It, Out>())
  TILEFOLD_CUB_SEGMENTS(Min, detail::own_type, detail::min_of<It>())
  TILEFOLD_CUB_SEGMENTS(Max, detail::own_type, detail::max_of<It>())
  // Pairs: the index counts in its segment.
  TILEFOLD_CUB_SEGMENTS(ArgMin, detail::own_type,
                        detail::place_in_segment<It, Out, reducers::arg_min<>>(false))
  TILEFOLD_CUB_SEGMENTS(ArgMax, detail::own_type,
                        detail::place_in_segment<It, Out, reducers::arg_max<>>(true))
};

#undef TILEFOLD_CUB_SEGMENTS

using DeviceSegmentedReduce = basic_device_segmented_reduce<detail::this_build>;

}  // namespace tilefold::cub_compat

TILEFOLD_WARNINGS_BACK
