// SPDX-License-Identifier: Apache-2.0
//
// Which executor serves a call under nvcc that names none, or something that stands for one.
#pragma once

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/executor/data_place.cuh>
#include <tilefold/detail/executor/kept_executors.cuh>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>

namespace tilefold::detail {

/// Under nvcc a call goes where its data is: to the GPU if a root pointer of its iterators leads to
/// memory of a GPU or to managed memory, or thrust marks them so; else to the host (which refuses
/// device memory).
template <class Build, class HostMode>
struct cuda_dispatch {
  /// `first` and `more`: what the call reads and writes; what is no iterator is passed over.
  template <class... Functors, class It, class Use, class... More>
  static auto with_executor(const It& first, Use use, const More&... more) {
    constexpr bool is_lambdas = !wraps_any_pointer<It> && !unwraps_to_pointer<It> &&
                                (cuda::is_plain_lambda<Functors>() || ...);
    constexpr cuda::home told = cuda::home_of_call<It, More...>();
    constexpr cuda::home home = told == cuda::home::pointer && is_lambdas ? cuda::home::host : told;
    cuda::data_places places;
    if constexpr (!detail::copies<Functors...>()) {
      return no_result{};
    } else if constexpr ((device_only<Functors> || ...)) {
      look(places, first, more...);
      if (const void* const pointer = places.only_host()) {
        throw memory_space_error("tilefold: " + cuda::hex(pointer) +
                                 " is host memory, but the operator is a __device__ lambda");
      }
      return on_gpu(default_stream, use);
    } else if constexpr (home == cuda::home::gpu) {
      look(places, first, more...);
      return on_gpu(default_stream, use);
    } else if constexpr (home == cuda::home::pointer) {
      look(places, first, more...);
      if (places.on_gpu()) return on_gpu(default_stream, use);
      return use(basic_host_executor<HostMode>{});
    } else {
      if constexpr (sizeof...(More) > 0) look(places, first, more...);
      return use(basic_host_executor<HostMode>{});
    }
  }

  /// Calls use(executor) with the executor that `handle` stands for.
  template <stand_in Handle, class Use>
  static auto with_stand_in(const Handle& handle, Use use) {
    if constexpr (names_stream<Handle>) {
      return on_gpu(detail::stream_of(handle), use);
    } else {
      return use(detail::host_executor_for<Handle, HostMode>());
    }
  }

 private:
  template <class... Args>
  static void look(cuda::data_places& places, const Args&... args) {
    (places.look_at(args), ...);
    places.require_one_reader();
  }

  template <class Use>
  static auto on_gpu(cudaStream_t stream, const Use& use) {
    lent_executor<Build> lent(stream);
    return use(lent.executor());
  }

  static constexpr cudaStream_t default_stream = nullptr;
};

}  // namespace tilefold::detail
