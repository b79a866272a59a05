// SPDX-License-Identifier: Apache-2.0
//
// Structs by key, 1 GiB of them.
#include "by_key.cuh"

namespace bench {

namespace {

std::vector<by_key_shape> struct_runs(const std::string& type, index n, bool quick) {
  using lengths = std::vector<index>;
  std::vector<by_key_shape> all;
  for (const index mean : quick ? lengths{16} : lengths{2, 16, 256}) {
    all.push_back({type + "_by_key", n, mean});
  }
  return all;
}

}  // namespace

void enter_structs_by_key(roster& all) {
  with_structs([&](auto item, const char* type) {
    using T = decltype(item);
    using contest = by_key_contest<T>;
    constexpr index gib = index{1} << 30;
    constexpr index n = gib / static_cast<index>(sizeof(T));
    // Keys and results add at most a quarter and the whole again.
    const auto values = std::make_shared<shared_values<T>>(all.gpu().stream(), 3 * gib);
    contest::enter(
        all, std::make_shared<contest>(all.gpu(), values, type, struct_runs(type, n, all.quick())));
  });
}

}  // namespace bench
