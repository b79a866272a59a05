// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on the host.
#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/host_memory.hpp"
#include "suite.hpp"

namespace tilefold::test {
namespace {

struct on_host : in_host_memory {
  using executor = host_executor;
  static constexpr bool is_gpu = false;
};

using runs = ::testing::Types<segments_run<on_host, of_one_length, index_hashes>,
                              segments_run<on_host, by_offsets<>, index_hashes>,
                              segments_run<on_host, by_bounded_offsets, index_hashes>,
                              segments_run<on_host, by_deferred_offsets, index_hashes>,
                              segments_run<on_host, by_deferred_length, index_hashes>,
                              segments_run<on_host, by_begins_and_ends<>, places>,
                              segments_run<on_host, as_arrays, index_hashes>,
                              segments_run<on_host, by_offsets<>, statistics_of<float>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnHost, Segments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OnHost, SanitizeSegments, runs);

TEST(SegmentsOnHost, TakeOffsetsOfEveryWidth) { takes_offsets_of_every_width<on_host>(); }

}  // namespace
}  // namespace tilefold::test
