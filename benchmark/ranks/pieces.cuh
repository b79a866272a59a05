// SPDX-License-Identifier: Apache-2.0
//
// What reduce_piece() costs more than reduce(), both of which the host waits for.
#pragma once

#include <tilefold/piece.hpp>

#include "gpus.cuh"

namespace bench {

template <class Op>
void enter_piece(roster& all, const std::shared_ptr<gpus>& host, const char* shape, Op op) {
  std::vector<index> sizes;
  for (int level = 10; level <= 30; level += all.quick() ? 10 : 4) {
    sizes.push_back(index{1} << level);
    sizes.push_back((index{1} << level) - 1);
  }
  for (const index n : sizes) {
    // Nowhere: reduce().
    for (const index position : {index{-1}, index{0}, index{12345}}) {
      measurement m;
      m.shape = shape;
      m.mode = "sync";
      m.who = position < 0 ? "reduce" : position == 0 ? "piece" : "piece-at-12345";
      m.n = n;
      m.iterations = n < (1 << 20) ? 100 : n < (1 << 27) ? 30 : 5;
      m.group = std::string(shape) + std::to_string(n);
      m.prepare = [=] {
        timed_work work;
        work.how = mode::sync;
        work.bytes = n * static_cast<index>(sizeof(float));
        const float* const x = host->whole();
        if (position < 0) {
          work.enqueue = [=] { (void)tilefold::reduce(host->gpu(0), x, x + n, op); };
        } else {
          work.enqueue = [=] {
            (void)tilefold::reduce_piece(host->gpu(0), x, x + n, position, op);
          };
        }
        return work;
      };
      all.enter(std::move(m));
    }
  }
}

}  // namespace bench
