// SPDX-License-Identifier: Apache-2.0
//
// Prints the bits of what a GPU makes of fixed numbers: a line `name n bits` each, with the word
// DIFFERS behind where the host makes others of them. Needs a GPU. Built by one compiler and by
// another, it prints the same (docs/compilers.md). No function here adds what it has itself
// multiplied (../contraction/functions.hpp).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

#include <tilefold/tilefold.cuh>

#include "../contraction/bits.hpp"
#include "../contraction/functions.hpp"

namespace tilefold::test::closed_reducer {
namespace {

namespace r = tilefold::reducers;

constexpr std::int64_t most = 2100001;
constexpr std::int64_t sizes[] = {1, 2, 31, 257, 4097, 70001, most};
int different = 0;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(status));
  std::exit(2);
}

/// An array that host and device read.
template <class T>
struct shared_array {
  T* items = nullptr;
  explicit shared_array(std::int64_t n) {
    check(cudaMallocManaged(&items, static_cast<std::size_t>(n) * sizeof(T)));
  }
  shared_array(const shared_array&) = delete;
  ~shared_array() { cudaFree(items); }
};

/// Of both signs, within 12 binades of 1.
double item(numbers& source) {
  const std::uint64_t sign = source.next() & 1;
  const std::uint64_t significand = source.next() << 31 | source.next();
  const std::uint64_t bits = sign << 63 | (1011 + source.next() % 25) << 52 | (significand >> 10);
  return __builtin_bit_cast(double, bits);
}
template <class T>
void fill(shared_array<T>& x, std::uint64_t seed) {
  numbers source(seed);
  for (std::int64_t i = 0; i < most; ++i) {
    x.items[i] = static_cast<T>(static_cast<float>(item(source)));
  }
}
void fill(shared_array<double>& x, std::uint64_t seed) {
  numbers source(seed);
  for (std::int64_t i = 0; i < most; ++i) x.items[i] = item(source);
}

void line(const std::string& name, std::int64_t n, const std::string& gpu,
          const std::string& host) {
  different += gpu != host;
  std::printf("%s %lld %s%s\n", name.c_str(), static_cast<long long>(n), gpu.c_str(),
              gpu == host ? "" : (" DIFFERS from the host's " + host).c_str());
}

cuda_executor& gpu() {
  static cuda_executor shared;
  return shared;
}
host_executor& host() {
  static host_executor shared(1);
  return shared;
}

/// verb(executor, n) by both, at every size.
template <class Verb>
void each_size(const std::string& name, const Verb& verb, std::int64_t least = 1) {
  for (const std::int64_t n : sizes) {
    if (n >= least) line(name, n, bits(verb(gpu(), n)), bits(verb(host(), n)));
  }
}

template <class T>
void ranges(const std::string& type) {
  shared_array<T> x(most), y(most);
  fill(x, 1);
  fill(y, 2);
  const T* a = x.items;
  const T* b = y.items;
  each_size(type + ".sum", [&](auto& on, std::int64_t n) { return reduce(on, a, a + n); });
  each_size(type + ".user", [&](auto& on, std::int64_t n) {
    return transform_reduce(on, a, a + n, T(1), sum{}, scale{});
  });
  each_size(type + ".struct", [&](auto& on, std::int64_t n) {
    return transform_reduce(on, a, a + n, scaled_pack<pack<T, 3>>{}(T(1)), pass_through{},
                            scaled_pack<pack<T, 3>>{});
  });
  each_size(type + ".dot",
            [&](auto& on, std::int64_t n) { return transform_reduce(on, a, a + n, b, r::dot{}); });
  each_size(type + ".exact_sum",
            [&](auto& on, std::int64_t n) { return reduce(on, a, a + n, r::exact_sum{}); });
  each_size(
      type + ".statistics",
      [&](auto& on, std::int64_t n) { return reduce(on, a, a + n, r::mean_variance{}); }, 2);
  each_size(type + ".arg_min",
            [&](auto& on, std::int64_t n) { return reduce(on, a, a + n, r::arg_min{}); });
  each_size(type + ".top_k",
            [&](auto& on, std::int64_t n) { return reduce(on, a, a + n, r::top_k<5>{}); });
  each_size(type + ".softmax_pair",
            [&](auto& on, std::int64_t n) { return reduce(on, a, a + n, r::softmax_pair{}); });
  each_size(type + ".own", [&](auto& on, std::int64_t n) {
    return reduce(on, a, a + n, r::make_reducer(shift{}, sum{}, scale{}));
  });
}

void narrow() {
  shared_array<half> x(most);
  fill(x, 3);
  each_size("half.sum", [&](auto& on, std::int64_t n) { return reduce(on, x.items, x.items + n); });
  each_size("half.mean",
            [&](auto& on, std::int64_t n) { return reduce(on, x.items, x.items + n, r::mean{}); });
}

