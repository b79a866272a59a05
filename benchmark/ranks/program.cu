// SPDX-License-Identifier: Apache-2.0
//
// Several GPUs of one host against one of them, pieces against plain calls, streams of host memory
// against copies. Every value is compared with the bits of one call over the whole, which GPU 0
// holds as well. All by the clock of a host that waits. NCCL must not use NVLink multicast where
// the machine does not lend it: NCCL_NVLS_ENABLE=0. Arguments: support/program.hpp.
#include "../support/program.hpp"
#include "gpus.cuh"

namespace {

void enter(bench::roster& all) {
  // 8 GiB a GPU, and what a cut within a segment takes more.
  const auto host = std::make_shared<bench::gpus>(bench::index{1} << 31);
  bench::enter_gathers(all, host);
  bench::enter_sums(all, host);
  bench::enter_statistics(all, host);
  bench::enter_logsumexp(all, host);
  bench::enter_maxima(all, host);
  bench::enter_segments(all, host);
  bench::enter_streams(all, host);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, &enter); }
