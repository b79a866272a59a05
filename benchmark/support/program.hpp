// SPDX-License-Identifier: Apache-2.0
//
// A GPU benchmark as a program: arguments, the choice of measurements, the run, table and file.
#pragma once

#include "shape.hpp"

namespace bench {

using add_shapes = void(shapes& all, cudaStream_t stream);

/// Measures the shapes that `add` adds, as the arguments say; what main() returns: 1 if anything
/// failed or was wrong.
///
///     [--quick] [--benchmark_filter=<regex>] [--benchmark_out=<file>.json]
///
/// Names are shape/mode/contestant/n; see mode in shape.hpp. Progress goes to stderr, a table of
/// medians to stdout. report.py makes tables and plots of the JSON file.
int run_program(int argc, char** argv, add_shapes* add);

}  // namespace bench
