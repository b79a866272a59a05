// SPDX-License-Identifier: Apache-2.0
//
// Many results on a GPU, sums of floats above all, against their peers: segments of one length and
// of offsets, rows of halves, statistics by segment, runs of keys, columns and middle axes.
// Arguments: support/program.hpp. n is the items of a segment, a row or a run, the width of a
// matrix.
#include "../axes/columns.hpp"
#include "../keys/by_key.hpp"
#include "../support/program.hpp"
#include "contests.hpp"
#include "shapes.hpp"

namespace {

void enter(bench::roster& all) {
  // 4 GiB of items, and the most that offsets and results add to what the ceiling reads.
  constexpr bench::index bytes = (bench::index{4} << 30) + 12 * bench::most_segments + 4096;
  const auto items = std::make_shared<bench::shared_values<float>>(all.gpu().stream(), bytes);
  bench::enter_sums(all, items);
  bench::enter_structs(all);
  bench::enter_statistics(all, items);
  bench::enter_rows(all);
  bench::enter_floats_by_key(all, items);
  bench::enter_structs_by_key(all);
  bench::enter_columns(all);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, &enter); }
