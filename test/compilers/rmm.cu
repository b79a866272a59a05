// SPDX-License-Identifier: Apache-2.0
//
// RMM's own streams, policies and memory resources in place of tilefold's: of RMM 26.10, whose
// resources are cuda::mr's, and of RMM 25.10, which has a base class for them. Compiled by
// cmake/compilers.sh.
#include <rmm/cuda_stream.hpp>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/device_uvector.hpp>
#include <rmm/exec_policy.hpp>

#if __has_include(<rmm/mr/device/device_memory_resource.hpp>)
#include <rmm/mr/device/cuda_async_memory_resource.hpp>
#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <rmm/mr/device/per_device_resource.hpp>
#else
#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/per_device_resource.hpp>
#endif

#include <tilefold/tilefold.cuh>

namespace {

using items = rmm::device_uvector<float>;

template <class Executor>
float sum(Executor&& executor, const items& x) {
  return tilefold::reduce(executor, x.begin(), x.end());
}

}  // namespace

float sums_on_streams(const items& x, rmm::cuda_stream_view view, const rmm::cuda_stream& stream) {
  return sum(view, x) + sum(stream, x) + sum(rmm::exec_policy(view), x) +
         sum(rmm::exec_policy_nosync(view), x);
}

float sums_in_memory(const items& x, rmm::cuda_stream_view view) {
  rmm::mr::cuda_async_memory_resource pool;
  rmm::mr::cuda_memory_resource plain;
  tilefold::cuda_executor of_pool(view, pool);
  tilefold::cuda_executor of_plain(plain);
  tilefold::cuda_executor of_reference(view, rmm::mr::get_current_device_resource_ref());
#if __has_include(<rmm/mr/device/device_memory_resource.hpp>)
  tilefold::cuda_executor of_pointer(rmm::mr::get_current_device_resource());
  return sum(of_pool, x) + sum(of_plain, x) + sum(of_reference, x) + sum(of_pointer, x);
#else
  return sum(of_pool, x) + sum(of_plain, x) + sum(of_reference, x);
#endif
}
