// SPDX-License-Identifier: Apache-2.0
//
// What tilefold_workspace() answers: bytes that are enough for any verb. Host code.
#pragma once

#include <cstdint>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/cuda/columns/launch_columns.cuh>
#include <tilefold/detail/cuda/columns/tuning_columns.cuh>
#include <tilefold/detail/cuda/forest/forest_sizes.cuh>
#include <tilefold/detail/cuda/keys/launch_keys.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/sequential_blocks.hpp>

namespace tilefold::capi {

/// A fold as kernels see it: how large its items and accumulators are.
struct fold_bytes {
  std::int64_t item;
  std::int64_t accumulator;
};

/// Threads that a multiprocessor of any GPU holds at most.
inline constexpr std::int64_t most_resident_threads = 2048;

/// Of columns in bundles of `width` at most, whatever their strides are.
inline std::int64_t bundles_demand(std::int64_t columns, std::int64_t rows, int width,
                                   const fold_bytes& bytes, int num_sms) {
  namespace gpu = detail::cuda;
  const auto item = static_cast<int>(bytes.item);
  const auto accumulator = static_cast<int>(bytes.accumulator);
  const gpu::column_shape shape =
      gpu::column_shape_for(gpu::column_width_for(width, item, accumulator), item, accumulator);
  if (columns % shape.width != 0) return 0;
  std::int64_t most = 0;
  for (const std::int64_t stride : {1, 2}) {  // neighbours stand side by side, others need not
    // How many blocks an SM holds, the kernel's registers decide.
    for (std::int64_t of_sm = 1; of_sm <= most_resident_threads / shape.nt; ++of_sm) {
      const gpu::column_plan plan =
          gpu::plan_columns(shape, detail::strided_axes{1, {columns}, {stride}},
                            detail::strided_axes{1, {rows}, {1}}, num_sms * of_sm);
      most = detail::larger(most, gpu::column_demand(plan, shape, bytes.accumulator).bytes());
    }
  }
  return most;
}

/// Of n items in `columns` columns, which stand side by side or with any strides. For accumulators
/// of just these bytes: fewer bytes may need more. Where the length is known, some larger ones
/// become 8 bytes.
inline std::int64_t columns_demand(std::int64_t n, std::int64_t columns, const fold_bytes& bytes,
                                   int num_sms) {
  // So many items are in no memory, and products of their number would overflow.
  if (n == 0 || columns == 0 || n > detail::cuda::most_workspace_bytes / bytes.accumulator) {
    return 0;
  }
  const std::int64_t rows = (n - 1) / columns + 1;
  std::int64_t most = 0;
  for (int width = 1; width * bytes.item <= detail::cuda::load_bytes || width == 1; width *= 2) {
    most = detail::larger(most, capi::bundles_demand(columns, rows, width, bytes, num_sms));
    if (bytes.accumulator > 8) {
      most = detail::larger(most,
                            capi::bundles_demand(columns, rows, width, {bytes.item, 8}, num_sms));
    }
  }
  return most;
}

/// Of n items in `segments` segments, rows, columns or runs. Throws invalid_range_error for more
/// than any memory holds.
inline std::int64_t demand_of_any_verb(std::int64_t n, std::int64_t segments,
                                       const fold_bytes& bytes, int num_sms) {
  const std::int64_t length = segments > 0 ? (n - 1) / segments + 1 : 0;
  std::int64_t most = cuda_executor::segments_workspace_bytes(segments, bytes.accumulator);
  // torch_sum and torch_product.
  most =
      detail::larger(most, sequential_workspace_bytes<8192>(segments, length, bytes.accumulator));
  // Items are read as they are or through any_items, as bool or in 8 bytes; some with an index.
  for (const std::int64_t item : {bytes.item, std::int64_t{1}, std::int64_t{8}}) {
    for (const std::int64_t index : {0, 8}) {
      most =
          detail::larger(most, cuda_executor::workspace_bytes(n, item + index, bytes.accumulator),
                         cuda_executor::equal_segments_workspace_bytes(
                             segments, length, item + index, bytes.accumulator));
    }
    most =
        detail::larger(most, capi::columns_demand(n, segments, {item, bytes.accumulator}, num_sms));
  }
  // More keys than that no call takes.
  if (n > detail::cuda::most_keyed_items) return most;
  return detail::larger(most, cuda_executor::by_key_workspace_bytes(n, bytes.accumulator));
}

}  // namespace tilefold::capi
