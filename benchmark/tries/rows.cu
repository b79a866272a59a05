// SPDX-License-Identifier: Apache-2.0
// Times rows by each of several builds of tilefold: us a call, medians.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#include <tilefold/if_empty.hpp>
#include <tilefold/tilefold.cuh>
#define MUST(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { std::printf("%s: %s\n", #x, cudaGetErrorString(code_)); std::exit(1);} } while (0)
template <class T, int N> struct alignas(N == 4 && sizeof(T) == 4 ? 16 : alignof(T)) many { T x[N]; };
struct add_many { template <class T, int N> __host__ __device__ many<T, N> operator()(const many<T, N>& a, const many<T, N>& b) const { many<T, N> c; for (int i = 0; i < N; ++i) c.x[i] = a.x[i] + b.x[i]; return c; } };
__global__ void fill(float* p, std::int64_t n) { for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x) p[i] = float(int(unsigned(i) * 2654435761u >> 8) % 2001 - 1000) * 0.001f; }
template <class T> __global__ void fill_as(T* p, std::int64_t n) { for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x) p[i] = T(int(unsigned(i) * 2654435761u >> 8) % 2001 - 1000) * T(0.001); }
__global__ void fill_keys(int* keys, std::int64_t n, std::int64_t run, std::int64_t giant) { for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x) { bool g = giant > 0 && i / giant % 8 == 0; keys[i] = int((g ? i / giant * giant : i) / run); } }
tilefold::cuda_executor* gpu;
float* items; const std::int64_t words = std::int64_t{1} << 28;
float* out; std::int64_t* offs; int* keys; int* keys_out; std::int64_t* count;
void* sweep;
std::string only, build;
unsigned long long hash_of(const void* p, std::size_t bytes) { std::vector<unsigned char> h(bytes); MUST(cudaMemcpy(h.data(), p, bytes, cudaMemcpyDeviceToHost)); unsigned long long x = 1469598103934665603ull; for (std::size_t i = 0; i + 4 <= bytes; i += 4) { unsigned w; std::memcpy(&w, &h[i], 4); x = (x ^ w) * 1099511628211ull; } return x; }
void row(const std::string& name, std::size_t result_bytes, const std::function<void()>& call) {
  if (!only.empty() && name.find(only) == std::string::npos) return;
  cudaStream_t s = gpu->stream();
  MUST(cudaMemset(out, 0xff, result_bytes));
  call(); MUST(cudaStreamSynchronize(s)); call();
  cudaEvent_t a, b; MUST(cudaEventCreate(&a)); MUST(cudaEventCreate(&b));
  std::vector<float> all;
  for (int r = 0; r < 9; ++r) { MUST(cudaMemsetAsync(sweep, r, 64 << 20, s)); MUST(cudaEventRecord(a, s)); call(); MUST(cudaEventRecord(b, s)); MUST(cudaEventSynchronize(b)); float ms; MUST(cudaEventElapsedTime(&ms, a, b)); all.push_back(ms * 1000); }
  std::sort(all.begin(), all.end());
  std::printf("%-6s %-34s %9.2f us  (%.2f..%.2f) %016llx\n", build.c_str(), name.c_str(), all[all.size() / 2], all.front(), all.back(), hash_of(out, std::min(result_bytes, std::size_t{1} << 24)));
  std::fflush(stdout);
}
template <class Length> std::vector<std::int64_t> lengths(std::int64_t n, Length next) { std::vector<std::int64_t> o{0}; while (o.back() < n) o.push_back(std::min(n, o.back() + next())); return o; }
std::int64_t put(const std::vector<std::int64_t>& o) { MUST(cudaMemcpy(offs, o.data(), o.size() * 8, cudaMemcpyHostToDevice)); return std::int64_t(o.size()) - 1; }
std::int64_t drop(const std::vector<std::int64_t>& o) { return put(o); }
template <class T, int N> void equal(std::int64_t length, const char* tag = "") {
  using item = many<T, N>;
  const std::int64_t n = words * 4 / sizeof(item) / length; const auto* p = reinterpret_cast<const item*>(items); auto* q = reinterpret_cast<item*>(out);
  row("struct " + std::to_string(sizeof(item)) + " equal " + std::to_string(length) + tag, std::size_t(n) * sizeof(item), [=] { tilefold::segmented_reduce_into(*gpu, p, n, length, q, tilefold::if_empty(add_many{}, item{})); });
}
template <class T, int N> void geometric(double mean) {
  using item = many<T, N>;
  std::mt19937_64 bits(7); std::geometric_distribution<std::int64_t> d(1 / mean);
  const auto n = put(lengths(words * 4 / sizeof(item), [&] { return d(bits); })); const auto* p = reinterpret_cast<const item*>(items); auto* q = reinterpret_cast<item*>(out);
  row("struct " + std::to_string(sizeof(item)) + " geometric " + std::to_string(int(mean)), std::size_t(n) * sizeof(item), [=] { tilefold::segmented_reduce_into(*gpu, p, offs, n, q, tilefold::if_empty(add_many{}, item{})); });
}
namespace r = tilefold::reducers;
int main(int argc, char** argv) {
  build = argv[1]; if (argc > 2) only = argv[2];
  tilefold::cuda_executor exec; gpu = &exec;
  MUST(cudaMalloc(&items, (words + 64) * 4)); MUST(cudaMalloc(&out, std::size_t{3} << 30)); MUST(cudaMalloc(&offs, std::size_t{9} << 27)); MUST(cudaMalloc(&sweep, 64 << 20));
  MUST(cudaMalloc(&keys, words * 4)); MUST(cudaMalloc(&keys_out, words * 4)); MUST(cudaMalloc(&count, 8));
  fill<<<1024, 256>>>(items, words); MUST(cudaDeviceSynchronize());
  { const auto n = words; row("read as a sum", 4, [=] { tilefold::reduce_into(*gpu, items, items + n, out); }); }
  equal<float, 4>(4); equal<float, 4>(1024); geometric<float, 4>(4);
  {
    const auto four = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
    using result = decltype(tilefold::reduce(exec, static_cast<const float*>(nullptr), static_cast<const float*>(nullptr), four));
    auto* q = reinterpret_cast<result*>(out); const auto op = tilefold::if_empty(four, result{});
    for (std::int64_t length : {std::int64_t{65536}}) { const auto n = words / length; row("statistics equal " + std::to_string(length), std::size_t(n) * sizeof(result), [=] { tilefold::segmented_reduce_into(*gpu, items, n, length, q, op); });
      for (std::int64_t w : {std::int64_t{65536}}) { tilefold::detail::cuda::t_warp_items = w; row("statistics equal " + std::to_string(length) + " a warp each", std::size_t(n) * sizeof(result), [=] { tilefold::segmented_reduce_into(*gpu, items, n, length, q, op); }); tilefold::detail::cuda::t_warp_items = 0; } }
    const auto n = put(lengths(words, [] { return std::int64_t{64}; })); row("statistics offsets 64", std::size_t(n) * sizeof(result), [=] { tilefold::segmented_reduce_into(*gpu, items, offs, n, q, op); });
  }
  {
    const auto n = words; fill_keys<<<1024, 256>>>(keys, n, 4, 10'000'000); MUST(cudaDeviceSynchronize());
    row("by key, power law", 1 << 24, [=] { tilefold::reduce_by_key_into(*gpu, keys, keys + n, items, keys_out, out, count); });
  }
  fill_as<double><<<1024, 256>>>(reinterpret_cast<double*>(items), words / 2); MUST(cudaDeviceSynchronize());
  equal<double, 3>(64);
  for (std::int64_t w : {std::int64_t{0}, std::int64_t{512}}) {
    tilefold::detail::cuda::t_warp_items = w; const char* tag = w ? " by blocks" : "";
    equal<double, 3>(1024, tag); equal<double, 4>(1024, tag); equal<double, 8>(1024, tag); equal<double, 16>(1024, tag);
  }
  tilefold::detail::cuda::t_warp_items = 0;
  equal<double, 16>(4); geometric<double, 16>(4);
}
