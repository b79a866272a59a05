// SPDX-License-Identifier: Apache-2.0
//
// Items by index on a GPU. Kernels here move items, whatever the operation is.

// CUB's ranges for profilers would look for a tool to load at the first call.
#define NVTX_DISABLE

#include "by_index.cuh"

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/index/launch_index.cuh>

#include "../index_checks.hpp"

namespace tilefold::capi {

namespace on_cuda {
namespace {

namespace gpu = detail::cuda;
using order = gpu::index_order<gpu::this_build>;

constexpr int nt = 256;

struct alignas(16) bytes_of_16 {
  std::uint64_t low, high;
};

/// Rows in the order of their indices.
struct rows_in_order {
  const std::uint32_t* bins;
  const std::uint32_t* positions;
  const std::int64_t* offsets;
  std::int64_t num_results;
  std::int64_t columns;

  __device__ sorted_rows of(std::int64_t result) const {
    return {offsets[result], offsets[result + 1] - offsets[result]};
  }
};

__device__ std::int64_t first_of_grid() { return std::int64_t{blockIdx.x} * nt + threadIdx.x; }
__device__ std::int64_t step_of_grid() { return std::int64_t{gridDim.x} * nt; }

/// Copies the items of segments one after the other.
template <class Item>
__global__ void __launch_bounds__(nt)
    gather_kernel(rows_in_order rows, const Item* items, Item* gathered) {
  gpu::wait_for_previous_launch();
  const std::int64_t count = rows.offsets[rows.num_results] * rows.columns;
  for (std::int64_t t = first_of_grid(); t < count; t += step_of_grid()) {
    if (rows.columns == 1) {
      gathered[t] = items[rows.positions[t]];
    } else {
      const std::int64_t k = t / rows.columns;
      const std::int64_t column = t - k * rows.columns;
      gathered[rows.of(rows.bins[k]).place(k, column, rows.columns)] =
          items[rows.positions[k] * rows.columns + column];
    }
  }
}

/// Writes where the segments of rows of several columns begin, and the last of them ends.
__global__ void __launch_bounds__(nt) begins_kernel(rows_in_order rows, std::int64_t* begins) {
  gpu::wait_for_previous_launch();
  const std::int64_t segments = rows.num_results * rows.columns;
  for (std::int64_t s = first_of_grid(); s <= segments; s += step_of_grid()) {
    const std::int64_t result = s / rows.columns;
    if (s == segments) {
      begins[s] = rows.offsets[result] * rows.columns;
    } else {
      const sorted_rows of = rows.of(result);
      begins[s] = of.place(of.begin, s - result * rows.columns, rows.columns);
    }
  }
}

/// Makes positions in the whole input of those in segments.
__global__ void __launch_bounds__(nt) places_kernel(rows_in_order rows, std::int64_t* results) {
  gpu::wait_for_previous_launch();
  const std::int64_t segments = rows.num_results * rows.columns;
  for (std::int64_t s = first_of_grid(); s < segments; s += step_of_grid()) {
    const std::int64_t place = results[s];
    if (place >= 0) {
      results[s] = rows.positions[rows.offsets[s / rows.columns] + place];
    }
  }
}

auto ready_places(const gpu::device_info& device) {
  static gpu::known_kernel known;
  return known.on(device, &places_kernel, "places_kernel", nt, gpu::starts::early);
}

template <class Item>
void launch_gather(const gpu::device_info& device, cudaStream_t stream, const rows_in_order& rows,
                   std::int64_t count, const job& items, char* gathered) {
  static gpu::known_kernel known;
  const auto kernel =
      known.on(device, &gather_kernel<Item>, "gather_kernel", nt, gpu::starts::early);
  kernel.launch(kernel.most(tree::num_blocks(count, nt)), stream, rows,
                static_cast<const Item*>(items.items), reinterpret_cast<Item*>(gathered));
}

/// Whether the items are sorted themselves: nothing is left to gather then.
bool sorts_items(op which, dtype type, std::int64_t columns) {
  return columns == 1 && bytes_of(type) == 4 && !is_place(which);
}

/// Where things lie in the room that the sort leaves.
struct gathered_room {
  std::int64_t items;  // bytes
  std::int64_t begins;

