// SPDX-License-Identifier: Apache-2.0
//
// tilefold on a GPU against what a user would pick instead, all in one run: cub and thrust of the
// toolkit (and of another CCCL, if built with one) and, as the ceiling, kernels that only read. The
// turns of all contestants are scattered over the run; every timed result is checked. Arguments:
// support/program.hpp.
#include <utility>

#include "../support/contest.hpp"
#include "../support/program.hpp"
#include "shapes.hpp"

namespace {

void enter(bench::roster& all) {
  bench::shapes shapes;
  for (const auto add :
       {bench::add_sums, bench::add_narrow_sums, bench::add_extremes, bench::add_misaligned,
        bench::add_operators, bench::add_structs, bench::add_iterators, bench::add_transforms,
        bench::add_memory, bench::add_ladder}) {
    add(shapes, all.gpu().stream());
  }
  bench::add_blocks(shapes);
  bench::enter_shapes(all, std::move(shapes));
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, &enter); }
