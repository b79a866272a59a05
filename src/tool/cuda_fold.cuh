// SPDX-License-Identifier: Apache-2.0
//
// One fold of items in GPU memory, timed.
#pragma once

#include <tilefold/tilefold.cuh>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "cuda_support.cuh"
#include "timing.hpp"

namespace tilefold::tool {

// The result of tilefold::reduce with an operator or a reducer, without instantiating it.
template <class Op, class Item>
struct result_of_reduce {
  using type = detail::accumulator_t<void, Op, Item, detail::no_init>;
};
template <reducer R, class Item>
struct result_of_reduce<R, Item> {
  using accumulator = detail::reducer_accumulator_t<R, Item>;
  using type = std::remove_cvref_t<decltype(std::declval<const R&>().project(
      std::declval<const accumulator&>()))>;
};

class cuda_fold {
 public:
  static constexpr bool on_host = false;

  cuda_fold(cuda_executor& executor, int repeats) : executor_(executor), repeats_(repeats) {}

  /// The fold of [first, first + count). The policy is what the library takes for many items,
  /// which is where the time is worth knowing.
  template <class Items, class Op>
  auto operator()(const Items& first, std::int64_t count, const Op& op) {
    using item = std::iter_value_t<Items>;
    using result = typename result_of_reduce<Op, item>::type;
    const auto executor =
        with_policy<detail::cuda::policy_for(static_cast<int>(sizeof(item)))>(executor_);
    const device_buffer out(sizeof(result));
    auto* const device_out = static_cast<result*>(out.get());
    const auto call = [&] { reduce_into(executor, first, first + count, device_out, op); };
    call();  // the first call also loads the kernel and allocates the workspace
    time_ = fastest_of(repeats_, [&] { return seconds_on_stream(call); });
    result value;
    check_cuda(cudaMemcpy(&value, device_out, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

  /// What the last fold found, with the time that it took.
  fold_result result(std::vector<field> fields) const {
    return {std::move(fields), time_.seconds, time_.calls, "CUDA events", 0, {}};
  }

 private:
  template <class Call>
  double seconds_on_stream(Call call) {
    start_.record(executor_.stream());
    call();
    stop_.record(executor_.stream());
    stop_.wait();
    return stop_.seconds_since(start_);
  }

  cuda_executor& executor_;
  int repeats_;
  event start_, stop_;
  timing time_{};
};

}  // namespace tilefold::tool
