// SPDX-License-Identifier: Apache-2.0
//
// What cub and thrust have of the reducers: positions, extremes, counts and questions.
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/extrema.h>
#include <thrust/logical.h>

#include <cstdint>

#include <cub/device/device_reduce.cuh>

#include "../../support/cccl.hpp"

namespace {

// As the judge of the shape reads them.
struct place {
  double value;
  std::int64_t index;
};
struct places {
  place min, max;
};

bench::contestant arg_min() {
  return cub_contestant([](void* scratch, std::size_t& bytes, const bench::fold_call& c) {
    auto* const out = c.result<place>();
    return cub::DeviceReduce::ArgMin(scratch, bytes, c.items<float>(), &out->value, &out->index,
                                     c.n, c.stream);
  });
}

template <class Call>
bench::contestant thrust_contestant(Call call) {
  bench::contestant result;
  result.name = with_version("thrust");
  result.blocking = call;
  return result;
}

template <class T>
thrust::device_ptr<const T> items_of(const bench::fold_call& c) {
  return thrust::device_pointer_cast(c.items<T>());
}

bench::contestant minmax_element() {
  return thrust_contestant([](const bench::fold_call& c) {
    const auto first = items_of<float>(c);
    const auto found = thrust::minmax_element(first, first + c.n);
    *c.result<places>() = {{*found.first, found.first - first},
                           {*found.second, found.second - first}};
  });
}

bench::contestant count_byte() {
  return thrust_contestant([](const bench::fold_call& c) {
    const auto first = items_of<std::uint8_t>(c);
    *c.result<std::int64_t>() = thrust::count(first, first + c.n, std::uint8_t{7});
  });
}

struct is_negative {
  __host__ __device__ bool operator()(float x) const { return x < 0; }
};

bench::contestant any_of() {
  return thrust_contestant([](const bench::fold_call& c) {
    const auto first = items_of<float>(c);
    *c.result<bool>() = thrust::any_of(first, first + c.n, is_negative{});
  });
}

const bench::peer_entry entries[] = {
    {"arg_min", arg_min()},         {"arg_minmax", minmax_element()}, {"count_byte", count_byte()},
    {"any_of_early_hit", any_of()}, {"any_of_no_hit", any_of()},
};

}  // namespace
