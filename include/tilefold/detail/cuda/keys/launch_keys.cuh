// SPDX-License-Identifier: Apache-2.0
//
// From keys and values to the launches that fold runs: one finds where runs begin, one folds all
// but the open runs, and a forest of the open runs follows.
#pragma once

#include <tilefold/detail/cuda/forest/forest_sizes.cuh>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#include <tilefold/detail/cuda/keys/runs_kernel.cuh>
#include <tilefold/detail/cuda/keys/tuning_keys.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>

namespace tilefold::detail::cuda {

/// Items before the first key that patches may begin with, at most.
inline constexpr std::int64_t most_items_to_alignment = 16;

/// The most patches of n keys, at any alignment; as many as whole blocks take.
constexpr std::int64_t most_patches(std::int64_t n) {
  return tree::num_blocks(n + most_items_to_alignment, by_key_tile) * by_key_warps;
}

/// The size of a group of patches: about as many patches in a group as there are groups, and all
/// patches of a block in one group. It does not fall with n.
constexpr int patch_group_bits(std::int64_t n) {
  return detail::larger((tree::ceil_log2(most_patches(n)) + 1) / 2,
                        tree::floor_log2(most_head_rounds * by_key_warps),
                        tree::floor_log2(least_group_patches));
}
/// An upper bound that does not fall with n, so that what is enough for n keys is enough for fewer.
constexpr std::int64_t most_patch_groups(std::int64_t n) {
  return std::int64_t{1} << patch_group_bits(n);
}

// The most items that counts within a group of patches can hold.
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

/// Runs of n keys that do not end in the reach of their patch.
constexpr std::int64_t most_open_runs(std::int64_t n) {
  // The first patch and its reach have so many items, wherever the patch begins.
  if (n <= patch_items + reach_items - most_items_to_alignment) return 0;
  return n / least_open_items;
}

/// The tables of a range of n keys, in 8-byte words.
constexpr std::int64_t run_table_words(std::int64_t n) {
  return most_patches(n) * (warp_size + 1) + 2 * most_patch_groups(n) + 3 * most_open_runs(n) + 1;
}

/// The workspace for n keys: that of the forest of open runs, then the tables.
constexpr workspace_demand by_key_demand(std::int64_t n, std::int64_t acc_bytes) {
  if (most_open_runs(n) == 0) return {0, 0};
  const workspace_demand forest = queue_demand(most_open_runs(n), acc_bytes);
  return {align_up(forest.partial_bytes) + 8 * run_table_words(n),
          forest.arrival_bytes + (most_patch_groups(n) + 1) * arrival_bytes};
}

/// What cuda_executor answers (cuda.cuh).
template <class Build>
struct key_sizes {
  /// Of a reduce_by_key() of n keys, and any of fewer.
  static std::int64_t of_keys(std::int64_t n, std::int64_t acc_bytes) {
    const char* const query = "by_key_workspace_bytes";
    cuda::require_size(query, "n", n, 0);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    cuda::require_countable(n);
    cuda::require_answer(query, max_queued_partials, acc_bytes);
    return by_key_demand(n, acc_bytes).bytes();
  }
};

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

/// The tables of n items in workspace of by_key_demand(), from item `origin` on.
inline run_tables lay_out_tables(const workspace& space, std::int64_t n, std::int64_t origin,
                                 std::int64_t acc_bytes) {
  static_assert(sizeof(head_bits) == 8 && sizeof(short_head_count) == 8 &&
                sizeof(head_count) == 16);
  const std::int64_t open = most_open_runs(n);
  const workspace_demand forest = queue_demand(open, acc_bytes);
  run_tables tables{};
  tables.heads =
      reinterpret_cast<head_bits*>(space.partials<char>() + align_up(forest.partial_bytes));
  tables.of_groups = reinterpret_cast<head_count*>(tables.heads + most_patches(n) * warp_size);
  tables.in_group = reinterpret_cast<short_head_count*>(tables.of_groups + most_patch_groups(n));
  tables.begins = reinterpret_cast<std::int64_t*>(tables.in_group + most_patches(n));
  tables.ends = tables.begins + open;
  tables.ranks = tables.ends + open;
  tables.num_open = tables.ranks + open;
  tables.arrivals = space.arrivals() + forest.arrival_bytes / arrival_bytes;
  tables.num_patches = tree::num_blocks(n - origin, by_key_tile) * by_key_warps;
  tables.origin = origin;
  tables.group_bits = patch_group_bits(n);
  return tables;
}

/// An open run has more items than the lanes of a warp take.
template <class Source>
inline constexpr bool none_for_lanes<open_runs<Source>> = true;

/// The kernel that folds runs, those that begin in `Share` items by a warp.
template <class Build, int Share, class Heads, class Input, class Reducer, class Init,
          class KeysOut, class Out>
auto ready_runs(const Input&, const Reducer&, const Init&, const KeysOut&, const Out&,
                const device_info& gpu) {
  static known_kernel known;
  return known.on(gpu, &runs_kernel<Build, Share, Heads, Input, Reducer, Init, KeysOut, Out>,
                  "runs_kernel", by_key_nt, starts::early);
}

/// Folds the runs of input.size >= 1 items. `workspace_for(demand)` returns the workspace.
template <class Build, class Policy, class Input, class Reducer, class Init, class KeysOut,
          class Out, class CountOut, class WorkspaceFor>
void launch_by_key(const Input& input, const Reducer& reducer, const Init& init,
                   const KeysOut& keys_out, const Out& out, const CountOut& num_runs_out,
                   const device_info& gpu, cudaStream_t stream, const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  using source_type = typename Input::source_type;
  static_assert(staged_bytes<source_type> <= stage_bytes,
                "tilefold: values of reduce_by_key on a GPU may have 4096 bytes at most");
  const std::int64_t n = input.size;
  cuda::require_countable(n);
  const closed_reducer<Reducer> device_reducer{reducer, {0u}};
  const std::int64_t before = cuda::items_to_alignment(input.keys);
  const std::int64_t most_open = most_open_runs(n);
  if (most_open == 0) {
    cuda::ready_runs<Build, patch_items, heads_of_block<CountOut>>(input, device_reducer, init,
                                                                   keys_out, out, gpu)
        .launch(1, stream, input, device_reducer, init, keys_out, out, {num_runs_out, -before});
    return;
  }
  const workspace& space = workspace_for(by_key_demand(n, sizeof(acc)));
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
  const bool few_patches = tables.num_patches < gpu.tuning().head_patches_per_sm * gpu.num_sms;
  const int rounds = few_patches ? 1 : most_head_rounds;
  const std::int64_t blocks = tables.num_patches / by_key_warps;
  static known_kernel known_heads;
  const auto heads = known_heads.on(gpu, &heads_kernel<Build, typename Input::keys_type, CountOut>,
                                    "heads_kernel", by_key_nt, starts::early);
  const auto by_patches = cuda::ready_runs<Build, patch_items, run_tables>(
      input, device_reducer, init, keys_out, out, gpu);
  const auto by_spans = cuda::ready_runs<Build, span_items, run_tables>(input, device_reducer, init,
                                                                        keys_out, out, gpu);
  cuda::ready_forest<Build, Policy>(job, most_open);
  heads.launch(ceil_div(blocks, rounds), stream, input, num_runs_out, tables, rounds);
  const auto launch = [&](const auto& runs, int shares) {
    runs.launch(blocks * shares, stream, input, device_reducer, init, keys_out, out, tables);
  };
  // A warp folds a span if the GPU holds a warp for each span, else a patch.
  constexpr int spans = patch_items / span_items;
  if (blocks * spans <= by_spans.resident) {
    launch(by_spans, spans);
  } else {
    launch(by_patches, 1);
  }
  cuda::launch_forest<Build, Policy>(job, most_open, workspace_for);
}

/// How a cuda_executor folds runs of equal keys.
template <class Build>
struct key_folds {
  /// Writes the first key of every run of `items`, which are not none, through keys_out, the
  /// projected fold of its elements through values_out, and the number of runs through
  /// num_runs_out, in the order of the stream.
  template <class Policy, class Executor, class Items, class Reducer, class Init, class KeysOut,
            class ValuesOut, class CountOut>
  static void write(Executor& exec, const Items& items, const Reducer& reducer, const Init& init,
                    const KeysOut& keys_out, const ValuesOut& values_out,
                    const CountOut& num_runs_out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
      cuda::launch_by_key<Build, Policy>(
          items, reducer, init, exec.accessible(keys_out, "keys_out"),
          exec.accessible(values_out, "values_out"), exec.accessible(num_runs_out, "num_runs_out"),
          gpu, stream, workspace_for);
    });
  }

  /// write(), and returns the number of runs. Blocks until all results are there.
  template <class Policy, class Executor, class Items, class Reducer, class Init, class KeysOut,
            class ValuesOut>
  static std::int64_t count(Executor& exec, const Items& items, const Reducer& reducer,
                            const Init& init, const KeysOut& keys_out,
                            const ValuesOut& values_out) {
    auto* const num_runs = exec.template pinned_array<std::int64_t>(1);
    exec.in_context([&](const device_info&, cudaStream_t, const auto&) {
      exec.or_finish(
          [&] { write<Policy>(exec, items, reducer, init, keys_out, values_out, num_runs); });
      exec.synchronize();
    });
    return *num_runs;
  }
};

}  // namespace tilefold::detail::cuda
