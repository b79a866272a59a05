// SPDX-License-Identifier: Apache-2.0
//
// The two forms of what `tilefold stats` tells of a file.
#pragma once

#include <optional>
#include <string>

#include "histogram.hpp"
#include "input.hpp"
#include "summary.hpp"

namespace tilefold::tool {

struct stats_report {
  std::string file;
  const array& input;
  const summary& found;
  const std::optional<histogram>& bins;
};

/// How a histogram is drawn.
struct drawing {
  int columns;
  bool utf8;  // else ASCII
};

std::string stats_text(const stats_report& report, const drawing& how);
std::string stats_json(const stats_report& report);

}  // namespace tilefold::tool
