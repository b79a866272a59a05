// SPDX-License-Identifier: Apache-2.0
//
// thrust::reduce, which returns the value.
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>

#include "../../support/cccl.hpp"

namespace {

template <class T>
bench::contestant thrust_sum() {
  bench::contestant result;
  result.name = with_version("thrust");
  result.blocking = [](const bench::fold_call& c) {
    const auto first = thrust::device_pointer_cast(c.items<T>());
    *c.result<T>() = thrust::reduce(first, first + c.n, T{});
  };
  return result;
}

const bench::peer_entry entries[] = {
    {"float_sum", thrust_sum<float>()},
    {"double_sum", thrust_sum<double>()},
};

}  // namespace
