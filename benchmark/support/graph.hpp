// SPDX-License-Identifier: Apache-2.0
//
// Work of a stream as a CUDA graph, so that what is timed is the GPU and not the host's launches.
#pragma once

#include "contestant.hpp"

namespace bench {

/// Launches on the GPU that are started as one.
class graph {
 public:
  template <class Work>
  graph(cudaStream_t stream, Work work) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    cudaGraph_t captured = nullptr;
    try {
      work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &captured);
      (void)cudaGetLastError();
      if (captured != nullptr) (void)cudaGraphDestroy(captured);
      throw;
    }
    check(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
    const cudaError_t code = cudaGraphInstantiate(&executable_, captured, 0);
    (void)cudaGraphDestroy(captured);
    check(code, "cudaGraphInstantiate");
  }
  ~graph() { (void)cudaGraphExecDestroy(executable_); }
  // One owner.
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace bench
