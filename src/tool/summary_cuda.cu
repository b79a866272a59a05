// SPDX-License-Identifier: Apache-2.0
//
// Summaries on a GPU.
#include <tilefold/tilefold.cuh>

#include <algorithm>
#include <cstddef>

#include "any_items.hpp"
#include "backend_cuda.cuh"
#include "cuda_support.cuh"
#include "summary_fold.hpp"

namespace tilefold::tool {

namespace {

template <class Wide>
summary summarize_as(cuda_executor& executor, const summary_job& job) {
  const auto reducer = summary_reducer<Wide>();
  using accumulator = summary_accumulator<Wide>;
  using result = summary_result<Wide>;
  const auto item_bytes = static_cast<std::size_t>(row_of(job.type).bytes);
  const auto num_pieces = static_cast<std::size_t>((job.count + piece_items - 1) / piece_items);
  const device_buffer piece(static_cast<std::size_t>(std::min(job.count, piece_items)) *
                            item_bytes);
  const device_buffer pieces(num_pieces * sizeof(accumulator));
  const device_buffer out(sizeof(result));
  auto* const folded = static_cast<accumulator*>(pieces.get());
  const any_items<Wide> items{piece.get(), job.type};
  for (std::size_t i = 0; i < num_pieces; ++i) {
    const std::int64_t first = static_cast<std::int64_t>(i) * piece_items;
    const std::int64_t count = std::min(piece_items, job.count - first);
    const std::size_t bytes = static_cast<std::size_t>(count) * item_bytes;
    check_cuda(cudaMemcpy(piece.get(), job.data + static_cast<std::size_t>(first) * item_bytes,
                          bytes, cudaMemcpyHostToDevice),
               "copying to the GPU");
    reduce_into(executor, items, items + count, folded + i,
                of_piece<decltype(reducer)>{reducer, first});
    executor.synchronize();  // before the next piece takes the place of this one
    job.advance(static_cast<std::int64_t>(bytes));
  }
  auto* const device_out = static_cast<result*>(out.get());
  reduce_into(executor, folded, folded + num_pieces, device_out,
              of_pieces<decltype(reducer)>{reducer});
  executor.synchronize();
  result found;
  check_cuda(cudaMemcpy(&found, device_out, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return summary_of<Wide>(job, found);
}

}  // namespace

summary summarize_on_gpu(cuda_executor& executor, const summary_job& job) {
  if (job.count == 0) return {0, 0, std::nullopt};
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    return summarize_as<Wide>(executor, job);
  });
}

}  // namespace tilefold::tool
