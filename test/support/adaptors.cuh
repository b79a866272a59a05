// SPDX-License-Identifier: Apache-2.0
//
// Adaptors over iterators, for the tests of where a call goes that names no executor.
#pragma once

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <tilefold/config.hpp>

namespace tilefold::test {

/// Of a number or of a pair.
struct twice {
  TILEFOLD_HD int operator()(int x) const { return 2 * x; }
  TILEFOLD_HD int operator()(const thrust::tuple<int, int>& pair) const {
    return thrust::get<0>(pair) + thrust::get<1>(pair);
  }
};

template <class It>
auto doubled(It first) {
  return thrust::make_transform_iterator(first, twice{});
}
template <class A, class B>
auto zipped(A a, B b) {
  return thrust::make_zip_iterator(thrust::make_tuple(a, b));
}

}  // namespace tilefold::test
