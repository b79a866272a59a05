// SPDX-License-Identifier: Apache-2.0
//
// From keys and values to the launches that fold runs: one that finds where they begin, one that
// folds all but the long ones, and a forest of those. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include <tilefold/detail/cuda/by_key_kernel.cuh>
#include <tilefold/detail/cuda/launch_forest.cuh>
#include <tilefold/detail/cuda/size_queries.cuh>
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

// What origins are at most.
inline constexpr std::int64_t most_items_to_alignment = 16;

/// How many patches there are, for any alignment: those of whole blocks.
constexpr std::int64_t most_patches(std::int64_t n) {
  return tree::num_blocks(n + most_items_to_alignment, by_key_tile) * by_key_warps;
}

// Patches that a warp looks for heads in, one after the other, if there are many.
inline constexpr int most_head_rounds = 4;

/// The size of a group: about as many patches in a group as there are groups, and all patches of a
/// block in one group. It does not fall with n.
constexpr int patch_group_bits(std::int64_t n) {
  return detail::larger((tree::ceil_log2(most_patches(n)) + 1) / 2,
                        tree::floor_log2(most_head_rounds * by_key_warps));
}
// An upper bound that does not fall with n, so that what is enough for n keys is enough for fewer.
constexpr std::int64_t most_patch_groups(std::int64_t n) {
  return std::int64_t{1} << patch_group_bits(n);
}

// What counts can hold.
inline constexpr std::int64_t most_keyed_items = std::int64_t{1} << 35;
static_assert(std::int64_t{patch_items} << patch_group_bits(most_keyed_items) < std::int64_t{1}
                                                                                    << 31);

inline void require_countable(std::int64_t n) {
  if (n > most_keyed_items) {
    throw invalid_range_error("tilefold::reduce_by_key: " + std::to_string(n) +
                              " items are more than " + std::to_string(most_keyed_items) +
                              ", the most that one call can take on a GPU");
  }
}

constexpr std::int64_t most_open_runs(std::int64_t n) {
  // All of the first patch and what is in its reach, wherever it begins.
  if (n <= patch_items + reach_items - most_items_to_alignment) return 0;
  return n / least_open_items;
}

/// The tables of a range of n items, in 8-byte words.
constexpr std::int64_t run_table_words(std::int64_t n) {
  return most_patches(n) * (warp_size + 1) + 2 * most_patch_groups(n) + 3 * most_open_runs(n) + 1;
}

/// Scratch for n items; the tables lie after what the forest needs.
constexpr workspace_demand by_key_demand(std::int64_t n, std::int64_t acc_bytes) {
  if (most_open_runs(n) == 0) return {0, 0};
  const workspace_demand forest = queue_demand(most_open_runs(n), acc_bytes);
  return {align_up(forest.partial_bytes) + 8 * run_table_words(n),
          forest.arrival_bytes +
              (most_patch_groups(n) + 1) * static_cast<std::int64_t>(sizeof(unsigned))};
}

/// The tables of n items in a workspace that serves by_key_demand(); the first patch begins with
/// item `origin`.
inline run_tables lay_out_tables(const workspace& space, std::int64_t n, std::int64_t origin,
                                 std::int64_t acc_bytes) {
  static_assert(sizeof(head_bits) == 8 && sizeof(short_head_count) == 8 &&
                sizeof(head_count) == 16);
  const std::int64_t open = most_open_runs(n);
  const workspace_demand forest = queue_demand(open, acc_bytes);
  run_tables tables{};
  tables.heads = reinterpret_cast<head_bits*>(space.partials() + align_up(forest.partial_bytes));
  tables.of_groups = reinterpret_cast<head_count*>(tables.heads + most_patches(n) * warp_size);
  tables.in_group = reinterpret_cast<short_head_count*>(tables.of_groups + most_patch_groups(n));
  tables.begins = reinterpret_cast<std::int64_t*>(tables.in_group + most_patches(n));
  tables.ends = tables.begins + open;
  tables.ranks = tables.ends + open;
  tables.num_open = tables.ranks + open;
  tables.arrivals = reinterpret_cast<unsigned*>(space.arrivals() + forest.arrival_bytes);
  tables.num_patches = tree::num_blocks(n - origin, by_key_tile) * by_key_warps;
  tables.origin = origin;
  tables.group_bits = patch_group_bits(n);
  return tables;
}

