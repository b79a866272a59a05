// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators of items on a GPU.
#include "exact_blocks.cuh"

#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/reducers/exact.hpp>

namespace tilefold::capi {

namespace {

template <class T>
void block_of(cuda_executor& exec, const void* items, std::int64_t n,
              const std::function<void(const void*)>& use) {
  const auto fold = detail::bind<void, const T*>(
      detail::init_and_op{detail::no_init{}, reducers::exact_sum<>{}}, detail::as_is{});
  exec.template fold_blocks<detail::default_policy>(
      fold.source(exec, static_cast<const T*>(items)), fold.reducer, 0, n,
      [&](const exact_accumulator<T>& sum, std::int64_t) { use(&sum); });
}

}  // namespace

void exact_block(cuda_executor& exec, const void* items, dtype type, std::int64_t n,
                 const std::function<void(const void*)>& use) {
  switch (type) {
    case dtype::float16:
      return capi::block_of<half>(exec, items, n, use);
    case dtype::bfloat16:
      return capi::block_of<bfloat16>(exec, items, n, use);
    case dtype::float32:
      return capi::block_of<float>(exec, items, n, use);
    default:
      return capi::block_of<double>(exec, items, n, use);
  }
}

}  // namespace tilefold::capi
