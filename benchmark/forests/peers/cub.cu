// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceSegmentedReduce: its form for offsets; that for segments of one size where this CUB
// has it (3.2 and later); and offsets with the length of the longest segment.
#include <cuda_fp16.h>

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>

#include "../../support/cccl.hpp"
#include "../../support/structs.hpp"
#include "peer.hpp"

namespace {

using bench::vec;

/// How items T are added up. The type of `zero` is that of the accumulator.
template <class T>
struct addition {
  using plus = cuda::std::plus<float>;
  static constexpr float zero = 0;
};
template <class T, int N>
struct addition<vec<T, N>> {
  using plus = bench::vec_plus;
  static constexpr vec<T, N> zero{};
};

template <class T>
using sum_type = std::remove_const_t<decltype(addition<T>::zero)>;

template <template <class> class Form>
bench::segments_peer peer(const char* name, bench::promise needs) {
  return {with_version(name),
          needs,
          {{"half", Form<__half>{}},
           {"float", Form<float>{}},
           {"struct16", Form<vec<float, 4>>{}},
           {"struct24", Form<vec<double, 3>>{}},
           {"struct32", Form<vec<double, 4>>{}},
           {"struct64", Form<vec<double, 8>>{}},
           {"struct128", Form<vec<double, 16>>{}}}};
}

template <class T>
struct of_offsets {
  void operator()(const bench::segments_call& c) const {
    using add = addition<T>;
    std::size_t bytes = c.scratch_bytes;
    bench::check(cub::DeviceSegmentedReduce::Reduce(
                     c.scratch, bytes, c.items<T>(), c.result<sum_type<T>>(), c.segments, c.offsets,
                     c.offsets + 1, typename add::plus{}, add::zero, c.stream),
                 "cub::DeviceSegmentedReduce of offsets");
  }
};

const bench::entry_of<bench::segments_peer> offsets(peer<of_offsets>("cub", bench::promise::none));

#if CCCL_MAJOR_VERSION > 3 || CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 2

template <class T>
struct of_one_size {
  void operator()(const bench::segments_call& c) const {
    using add = addition<T>;
    std::size_t bytes = c.scratch_bytes;
    bench::check(cub::DeviceSegmentedReduce::Reduce(
                     c.scratch, bytes, c.items<T>(), c.result<sum_type<T>>(), c.segments,
                     static_cast<int>(c.size), typename add::plus{}, add::zero, c.stream),
                 "cub::DeviceSegmentedReduce of one size");
  }
};

const bench::entry_of<bench::segments_peer> one_size(
    peer<of_one_size>("cub-fixed", bench::promise::equal_lengths));

#endif

#if CCCL_MAJOR_VERSION > 3 || CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 6

// No public form takes the bound yet. The dispatch beneath them does; they pass 0, which is none.
template <class T>
struct of_offsets_with_bound {
  void operator()(const bench::segments_call& c) const {
    using add = addition<T>;
    std::size_t bytes = c.scratch_bytes;
    bench::check(cub::detail::segmented_reduce::dispatch(
                     c.scratch, bytes, c.items<T>(), c.result<sum_type<T>>(), c.segments, c.offsets,
                     c.offsets + 1, typename add::plus{}, add::zero,
                     static_cast<std::size_t>(c.longest), c.stream),
                 "cub's segmented reduction with a bound");
  }
};

const bench::entry_of<bench::segments_peer> with_bound(
    peer<of_offsets_with_bound>("cub-bound", bench::promise::longest));

#endif

}  // namespace