/// Folds a range in which no run can be open.
template <class Build, class Input, class Reducer, class... Arguments>
void launch_short_runs(const Input& input, const Reducer& reducer, std::int64_t origin,
                       const device_info& gpu, cudaStream_t stream, const Arguments&... arguments) {
  const auto kernel = &short_runs_kernel<Build, Input, Reducer, Arguments...>;
  static occupancy_cache known;
  cuda::launch_early(
      kernel, launch_config(1, by_key_nt, stream), abilities_of(kernel, by_key_nt, gpu, known),
      false, "launch of the by-key kernel for short ranges", input, reducer, arguments..., origin);
}

/// Finds all runs.
template <class Build, class Input, class CountOut>
auto ready_heads(const run_tables& tables, int rounds, const device_info& gpu) {
  const auto kernel = &heads_kernel<Build, Input, CountOut>;
  static occupancy_cache known;
  return ready_launch<decltype(kernel)>{
      kernel, tree::num_blocks(tables.num_patches / by_key_warps, rounds), by_key_nt,
      abilities_of(kernel, by_key_nt, gpu, known), "launch of the heads kernel"};
}

/// Folds those that are not open and lists the others.
template <class Build, class Input, class Reducer, class... Arguments>
auto ready_runs(const run_tables& tables, const device_info& gpu) {
  const auto kernel = &runs_kernel<Build, Input, Reducer, Arguments...>;
  static occupancy_cache known;
  return ready_launch<decltype(kernel)>{kernel, tables.num_patches / by_key_warps, by_key_nt,
                                        abilities_of(kernel, by_key_nt, gpu, known),
                                        "launch of the runs kernel"};
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
  cuda::require_countable(n);
  const unfused<Reducer> device_reducer{reducer, 0u};
  const std::int64_t before = cuda::items_to_alignment(input.keys);
  const std::int64_t most_open = most_open_runs(n);
  if (most_open == 0) {
    cuda::launch_short_runs<Build>(input, device_reducer, -before, gpu, stream, init, keys_out, out,
                                   num_runs_out);
    return;
  }
  const workspace& space = provide(by_key_demand(n, sizeof(acc)));
  const run_tables tables = cuda::lay_out_tables(space, n, -before, sizeof(acc));
  // No run is empty, so the value for an empty run is never used.
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
  // Few patches are spread over the GPU.
  const bool few = tables.num_patches / by_key_warps < std::int64_t{32} * gpu.num_sms;
  const int rounds = few ? 1 : most_head_rounds;
  const auto heads = cuda::ready_heads<Build, Input, CountOut>(tables, rounds, gpu);
  const auto runs =
      cuda::ready_runs<Build, Input, unfused<Reducer>, Init, KeysOut, Out>(tables, gpu);
  cuda::ready_forest_by<Build, Policy>(job, most_open);
  heads.run(stream, input, num_runs_out, tables, rounds);
  runs.run(stream, input, device_reducer, init, keys_out, out, tables);
  cuda::launch_forest_by<Build, Policy>(job, most_open, provide);
}

/// What workspace keys can need.
template <class Build>
struct key_sizes {
  /// Of a reduce_by_key() of n keys, and any of fewer.
  static std::int64_t of_keys(std::int64_t n, std::int64_t acc_bytes) {
    const char* const query = "by_key_workspace_bytes";
    cuda::require_size(query, "n", n, 0);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    cuda::require_countable(n);
    cuda::require_answer(query, max_queued_slots, acc_bytes);
    return by_key_demand(n, acc_bytes).bytes();
  }
};

}  // namespace tilefold::detail::cuda
