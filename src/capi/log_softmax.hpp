// SPDX-License-Identifier: Apache-2.0
//
// Rows of log_softmax, by the types of their items and results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor.hpp"

namespace tilefold::capi {

/// Rows one after the other, and where their items go.
struct rows_call {
  const void* items;
  dtype type;
  std::int64_t rows;
  std::int64_t length;
  void* results;
  dtype results_type;
};

template <class Exec>
struct basic_rows_kernel {
  dtype items;
  dtype results;
  void (*run)(Exec&, const rows_call&);
};
using rows_kernel = basic_rows_kernel<executor_here>;

void add_log_softmax(std::vector<rows_kernel>& all);

/// Those of one executor.
template <class Exec>
const std::vector<basic_rows_kernel<Exec>>& log_softmax_kernels() {
  static const std::vector<basic_rows_kernel<Exec>> all = [] {
    std::vector<basic_rows_kernel<Exec>> made;
    add_log_softmax(made);
    return made;
  }();
  return all;
}

/// Runs what is there for the types of `call`.
inline void run_log_softmax(executor_here& exec, const rows_call& call) {
  for (const rows_kernel& one : log_softmax_kernels<executor_here>()) {
    if (one.items == call.type && one.results == call.results_type) return one.run(exec, call);
  }
  throw unsupported("tilefold_log_softmax: there is none of " + std::string(name_of(call.type)) +
                    " with results of " + std::string(name_of(call.results_type)));
}

}  // namespace tilefold::capi
