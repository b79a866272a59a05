// SPDX-License-Identifier: Apache-2.0
//
// The host executor's bits against the committed ones.
#include "golden.hpp"

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold::test {
namespace {

TEST(Golden, HostBitsAreTheCommittedOnes) {
  golden::expect_all([](const auto& items, std::int64_t n, auto op) {
    return tilefold::reduce(items.data(), items.data() + n, op);
  });
}

}  // namespace
}  // namespace tilefold::test
