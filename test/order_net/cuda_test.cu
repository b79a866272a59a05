// SPDX-License-Identifier: Apache-2.0
//
// Generated operators on a GPU: the bits of the oracle in every form, under several policies and in
// kernels of the user's own. test/README.md says how to see a seed's failure again.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>

#include "../support/device.cuh"
#include "forms.hpp"

namespace tilefold::test::net {

/// Each lane, or thread, makes four items of its own and folds them with the others'.
template <class World>
__global__ void fold_by_warp(const typename World::item* items, int count,
                             typename World::values* out) {
  typename World::values mine[4];
  for (int j = 0; j < 4; ++j) mine[j] = typename World::f()(items[4 * threadIdx.x + j]);
  out[threadIdx.x] = warp_fold(mine, count, typename World::op());
}

template <class World>
__global__ void fold_by_block(const typename World::item* items, int count,
                              typename World::values* out) {
  __shared__ block_storage<96, typename World::values> storage;
  typename World::values mine[4];
  for (int j = 0; j < 4; ++j) mine[j] = typename World::f()(items[4 * threadIdx.x + j]);
  const auto folded = block_fold(storage, mine, count, typename World::op());
  if (threadIdx.x < 32) out[threadIdx.x] = folded;
}

/// Folds in kernels: of the first 1, 2, 3... items, by a warp and by a block of three.
struct kernel_form {
  static constexpr const char* name = "warp_fold and block_fold";

  template <class World, class Place, class Exec>
  static auto run(Exec&, const raw_items<typename World::member>& raw) {
    const gpu_array<typename World::item> items(raw.first);
    gpu_array<typename World::values> out(32 * (128 + 384));
    for (int n = 1; n <= 128; ++n) {
      fold_by_warp<World><<<1, 32>>>(items.data(), n, out.data() + 32 * (n - 1));
    }
    for (int n = 1; n <= 384; ++n) {
      fold_by_block<World><<<1, 96>>>(items.data(), n, out.data() + 32 * (128 + n - 1));
    }
    must(cudaGetLastError());
    return out.to_host();
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    std::vector<typename World::values> leaves, expected;
    for (const auto& item : raw.first) leaves.push_back(typename World::f()(item));
    for (const int most : {128, 384}) {
      for (int n = 1; n <= most; ++n) {
        const auto folded =
            neighbour_tree(typename World::op(), std::vector(leaves.begin(), leaves.begin() + n));
        expected.insert(expected.end(), 32, folded);
      }
    }
    return expected;
  }
};

namespace {

template <class Member>
class CudaOrderNet : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::cout << "TILEFOLD_NET_SEED=" << TILEFOLD_NET_SEED << std::endl;
  }

  template <class Form>
  void expect_bits() {
    EXPECT_EQ((differences<Form, Member, in_gpu_memory>(gpu_, raw_)), "");
  }
  template <class Form, int Nt, int Vt>
  void expect_bits_under() {
    const auto tuned = with_policy<tile_policy{Nt, Vt}>(gpu_);
    EXPECT_EQ((differences<Form, Member, in_gpu_memory>(tuned, raw_)), "")
        << "policy {" << Nt << ", " << Vt << "}";
  }

  cuda_executor gpu_;
  raw_items<Member> raw_{longest};
};
TYPED_TEST_SUITE(CudaOrderNet, sample, member_names);

// Everything with everything would take two hours to compile. So forms and policies are dealt out:
// each struct of the family comes three times, with three of these hands. A sample of 12
// (forms.hpp) has each hand three times.
TYPED_TEST(CudaOrderNet, HasTheBitsOfTheOracle) {
  constexpr int hand = (TypeParam::index + TypeParam::index / shapes::size) % 4;
  if constexpr (hand == 0) {
    this->template expect_bits<reduce_form>();
    this->template expect_bits_under<reduce_form, 32, 1>();
    this->template expect_bits<reducer_form>();
    this->template expect_bits<equal_form>();
    this->template expect_bits<kernel_form>();
  } else if constexpr (hand == 1) {
    this->template expect_bits<plain_form>();
    this->template expect_bits_under<transform_form, 32, 1>();
    this->template expect_bits_under<transform_form, 128, 16>();
    this->template expect_bits<offsets_form>();
  } else if constexpr (hand == 2) {
    this->template expect_bits<transform_form>();
    this->template expect_bits_under<transform_form, 256, 8>();
    this->template expect_bits_under<reducer_form, 64, 4>();
    this->template expect_bits<columns_form>();
    this->template expect_bits<batched_form>();
  } else {
    this->template expect_bits_under<transform_form, 64, 4>();
    this->template expect_bits_under<reduce_form, 128, 16>();
    this->template expect_bits_under<plain_form, 256, 8>();
    this->template expect_bits<by_key_form>();
  }
}

}  // namespace
}  // namespace tilefold::test::net
