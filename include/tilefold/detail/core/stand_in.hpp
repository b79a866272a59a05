// SPDX-License-Identifier: Apache-2.0
//
// What callers already hold and may pass in place of an executor: CUDA streams, wrappers of them,
// and the execution policies of thrust and of the standard library. They are known by what they
// can do, or by name, so that nothing of CUDA, thrust or <execution> is included here.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

struct CUstream_st;  // of the CUDA runtime: a cudaStream_t points to one

namespace tilefold::detail {

/// T's name, as the compiler that asks spells it: for what no trait tells.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T =") == name.npos ? name.find("T=") + 2 : name.find("T =") + 3);
  while (name.starts_with(' ')) name.remove_prefix(1);
  return name.substr(0, name.find_first_of(";]"));
}

/// cudaStream_t.
using stream_handle = CUstream_st*;

// A policy of thrust, of whatever system: its own namespace has a function that knows it.
template <class T>
concept thrust_policy = std::is_class_v<T> && requires(T& policy) { derived_cast(policy); };

/// thrust::device, thrust::cuda::par, thrust::cuda::par.on(stream), rmm::exec_policy(stream).
template <class T>
concept thrust_cuda_policy = thrust_policy<T> && requires(T& policy) {
  { get_stream(policy) } -> std::same_as<stream_handle>;
};

// Converts to a stream, and not to whatever it is asked for.
struct nobody_converts_to;
template <class T>
concept converts_to_stream = std::is_class_v<T> && std::is_convertible_v<const T&, stream_handle> &&
                             !std::is_convertible_v<const T&, nobody_converts_to*>;

template <class T>
concept has_stream_get = std::is_class_v<T> && requires(const T& wrapper) {
  { wrapper.get() } -> std::same_as<stream_handle>;
};
template <class T>
concept has_stream_value = std::is_class_v<T> && requires(const T& wrapper) {
  { wrapper.value() } -> std::same_as<stream_handle>;
};

/// Names a CUDA stream: cudaStream_t, cuda::stream_ref, rmm::cuda_stream_view, a smart pointer to a
/// stream, a policy of thrust's CUDA system.
template <class T>
concept names_stream = std::same_as<T, stream_handle> || thrust_cuda_policy<T> ||
                       has_stream_get<T> || has_stream_value<T> || converts_to_stream<T>;

template <names_stream T>
stream_handle stream_of(const T& named) {
  if constexpr (std::same_as<T, stream_handle>) {
    return named;
  } else if constexpr (thrust_cuda_policy<T>) {
    T policy = named;  // thrust asks for one that is not const
    return get_stream(policy);
  } else if constexpr (has_stream_get<T>) {
    return named.get();
  } else if constexpr (has_stream_value<T>) {
    return named.value();
  } else {
    return named;
  }
}

/// What a standard execution policy asks for.
enum class host_policy { none, one_thread, all_cores };

// By name: the header that defines them also brings every parallel algorithm.
template <class T>
constexpr host_policy standard_policy() {
  const std::string_view name = detail::type_name<T>();
  if (!name.starts_with("std::") && !name.starts_with("__pstl::")) return host_policy::none;
  if (name.find("execution::") == name.npos) return host_policy::none;
  if (name.ends_with("::sequenced_policy") || name.ends_with("::unsequenced_policy")) {
    return host_policy::one_thread;
  }
  if (name.ends_with("::parallel_policy") || name.ends_with("::parallel_unsequenced_policy")) {
    return host_policy::all_cores;
  }
  return host_policy::none;
}

// thrust::seq, whichever its version is called.
template <class T>
constexpr bool is_thrust_seq() {
  return detail::type_name<T>().ends_with("::seq_t");
}

template <class T>
constexpr host_policy host_policy_of() {
  if constexpr (names_stream<T>) {
    return host_policy::none;
  } else if constexpr (thrust_policy<T>) {
    return detail::is_thrust_seq<T>() ? host_policy::one_thread : host_policy::all_cores;
  } else if constexpr (std::is_class_v<T>) {
    return detail::standard_policy<T>();
  } else {
    return host_policy::none;
  }
}

/// Whatever stands for an executor as the first argument of a verb.
template <class T>
concept stand_in = names_stream<T> || detail::host_policy_of<T>() != host_policy::none;

}  // namespace tilefold::detail
