// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU over structs of two and three bytes, at every address that they
// may have.
#include <gtest/gtest.h>

#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

template <class T>
using offsets = segments_run<on_gpu, by_offsets<>, sums<T>>;
template <class T>
using begins_and_ends = segments_run<on_gpu, by_begins_and_ends<>, sums<T>>;

using runs = ::testing::Types<offsets<pair_of_bytes>, begins_and_ends<pair_of_bytes>,
                              offsets<three_bytes>, begins_and_ends<three_bytes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfNarrowStructs, Segments, runs);

// Other programs have it.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SanitizeSegments);

}  // namespace
}  // namespace tilefold::test
