// SPDX-License-Identifier: Apache-2.0
//
// log_softmax of rows.
#include "log_softmax.hpp"

#include <tilefold/transform_rows.hpp>

namespace tilefold::capi {

namespace {

template <class T, class Out>
void run(executor_here& exec, const rows_call& call) {
  log_softmax_into(exec, static_cast<const T*>(call.items), call.rows, call.length,
                   static_cast<Out*>(call.results));
}

template <class T, class Out>
rows_kernel of() {
  return {dtype_of<T>, dtype_of<Out>, &run<T, Out>};
}

}  // namespace

void add_log_softmax(std::vector<rows_kernel>& all) {
  all = {of<float, float>(), of<double, double>(),     of<half, half>(),
         of<half, float>(),  of<bfloat16, bfloat16>(), of<bfloat16, float>()};
}

}  // namespace tilefold::capi