  gathered_room(op which, dtype type, std::int64_t rows, std::int64_t columns,
                std::int64_t num_results)
      : items(sorts_items(which, type, columns) ? 0
                                                : gpu::align_up(rows * columns * bytes_of(type))),
        begins(columns == 1 ? 0 : (num_results * columns + 1) * 8) {
    // So that nothing overflows where the rest of the workspace is added.
    gpu::require_answer("tilefold_reduce_by_index", detail::larger(items, begins), 1);
  }

  gpu::index_room with(std::int64_t trees) const { return {trees, items + begins}; }
};

}  // namespace
}  // namespace on_cuda

using namespace on_cuda;

void fold_by_index(cuda_executor& exec, const by_index_call& call, std::int64_t accumulator_bytes,
                   const std::function<void(const job&)>& fold) {
  capi::require_indices(exec, call);
  if (call.segments() == 0) return;
  const gathered_room room(call.which, call.items.type, call.n, call.columns, call.num_results);
  const detail::index_reader<any_items<std::int64_t>> index_of{call.indices, call.num_results};
  order sorted;
  if (sorts_items(call.which, call.items.type, call.columns)) {
    sorted.sort(exec, accumulator_bytes, call.n, index_of, room.with(call.segments()),
                gpu::item_word{static_cast<const std::uint32_t*>(call.items.items)});
    job segments = call.items;
    segments.items = sorted.words();
    segments.reads_items = false;  // they lie in workspace, which is not looked at
    segments.offsets = {sorted.offsets(), 0, 64};
    return fold(segments);
  }
  sorted.sort(exec, accumulator_bytes, call.n, index_of, room.with(call.segments()));
  const rows_in_order rows{sorted.bins(), sorted.positions().first, sorted.offsets(),
                           call.num_results, call.columns};
  char* const gathered = sorted.room();
  auto* const begins = reinterpret_cast<std::int64_t*>(gathered + room.items);
  const std::int64_t blocks_of_segments = tree::num_blocks(call.segments() + 1, nt);
  exec.in_context([&](const gpu::device_info& device, cudaStream_t stream, const auto&) {
    if (is_place(call.which)) (void)ready_places(device);  // loaded before the fold writes
    const std::int64_t count = call.n * call.columns;
    if (count > 0) {
      switch (bytes_of(call.items.type)) {
        case 1:
          launch_gather<std::uint8_t>(device, stream, rows, count, call.items, gathered);
          break;
        case 2:
          launch_gather<std::uint16_t>(device, stream, rows, count, call.items, gathered);
          break;
        case 4:
          launch_gather<std::uint32_t>(device, stream, rows, count, call.items, gathered);
          break;
        case 8:
          launch_gather<std::uint64_t>(device, stream, rows, count, call.items, gathered);
          break;
        default:
          launch_gather<bytes_of_16>(device, stream, rows, count, call.items, gathered);
      }
    }
    if (call.columns > 1) {
      static gpu::known_kernel known;
      const auto kernel = known.on(device, &begins_kernel, "begins_kernel", nt, gpu::starts::early);
      kernel.launch(kernel.most(blocks_of_segments), stream, rows, begins);
    }
  });
  job segments = call.items;
  segments.items = gathered;
  segments.reads_items = false;  // they lie in workspace, which is not looked at
  segments.offsets = {call.columns == 1 ? rows.offsets : begins, 0, 64};
  fold(segments);
  if (!is_place(call.which)) return;
  exec.in_context([&](const gpu::device_info& device, cudaStream_t stream, const auto&) {
    const auto kernel = ready_places(device);
    kernel.launch(kernel.most(blocks_of_segments), stream, rows,
                  static_cast<std::int64_t*>(call.items.results));
  });
}

std::int64_t by_index_workspace_bytes(cuda_executor& exec, op which, dtype type, std::int64_t rows,
                                      std::int64_t columns, std::int64_t num_results,
                                      std::int64_t accumulator_bytes) {
  const gathered_room room(which, type, rows, columns, num_results);
  return order::workspace_bytes(exec, rows, num_results, accumulator_bytes,
                                room.with(num_results * columns));
}

}  // namespace tilefold::capi
