// SPDX-License-Identifier: Apache-2.0
//
// Products, as sums.
#include "kernels.hpp"

namespace tilefold::capi {

void add_products(table& all) {
  using make = plain<r::product>;
  all.add_any<op::product, make, std::int32_t, std::int32_t>(
      {dtype::int8, dtype::int16, dtype::int32});
  all.add_any<op::product, make, std::uint32_t, std::uint32_t>(
      {dtype::uint8, dtype::uint16, dtype::uint32});
  all.add_any<op::product, make, std::int64_t, std::int64_t>({dtype::int64, dtype::boolean});
  all.add_any<op::product, make, std::uint64_t, std::uint64_t>({dtype::uint64});
  all.add_any<op::product, make, float, float>({dtype::float16, dtype::bfloat16});
  all.add_typed<op::product, make, itself, float, double>();
  all.add_any<op::product64, make, std::int64_t, std::int64_t>(
      {dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::boolean});
  all.add_any<op::product64, make, std::uint64_t, std::uint64_t>(
      {dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64});
  all.add_any<op::product64, make, double, double>(
      {dtype::float16, dtype::bfloat16, dtype::float32});
  all.add_typed<op::product64, make, itself, double>();
}

}  // namespace tilefold::capi
