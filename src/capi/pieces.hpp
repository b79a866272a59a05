// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the handles of pieces and exact accumulators.
#pragma once

#include <memory>

#include <tilefold/tilefold.h>

#include "exact_state.hpp"
#include "piece.hpp"
#include "types.hpp"

struct tilefold_piece {
  tilefold::capi::op which;
  tilefold::capi::dtype type;
  const tilefold::capi::piece_kind* kind;
  bool has_empty;
  std::unique_ptr<tilefold::capi::piece_state> state;
};

struct tilefold_accumulator {
  tilefold::capi::dtype type;
  std::unique_ptr<tilefold::capi::exact_state> state;
};
