// SPDX-License-Identifier: Apache-2.0
//
// Measurements: one contestant, one n, one mode. Chosen by name, entered into Google Benchmark, run
// and checked.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "session.hpp"
#include "shape.hpp"

namespace bench {

struct measurement {
  const shape* what;
  const contestant* who;
  mode how;
  index n;

  /// shape/mode/contestant/n, as the report splits it.
  std::string name() const;
};

struct selection {
  bool quick = false;
  std::string filter;  // a regular expression that the name must contain; "-..." must not
};

/// The measurements of the shapes that pass, and reading (`reads`, a shape for each memory) of as
/// many bytes as each.
std::vector<measurement> select(const shapes& all, const shapes& reads, const session& gpu,
                                const selection& choice);

/// Outcomes that no timing tells.
struct outcome {
  int repetitions_done = 0;
  int repetitions_due = 0;
  std::set<std::string> failures;  // names of measurements with an error or a wrong result
};

/// Everything referred to must outlive the run.
void enter(const std::vector<measurement>& all, session& gpu, bool quick, outcome& result);

}  // namespace bench
