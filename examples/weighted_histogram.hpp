// SPDX-License-Identifier: Apache-2.0
//
// A worked example: a histogram of weighted events with the error of each bin, as in particle
// physics, in one call. The bin of an event is computed when it is read, so no array of indices is
// needed, and an event outside all bins is left out. The bits are the same on any number of threads
// and on a GPU, where atomicAdd() may give other ones each time. With a host executor it needs a
// C++ compiler alone; with a CUDA executor include it after tilefold/cuda.cuh.
#pragma once

#include <cstdint>
#include <iterator>

#include <tilefold/reduce_by_index.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/norms.hpp>

namespace weighted_histogram {

/// An iterator over the bins of events: bin i holds first + i * width <= value < first + (i + 1) *
/// width, as far as one subtraction and one division in float tell. -1 below the first bin and for
/// NaN.
struct bins {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using reference = std::int64_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  const float* values;
  float first;
  float width;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const {
    const float bin = (values[i] - first) / width;
    // What the type does not hold belongs to no bin.
    return bin >= 0 && bin < 9.0e18f ? static_cast<std::int64_t>(bin) : -1;
  }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend bins operator+(const bins& it, std::int64_t n) {
    return {it.values + n, it.first, it.width};
  }
  TILEFOLD_HD friend std::int64_t operator-(const bins& a, const bins& b) {
    return a.values - b.values;
  }
};

/// What is known of a bin.
struct bin {
  float weight;        // the sum of the weights
  double error;        // the root of the sum of their squares
  std::int64_t count;  // of events

  bin() = default;
  /// From the results of the fused reducers, in their order.
  template <class Fused>
  TILEFOLD_HD explicit bin(const Fused& results)
      : weight(results.template get<0>()),
        error(results.template get<1>()),
        count(results.template get<2>()) {}
};

/// Writes num_bins bins through out[0], out[1]...; on a CUDA executor in the order of its stream.
template <tilefold::executor Exec>
void fill(Exec&& exec, const float* values, const float* weights, std::int64_t n, float first,
          float width, std::int64_t num_bins, bin* out) {
  namespace r = tilefold::reducers;
  const bins all{values, first, width};
  tilefold::reduce_by_index_into(exec, all, all + n, weights, num_bins, out,
                                 r::fuse(r::sum{}, r::l2{}, r::count{}));
}

}  // namespace weighted_histogram
