// SPDX-License-Identifier: Apache-2.0
//
// The named accumulator must be constructible from the values.
// expect: tilefold: the values of the range do not convert to the accumulator type
// errors: 1
#include <string>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using accumulator = float;
#else
using accumulator = std::string;
#endif

struct join {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

auto joined(const std::vector<std::string>& words) {
  return tilefold::reduce<accumulator>(words.begin(), words.end(), accumulator(), join());
}
