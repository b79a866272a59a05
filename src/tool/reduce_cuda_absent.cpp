// SPDX-License-Identifier: Apache-2.0
//
// Stands for reduce_cuda.cu in a tool that was built without CUDA.
#include "backend.hpp"

namespace tilefold::tool {

std::unique_ptr<backend> make_cuda_backend() {
  throw no_gpu_error("this tilefold was built without CUDA");
}

}  // namespace tilefold::tool
