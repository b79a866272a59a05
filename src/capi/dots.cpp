// SPDX-License-Identifier: Apache-2.0
//
// Dot products.
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_reduce.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

template <class T>
void fold(const host_executor& exec, const void* x, const void* y, std::int64_t n, void* result) {
  using out = decltype(transform_reduce(exec, static_cast<const T*>(x), static_cast<const T*>(x),
                                        static_cast<const T*>(y), r::dot{}));
  const T* const first = static_cast<const T*>(x);
  *static_cast<out*>(result) =
      transform_reduce(exec, first, first + n, static_cast<const T*>(y), r::dot{});
}

template <class T>
constexpr dot_kernel of() {
  using out = decltype(transform_reduce(
      std::declval<const host_executor&>(), static_cast<const T*>(nullptr),
      static_cast<const T*>(nullptr), static_cast<const T*>(nullptr), r::dot{}));
  return {dtype_of<T>, dtype_of<out>, &fold<T>};
}

constexpr dot_kernel rows[] = {of<std::int8_t>(),   of<std::int16_t>(),  of<std::int32_t>(),
                               of<std::int64_t>(),  of<std::uint8_t>(),  of<std::uint16_t>(),
                               of<std::uint32_t>(), of<std::uint64_t>(), of<half>(),
                               of<bfloat16>(),      of<float>(),         of<double>()};

}  // namespace

std::span<const dot_kernel> dots() { return rows; }

}  // namespace tilefold::capi
