// SPDX-License-Identifier: Apache-2.0
//
// What cannot be copied as bytes, by every verb: the sentence once a call, before any kernel.
// expect: tilefold: on a GPU the accumulator must be trivially copyable
// errors: 6
#include <vector>

#include <tilefold/tilefold.cuh>

#if defined(TILEFOLD_MUST_FAIL)
using values = std::vector<float>;
#else
using values = float*;
#endif

template <int Call>
struct list {
  values v;
  float x;
};
struct join {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T&) const {
    return a;
  }
};

// The destructor of a std::vector is the host's, so the host alone makes these.
template <int Call>
using lists = const list<Call>*;

void fold(tilefold::cuda_executor& gpu, lists<0> a, lists<1> b, lists<2> c, lists<3> d,
          list<1>* out1, list<2>* out2, list<3>* out3, const list<2>& init, int* keys) {
  (void)tilefold::reduce(gpu, a, a + 10, join());
  tilefold::reduce_into(gpu, b, b + 10, out1, join());
  tilefold::segmented_reduce_into(gpu, c, 3, 2, out2, init, join());
  tilefold::reduce_by_key_into(gpu, keys, keys + 3, d, keys, out3, keys, join());
}
