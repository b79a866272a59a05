// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys on a GPU.
#include <string>

#include <tilefold/if_empty.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/moments.hpp>

#include "../executor.hpp"
#include "by_key.cuh"

namespace tilefold::capi {

namespace {

struct by_key_job {
  cuda_executor& exec;
  op which;
  const any_keys& keys;
  std::int64_t n;
  const any_keys_out& keys_out;
  const job& call;
  std::int64_t* num_runs;

  template <class T, class Out, class R>
  void run(const R& reducer) const {
    reduce_by_key_into(exec, keys, keys + n, static_cast<const T*>(call.items), keys_out,
                       static_cast<Out*>(call.results), num_runs, equal_as{keys.type}, reducer);
  }

  template <class T>
  bool of() const {
    if (call.type != dtype_of<T>) return false;
    switch (which) {
      case op::sum:
        run<T, detail::accumulator_t<void, plus, T, detail::no_init>>(r::sum{});
        return true;
      case op::min:
        run<T, T>(r::min<>{});
        return true;
      case op::max:
        run<T, T>(r::max<>{});
        return true;
      case op::mean:
        run<T, double>(r::mean{});
        return true;
      default:
        return false;
    }
  }
};

}  // namespace

void fold_by_key(cuda_executor& exec, op which, const any_keys& keys, std::int64_t n,
                 const any_keys_out& keys_out, const job& call, std::int64_t* num_runs) {
  const by_key_job it{exec, which, keys, n, keys_out, call, num_runs};
  const bool done = it.of<std::int32_t>() || it.of<std::int64_t>() || it.of<half>() ||
                    it.of<bfloat16>() || it.of<float>() || it.of<double>();
  if (!done) {
    throw unsupported(
        "tilefold_reduce_by_key: on a GPU there are sum, min, max and mean of int32, "
        "int64, float16, bfloat16, float32 and float64, but no " +
        std::string(name_of(which)) + " of " + std::string(name_of(call.type)));
  }
}

}  // namespace tilefold::capi
