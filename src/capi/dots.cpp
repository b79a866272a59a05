// SPDX-License-Identifier: Apache-2.0
//
// Dot products.
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_reduce.hpp>

#include "complex_items.hpp"
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// Of complex numbers, with the conjugates of the first factors.
struct conjugate_dot : r::dot {
  template <class Real>
  TILEFOLD_HD auto lift(const complex<Real>& x, const complex<Real>& y) const {
    return r::dot::lift(complex<Real>(x.real(), -x.imag()), y);
  }
};

template <class T>
struct dot_of {
  using type = r::dot;
};
template <class Real>
struct dot_of<complex<Real>> {
  using type = conjugate_dot;
};

template <class T>
using result_of = decltype(transform_reduce(
    std::declval<executor_here&>(), static_cast<const T*>(nullptr), static_cast<const T*>(nullptr),
    static_cast<const T*>(nullptr), r::dot{}));

template <class T>
void fold(executor_here& exec, const void* x, const void* y, std::int64_t n, void* result) {
  const T* const first = static_cast<const T*>(x);
  transform_reduce_into(exec, first, first + n, static_cast<const T*>(y),
                        static_cast<result_of<T>*>(result), typename dot_of<T>::type{});
}

template <class... T>
void add(std::vector<dot_kernel>& all) {
  (all.push_back({dtype_of<T>, dtype_of<result_of<T>>, &fold<T>}), ...);
}

}  // namespace

}  // namespace tilefold::capi

template <>
struct tilefold::detail::ways<tilefold::capi::conjugate_dot> : ways<tilefold::reducers::dot> {};

namespace tilefold::capi {

void add_dots(std::vector<dot_kernel>& all) {
  capi::add<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
            std::uint32_t, std::uint64_t, half, bfloat16, float, double, complex<float>,
            complex<double>>(all);
}

}  // namespace tilefold::capi
