// SPDX-License-Identifier: Apache-2.0
//
// A reducer as kernels use it: an argument of every launch that folds. Device code.
#pragma once

#include <new>

#include <tilefold/detail/core/closing.hpp>

namespace tilefold::detail::cuda {

/// The reducer as the kernels use it, its steps closed to fusion with each other
/// (detail/core/closing.hpp).
template <class Reducer>
struct closed_reducer : Reducer {
  using accumulator = typename Reducer::accumulator;
  border closing;

  template <class... Values>
  __device__ __forceinline__ accumulator lift(const Values&... values) const {
    return steps().lift(values...);
  }
  __device__ __forceinline__ accumulator combine(const accumulator& a, const accumulator& b) const {
    return steps().combine(a, b);
  }
  __device__ __forceinline__ accumulator combine_open(const accumulator& a,
                                                      const accumulator& b) const {
    return steps().combine_open(a, b);
  }
  __device__ __forceinline__ accumulator closed(const accumulator& combined) const {
    return steps().closed(combined);
  }
  __device__ __forceinline__ accumulator combine_equals(const accumulator& a,
                                                        const accumulator& b) const {
    return steps().combine_equals(a, b);
  }
  template <class... Values>
  __device__ __forceinline__ void absorb(accumulator& value, const Values&... values) const {
    if constexpr (Reducer::absorbs) {
      Reducer::absorb(value, values...);
    } else {
      // Made apart from its operands, which a combine may read after it has begun to write.
      const accumulator both = combine(value, lift(values...));
      ::new (static_cast<void*>(__builtin_addressof(value))) accumulator(both);
    }
  }
  __device__ __forceinline__ typename Reducer::result project(const accumulator& value) const {
    return steps().project(value);
  }

 private:
  __device__ __forceinline__ closed_steps<Reducer> steps() const { return {*this, closing}; }
};

}  // namespace tilefold::detail::cuda
