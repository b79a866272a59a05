// SPDX-License-Identifier: Apache-2.0
//
// Whether a type can be copied as bytes, to a GPU and between its threads. If not, a static_assert
// says so before a kernel is instantiated.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/op_reducer.hpp>

namespace tilefold {

enum class tie_rule;

}  // namespace tilefold

namespace tilefold::detail::cuda {

/// Whether kernels may have such accumulators; not if kernels of them take minutes to compile.
template <class Accumulator>
constexpr bool folds_on_gpus() {
  if constexpr (requires { Accumulator::folds_on_gpus; }) return Accumulator::folds_on_gpus;
  return true;
}

/// Whether nvcc knows T in device code. It stops with an internal error at _Float16 and __bf16, and
/// makes a long double a double, whose bytes are not those of the host's.
template <class T>
constexpr bool knows_number() {
  constexpr bool is_long_double = std::same_as<T, long double>;
  static_assert(!is_long_double,
                "tilefold: a GPU has no long double: pass the items as double (host memory: pass a "
                "tilefold::host_executor)");
  if constexpr (is_long_double) return false;
  constexpr bool known =
      !compiler_float<T> || std::same_as<T, float> || std::same_as<T, double> || is_long_double;
  static_assert(
      known,
      "tilefold: device code has no _Float16, __bf16, __float128 or std::float16_t and the "
      "like: pass the items as tilefold::half or bfloat16, which have the same bits, or as "
      "__half, float or double (host memory: pass a tilefold::host_executor)");
  return known;
}

template <class Accumulator, class Result>
constexpr bool copies_values() {
  if constexpr (!cuda::knows_number<typename part_of<Accumulator>::type>()) return false;
  constexpr bool accumulator = std::is_trivially_copyable_v<Accumulator>;
  static_assert(accumulator,
                "tilefold: on a GPU the accumulator must be trivially copyable, for its bytes move "
                "between threads (host memory: pass a tilefold::host_executor)");
  constexpr bool result = std::is_trivially_copyable_v<Result>;
  static_assert(!accumulator || result,
                "tilefold: on a GPU the result of a reducer must be trivially copyable");
  constexpr bool small = cuda::folds_on_gpus<Accumulator>();
  static_assert(
      small,
      "tilefold: no GPU folds such accumulators: they are too large to compile kernels for "
      "(host memory: pass a tilefold::host_executor)");
  return accumulator && result && small;
}

// To nvcc's host compiler a __host__ __device__ lambda is a stand-in with a destructor.
template <class F>
inline constexpr bool is_stand_in =
#if defined(__CUDACC_EXTENDED_LAMBDA__)
    __nv_is_extended_host_device_lambda_closure_type(F);
#else
    false;
#endif

// A lambda for the host alone, which nvcc's front end tells by how it spells the type.
template <class F>
constexpr bool is_host_lambda() {
#if defined(__NVCC__)
#if defined(__CUDACC_EXTENDED_LAMBDA__)
  if (device_only<F> || is_stand_in<F>) return false;
#endif
  const char* spelled = __PRETTY_FUNCTION__;
  const char* const lambda = "F = lambda [";
  for (; *spelled != '\0'; ++spelled) {
    int same = 0;
    while (lambda[same] != '\0' && spelled[same] == lambda[same]) ++same;
    if (lambda[same] == '\0') return true;
  }
#endif
  return false;
}

/// Whether F leads to code of the host: a pointer to a function, whose address means nothing to a
/// GPU, or a host lambda; or is a reducer that holds one.
template <class F>
inline constexpr bool is_host_function =
    std::is_function_v<std::remove_pointer_t<F>> || cuda::is_host_lambda<F>();
template <template <class...> class R, class... F>
  requires reducer<R<F...>>
inline constexpr bool is_host_function<R<F...>> = (is_host_function<F> || ...);
template <template <bool, class...> class R, bool B, class... F>
  requires reducer<R<B, F...>>
inline constexpr bool is_host_function<R<B, F...>> = (is_host_function<F> || ...);

template <template <bool, tie_rule, class> class R, bool B, tie_rule Ties, class F>
  requires reducer<R<B, Ties, F>>
inline constexpr bool is_host_function<R<B, Ties, F>> = is_host_function<F>;
template <template <tie_rule, tie_rule, class> class R, tie_rule Min, tie_rule Max, class F>
  requires reducer<R<Min, Max, F>>
inline constexpr bool is_host_function<R<Min, Max, F>> = is_host_function<F>;

/// A type may have a copy constructor of its own. A destructor means that it owns something on the
/// host, as a std::vector does; a virtual function exists on the host alone. A reducer may hold a
/// stand-in.
template <class F>
constexpr bool copies_function() {
  constexpr bool on_device = !is_host_function<F>;
  static_assert(on_device,
                "tilefold: a GPU cannot call a function of the host, by a pointer or as a plain "
                "lambda: pass a struct whose operator() is TILEFOLD_HD, or a __device__ lambda "
                "(nvcc --extended-lambda)");
  if constexpr (!on_device) return false;
  constexpr bool yes = reducer<F> || is_stand_in<F> ||
                       (std::is_trivially_destructible_v<F> && !std::is_polymorphic_v<F>);
  static_assert(yes,
                "tilefold: a function that a GPU calls is copied there as bytes: it cannot hold a "
                "std::vector, std::string or std::function, nor have a virtual function or a "
                "destructor (let it hold a pointer to device memory)");
  return yes;
}

template <class Item>
constexpr bool copies_item() {
  if constexpr (!cuda::knows_number<typename part_of<Item>::type>()) return false;
  constexpr bool yes = std::is_trivially_copyable_v<Item>;
  static_assert(
      yes,
      "tilefold: on a GPU the items of segments, views and runs of keys must be trivially "
      "copyable");
  return yes;
}

}  // namespace tilefold::detail::cuda
