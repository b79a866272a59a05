// SPDX-License-Identifier: Apache-2.0
//
// In place of the CUDA executor, in a library that is built without it.
#include "executor.hpp"

namespace tilefold::capi {

tilefold_executor* new_cuda_executor(int, void*) {
  throw unsupported("tilefold_cuda_executor: this libtilefold was built without CUDA");
}

tilefold_executor* new_stream_executor(int, void*) {
  throw unsupported("tilefold_stream_executor: this libtilefold was built without CUDA");
}

bool has_cuda() { return false; }

}  // namespace tilefold::capi
