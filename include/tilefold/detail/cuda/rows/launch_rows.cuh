// SPDX-License-Identifier: Apache-2.0
//
// From rows whose items go out again to a launch: who has a row.
#pragma once

#include <tilefold/detail/cuda/rows/rows_kernel.cuh>

namespace tilefold::detail::cuda {

/// A fold of every row, and where it runs.
template <class T, class Out, class Reducer, class Function>
struct rows_job {
  rows_of_items<T, Out> all;
  closed_reducer<Reducer> reducer;
  Function function;
  const device_info& gpu;
  cudaStream_t stream;
};

template <class Build, int Lanes, int Packets, class T, class Out, class Reducer, class Function>
void launch_rows_by_lanes(const rows_job<T, Out, Reducer, Function>& job) {
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu,
      &rows_by_lanes_kernel<Build, Lanes, Packets, T, Out, closed_reducer<Reducer>, Function>,
      "rows_by_lanes_kernel", rows_nt, starts::early);
  const std::int64_t blocks = tree::num_blocks(job.all.rows, rows_nt / Lanes);
  kernel.launch(detail::smaller(blocks, most_tiles), job.stream, job.all, job.reducer,
                job.function);
}

/// Calls launch(some rows) for as many rows at a time as one launch takes.
template <class T, class Out, class Launch>
void in_launches(const rows_of_items<T, Out>& all, const Launch& launch) {
  const std::int64_t most_rows = most_tiles / cluster_blocks;
  for (std::int64_t first = 0; first < all.rows; first += most_rows) {
    rows_of_items<T, Out> some = all;
    some.items += first * all.length;
    some.out += first * all.length;
    some.rows = detail::smaller(all.rows - first, most_rows);
    launch(some);
  }
}

template <class Build, bool InTiles, class T, class Out, class Reducer, class Function>
auto ready_rows_by_blocks(const rows_job<T, Out, Reducer, Function>& job) {
  static known_kernel known;
  return known.on(job.gpu,
                  &rows_by_blocks_kernel<Build, InTiles, T, Out, closed_reducer<Reducer>, Function>,
                  "rows_by_blocks_kernel", most_row_warps * warp_size, starts::in_clusters);
}

template <class Build, class T, class Out, class Reducer, class Function>
void launch_rows_by_blocks(const rows_job<T, Out, Reducer, Function>& job, std::int64_t packets) {
  const auto kernel = cuda::ready_rows_by_blocks<Build, false>(job);
  const std::int64_t warps = std::int64_t{1} << tree::ceil_log2(
                                 tree::num_blocks(packets, warp_size * row_packets * row_chunks));
  const std::int64_t items = warps * (warp_size * row_packets * row_chunks) * row_packet<T>;
  const bool few = job.all.rows < job.gpu.num_sms && warps >= least_warps_of_slices;
  const bool in_slices = kernel.clusters && (few || warps > most_warps_of_one_block);
  const auto launch = [&](const auto& ready, int slices, std::int64_t nt) {
    in_launches(job.all, [&](const auto& some) {
      ready.launch(grid_shape{some.rows * slices, static_cast<int>(nt), slices > 1}, job.stream,
                   some, job.reducer, job.function, slices, items / slices);
    });
  };
  const int slices = in_slices ? cluster_blocks : 1;
  const std::int64_t nt = detail::larger(warps / slices, std::int64_t{1}) * warp_size;
  if (nt <= kernel.nt) return launch(kernel, slices, nt);
  const auto in_tiles = cuda::ready_rows_by_blocks<Build, true>(job);
  launch(in_tiles, in_slices && in_tiles.clusters ? cluster_blocks : 1, in_tiles.nt);
}

template <class Build, class T, class Out, class Reducer, class Function>
void launch_rows(const T* first, std::int64_t rows, std::int64_t length, Out* out,
                 const Reducer& reducer, const Function& function, const device_info& gpu,
                 cudaStream_t stream) {
  const auto starts_whole = [&](const void* at, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(at) % load_bytes == 0 &&
           length * bytes % load_bytes == 0;
  };
  const bool aligned = starts_whole(first, sizeof(T)) && starts_whole(out, sizeof(Out));
  const rows_job<T, Out, Reducer, Function> job{
      {first, out, rows, length, aligned}, {reducer, {0u}}, function, gpu, stream};
  const std::int64_t packets = tree::num_blocks(length, row_packet<T>);
  constexpr int of_lane = row_packets_of_lane(sizeof(T));
  if (packets <= 2 * of_lane) return cuda::launch_rows_by_lanes<Build, 4, of_lane / 2>(job);
  if (packets <= 4 * of_lane) return cuda::launch_rows_by_lanes<Build, 4, of_lane>(job);
  if (packets <= 8 * of_lane) return cuda::launch_rows_by_lanes<Build, 8, of_lane>(job);
  if (packets <= 16 * of_lane) return cuda::launch_rows_by_lanes<Build, 16, of_lane>(job);
  if (packets <= 32 * of_lane) return cuda::launch_rows_by_lanes<Build, 32, of_lane>(job);
  if (packets <= 64 * of_lane) return cuda::launch_rows_by_lanes<Build, 32, 2 * of_lane>(job);
  cuda::launch_rows_by_blocks<Build>(job, packets);
}

/// How a cuda_executor transforms rows.
template <class Build>
struct row_folds {
  /// Folds each of `rows` rows of `length` items, one after the other, and writes function(item,
  /// projected fold of its row) of every item to `out`, in stream order. Neither number is 0.
  template <class Executor, class T, class Reducer, class Function, class Out>
  static void write(Executor& exec, const T* first, std::int64_t rows, std::int64_t length,
                    const Reducer& reducer, const Function& function, Out* out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto&) {
      cuda::launch_rows<Build>(first, rows, length, exec.accessible(out, "out"), reducer, function,
                               gpu, stream);
    });
  }
};

}  // namespace tilefold::detail::cuda
