// SPDX-License-Identifier: Apache-2.0
//
// What the peers share. Peers are compiled once for each CCCL that takes part, so everything here
// has internal linkage, and their names carry the version that they were compiled with.
#pragma once

#include <cuda/version>

#include <string>

#include "../support/contestant.hpp"

namespace {

std::string with_version(const char* library) {
  return std::string(library) + "-" + std::to_string(CCCL_MAJOR_VERSION) + "." +
         std::to_string(CCCL_MINOR_VERSION);
}

/// A contestant made of a cub call: call(scratch, scratch_bytes, fold_call). The scratch memory is
/// there before the clock starts; the value that is waited for comes through pinned memory, the
/// fastest that a caller of cub can do.
template <class Call>
bench::contestant cub_contestant(Call call) {
  bench::contestant result;
  result.name = with_version("cub");
  result.enqueue = [call](const bench::fold_call& c) {
    std::size_t bytes = c.scratch_bytes;
    bench::check(call(c.scratch, bytes, c), "cub::DeviceReduce");
  };
  result.blocking = [enqueue = result.enqueue](const bench::fold_call& c) {
    enqueue(c);
    bench::check(cudaStreamSynchronize(c.stream), "cub::DeviceReduce");
  };
  return result;
}

// cub compiles for the type of its count; 32 bits are enough here, and its faster choice.
[[maybe_unused]] int count(const bench::fold_call& c) { return static_cast<int>(c.n); }

}  // namespace
