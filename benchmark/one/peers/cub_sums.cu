// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce on the sums.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <cstdint>

#include "../../support/cccl.hpp"

namespace {

// Reduce with an initial value of the accumulator's type, and not Sum: only so does cub accumulate
// narrow items in a wider type, and read them faster than through a converting iterator.
template <class T, class Acc>
bench::contestant sum() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    return cub::DeviceReduce::Reduce(scratch, bytes, c.items<T>(), c.result<Acc>(), count(c),
                                     cuda::std::plus<Acc>{}, Acc{}, c.stream);
  });
}

const bench::peer_entry entries[] = {
    {"float_sum", sum<float, float>()},
    {"float_sum_span", sum<float, float>()},
    {"ladder_float_sum", sum<float, float>()},
    {"double_sum", sum<double, double>()},
    {"int32_sum", sum<std::int32_t, std::int32_t>()},
    {"int64_sum", sum<std::int64_t, std::int64_t>()},
    {"half_to_float_sum", sum<__half, float>()},
    {"bfloat16_to_float_sum", sum<__nv_bfloat16, float>()},
    {"int8_to_int32_sum", sum<std::int8_t, std::int32_t>()},
};

}  // namespace
