// SPDX-License-Identifier: Apache-2.0
//
// The ladder: every classic kernel on the same floats, numbered as in ladder/README.md; tilefold
// and the peers stand beside them.
#include "../ladder/ladder.cuh"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

ladder::setting setting_of(const fold_call& c) { return {c.scratch, c.scratch_bytes, c.stream}; }

/// A rung with blocks of 256 threads, where it has a choice.
template <class Rung>
contestant rung(const std::string& name, Rung fold) {
  contestant result;
  result.name = name;
  result.enqueue = [fold](const fold_call& c) {
    fold(c.items<float>(), c.n, c.result<float>(), ladder::sum<float>{}, setting_of(c));
  };
  return result;
}

/// The rung that overwrites its input gets a copy, and is timed with the copying.
contestant in_place() {
  contestant result;
  result.name = "09_in_place";
  result.most_items = 2048;
  result.enqueue = [](const fold_call& c) {
    auto* const copy = static_cast<float*>(c.scratch);
    check(cudaMemcpyAsync(copy, c.first, static_cast<std::size_t>(c.n) * sizeof(float),
                          cudaMemcpyDeviceToDevice, c.stream),
          "copy of the input");
    ladder::in_place(copy, c.n, c.result<float>(), ladder::sum<float>{}, setting_of(c),
                     static_cast<int>(c.n / 2));
  };
  return result;
}

std::vector<contestant> rungs() {
  return {rung("01_interleaved_modulo", [](auto... call) { ladder::interleaved_modulo(call...); }),
          rung("02_interleaved", [](auto... call) { ladder::interleaved(call...); }),
          rung("03_sequential", [](auto... call) { ladder::sequential(call...); }),
          rung("04_first_add", [](auto... call) { ladder::first_add(call...); }),
          rung("05_last_warp", [](auto... call) { ladder::last_warp(call...); }),
          rung("06_unrolled", [](auto... call) { ladder::unrolled(call...); }),
          rung("07_grid_stride", [](auto... call) { ladder::grid_stride(call...); }),
          rung("08_two_pass", [](auto... call) { ladder::two_pass(call...); }),
          in_place(),
          rung("10_teaching_naive", [](auto... call) { ladder::teaching_naive(call...); }),
          rung("11_teaching_improved", [](auto... call) { ladder::teaching_improved(call...); }),
          rung("12_warp_shuffle", [](auto... call) { ladder::warp_shuffle(call...); }),
          rung("13_strided_tile", [](auto... call) { ladder::strided_tile(call...); }),
          rung("14_atomic_per_block", [](auto... call) { ladder::atomic_per_block(call...); })};
}

}  // namespace

void add_ladder(shapes& all, cudaStream_t stream) {
  all.push_back(reduction<floating_sum<float, float>, mixed<float>, float>(
      "ladder_float_sum", stream, tilefold::plus{}));
  shape& added = all.back();
  added.sizes = {1 << 11, 1 << 16, 1 << 20, 1 << 24, 1 << 26};
  const std::vector<contestant> below = rungs();
  added.contestants.insert(added.contestants.begin(), below.begin(), below.end());
}

}  // namespace bench
