// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce on structs.
#include <cub/device/device_reduce.cuh>

#include "../../support/cccl.hpp"
#include "../../support/structs.hpp"

namespace {

template <class T, int N>
bench::contestant sum() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    using item = bench::vec<T, N>;
    return cub::DeviceReduce::Reduce(scratch, bytes, c.items<item>(), c.result<item>(), count(c),
                                     bench::vec_plus{}, item{}, c.stream);
  });
}

const bench::peer_entry entries[] = {
    {"struct8_sum", sum<float, 2>()},     {"struct12_sum", sum<float, 3>()},
    {"struct16_sum", sum<float, 4>()},    {"struct24_sum", sum<double, 3>()},
    {"struct32_sum", sum<double, 4>()},   {"struct64_sum", sum<double, 8>()},
    {"struct128_sum", sum<double, 16>()},
};

}  // namespace
