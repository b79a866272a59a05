// SPDX-License-Identifier: Apache-2.0
//
// One fold of items in GPU memory, timed. The GPU's kernel stops at the accumulator and the host
// finishes it, so that the same kernel serves chunks of files (cuda_chunks.cuh).
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducer.hpp>

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

/// Writes the accumulator of `count` >= 1 elements of `source`, which are items of type Item, to
/// `out` in memory of the GPU, in the order of the executor's stream. The policy is what the
/// library takes for many items, which is where the time is worth knowing.
template <class Item, class Source, class Reducer>
void fold_to_accumulator(cuda_executor& executor, const Source& source, const Reducer& reducer,
                         std::int64_t count, typename Reducer::accumulator* out) {
  constexpr tile_policy policy = detail::cuda::policy_for(static_cast<int>(sizeof(Item)));
  executor.template fold_into<detail::chosen_policy<policy>>(source, reducer, detail::unfinished{},
                                                             count, out);
}

/// How an operator or a reducer folds items that `Items` lead to.
template <class Items, class Op>
auto bind_on_gpu(const Op& op) {
  return detail::bind<void, Items>(detail::read_arguments<std::iter_value_t<Items>>(op),
                                   detail::as_is{});
}

class cuda_fold {
 public:
  static constexpr bool on_host = false;

  cuda_fold(cuda_executor& executor, int repeats) : executor_(executor), repeats_(repeats) {}

  /// The fold of [first, first + count).
  template <class Items, class Op>
  auto operator()(const Items& first, std::int64_t count, const Op& op) {
    const auto bound = bind_on_gpu<Items>(op);
    using bound_type = std::remove_const_t<decltype(bound)>;
    using accumulator = typename std::remove_cvref_t<decltype(bound.reducer)>::accumulator;
    using result = typename bound_type::result;
    const detail::closed_steps steps{bound.reducer};
    if (count == 0) return result(detail::result_of_nothing(steps, bound.empty("reduce")));
    const device_buffer out(sizeof(accumulator));
    auto* const device_out = static_cast<accumulator*>(out.get());
    const auto source = bound.source(executor_, first);
    const auto call = [&] {
      fold_to_accumulator<std::iter_value_t<Items>>(executor_, source, bound.reducer, count,
                                                    device_out);
    };
    call();  // the first call also loads the kernel and allocates the workspace
    time_ = fastest_of(repeats_, [&] { return seconds_on_stream(call); });
    accumulator value;
    check_cuda(cudaMemcpy(&value, device_out, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result(detail::finish(steps, bound.start, value));
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
