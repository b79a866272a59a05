// SPDX-License-Identifier: Apache-2.0
//
// Products, as sums.
#include <tilefold/sequential_blocks.hpp>

#include "complex_items.hpp"
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// op_traits knows no identity of a complex product.
template <class T>
struct make_complex {
  auto operator()() const { return if_empty(r::product{}, typename T::value_type(1)); }
};

/// In the order of PyTorch's products.
struct make_torch_product {
  auto operator()() const { return sequential_blocks<8192>(r::product{}); }
};

template <class T>
using accumulated = detail::accumulator_t<void, multiplies, T, detail::no_init>;

}  // namespace

void add_products(table& all) {
  using make = plain<r::product>;
  all.add_any<op::product64, make, std::int64_t, std::int64_t>(
      {dtype::int8, dtype::int16, dtype::boolean});
  all.add_wide<op::product64, make, std::int64_t, std::int32_t, std::int64_t>();
  all.add_any<op::product64, make, std::uint64_t, std::uint64_t>(
      {dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64});
  all.add_any<op::product64, make, double, double>(
      {dtype::float16, dtype::bfloat16, dtype::float32});
  all.add_wide<op::product, make, float, half, bfloat16>();
  all.add_typed<op::product, make, itself, float, double>();
  all.add<op::product, const complex<float>*, complex<float>, make_complex<complex<float>>>(
      dtype::complex64, true);
  all.add<op::product, const complex<double>*, complex<double>, make_complex<complex<double>>>(
      dtype::complex128, true);
  all.add_any<op::product32, make, std::int32_t, std::int32_t>(
      {dtype::int8, dtype::int16, dtype::int32});
  all.add_any<op::product32, make, std::uint32_t, std::uint32_t>(
      {dtype::uint8, dtype::uint16, dtype::uint32});
  all.add_typed<op::torch_product, make_torch_product, accumulated, half, bfloat16, float,
                double>();
  all.add_alias(op::product, op::product64, narrow_integers);
  all.add_alias(op::product, op::product64, {dtype::int64, dtype::uint64, dtype::boolean});
  all.add_alias(op::product64, op::product, {dtype::float64});
}

}  // namespace tilefold::capi
