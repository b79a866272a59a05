// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce with CUB's arguments: what a program changes is the namespace. Calls are
// asynchronous in their stream and answer with an error code, as CUB's are and do. Workspace is
// kept behind the stream (docs/doors.md), so the temporary storage that a call is given is not
// used; the call that asks for its size is told 1. Nothing of CUB is included.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/kept_executors.cuh>
#include <tilefold/error.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/arg.hpp>
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

using this_build = tilefold::detail::cuda::this_build;

}  // namespace detail

/// cub::DeviceReduce. Build is not for callers: it keeps units of one program apart that are
/// compiled for different GPUs.
template <class Build>
struct basic_device_reduce {
  template <class It, class Out, class N>
  static cudaError_t Sum(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into<detail::sum_of<It, Out>>(exec, in, in + n, out);
    });
  }

  template <class It, class Out, class N>
  static cudaError_t Min(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream,
                               [&](auto& exec) { reduce_into(exec, in, in + n, out, minimum{}); });
  }
  template <class It, class Out, class N>
  static cudaError_t Max(void* storage, std::size_t& bytes, It in, Out out, N n,
                         cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream,
                               [&](auto& exec) { reduce_into(exec, in, in + n, out, maximum{}); });
  }

  template <class It, class ValueOut, class IndexOut, class N>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, It in, ValueOut value_out,
                            IndexOut index_out, N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_min<>{});
    });
  }
  template <class It, class ValueOut, class IndexOut, class N>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, It in, ValueOut value_out,
                            IndexOut index_out, N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_max<>{});
    });
  }

  template <class It, class Out, class N, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, N n, Op op,
                            Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream,
                               [&](auto& exec) { reduce_into(exec, in, in + n, out, init, op); });
  }

  template <class It, class Out, class N, class Op, class F, class Init>
  static cudaError_t TransformReduce(void* storage, std::size_t& bytes, It in, Out out, N n, Op op,
                                     F f, Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      transform_reduce_into(exec, in, in + n, out, init, op, f);
    });
  }

  template <class Keys, class KeysOut, class Values, class ValuesOut, class CountOut, class Op,
            class N>
  static cudaError_t ReduceByKey(void* storage, std::size_t& bytes, Keys keys, KeysOut keys_out,
                                 Values values, ValuesOut values_out, CountOut num_runs_out, Op op,
                                 N n, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      reduce_by_key_into(exec, keys, keys + n, values, keys_out, values_out, num_runs_out, op);
    });
  }

 private:
  template <class Executor, class ValueOut, class IndexOut>
  static auto both(const Executor& exec, const ValueOut& value_out, const IndexOut& index_out) {
    const auto values = exec.readable(value_out, "the output of the value");
    const auto indices = exec.readable(index_out, "the output of the index");
    return detail::value_and_index<std::remove_const_t<decltype(values)>,
                                   std::remove_const_t<decltype(indices)>>{values, indices};
  }
};

using DeviceReduce = basic_device_reduce<detail::this_build>;

}  // namespace tilefold::cub_compat
