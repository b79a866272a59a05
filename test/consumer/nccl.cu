// SPDX-License-Identifier: Apache-2.0
//
// A program that includes what joins ranks by NCCL, and calls NCCL. It needs no GPU.
#include <cstdio>

#include <tilefold/nccl.cuh>

int main() {
  static_assert(tilefold::communicator<tilefold::nccl_communicator>);
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return 1;
  std::printf("NCCL %d\n", version);
}
