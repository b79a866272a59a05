// SPDX-License-Identifier: Apache-2.0
//
// The seed of a random test: a new one each run, or the one in TILEFOLD_TEST_SEED to see a failure
// again. Put it into SCOPED_TRACE or a failure message.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace tilefold::test {

/// This process's seed; printed once.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* named = std::getenv("TILEFOLD_TEST_SEED");
    const std::uint64_t chosen =
        named != nullptr ? std::strtoull(named, nullptr, 10) : std::random_device{}();
    std::cout << "TILEFOLD_TEST_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return value;
}

}  // namespace tilefold::test
