// SPDX-License-Identifier: Apache-2.0
//
// From keys and values to the launches that fold runs: one that finds all runs and folds all but
// the long ones, and a forest of those. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include <tilefold/detail/cuda/by_key_kernel.cuh>
#include <tilefold/detail/cuda/launch_forest.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/keyed_items.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

/// How many items before the first one patches shall begin.
template <class Keys>
std::int64_t items_to_alignment(const Keys& keys) {
  if constexpr (loads_key_quads<Keys>) {
    using key = std::iter_value_t<Keys>;
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(keys) %
                                     alignof(key_packet<key>) / sizeof(key));
  } else {
    return 0;
  }
}

// For any alignment.
constexpr std::int64_t most_key_blocks(std::int64_t n) {
  return tree::num_blocks(n + 16, by_key_tile);
}

constexpr std::int64_t most_open_runs(std::int64_t n) {
  // All of the first patch and what is in its reach, wherever it begins.
  if (n <= patch_items + reach_items - 16) return 0;
  return n / least_open_items;
}

/// The tables of a range of n items, in 8-byte words.
constexpr std::int64_t run_table_words(std::int64_t n) {
  return most_key_blocks(n) + 3 * most_open_runs(n) + 1;
}

/// Scratch for n items; the tables lie after what the forest needs.
constexpr workspace_demand by_key_demand(std::int64_t n, std::int64_t acc_bytes) {
  if (most_open_runs(n) == 0) return {0, 0};
  const workspace_demand forest = queue_demand(most_open_runs(n), acc_bytes);
  return {align_up(forest.partial_bytes) + 8 * run_table_words(n), forest.arrival_bytes};
}

inline run_tables lay_out_tables(char* memory, std::int64_t n) {
  static_assert(sizeof(run_state::word) == 8);
  const std::int64_t open = most_open_runs(n);
  auto* const states = reinterpret_cast<run_state::word*>(memory);
  auto* const begins = reinterpret_cast<std::int64_t*>(states + most_key_blocks(n));
  return {states, begins, begins + open, begins + 2 * open, begins + 3 * open};
}

template <class Build, class Input, class Reducer, class... Arguments>
void launch_runs(const Input& input, const Reducer& reducer, const run_tables& tables,
                 cudaStream_t stream, const Arguments&... arguments) {
  const std::int64_t before = cuda::items_to_alignment(input.keys);
  const std::int64_t blocks = tree::num_blocks(input.size + before, by_key_tile);
  if (blocks > 1) {
    check(cudaMemsetAsync(tables.states, 0, static_cast<std::size_t>(8 * blocks), stream),
          "cudaMemsetAsync");
  }
  cuda::launch_kernel(&by_key_kernel<Build, Input, Reducer, Arguments...>,
                      launch_config(blocks, by_key_nt, stream), "launch of the by-key kernel",
                      input, reducer, arguments..., tables, -before);
}

/// Folds the runs of input.size >= 1 items. `provide(demand)` returns the workspace.
template <class Build, class Policy, class Input, class Reducer, class Init, class KeysOut,
          class Out, class CountOut, class Provide>
void launch_by_key(const Input& input, const Reducer& reducer, const Init& init,
                   const KeysOut& keys_out, const Out& out, const CountOut& num_runs_out,
                   const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  using acc = typename Reducer::accumulator;
  using source_type = typename Input::source_type;
  static_assert(std::is_trivially_copyable_v<acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  static_assert(staged_bytes<source_type> <= stage_bytes,
                "tilefold: values of reduce_by_key on a GPU may have 4096 bytes at most");
  const std::int64_t n = input.size;
  if (n > most_keyed_items) {
    throw invalid_range_error("tilefold::reduce_by_key: " + std::to_string(n) +
                              " items are more than " + std::to_string(most_keyed_items) +
                              ", the most that one call can take on a GPU");
  }
  const unfused<Reducer> device_reducer{reducer, 0u};
  const std::int64_t most_open = most_open_runs(n);
  if (most_open == 0) {
    cuda::launch_runs<Build>(input, device_reducer, run_tables{}, stream, init, keys_out, out,
                             num_runs_out);
    return;
  }
  const workspace& space = provide(by_key_demand(n, sizeof(acc)));
  const std::int64_t forest_bytes = align_up(queue_demand(most_open, sizeof(acc)).partial_bytes);
  const run_tables tables = cuda::lay_out_tables(space.partials() + forest_bytes, n);
  cuda::launch_runs<Build>(input, device_reducer, tables, stream, init, keys_out, out,
                           num_runs_out);
  // No run is empty, so nobody looks at what stands for one that is.
  struct zeroes {
    unsigned char bytes[sizeof(acc)];
  };
  const forest_job<open_runs<source_type>, Reducer, Init, ranked_output<Out>> job{
      {{input.source, tables.begins, tables.ends, 0}, tables.num_open, 0},
      device_reducer,
      init,
      __builtin_bit_cast(acc, zeroes{}),
      {out, tables.ranks},
      gpu,
      stream};
  cuda::launch_forest_by<Build, Policy>(job, most_open, provide);
}

}  // namespace tilefold::detail::cuda
