// SPDX-License-Identifier: Apache-2.0
//
// A GPU benchmark as a program: arguments, the choice of measurements, the run, table and file.
#pragma once

#include "roster.hpp"

namespace bench {

using enter_all = void(roster& all);

/// Runs what `enter` enters, as the arguments say; what main() returns: 1 if anything failed or was
/// wrong.
///
///     [--quick] [--benchmark_filter=<regex>] [--benchmark_out=<file>.json]
///     [--benchmark_repetitions=<number>] [--benchmark_list_tests]
///
/// Names are shape/mode/contestant/n; see mode in timing.hpp. Progress goes to stderr, a table of
/// medians to stdout. report.py makes tables and plots of the JSON file.
int run_program(int argc, char** argv, enter_all* enter);

}  // namespace bench
