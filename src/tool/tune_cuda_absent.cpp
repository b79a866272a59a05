// SPDX-License-Identifier: Apache-2.0
//
// Stands for tune_cuda.cu in a tool that was built without CUDA.
#include "backend.hpp"
#include "tuning.hpp"

namespace tilefold::tool {

std::unique_ptr<tuner> make_cuda_tuner() {
  throw no_gpu_error("this tilefold was built without CUDA");
}

}  // namespace tilefold::tool
