// SPDX-License-Identifier: Apache-2.0
//
// Summaries on a GPU, which folds the pieces; their few accumulators are folded on the host.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/policy.hpp>
#include <tilefold/reduce.hpp>

#include "any_items.hpp"
#include "backend_cuda.cuh"
#include "cuda_support.cuh"
#include "summary_fold.hpp"

namespace tilefold::tool {

namespace {

template <class Wide>
summary summarize_as(cuda_executor& gpu, const summary_job& job) {
  const auto reducer = summary_reducer<Wide>();
  using accumulator = summary_accumulator<Wide>;
  // One policy, for nvcc's time.
  const auto executor = with_policy<detail::cuda::policy_for(int{sizeof(Wide)})>(gpu);
  const auto item_bytes = static_cast<std::size_t>(row_of(job.type).bytes);
  std::vector<accumulator> pieces(
      static_cast<std::size_t>((job.count + piece_items - 1) / piece_items));
  const device_buffer piece(static_cast<std::size_t>(std::min(job.count, piece_items)) *
                            item_bytes);
  const device_buffer out(sizeof(accumulator));
  auto* const folded = static_cast<accumulator*>(out.get());
  const any_items<Wide> items{piece.get(), job.type};
  std::int64_t first = 0;
  for (accumulator& found : pieces) {
    const std::int64_t count = std::min(piece_items, job.count - first);
    const std::size_t bytes = static_cast<std::size_t>(count) * item_bytes;
    check_cuda(cudaMemcpy(piece.get(), job.data + static_cast<std::size_t>(first) * item_bytes,
                          bytes, cudaMemcpyHostToDevice),
               "copying to the GPU");
    reduce_into(executor, items, items + count, folded,
                of_piece<decltype(reducer)>{reducer, first});
    gpu.synchronize();
    check_cuda(cudaMemcpy(&found, folded, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
    first += count;
    job.advance(static_cast<std::int64_t>(bytes));
  }
  return summary_of<Wide>(job, pieces);
}

}  // namespace

summary summarize_on_gpu(cuda_executor& executor, const summary_job& job) {
  if (job.count == 0) return {0, 0, std::nullopt};
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    return summarize_as<Wide>(executor, job);
  });
}

}  // namespace tilefold::tool
