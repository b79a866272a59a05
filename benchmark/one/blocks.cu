// SPDX-License-Identifier: Apache-2.0
//
// warp_fold and block_fold in a kernel, many rounds on the same items (support/rounds.cuh). n
// counts the items that all threads hold together: few blocks at the low end, where the time is the
// fold's latency, and a full GPU at the high end. GB/s mean nothing here; the ratios are what
// counts.
#include <tilefold/block_fold.cuh>

#include "../support/rounds.cuh"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

constexpr int warps_nt = 256;

struct no_storage {};

/// An operator of which the library knows nothing.
struct users_plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class T, int Lanes>
struct in_warps {
  using item = T;
  using storage = no_storage;
  static constexpr int nt = warps_nt;
  static constexpr int per_thread = 1;
  __device__ static T round(storage&, const T (&mine)[1]) {
    return tilefold::warp_fold<Lanes>(mine[0], tilefold::plus{});
  }
  __device__ static bool holds(int thread) { return thread % Lanes == 0; }
  __device__ static void sync() {}
};

template <class T, int Folds>
struct at_once_in_warps {
  using item = T;
  using storage = no_storage;
  static constexpr int nt = warps_nt;
  static constexpr int per_thread = Folds;
  __device__ static T round(storage&, const T (&mine)[Folds]) {
    return tilefold::warp_fold_each(mine, tilefold::plus{});
  }
  __device__ static bool holds(int thread) { return thread % 32 < Folds; }
  __device__ static void sync() {}
};

template <class T, int Nt, int Vt = 1, class Op = tilefold::plus>
struct in_block {
  using item = T;
  using storage = tilefold::block_storage<Nt, T>;
  static constexpr int nt = Nt;
  static constexpr int per_thread = Vt;
  __device__ static T round(storage& memory, const T (&mine)[Vt]) {
    return tilefold::block_fold(memory, mine, Op{});
  }
  __device__ static bool holds(int thread) { return thread == 0; }
  __device__ static void sync() { __syncthreads(); }
};

template <class T, int Nt, int Folds>
struct at_once_in_block {
  using item = T;
  using storage = tilefold::block_storage<Nt, T, Folds>;
  static constexpr int nt = Nt;
  static constexpr int per_thread = Folds;
  __device__ static T round(storage& memory, const T (&mine)[Folds]) {
    return tilefold::block_fold_each(memory, mine, tilefold::plus{});
  }
  __device__ static bool holds(int thread) { return thread < Folds; }
  __device__ static void sync() { __syncthreads(); }
};

template <class Rule, class Folder>
shape rounds(const std::string& name) {
  using item = typename Folder::item;
  shape result = make_shape<Rule, mixed<item>, item>(name, nullptr);
  result.modes = {mode::hot};
  result.sizes = {1 << 10, 1 << 16, 1 << 22};
  result.contestants.push_back(folds_in_rounds<Folder>("tilefold"));
  add_peers(result);
  return result;
}

using float_rule = floating_sum<float, float>;
using double_rule = floating_sum<double, double>;
using int_rule = integer_sum<int, int>;

}  // namespace

void add_blocks(shapes& all) {
  all.push_back(rounds<float_rule, in_warps<float, 32>>("warp_float_sum"));
  all.push_back(rounds<int_rule, in_warps<int, 32>>("warp_int32_sum"));
  all.push_back(rounds<double_rule, in_warps<double, 32>>("warp_double_sum"));
  all.push_back(rounds<float_rule, in_warps<float, 8>>("warp_of_8_float_sum"));
  all.push_back(rounds<float_rule, at_once_in_warps<float, 8>>("warp_8_float_sums"));
  all.push_back(rounds<float_rule, in_block<float, 128>>("block_128_float_sum"));
  all.push_back(rounds<float_rule, in_block<float, 250>>("block_250_float_sum"));
  all.push_back(rounds<float_rule, in_block<float, 256>>("block_256_float_sum"));
  all.push_back(rounds<float_rule, in_block<float, 1024>>("block_1024_float_sum"));
  all.push_back(rounds<int_rule, in_block<int, 256>>("block_256_int32_sum"));
  all.push_back(rounds<double_rule, in_block<double, 256>>("block_256_double_sum"));
  all.push_back(rounds<float_rule, in_block<float, 256, 4>>("block_256_float_sum_of_4"));
  all.push_back(
      rounds<float_rule, in_block<float, 256, 1, users_plus>>("block_256_float_users_sum"));
  all.push_back(rounds<float_rule, at_once_in_block<float, 256, 4>>("block_256_4_float_sums"));
}

}  // namespace bench
