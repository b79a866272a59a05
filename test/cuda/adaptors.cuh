// SPDX-License-Identifier: Apache-2.0
//
// Transform and zip iterators over device memory, and what the host makes of their items: for tests
// of each kind of reduction, in programs of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>

#include "../conformance/conformance.hpp"
#include "../support/device.cuh"
#include "../support/random.hpp"

namespace tilefold::test {

inline constexpr std::int64_t most = 300000;

/// Not exact, so that a sum shows its order; with a state, so that the function must be kept.
struct scaled {
  float by;
  TILEFOLD_HD float operator()(float x) const { return by * x; }
  TILEFOLD_HD float operator()(half x) const { return by * static_cast<float>(x); }
};
struct twice {
  TILEFOLD_HD float operator()(float x) const { return 2.0f * x; }
};
/// Of items of 4, 1 and 8 bytes, and of a count.
struct of_four {
  template <class Tuple>
  TILEFOLD_HD float operator()(const Tuple& t) const {
    const float count = static_cast<float>(thrust::get<3>(t) % 7);
    return thrust::get<1>(t) % 2 == 0 ? thrust::get<0>(t)
                                      : static_cast<float>(thrust::get<2>(t)) + count;
  }
};
/// More than adaptors are read through for.
struct large_item {
  float values[12];
};
struct seventh {
  TILEFOLD_HD float operator()(const large_item& item) const { return item.values[7]; }
};

/// Ranges in device memory, and on the host.
template <class T>
struct both {
  std::vector<T> host;
  gpu_array<T> device;

  explicit both(std::vector<T> items) : host(std::move(items)), device(host) {}
};

inline std::vector<large_item> large_items(const std::vector<float>& values) {
  std::vector<large_item> items(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) items[i].values[7] = values[i];
  return items;
}

inline std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

inline std::vector<std::int8_t> small_integers(std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<std::int8_t> items(most);
  for (auto& item : items) item = static_cast<std::int8_t>(bits() % 100);
  return items;
}

class CudaAdaptors : public ::testing::Test {
 protected:
  /// Calls check(name, iterator, what the host makes of each of its items) for an adaptor, of which
  /// each range begins so many items late; item(i) is the host's item i.
  template <class Iterator, class Item, class Check>
  void for_adaptor(const char* name, int late, const Iterator& iterator, const Item& item,
                   const Check& check) {
    std::vector<float> expected(static_cast<std::size_t>(most) - 16);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = reference::rounded(item(i));
    check(std::string(name) + ", " + std::to_string(late) + " items late", iterator, expected);
  }

  /// The same for adaptors of all kinds.
  template <class Check>
  void for_each_adaptor(int late, const Check& check) {
    const auto at = static_cast<std::size_t>(late);
    const auto with = [&](const char* name, const auto& iterator, const auto& item) {
      for_adaptor(name, late, iterator, item, check);
    };
    with("halves", thrust::make_transform_iterator(halves_.device.data() + late, scaled{0.7f}),
         [&](std::size_t i) { return 0.7f * static_cast<float>(halves_.host[at + i]); });
    with("a transform of a transform",
         thrust::make_transform_iterator(
             thrust::make_transform_iterator(floats_.device.data() + late, scaled{0.3f}), twice{}),
         [&](std::size_t i) { return 2.0f * reference::rounded(0.3f * floats_.host[at + i]); });
    with("large items", thrust::make_transform_iterator(large_.device.data() + late, seventh{}),
         [&](std::size_t i) { return large_.host[at + i].values[7]; });
    const auto zip = thrust::make_zip_iterator(thrust::make_tuple(
        floats_.device.data() + late, bytes_.device.data() + 2 * late,
        doubles_.device.data() + (late + 1) % 2, thrust::make_counting_iterator(std::int64_t{3})));
    with("a zip of four", thrust::make_transform_iterator(zip, of_four{}), [&](std::size_t i) {
      if (bytes_.host[2 * at + i] % 2 == 0) return floats_.host[at + i];
      return static_cast<float>(doubles_.host[(at + 1) % 2 + i]) + static_cast<float>((3 + i) % 7);
    });
  }

  both<float> floats_{make_items<float>(pattern::mixed, most, 3)};
  both<half> halves_{make_items<half>(pattern::mixed, most, 4)};
  both<double> doubles_{as_doubles(make_items<float>(pattern::mixed, most, 5))};
  both<std::int8_t> bytes_{small_integers(6)};
  both<large_item> large_{large_items(make_items<float>(pattern::mixed, most, 7))};
  cuda_executor gpu_;
  host_executor host_;
};

}  // namespace tilefold::test
