// SPDX-License-Identifier: Apache-2.0
//
// reduce.hpp leaves reduce_into() of a deferred size to segmented_reduce.hpp. (A case of C++ has
// all headers precompiled.)
// expect: tilefold: reduce_into\(\) of a deferred size needs #include <tilefold/segmented_reduce.hpp>
// errors: 1
#include <tilefold/deferred.hpp>
#include <tilefold/reduce.hpp>

#if !defined(TILEFOLD_MUST_FAIL)
#include <tilefold/segmented_reduce.hpp>
#endif

void sum(cudaStream_t stream, const float* x, const int* n, float* out) {
  tilefold::reduce_into(stream, x, tilefold::deferred(n, 100), out);
}
