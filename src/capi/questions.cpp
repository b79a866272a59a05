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

#if defined(__CUDACC__)

struct differs {
  bool from;
  TILEFOLD_HD bool operator()(bool value) const { return value != from; }
};

/// Whether an item is true or, of all, whether none is false. Which one is known when a program
/// runs, so that they share kernels.
struct question : r::any<differs> {
  explicit question(bool of_all) : r::any<differs>{{{of_all}}} {}
  TILEFOLD_HD bool project(bool found) const { return found != predicate.from; }
};

template <bool OfAll>
struct make {
  auto operator()() const { return question(OfAll); }
};
using make_any = make<false>;
using make_all = make<true>;

#else
using make_any = plain<r::any<>>;
using make_all = plain<r::all<>>;
#endif

}  // namespace

}  // namespace tilefold::capi

#if defined(__CUDACC__)
template <>
struct tilefold::detail::ways<tilefold::capi::question>
    : ways<tilefold::reducers::any<tilefold::capi::differs>> {};
#endif

namespace tilefold::capi {

void add_questions(table& all) {
  all.add_any<op::any, make_any, bool, bool>(all_dtypes);
  all.add_any<op::all, make_all, bool, bool>(all_dtypes);
  for (const dtype type : all_dtypes) {
    all.add<op::count_nonzero, nonzero_items, std::int64_t, plain<r::sum>>(type, true);
  }
}

}  // namespace tilefold::capi
