// SPDX-License-Identifier: Apache-2.0
//
// Whether, and how many, items are not zero.
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

constexpr std::initializer_list<dtype> all_dtypes = {
    dtype::int8,    dtype::int16,   dtype::int32,   dtype::int64,     dtype::uint8,
    dtype::uint16,  dtype::uint32,  dtype::uint64,  dtype::float16,   dtype::bfloat16,
    dtype::float32, dtype::float64, dtype::boolean, dtype::complex64, dtype::complex128};

}  // namespace

void add_questions(table& all) {
  all.add_any<op::any, plain<r::any<>>, bool, bool>(all_dtypes);
  all.add_any<op::all, plain<r::all<>>, bool, bool>(all_dtypes);
  for (const dtype type : all_dtypes) {
    all.add<op::count_nonzero, nonzero_items, std::int64_t, plain<r::sum>>(type, true);
  }
}

}  // namespace tilefold::capi
