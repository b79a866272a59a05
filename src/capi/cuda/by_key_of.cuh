// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys on a GPU, of items of one type: two types a source, since each takes a minute
// to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include <tilefold/if_empty.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/moments.hpp>

#include "by_key.cuh"

namespace tilefold::capi {

template <class T>
bool by_key_job::of() const {
  if (call.type != dtype_of<T>) return false;
  const auto run = [&]<class Out, class R>(Out*, const R& reducer) {
    reduce_by_key_into(exec, keys, keys + n, static_cast<const T*>(call.items), keys_out,
                       static_cast<Out*>(call.results), num_runs, equal_as{keys.type}, reducer);
    return true;
  };
  using sum = detail::accumulator_t<void, plus, T, detail::no_init>;
  switch (which) {
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

}  // namespace tilefold::capi
