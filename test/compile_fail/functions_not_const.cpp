// SPDX-License-Identifier: Apache-2.0
//
// An operator() that is not const, wherever a function goes: the sentence once a call, and no more.
// expect: tilefold: operator\(\) of an operator, function, predicate or comparator must be const
// errors: 8
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
#define MAYBE_CONST
#else
#define MAYBE_CONST const
#endif

template <int Call>
struct of_one {
  float operator()(float x) MAYBE_CONST { return x; }
};
template <int Call>
struct of_two {
  float operator()(float x, float y) MAYBE_CONST { return x + y; }
};

float sum(const std::vector<float>& x, float* out, int* keys) {
  const auto after = tilefold::reduce(x, of_two<0>());
  const float with_init = tilefold::reduce(x, 1.0f, of_two<1>());
  const float transformed = tilefold::transform_reduce(x, 1.0f, tilefold::plus(), of_one<2>());
  const auto counted = tilefold::count_if(x, of_one<3>());
  const auto least = tilefold::min_element(x, of_two<4>());
  const float made =
      tilefold::reduce(x, tilefold::reducers::make_reducer(of_one<5>(), of_two<6>(), of_one<7>()));
  tilefold::segmented_reduce(x.begin(), 3, 2, out, 0.0f, of_two<8>());
  tilefold::reduce_by_key(keys, keys + 3, x.begin(), keys, out, of_two<9>(), tilefold::plus());
  return static_cast<float>(after) + with_init + transformed + static_cast<float>(counted) +
         *least + made;
}
