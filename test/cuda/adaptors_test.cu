// SPDX-License-Identifier: Apache-2.0
//
// Adaptors in all kinds of reductions: through transform and zip iterators over device memory, the
// bits that the host makes of the transformed items, whatever the alignment of each range.
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

#include <tilefold/tilefold.cuh>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

constexpr std::int64_t most = 300000;

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
struct sum_of_pair {
  template <class Pair>
  TILEFOLD_HD float operator()(const Pair& pair) const {
    return thrust::get<0>(pair) + thrust::get<1>(pair);
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

std::vector<large_item> large_items(const std::vector<float>& values) {
  std::vector<large_item> items(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) items[i].values[7] = values[i];
  return items;
}

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

std::vector<std::int8_t> small_integers(std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<std::int8_t> items(most);
  for (auto& item : items) item = static_cast<std::int8_t>(bits() % 100);
  return items;
}

class CudaAdaptors : public ::testing::Test {
 protected:
  /// Calls check(name, iterator, what the host makes of each of its items) for adaptors of all
  /// kinds, of which each range begins so many items late.
  template <class Check>
  void for_each_adaptor(int late, const Check& check) {
    const auto at = static_cast<std::size_t>(late);
    const auto n = static_cast<std::size_t>(most) - 16;
    std::vector<float> expected(n);
    const auto with = [&](const char* name, const auto& iterator, const auto& item) {
      for (std::size_t i = 0; i < n; ++i) expected[i] = reference::rounded(item(i));
      check(std::string(name) + ", " + std::to_string(late) + " items late", iterator, expected);
    };
    with("floats", thrust::make_transform_iterator(floats_.device.data() + late, scaled{0.3f}),
         [&](std::size_t i) { return 0.3f * floats_.host[at + i]; });
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

auto statistics() {
  namespace r = tilefold::reducers;
  return r::fuse(r::mean{}, r::variance{}, r::max{});
}

TEST_F(CudaAdaptors, OneRange) {
  for (const int late : {0, 1, 2, 3, 5}) {
    for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
      for (const std::int64_t n : {std::int64_t{100}, most - 16}) {
        SCOPED_TRACE(name + ", " + std::to_string(n) + " items");
        const float* const expected = items.data();
        EXPECT_TRUE(
            same_bits(reduce(gpu_, first, first + n), reduce(host_, expected, expected + n)));
        const auto got = reduce(gpu_, first, first + n, statistics());
        const auto right = reduce(host_, expected, expected + n, statistics());
        EXPECT_TRUE(same_bits(get<0>(got), get<0>(right)));
        EXPECT_TRUE(same_bits(get<1>(got), get<1>(right)));
        EXPECT_TRUE(same_bits(get<2>(got), get<2>(right)));
      }
    });
  }
}

TEST_F(CudaAdaptors, Segments) {
  shape_stream bits(seed());
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  for (const int late : {0, 1, 2, 3, 5}) {
    for (const std::int64_t longest : {20, 3000, 100000}) {
      std::vector<int> offsets{0};
      for (const std::int64_t length :
           random_lengths(bits, longest == 100000 ? 3 : 1500, longest)) {
        if (offsets.back() + length > most - 16) break;
        offsets.push_back(offsets.back() + static_cast<int>(length));
      }
      const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
      const gpu_array<int> device_offsets(offsets);
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        SCOPED_TRACE(name + ", segments of up to " + std::to_string(longest));
        std::vector<float> expected(static_cast<std::size_t>(segments));
        segmented_reduce_into(host_, items.data(), offsets.data(), segments, expected.data());
        gpu_array<float> out(segments);
        segmented_reduce_into(gpu_, first, device_offsets.data(), segments, out.data());
        gpu_.synchronize();
        const std::vector<float> got = out.to_host();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(same_bits(got[i], expected[i])) << "segment " << i;
        }
      });
    }
  }
}

/// A matrix over any iterator, with rows `stride` items apart.
template <class It>
struct matrix {
  It first;
  std::int64_t rows, columns, row_stride;

  static constexpr int rank() { return 2; }
  std::int64_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  std::int64_t stride(std::size_t i) const { return i == 0 ? row_stride : 1; }
  It data_handle() const { return first; }
};
template <class It>
struct row {
  It first;
  std::int64_t size;

  static constexpr int rank() { return 1; }
  std::int64_t extent(std::size_t) const { return size; }
  std::int64_t stride(std::size_t) const { return 1; }
  It data_handle() const { return first; }
};

