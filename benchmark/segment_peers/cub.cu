// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceSegmentedReduce: its form for offsets, and that for segments of one size where this
// CUB has it (3.2 and later).
#include <cuda_fp16.h>

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>

#include "../peers/peer.hpp"
#include "peer.hpp"

namespace {

// The accumulator of halves is float by the initial value's type.
template <class T>
void offset_form(const bench::segments_call& c) {
  std::size_t bytes = c.scratch_bytes;
  bench::check(cub::DeviceSegmentedReduce::Reduce(c.scratch, bytes, c.begin<T>(), c.out, c.segments,
                                                  c.offsets, c.offsets + 1,
                                                  cuda::std::plus<float>{}, 0.0f, c.stream),
               "cub::DeviceSegmentedReduce of offsets");
}

const bench::segments_peer_entry offsets({with_version("cub"), &offset_form<float>,
                                          &offset_form<__half>});

#if CCCL_MAJOR_VERSION > 3 || CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 2

template <class T>
void fixed_size_form(const bench::segments_call& c) {
  std::size_t bytes = c.scratch_bytes;
  bench::check(cub::DeviceSegmentedReduce::Reduce(c.scratch, bytes, c.begin<T>(), c.out, c.segments,
                                                  static_cast<int>(c.size),
                                                  cuda::std::plus<float>{}, 0.0f, c.stream),
               "cub::DeviceSegmentedReduce of one size");
}

const bench::segments_peer_entry fixed_size({with_version("cub-fixed"), &fixed_size_form<float>,
                                             &fixed_size_form<__half>, true});

#endif

}  // namespace
