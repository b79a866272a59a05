// SPDX-License-Identifier: Apache-2.0
//
// A user's operator that multiplies and adds, compiled with tilefold::strict_fp: no operation is
// fused, so host and GPU have the same bits.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// In a struct a NaN keeps the bits that the machine gave it; this operator has but one.
TILEFOLD_HD inline float settled(float x) { return x != x ? not_a_number : x; }

/// x -> word[0] x + word[1]; first the left map, then the right one.
struct real_affine_composition {
  using map = words<float, 2>;
  TILEFOLD_HD map operator()(const map& first, const map& second) const {
    return {{settled(second.word[0] * first.word[0]),
             settled(second.word[0] * first.word[1] + second.word[1])}};
  }
};

struct unfused_affine_composition {
  using map = words<float, 2>;
  map operator()(const map& first, const map& second) const {
    const float shifted = reference::rounded(second.word[0] * first.word[1]);
    return {{settled(reference::rounded(second.word[0] * first.word[0])),
             settled(reference::rounded(shifted + second.word[1]))}};
  }
};

using strict_fp_cases = ::testing::Types<fold_case<words<float, 2>, real_affine_composition,
                                                   unfused_affine_composition, words<float, 2>>>;

template <class Case>
class StrictFp : public CudaConformance<Case, true> {};
TYPED_TEST_SUITE(StrictFp, strict_fp_cases);
TYPED_TEST(StrictFp, HasTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
