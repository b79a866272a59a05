// SPDX-License-Identifier: Apache-2.0
//
// Statistics in one pass: those of tilefold_stats(), and those of "summary".
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>

#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

struct make {
  auto operator()() const {
    return r::fuse(r::count{}, if_empty(r::mean{}, not_a_number),
                   if_empty(r::variance{}, not_a_number), r::min<>{}, r::max<>{});
  }
};

struct make_summary {
  auto operator()() const {
    return r::fuse(
        r::count{}, if_empty(r::mean{}, not_a_number), if_empty(r::variance{}, not_a_number),
        if_empty(r::variance{divisor::population}, not_a_number), r::min<>{}, r::max<>{});
  }
};

template <class T>
TILEFOLD_HD double real(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

/// Of nothing the extremes are infinities, whatever the items: their own could be those of the
/// wider type that they are read as.
struct extremes_in_double {
  double min;
  double max;

  template <class T>
  TILEFOLD_HD extremes_in_double(std::int64_t count, T least, T greatest)
      : min(count == 0 ? infinity : capi::real(least)),
        max(count == 0 ? -infinity : capi::real(greatest)) {}

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
};

/// Count, mean, variance of a sample and of a population, least and greatest.
struct six_numbers {
  double numbers[6];

  six_numbers() = default;
  template <class Six>
    requires(std::tuple_size<Six>::value == 6)
  TILEFOLD_HD six_numbers(const Six& six)
      : numbers{capi::real(get<0>(six)), get<1>(six), get<2>(six), get<3>(six), 0, 0} {
    const extremes_in_double ends(get<0>(six), get<4>(six), get<5>(six));
    numbers[4] = ends.min;
    numbers[5] = ends.max;
  }
};

/// What the five are in C.
struct in_c : tilefold_statistics {
  in_c() = default;
  template <class Five>
    requires(std::tuple_size<Five>::value == 5)
  TILEFOLD_HD in_c(const Five& five)
      : tilefold_statistics{get<0>(five), get<1>(five), get<2>(five), 0, 0} {
    const extremes_in_double ends(count, get<3>(five), get<4>(five));
    min = ends.min;
    max = ends.max;
  }
  // A count is less than 2^53.
  template <std::same_as<six_numbers> Six>
  TILEFOLD_HD explicit in_c(const Six& six)
      : tilefold_statistics{static_cast<std::int64_t>(six.numbers[0]), six.numbers[1],
                            six.numbers[2], six.numbers[4], six.numbers[5]} {}
};

}  // namespace

template <>
struct result_traits<in_c> : doubles<5> {};

template <>
struct result_traits<six_numbers> : doubles<6> {};

#if defined(__CUDACC__)
// On a GPU the two share kernels; the host has vector instructions for five statistics.
using make_of_statistics = make_summary;
template <>
struct output_of<six_numbers> : output_of_either<six_numbers, in_c, false> {};
template <>
struct output_of<in_c> : output_of_either<six_numbers, in_c, true> {};
#else
using make_of_statistics = make;
#endif

void add_statistics(table& all) {
  all.add_real<op::statistics, make_of_statistics, in_c>(true);
  all.add_real<op::summary, make_summary, six_numbers>(false);
}

}  // namespace tilefold::capi
