// SPDX-License-Identifier: Apache-2.0
//
// Floats by key: 1 GiB of them, and a call that is small.
#include "by_key.cuh"

namespace bench {

namespace {

std::vector<by_key_shape> float_runs(bool quick) {
  using lengths = std::vector<index>;
  constexpr index all_items = index{1} << 28;
  std::vector<by_key_shape> all;
  for (const index mean : quick ? lengths{2, 256} : lengths{2, 16, 256, 65536}) {
    all.push_back({"by_key", all_items, mean});
  }
  all.push_back({"by_key_power_law", all_items, 4, 10'000'000});
  all.push_back({"by_key_of_a_million", 1'000'000, 16, 0, 16});
  return all;
}

}  // namespace

void enter_floats_by_key(roster& all, const std::shared_ptr<shared_values<float>>& items) {
  using contest = by_key_contest<float>;
  contest::enter(all,
                 std::make_shared<contest>(all.gpu(), items, "float", float_runs(all.quick())));
}

}  // namespace bench
