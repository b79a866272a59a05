// SPDX-License-Identifier: Apache-2.0
//
// Virtual ranks on one GPU, each a thread with an executor of its own.
#pragma once

#include <tilefold/ranks.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

namespace {

using tilefold::thread_communicator;

/// How many random cuts of a verb a test tries: `few`, or 50,000 with TILEFOLD_TEST_MANY_CUTS in
/// the environment, which takes minutes.
inline int num_cuts(int few) {
  return std::getenv("TILEFOLD_TEST_MANY_CUTS") != nullptr ? 50000 : few;
}

// Calls body(comm, ranks of GPU executors) on every rank.
template <class Body>
void on_ranks(int ranks, const Body& body) {
  thread_communicator::run(ranks, [&](thread_communicator& comm) {
    tilefold::cuda_executor gpu;
    body(comm, gpu);
  });
}

}  // namespace
