// SPDX-License-Identifier: Apache-2.0
//
// A rank whose executor streams has no runs of keys either.
// expect: tilefold: cuda_group and streamed\(\) fold single values, and segments that lie one after the other: for axes and runs of keys pass a cuda_executor
// errors: 1
#include <tilefold/ranks.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/streamed.cuh>

void fold(tilefold::thread_communicator& comm, tilefold::cuda_executor& gpu, const int* keys,
          const float* values, int* keys_out, float* values_out, std::int64_t* runs) {
#if defined(TILEFOLD_MUST_FAIL)
  const auto stream = tilefold::streamed(gpu);
  tilefold::reduce_by_key_into(tilefold::ranks(comm, stream), keys, keys + 10, values, keys_out,
                               values_out, runs);
#else
  tilefold::reduce_by_key_into(tilefold::ranks(comm, gpu), keys, keys + 10, values, keys_out,
                               values_out, runs);
#endif
}

int main() {}
