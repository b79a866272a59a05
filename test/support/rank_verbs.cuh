// SPDX-License-Identifier: Apache-2.0
//
// Verbs of many results by ranks with GPUs, whatever joins them: segments, runs of keys and columns
// that cross ranks have the bits of one call on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "device.cuh"
#include "oracle.hpp"
#include "random.hpp"
#include "ranks.hpp"
#include "seed.hpp"
#include "views.hpp"

namespace tilefold::test {

/// What a rank has on its GPU for all rounds.
class rank_verbs {
 public:
  static constexpr std::int64_t n = 20000;
  static constexpr std::int64_t segments = 40;
  static constexpr std::int64_t width = 20;

  explicit rank_verbs(const std::vector<tree_hash>& leaves)
      : leaves_(leaves), items_(leaves), out_(n), offsets_(segments + 1), keys_(n), keys_out_(n) {}

  template <class Comm>
  void expect_segments(Comm& comm, cuda_executor& gpu, const std::vector<std::int64_t>& cuts,
                       const std::vector<std::int64_t>& offsets) {
    std::vector<tree_hash> expected(segments);
    segmented_reduce(host_executor(), leaves_.data(), offsets.data(), segments, expected.data(),
                     op_);
    const part own(cuts, comm.rank());
    const range here = those_that_begin(offsets, segments, own);
    forget_results();
    offsets_.assign(offsets.data() + here.first,
                    static_cast<std::int64_t>(offsets.size()) - here.first);
    segmented_reduce(tilefold::ranks(comm, gpu, own.end - own.begin), items() + own.begin,
                     offsets_.data(), here.count, out_.data(), op_);
    gpu.synchronize();
    expect_out(expected, here);
  }

  template <class Comm>
  void expect_runs(Comm& comm, cuda_executor& gpu, const std::vector<std::int64_t>& cuts,
                   const std::vector<int>& keys) {
    std::vector<int> run_keys(keys.size());
    std::vector<tree_hash> expected(keys.size());
    const auto runs = reduce_by_key(host_executor(), keys.begin(), keys.end(), leaves_.begin(),
                                    run_keys.begin(), expected.begin(), node_hash{});
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[i] != keys[i - 1]) starts.push_back(static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(static_cast<std::int64_t>(starts.size()), runs);
    const part own(cuts, comm.rank());
    const range here = those_that_begin(starts, runs, own);
    forget_results();
    keys_.assign(keys.data(), static_cast<std::int64_t>(keys.size()));
    const int* const k = keys_.data();
    const std::int64_t found =
        reduce_by_key(tilefold::ranks(comm, gpu), k + own.begin, k + own.end, items() + own.begin,
                      keys_out_.data(), out_.data(), node_hash{});
    EXPECT_EQ(found, here.count);
    expect_out(expected, here);
    const auto got = keys_out_.to_host(here.count);
    EXPECT_EQ(got, std::vector<int>(run_keys.begin() + here.first,
                                    run_keys.begin() + here.first + here.count));
  }

  /// Of rows that the cuts share out.
  template <class Comm>
  void expect_columns(Comm& comm, cuda_executor& gpu, const std::vector<std::int64_t>& cuts) {
    std::vector<tree_hash> expected(width);
    axis_reduce(host_executor(), test_view{leaves_.data(), right_layout({n / width, width})},
                test_view{expected.data(), right_layout({width})}, 0, op_);
    const part own(cuts, comm.rank());
    const std::int64_t begin = own.begin / width;
    const std::int64_t end = (own.is_last ? n : own.end) / width;
    forget_results();
    axis_reduce(tilefold::ranks(comm, gpu),
                test_view{items() + width * begin, right_layout({end - begin, width})},
                test_view{out_.data(), right_layout({width})}, 0, op_);
    gpu.synchronize();
    expect_out(expected, {0, width});
  }

 private:
  struct part {
    part(const std::vector<std::int64_t>& cuts, int rank)
        : begin(cuts[static_cast<std::size_t>(rank)]),
          end(cuts[static_cast<std::size_t>(rank) + 1]),
          is_last(static_cast<std::size_t>(rank) + 2 == cuts.size()) {}
    std::int64_t begin;
    std::int64_t end;
    bool is_last;
  };
  struct range {
    std::int64_t first;
    std::int64_t count;
  };

  // Those of `count` starts, which do not decrease, that lie in a part. What begins behind the last
  // item is the last rank's.
  static range those_that_begin(const std::vector<std::int64_t>& starts, std::int64_t count,
                                const part& own) {
    const auto end = starts.begin() + count;
    const auto first = std::lower_bound(starts.begin(), end, own.begin);
    const auto last = own.is_last ? end : std::lower_bound(first, end, own.end);
    return {first - starts.begin(), last - first};
  }

  // A rank that finds a fault goes on: others wait for its next call.
  void expect_out(const std::vector<tree_hash>& expected, range here) const {
    const auto got = out_.to_host(here.count);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin() + here.first));
  }

  void forget_results() {
    out_.assign(std::vector<tree_hash>(n, tree_hash{7, 7}).data(), n);
    keys_out_.assign(std::vector<int>(n, -7).data(), n);
  }

  const tree_hash* items() const { return items_.data(); }

  const std::vector<tree_hash>& leaves_;
  const decltype(if_empty(node_hash{}, tree_hash{})) op_ = if_empty(node_hash{}, tree_hash{1, 2});
  const gpu_array<tree_hash> items_;
  gpu_array<tree_hash> out_;
  gpu_array<std::int64_t> offsets_;
  gpu_array<int> keys_;
  gpu_array<int> keys_out_;
};

/// On each rank's thread: rounds of all three, with cuts, offsets and keys that all ranks know.
template <class Comm>
void expect_many_results_of_ranks(Comm& comm, cuda_executor& gpu, int rounds) {
  SCOPED_TRACE(seed());
  const auto leaves = leaf_hashes(rank_verbs::n);
  rank_verbs verbs(leaves);
  gpu.reserve(1 << 20);
  shape_stream bits(seed());
  for (int round = 0; round < rounds; ++round) {
    const auto cuts = random_cuts(bits, rank_verbs::n, comm.size());
    const auto offsets = random_cuts(bits, rank_verbs::n, static_cast<int>(rank_verbs::segments));
    std::vector<int> keys(static_cast<std::size_t>(rank_verbs::n));
    for (std::size_t i = 1; i < keys.size(); ++i) {
      keys[i] = keys[i - 1] + (bits.one_in(700) ? 1 + static_cast<int>(bits.below(9)) : 0);
    }
    verbs.expect_segments(comm, gpu, cuts, offsets);
    verbs.expect_runs(comm, gpu, cuts, keys);
    verbs.expect_columns(comm, gpu, cuts);
  }
}

}  // namespace tilefold::test
