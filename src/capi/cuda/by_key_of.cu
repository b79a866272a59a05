// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys on a GPU, of items of TILEFOLD_ITEM_BYTES bytes: two types in one unit, whose
// kernels are compressed together. Each type takes half a minute to compile.
#include <cstdint>
#include <functional>
#include <type_traits>

#include <tilefold/if_empty.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/moments.hpp>

#include "by_key.cuh"

namespace tilefold::capi {

namespace {

/// Does it, if items are T and the operation is compiled.
template <class T>
bool fold_of(const by_key_job& job) {
  if (job.call.type != dtype_of<T>) return false;
  const auto run = [&]<class Out, class R>(Out*, const R& reducer) {
    reduce_by_key_into(job.exec, job.keys, job.keys + job.n, static_cast<const T*>(job.call.items),
                       job.keys_out, static_cast<Out*>(job.call.results), job.num_runs,
                       equal_as{job.keys.type}, reducer);
    return true;
  };
  using sum = detail::accumulator_t<void, plus, T, detail::no_init>;
  switch (job.which) {
    case op::sum:
      if constexpr (std::is_integral_v<T>) {
        return run(static_cast<std::int64_t*>(nullptr), std::plus<std::int64_t>{});
      } else {
        return run(static_cast<sum*>(nullptr), r::sum{});
      }
    case op::sum32:
      if constexpr (std::is_same_v<T, std::int32_t>) {
        return run(static_cast<sum*>(nullptr), r::sum{});
      } else {
        return false;
      }
    case op::min:
      return run(static_cast<T*>(nullptr), r::min<>{});
    case op::max:
      return run(static_cast<T*>(nullptr), r::max<>{});
    case op::mean:
      return run(static_cast<double*>(nullptr), r::mean{});
    default:
      return false;
  }
}

}  // namespace

template <int Bytes>
bool by_key_job::of() const {
  if constexpr (Bytes == 2) {
    return capi::fold_of<half>(*this) || capi::fold_of<bfloat16>(*this);
  } else if constexpr (Bytes == 4) {
    return capi::fold_of<std::int32_t>(*this) || capi::fold_of<float>(*this);
  } else if constexpr (Bytes == 8) {
    return capi::fold_of<std::int64_t>(*this) || capi::fold_of<double>(*this);
  } else {
    return false;
  }
}

template bool by_key_job::of<TILEFOLD_ITEM_BYTES>() const;

}  // namespace tilefold::capi
