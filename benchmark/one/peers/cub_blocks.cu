// SPDX-License-Identifier: Apache-2.0
//
// cub::WarpReduce, and cub::BlockReduce by each of its algorithms, in rounds.
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "../../support/cccl.hpp"
#include "../../support/rounds.cuh"

namespace {

template <class T, int Lanes, int Folds = 1>
struct in_warps {
  using item = T;
  using reduce = cub::WarpReduce<T, Lanes>;
  static constexpr int nt = 256;
  static constexpr int per_thread = Folds;
  struct storage {
    typename reduce::TempStorage of_warp[nt / Lanes];
  };
  __device__ static T round(storage& memory, const T (&mine)[Folds]) {
    T sum{};
#pragma unroll
    for (int k = 0; k < Folds; ++k) {
      const T one = reduce(memory.of_warp[threadIdx.x / Lanes]).Sum(mine[k]);
      sum = k == 0 ? one : sum + one;
    }
    return sum;
  }
  __device__ static bool holds(int thread) { return thread % Lanes == 0; }
  __device__ static void sync() {}
};

template <class T, int Nt, int Vt, cub::BlockReduceAlgorithm Algorithm>
struct in_block {
  using item = T;
  using reduce = cub::BlockReduce<T, Nt, Algorithm>;
  using storage = typename reduce::TempStorage;
  static constexpr int nt = Nt;
  static constexpr int per_thread = Vt;
  __device__ static T round(storage& memory, T (&mine)[Vt]) { return reduce(memory).Sum(mine); }
  __device__ static bool holds(int thread) { return thread == 0; }
  __device__ static void sync() { __syncthreads(); }
};

struct users_plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <int Nt, cub::BlockReduceAlgorithm Algorithm>
struct users_in_block : in_block<float, Nt, 1, Algorithm> {
  using base = in_block<float, Nt, 1, Algorithm>;
  __device__ static float round(typename base::storage& memory, float (&mine)[1]) {
    return typename base::reduce(memory).Reduce(mine[0], users_plus{});
  }
};

// One storage for each fold, as the barrier between two folds in the same would cost more.
template <int Nt, int Folds, cub::BlockReduceAlgorithm Algorithm>
struct several_in_block {
  using item = float;
  using reduce = cub::BlockReduce<float, Nt, Algorithm>;
  static constexpr int nt = Nt;
  static constexpr int per_thread = Folds;
  struct storage {
    typename reduce::TempStorage of_fold[Folds];
  };
  __device__ static float round(storage& memory, const float (&mine)[Folds]) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < Folds; ++k) {
      const float one = reduce(memory.of_fold[k]).Sum(mine[k]);
      sum = k == 0 ? one : sum + one;
    }
    return sum;
  }
  __device__ static bool holds(int thread) { return thread == 0; }
  __device__ static void sync() { __syncthreads(); }
};

constexpr auto raking = cub::BLOCK_REDUCE_RAKING;
constexpr auto commutative = cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
constexpr auto by_warps = cub::BLOCK_REDUCE_WARP_REDUCTIONS;

template <class Folder>
bench::contestant cub_folds(const char* algorithm = "") {
  return bench::folds_in_rounds<Folder>(with_version("cub") + algorithm);
}

// Every algorithm on one shape.
template <class T, int Nt, int Vt = 1>
struct block_entries {
  explicit block_entries(const std::string& shape)
      : entries{{shape, cub_folds<in_block<T, Nt, Vt, raking>>("-raking")},
                {shape, cub_folds<in_block<T, Nt, Vt, commutative>>("-raking-commutative")},
                {shape, cub_folds<in_block<T, Nt, Vt, by_warps>>("-warps")}} {}
  bench::peer_entry entries[3];
};

const bench::peer_entry warp_entries[] = {
    {"warp_float_sum", cub_folds<in_warps<float, 32>>()},
    {"warp_int32_sum", cub_folds<in_warps<int, 32>>()},
    {"warp_double_sum", cub_folds<in_warps<double, 32>>()},
    {"warp_of_8_float_sum", cub_folds<in_warps<float, 8>>()},
    {"warp_8_float_sums", cub_folds<in_warps<float, 32, 8>>()},
};

const block_entries<float, 128> block_128("block_128_float_sum");
const block_entries<float, 250> block_250("block_250_float_sum");
const block_entries<float, 256> block_256("block_256_float_sum");
const block_entries<float, 1024> block_1024("block_1024_float_sum");
const block_entries<int, 256> block_of_ints("block_256_int32_sum");
const block_entries<double, 256> block_of_doubles("block_256_double_sum");
const block_entries<float, 256, 4> block_of_4("block_256_float_sum_of_4");

const bench::peer_entry other_entries[] = {
    {"block_256_float_users_sum", cub_folds<users_in_block<256, raking>>("-raking")},
    {"block_256_float_users_sum", cub_folds<users_in_block<256, by_warps>>("-warps")},
    {"block_256_4_float_sums", cub_folds<several_in_block<256, 4, raking>>("-raking")},
    {"block_256_4_float_sums",
     cub_folds<several_in_block<256, 4, commutative>>("-raking-commutative")},
    {"block_256_4_float_sums", cub_folds<several_in_block<256, 4, by_warps>>("-warps")},
};

}  // namespace
