// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU beside tilefold's plain ones, the plain read, and CUB's sums of one order for
// all GPUs: by distribution and dynamic range, by segment and key, deposits. Prints first what each
// makes of items at the edges. Arguments: support/program.hpp.
#include "../support/program.hpp"
#include "contests.hpp"

namespace {

void enter(bench::roster& all) {
  bench::enter_ranges(all);
  bench::enter_spreads(all);
  bench::enter_segments(all);
  bench::enter_deposits(all);
  bench::print_edges(all.gpu());
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, &enter); }
