// SPDX-License-Identifier: Apache-2.0
#include "sums.cuh"

namespace bench {

void enter_structs(roster& all) {
  with_structs([&](auto item, const char* type) {
    using T = decltype(item);
    using contest = sums_contest<T>;
    constexpr index gib = index{1} << 30;
    constexpr index items = gib / static_cast<index>(sizeof(T));
    // Offsets and results of the shortest segments are at most half as many bytes again.
    const auto values = std::make_shared<shared_values<T>>(all.gpu().stream(), gib + gib);
    contest::enter(all, std::make_shared<contest>(all.gpu(), values, type,
                                                  struct_shapes(type, items, all.quick())));
  });
}

}  // namespace bench
