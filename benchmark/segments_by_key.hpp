// SPDX-License-Identifier: Apache-2.0
//
// The part of the segments benchmark in which keys say where segments are.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <tilefold/cuda.cuh>

#include "support/session.hpp"

namespace bench {

inline constexpr index by_key_items = index{1} << 28;

struct by_key_shape {
  std::string name;
  index mean;   // items of a run
  index giant;  // of some runs, or 0
};

std::vector<by_key_shape> by_key_shapes();
const std::vector<std::string>& by_key_contestants();

class by_key_contest {
 public:
  /// `items` are as many as items, keys and results together.
  by_key_contest(session& gpu, const float* items);
  ~by_key_contest();
  by_key_contest(const by_key_contest&) = delete;  // one owner
  by_key_contest& operator=(const by_key_contest&) = delete;

  void run(benchmark::State& state, const by_key_shape& what, const std::string& who);

 private:
  cudaError_t cub_sum(void* scratch, std::size_t& bytes) const;
  void lay_out(const by_key_shape& what);
  void enqueue(const std::string& who);
  void check_results(const std::string& who);

  session& gpu_;
  tilefold::cuda_executor executor_;
  const float* items_;
  int* keys_;
  int* keys_out_;
  float* out_;
  std::int64_t* counts_;  // of runs, and two for the check
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  const by_key_shape* laid_out_ = nullptr;
  index runs_ = 0;
  std::set<std::string> checked_;  // contestants, on this shape
};

}  // namespace bench
