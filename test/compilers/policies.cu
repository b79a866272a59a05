// SPDX-License-Identifier: Apache-2.0
//
// What a call finds of a policy, from the second policy of a program on: nvcc 13.5 overlooks a
// partial specialisation for a template with an argument of class type there. Compiled, never run.
#include <type_traits>

#include <tilefold/tilefold.cuh>

namespace tilefold::test {

template <tile_policy Policy>
void with_each(cuda_executor& gpu) {
  auto exec = with_policy<Policy>(gpu);
  using parts = detail::executor_parts<decltype(exec)>;
  static_assert(std::is_same_v<typename parts::policy, detail::chosen_policy<Policy>>);
  static_assert(std::is_same_v<decltype(parts::base(exec)), cuda_executor&>);
  (void)reduce(exec, static_cast<const float*>(nullptr), static_cast<const float*>(nullptr));
}
template void with_each<tile_policy{64, 4}>(cuda_executor&);
template void with_each<tile_policy{128, 4}>(cuda_executor&);

}  // namespace tilefold::test