/// Of results that a GPU may still be writing.
template <class T>
std::string digest_of(const shared_array<T>& results, std::int64_t n) {
  check(cudaDeviceSynchronize());
  return bits(closed_reducer::digest(results.items, n));
}

void many_results() {
  shared_array<float> x(most), out(most);
  shared_array<int> offsets(most), keys(most), unique(most);
  fill(x, 4);
  numbers lengths(5);
  std::int64_t segments = 0;
  offsets.items[0] = 0;
  while (offsets.items[segments] < most - 5000) {
    const auto length = static_cast<int>(lengths.next() % (lengths.next() % 16 == 0 ? 4000 : 40));
    for (int i = 0; i < length; ++i)
      keys.items[offsets.items[segments] + i] = static_cast<int>(segments);
    ++segments;
    offsets.items[segments] = offsets.items[segments - 1] + length;
  }
  const int n = offsets.items[segments];
  const auto both = [&](const char* name, const auto& verb) {
    const std::int64_t count = verb(gpu());
    const std::string by_gpu = digest_of(out, count);
    std::memset(out.items, 0, static_cast<std::size_t>(most) * sizeof(float));
    line(name, count, by_gpu, digest_of(out, verb(host())));
  };
  both("segments.sum", [&](auto& on) {
    segmented_reduce(on, x.items, offsets.items, segments, out.items);
    return segments;
  });
  both("segments.user", [&](auto& on) {
    segmented_reduce(on, x.items, offsets.items, segments, out.items, 0.7f, sum{});
    return segments;
  });
  for (const int length : {1, 7, 64, 2000}) {
    both(("rows of " + std::to_string(length)).c_str(), [&](auto& on) {
      segmented_reduce(on, x.items, most / length, length, out.items);
      return most / length;
    });
  }
  both("by_key", [&](auto& on) {
    return static_cast<std::int64_t>(
        reduce_by_key(on, keys.items, keys.items + n, x.items, unique.items, out.items));
  });
}

/// A matrix, or a row of results, as a view.
template <class T, int Rank>
struct view {
  T* first;
  std::int64_t extents[2], strides[2];
  std::int64_t rank() const { return Rank; }
  std::int64_t extent(std::size_t i) const { return extents[i]; }
  std::int64_t stride(std::size_t i) const { return strides[i]; }
  T* data_handle() const { return first; }
};
void axes() {
  shared_array<float> x(most), out(most);
  fill(x, 7);
  for (const std::int64_t columns : {1, 3, 40, 1000}) {
    const std::int64_t rows = most / columns;
    const view<float, 2> matrix{x.items, {rows, columns}, {columns, 1}};
    for (const int axis : {0, 1}) {
      const std::int64_t results = axis == 0 ? columns : rows;
      const view<float, 1> row{out.items, {results, 1}, {1, 1}};
      axis_reduce(gpu(), matrix, row, axis);
      const std::string by_gpu = digest_of(out, results);
      axis_reduce(host(), matrix, row, axis);
      line("axis " + std::to_string(axis), columns, by_gpu, digest_of(out, results));
    }
  }
}

// In kernels: the first `count` items of a block of 256 threads, and of its warps.
template <class Reducer>
__global__ void folds(const float* x, int count, float* of_block, float* of_warps,
                      Reducer reducer) {
  __shared__ block_storage<256, float> storage;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int left = count - warp * 32;
  const float item = static_cast<int>(threadIdx.x) < count ? x[threadIdx.x] : 0.0f;
  const float folded = block_fold(storage, item, count, reducer);
  if (threadIdx.x == 0) *of_block = folded;
  of_warps[warp] = warp_fold(item, left < 0 ? 0 : left > 32 ? 32 : left, reducer);
}
template <class Op>
void in_kernels(const std::string& name, Op op) {
  shared_array<float> x(most), out(16);
  fill(x, 6);
  for (const int count : {1, 2, 31, 32, 33, 100, 255, 256}) {
    folds<<<1, 256>>>(x.items, count, out.items, out.items + 1, op);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    line(name + ".block", count, bits(out.items[0]),
         bits(reduce(host(), x.items, x.items + count, op)));
    for (int w = 0; w * 32 < count; ++w) {
      const int end = w * 32 + 32 < count ? w * 32 + 32 : count;
      line(name + ".warp", count, bits(out.items[1 + w]),
           bits(reduce(host(), x.items + w * 32, x.items + end, op)));
    }
  }
}

}  // namespace
}  // namespace tilefold::test::closed_reducer

int main() {
  using namespace tilefold::test::closed_reducer;
#if !defined(PART) || PART == 0
  ranges<float>("float");
#endif
#if !defined(PART) || PART == 1
  ranges<double>("double");
#endif
#if !defined(PART) || PART == 2
  narrow();
  many_results();
  axes();
  in_kernels("kernel.plus", tilefold::plus{});
  in_kernels("kernel.user", sum{});
#endif
  std::printf("%d results differ from the host's\n", different);
  return different != 0;
}
