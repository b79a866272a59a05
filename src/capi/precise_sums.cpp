// SPDX-License-Identifier: Apache-2.0
//
// Sums with more than the accumulator of a plain one, and exact means; NaN in an empty segment.
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/exact.hpp>

#include "exact_state.hpp"
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

#if defined(__CUDACC__)

/// On a GPU exact sums and means share kernels: which one is written is known when a program runs.
template <class T>
struct sum_and_mean {
  T sum;
  T mean;
};

struct exact_sum_and_mean : r::exact_mean<> {
  template <class T>
  TILEFOLD_HD sum_and_mean<T> project(
      const detail::counted_exact<exact_accumulator<T>>& state) const {
    return {state.sum.template value<T>(), r::exact_mean<>::project(state)};
  }
};

struct of_nothing {
  template <class T>
  TILEFOLD_HD operator sum_and_mean<T>() const {
    return {T{}, static_cast<T>(not_a_number)};
  }
};

struct make_both {
  auto operator()() const { return if_empty(exact_sum_and_mean{}, of_nothing{}); }
};
using make_sum = make_both;
using make_mean = make_both;

template <class T>
struct sum_result {
  T value;
  TILEFOLD_HD explicit sum_result(const sum_and_mean<T>& both) : value(both.sum) {}
};
template <class T>
struct mean_result {
  T value;
  TILEFOLD_HD explicit mean_result(const sum_and_mean<T>& both) : value(both.mean) {}
};

#else

using make_sum = plain<r::exact_sum<>>;

/// Of integers: throws where 64 bits do not hold the sum.
struct exact_whole_sum : r::exact_sum<> {
  template <class T>
  auto project(const exact_accumulator<T>& sum) const {
    return capi::exact_value(sum);
  }
};
using make_whole_sum = plain<exact_whole_sum>;

struct make_mean {
  auto operator()() const { return if_empty(r::exact_mean<>{}, not_a_number); }
};
template <class T>
using sum_result = T;
template <class T>
using mean_result = T;

#endif

}  // namespace

#if defined(__CUDACC__)
template <class T>
struct result_traits<sum_result<T>> : result_traits<T> {};
template <class T>
struct result_traits<mean_result<T>> : result_traits<T> {};
template <class T>
struct output_of<sum_result<T>>
    : output_of_either<sum_result<T>, mean_result<T>, false, sum_and_mean<T>> {};
template <class T>
struct output_of<mean_result<T>>
    : output_of_either<sum_result<T>, mean_result<T>, true, sum_and_mean<T>> {};
#endif

}  // namespace tilefold::capi

#if !defined(__CUDACC__)
template <>
struct tilefold::detail::ways<tilefold::capi::exact_whole_sum>
    : ways<tilefold::reducers::exact_sum<>> {};
#else
template <>
struct tilefold::detail::ways<tilefold::capi::exact_sum_and_mean> : exact_ways<exact_summand> {
  template <class Acc, class Window>
  TILEFOLD_HD static auto result(const Window& sum, std::int64_t n) {
    using real = typename decltype(Acc::sum)::value_type;
    return tilefold::capi::sum_and_mean<real>{detail::value_of<real>(sum),
                                              detail::mean_of<real>(sum, n)};
  }
};
#endif

namespace tilefold::capi {

void add_precise_sums(table& all) {
  all.add_typed<op::compensated_sum, plain<r::compensated_sum>, itself, float, double>();
  all.add_typed<op::exact_sum, make_sum, sum_result, float, double>();
  all.add_typed<op::exact_mean, make_mean, mean_result, float, double>(false);
  // On a GPU each of these would take a minute to compile.
  if constexpr (table::on_host) {
    static constexpr auto signed_types = {dtype::int8, dtype::int16, dtype::int32, dtype::int64,
                                          dtype::boolean};
    static constexpr auto unsigned_types = {dtype::uint8, dtype::uint16, dtype::uint32,
                                            dtype::uint64};
    all.add_typed<op::exact_sum, make_sum, itself, half, bfloat16>();
#if !defined(__CUDACC__)
    all.add_any<op::exact_sum, make_whole_sum, std::int64_t, std::int64_t>(signed_types);
    all.add_any<op::exact_sum, make_whole_sum, std::uint64_t, std::uint64_t>(unsigned_types);
#endif
    all.add_typed<op::exact_mean, make_mean, itself, half, bfloat16>(false);
    all.add_any<op::exact_mean, make_mean, std::int64_t, double>(signed_types, false);
    all.add_any<op::exact_mean, make_mean, std::uint64_t, double>(unsigned_types, false);
  }
}

}  // namespace tilefold::capi
