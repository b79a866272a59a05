// SPDX-License-Identifier: Apache-2.0
//
// Which executor serves a call that names none, or something that stands for one
// (detail/core/stand_in.hpp). Without any, a plain C++ translation unit has the host; under nvcc
// the memory that the iterator leads to decides. The choice is a type, and a template argument of
// every verb, so that .cpp and .cu files of one program do not share one template with two
// meanings.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/host.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/executor/cuda_dispatch.cuh>
#endif

namespace tilefold::detail {

template <class HostMode>
struct host_dispatch {
  /// Calls use(executor) with the executor that can read `first`, and read or write `more`.
  template <class... Functors, class It, class Use, class... More>
  static auto with_executor(const It&, Use use, const More&...) {
    if constexpr (detail::copies<Functors...>()) {
      return use(basic_host_executor<HostMode>{});
    } else {
      return no_result{};
    }
  }

  /// Calls use(executor) with the executor that `handle` stands for.
  template <stand_in Handle, class Use>
  static auto with_stand_in(const Handle&, Use use) {
    static_assert(!names_stream<Handle>,
                  "tilefold: a CUDA stream stands for an executor only where nvcc compiles; a C++ "
                  "compiler alone has the host executor, and std::execution::par for it");
    if constexpr (!names_stream<Handle>) {
      return use(detail::host_executor_for<Handle, HostMode>());
    }
  }
};

#if defined(__CUDACC__)
using default_dispatch = cuda_dispatch<cuda::this_build, host::mode>;
#else
using default_dispatch = host_dispatch<host::mode>;
#endif

}  // namespace tilefold::detail

// The calls of a verb with a stream or an execution policy in place of an executor: verb(stream,
// ...), verb(thrust::device, ...), verb(std::execution::par, ...). docs/streams.md lists them all.
// Not public.
#define TILEFOLD_TAKES_STAND_INS(verb)                                                            \
  template <class Acc = void, class Dispatch = detail::default_dispatch, detail::stand_in Handle, \
            class... Arguments>                                                                   \
  auto verb(const Handle& handle, Arguments&&... arguments) {                                     \
    return Dispatch::with_stand_in(handle, [&](auto&& exec) {                                     \
      return tilefold::verb<Acc>(exec, static_cast<Arguments&&>(arguments)...);                   \
    });                                                                                           \
  }

TILEFOLD_WARNINGS_BACK
