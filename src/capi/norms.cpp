// SPDX-License-Identifier: Apache-2.0
//
// Norms of order 1 and infinity.
#include <tilefold/reducers/norms.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

void add_norms(table& all) {
  all.add_real<op::l1, plain<r::l1>, double>(true);
  all.add_typed<op::linf, plain<r::linf>, itself, float, double>();
  // The greatest size, rounded: what is the greatest of rounded sizes, too.
  all.add_any<op::linf, plain<r::linf>, double, double>(
      {dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::uint8, dtype::uint16,
       dtype::uint32, dtype::uint64, dtype::boolean});
  all.add_any<op::linf, plain<r::linf>, float, float>({dtype::float16, dtype::bfloat16});
}

}  // namespace tilefold::capi