// Columns in packets, columns off by some items, one column whose rows lie one after the other, and
// rows of one length.
TEST_F(CudaAdaptors, AxesOfMatrices) {
  struct shape {
    std::int64_t rows, columns, stride;
  };
  for (const int late : {0, 1, 2, 4}) {
    for (const shape s : {shape{500, 96, 96}, {700, 31, 33}, {4000, 4, 64}, {16, 9000, 9000}}) {
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        for (const int axis : {0, 1}) {
          const std::int64_t results = axis == 0 ? s.columns : s.rows;
          SCOPED_TRACE(name + ", " + std::to_string(s.rows) + " x " + std::to_string(s.columns) +
                       ", axis " + std::to_string(axis));
          std::vector<float> expected(static_cast<std::size_t>(results));
          axis_reduce(host_, matrix<const float*>{items.data(), s.rows, s.columns, s.stride},
                      row<float*>{expected.data(), results}, axis);
          gpu_array<float> out(results);
          axis_reduce(gpu_, matrix<decltype(first)>{first, s.rows, s.columns, s.stride},
                      row<float*>{out.data(), results}, axis);
          gpu_.synchronize();
          const std::vector<float> got = out.to_host();
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(same_bits(got[i], expected[i])) << "result " << i;
          }
        }
      });
    }
  }
}

TEST_F(CudaAdaptors, ValuesByKey) {
  shape_stream bits(seed());
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  for (const int late : {0, 1, 3}) {
    for (const std::int64_t longest : {6, 40, 5000}) {
      std::vector<int> keys;
      while (keys.size() < static_cast<std::size_t>(most) - 16) {
        const auto length = 1 + bits() % static_cast<std::uint64_t>(longest);
        keys.insert(keys.end(), length, keys.empty() ? 0 : keys.back() + 1);
      }
      keys.resize(static_cast<std::size_t>(most) - 16);
      const gpu_array<int> device_keys(keys);
      const auto n = static_cast<std::int64_t>(keys.size());
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        SCOPED_TRACE(name + ", runs of up to " + std::to_string(longest));
        std::vector<int> keys_out(keys.size());
        std::vector<float> expected(keys.size());
        std::int64_t runs = 0;
        reduce_by_key_into(host_, keys.data(), keys.data() + n, items.data(), keys_out.data(),
                           expected.data(), &runs);
        gpu_array<int> device_keys_out(n);
        gpu_array<float> out(n);
        gpu_array<std::int64_t> device_runs(1);
        reduce_by_key_into(gpu_, device_keys.data(), device_keys.data() + n, first,
                           device_keys_out.data(), out.data(), device_runs.data());
        gpu_.synchronize();
        ASSERT_EQ(device_runs.to_host()[0], runs);
        const std::vector<float> got = out.to_host();
        for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
          ASSERT_TRUE(same_bits(got[i], expected[i])) << "run " << i;
        }
      });
    }
  }
}

// Its type in host code is not trivially copyable.
void segments_of_a_lambda(cuda_executor& gpu, const float* first, float by, const int* offsets,
                          std::int64_t segments, float* out) {
  const auto times = [by] __host__ __device__(float x) { return by * x; };
  segmented_reduce_into(gpu, thrust::make_transform_iterator(first, times), offsets, segments, out);
  gpu.synchronize();
}

TEST_F(CudaAdaptors, FunctionsThatAreLambdas) {
  const std::vector<int> offsets{0, 5, 5, 1000, 100000};
  const gpu_array<int> device_offsets(offsets);
  gpu_array<float> out(4);
  segments_of_a_lambda(gpu_, floats_.device.data() + 1, 0.3f, device_offsets.data(), 4, out.data());
  std::vector<float> items;
  for (std::size_t i = 1; i <= 100000; ++i) {
    items.push_back(reference::rounded(0.3f * floats_.host[i]));
  }
  std::vector<float> expected(4);
  segmented_reduce_into(host_, items.data(), offsets.data(), 4, expected.data());
  const std::vector<float> got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(same_bits(got[i], expected[i])) << "segment " << i;
  }
}

// Ends of memory: nothing of the array's follows its last item, nor stands before its first.
TEST_F(CudaAdaptors, ReadNothingBesideTheirMemory) {
  constexpr std::int64_t n = std::int64_t{1} << 21;
  const auto items = make_items<float>(pattern::mixed, n, 9);
  const gpu_array<float> x(items);
  const gpu_array<float> y(items);
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.data(), y.data()));
  std::vector<int> offsets;
  for (std::int64_t i = 0; i < n; i += 2) offsets.push_back(static_cast<int>(i));
  offsets.push_back(static_cast<int>(n));
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<int> device_offsets(offsets);
  gpu_array<float> out(segments);
  segmented_reduce_into(gpu_, thrust::make_transform_iterator(pairs, sum_of_pair{}),
                        device_offsets.data(), segments, out.data());
  gpu_.synchronize();
  const std::vector<float> got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float expected = 2.0f * items[2 * i] + 2.0f * items[2 * i + 1];
    ASSERT_TRUE(same_bits(got[i], expected)) << "segment " << i;
  }
}

}  // namespace
}  // namespace tilefold::test
