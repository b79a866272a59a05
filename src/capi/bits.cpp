// SPDX-License-Identifier: Apache-2.0
//
// Bitwise operations of integers.
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

// The sign makes no difference to bits: signed items are folded as unsigned ones, and keep their
// name.
template <op Which, class R>
void add(table& all) {
  all.add_typed<Which, plain<R>, itself, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t>();
  all.add<Which, const std::uint8_t*, std::uint8_t, plain<R>>(dtype::int8, true, dtype::int8);
  all.add<Which, const std::uint16_t*, std::uint16_t, plain<R>>(dtype::int16, true, dtype::int16);
  all.add<Which, const std::uint32_t*, std::uint32_t, plain<R>>(dtype::int32, true, dtype::int32);
  all.add<Which, const std::uint64_t*, std::uint64_t, plain<R>>(dtype::int64, true, dtype::int64);
}

}  // namespace

void add_bits(table& all) {
  capi::add<op::bit_and, r::bit_and>(all);
  capi::add<op::bit_or, r::bit_or>(all);
  capi::add<op::bit_xor, r::bit_xor>(all);
}

}  // namespace tilefold::capi
