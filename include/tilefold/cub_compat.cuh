// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce and cub::DeviceSegmentedReduce with CUB's arguments: what a program changes is
// the namespace. Calls are asynchronous in their stream and answer with an error code, as CUB's are
// and do. Workspace is kept behind the stream (docs/streams.md), so the temporary storage that a
// call is given is not used; the call that asks for its size is told 1. The forms of one phase, of
// later CUBs, take no storage, and a stream or what names one as their last argument. Nothing of
// CUB is included.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/kept_executors.cuh>
#include <tilefold/detail/stand_in.hpp>
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

/// The form of one phase.
template <class Build, class Stream, class Call>
cudaError_t call_at_once(const Stream& stream, const Call& fold) {
  std::size_t bytes = 0;
  return detail::call<Build>(&bytes, bytes, tilefold::detail::stream_of(stream), fold);
}

template <class T>
concept names_stream = tilefold::detail::names_stream<T>;
template <class T>
concept items = tilefold::detail::item_iterator<T>;

/// A place as cub::KeyValuePair has it, or what else has a key (the index) and a value.
template <class Pair, class R>
struct as_pair : R {
  template <class Acc>
  TILEFOLD_HD Pair project(const Acc& found) const {
    return as_pair::of(R::project(found));
  }
  template <class Found>
  TILEFOLD_HD static Pair of(const Found& found) {
    Pair pair;
    pair.key = static_cast<decltype(pair.key)>(found.index);
    pair.value = static_cast<decltype(pair.value)>(found.value);
    return pair;
  }
};

/// What CUB's own writes for a segment without items.
template <class It, class Out, class R>
auto place_in_segment(bool largest) {
  using value = std::iter_value_t<It>;
  using pair = std::iter_value_t<Out>;
  const value none =
      largest ? std::numeric_limits<value>::lowest() : std::numeric_limits<value>::max();
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

  // In one phase.
  template <detail::items It, class Out, std::integral N, detail::names_stream S = cudaStream_t>
  static cudaError_t Sum(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into<detail::sum_of<It, Out>>(exec, in, in + n, out); });
  }
  template <detail::items It, class Out, std::integral N, detail::names_stream S = cudaStream_t>
  static cudaError_t Min(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into(exec, in, in + n, out, minimum{}); });
  }
  template <detail::items It, class Out, std::integral N, detail::names_stream S = cudaStream_t>
  static cudaError_t Max(It in, Out out, N n, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into(exec, in, in + n, out, maximum{}); });
  }
  template <detail::items It, class ValueOut, class IndexOut, std::integral N,
            detail::names_stream S = cudaStream_t>
  static cudaError_t ArgMin(It in, ValueOut value_out, IndexOut index_out, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_min<>{});
    });
  }
  template <detail::items It, class ValueOut, class IndexOut, std::integral N,
            detail::names_stream S = cudaStream_t>
  static cudaError_t ArgMax(It in, ValueOut value_out, IndexOut index_out, N n, S stream = {}) {
    return detail::call_at_once<Build>(stream, [&](auto& exec) {
      reduce_into(exec, in, in + n, both(exec, value_out, index_out), reducers::arg_max<>{});
    });
  }
  template <detail::items It, class Out, std::integral N, class Op, class Init,
            detail::names_stream S = cudaStream_t>
  static cudaError_t Reduce(It in, Out out, N n, Op op, Init init, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { reduce_into(exec, in, in + n, out, init, op); });
  }
  template <detail::items It, class Out, std::integral N, class Op, class F, class Init,
            detail::names_stream S = cudaStream_t>
  static cudaError_t TransformReduce(It in, Out out, N n, Op op, F f, Init init, S stream = {}) {
    return detail::call_at_once<Build>(
        stream, [&](auto& exec) { transform_reduce_into(exec, in, in + n, out, init, op, f); });
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

/// cub::DeviceSegmentedReduce: segments [begins[i], ends[i]), or of one size.
template <class Build>
struct basic_device_segmented_reduce {
  template <class It, class Out, class Begins, class Ends, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Begins begins, Ends ends, Op op, Init init,
                            cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, begins, ends, n, out, init, op);
    });
  }
  template <class It, class Out, std::integral Size, class Op, class Init>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Size size, Op op, Init init, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, n, size, out, init, op);
    });
  }

  template <class It, class Out, detail::items Begins, detail::items Ends>
  static cudaError_t Sum(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Begins begins, Ends ends, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into<detail::sum_of<It, Out>>(exec, in, begins, ends, n, out);
    });
  }
  template <class It, class Out, std::integral Size>
  static cudaError_t Sum(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Size size, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into<detail::sum_of<It, Out>>(exec, in, n, size, out);
    });
  }
  template <class It, class Out, detail::items Begins, detail::items Ends>
  static cudaError_t Min(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Begins begins, Ends ends, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, begins, ends, n, out, minimum{});
    });
  }
  template <class It, class Out, std::integral Size>
  static cudaError_t Min(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Size size, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, n, size, out, minimum{});
    });
  }
  template <class It, class Out, detail::items Begins, detail::items Ends>
  static cudaError_t Max(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Begins begins, Ends ends, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, begins, ends, n, out, maximum{});
    });
  }
  template <class It, class Out, std::integral Size>
  static cudaError_t Max(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                         Size size, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, n, size, out, maximum{});
    });
  }

  // cub::KeyValuePair: the index counts in its segment.
  template <class It, class Out, detail::items Begins, detail::items Ends>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Begins begins, Ends ends, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, begins, ends, n, out,
                            detail::place_in_segment<It, Out, reducers::arg_min<>>(false));
    });
  }
  template <class It, class Out, std::integral Size>
  static cudaError_t ArgMin(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Size size, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, n, size, out,
                            detail::place_in_segment<It, Out, reducers::arg_min<>>(false));
    });
  }
  template <class It, class Out, detail::items Begins, detail::items Ends>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Begins begins, Ends ends, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, begins, ends, n, out,
                            detail::place_in_segment<It, Out, reducers::arg_max<>>(true));
    });
  }
  template <class It, class Out, std::integral Size>
  static cudaError_t ArgMax(void* storage, std::size_t& bytes, It in, Out out, std::int64_t n,
                            Size size, cudaStream_t stream = nullptr) {
    return detail::call<Build>(storage, bytes, stream, [&](auto& exec) {
      segmented_reduce_into(exec, in, n, size, out,
                            detail::place_in_segment<It, Out, reducers::arg_max<>>(true));
    });
  }
};

using DeviceSegmentedReduce = basic_device_segmented_reduce<detail::this_build>;

}  // namespace tilefold::cub_compat
