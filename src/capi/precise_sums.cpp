// SPDX-License-Identifier: Apache-2.0
//
// Sums with more than the accumulator of a plain one, and exact means; NaN in an empty segment.
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/exact.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

struct make_mean {
  auto operator()() const { return if_empty(r::exact_mean<>{}, not_a_number); }
};

}  // namespace

void add_precise_sums(table& all) {
  all.add_typed<op::compensated_sum, plain<r::compensated_sum>, itself, float, double>();
  all.add_typed<op::exact_sum, plain<r::exact_sum<>>, itself, float, double>();
  all.add_typed<op::exact_mean, make_mean, itself, float, double>(false);
  // On a GPU each of these would take a minute to compile.
  if constexpr (table::on_host) {
    static constexpr auto signed_types = {dtype::int8, dtype::int16, dtype::int32, dtype::int64,
                                          dtype::boolean};
    static constexpr auto unsigned_types = {dtype::uint8, dtype::uint16, dtype::uint32,
                                            dtype::uint64};
    using make_sum = plain<r::exact_sum<>>;
    all.add_typed<op::exact_sum, make_sum, itself, half, bfloat16>();
    all.add_any<op::exact_sum, make_sum, std::int64_t, std::int64_t>(signed_types);
    all.add_any<op::exact_sum, make_sum, std::uint64_t, std::uint64_t>(unsigned_types);
    all.add_typed<op::exact_mean, make_mean, itself, half, bfloat16>(false);
    all.add_any<op::exact_mean, make_mean, std::int64_t, double>(signed_types, false);
    all.add_any<op::exact_mean, make_mean, std::uint64_t, double>(unsigned_types, false);
  }
}

}  // namespace tilefold::capi
