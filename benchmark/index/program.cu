// SPDX-License-Identifier: Apache-2.0
//
// Sums by index on a GPU against CUB's sort and sum by key, atomicAdd() and reading. Arguments:
// support/program.hpp. n is the number of results.
#include "../support/program.hpp"
#include "by_index.hpp"

int main(int argc, char** argv) { return bench::run_program(argc, argv, &bench::enter_by_index); }
