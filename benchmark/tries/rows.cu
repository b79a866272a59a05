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
#include <tilefold/tilefold.cuh>
#define MUST(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { std::printf("%s: %s\n", #x, cudaGetErrorString(code_)); std::exit(1);} } while (0)
template <int N> struct many { float x[N]; };
struct add_many { template <int N> __host__ __device__ many<N> operator()(const many<N>& a, const many<N>& b) const { many<N> c; for (int i = 0; i < N; ++i) c.x[i] = a.x[i] + b.x[i]; return c; } };
__global__ void fill(float* p, std::int64_t n) { for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x) p[i] = float(int(i * 2654435761u >> 8) % 2001 - 1000) * 0.001f; }
tilefold::cuda_executor* gpu;
float* items; std::int64_t most = std::int64_t{1} << 30;
float* out; std::int64_t* offs;
void* sweep; // between cold calls
std::string only;
unsigned long long hash_of(const void* p, std::size_t bytes) { std::vector<unsigned char> h(bytes); MUST(cudaMemcpy(h.data(), p, bytes, cudaMemcpyDeviceToHost)); unsigned long long x = 1469598103934665603ull; for (std::size_t i = 0; i + 4 <= bytes; i += 4) { unsigned w; std::memcpy(&w, &h[i], 4); x = (x ^ w) * 1099511628211ull; } return x; }
void row(const std::string& name, std::size_t result_bytes, const std::function<void()>& call, bool hot = false) {
  if (!only.empty() && name.find(only) == std::string::npos) return;
  cudaStream_t s = gpu->stream();
  MUST(cudaMemset(out, 0xff, result_bytes));
  call(); MUST(cudaStreamSynchronize(s)); call();
  cudaEvent_t a, b; MUST(cudaEventCreate(&a)); MUST(cudaEventCreate(&b));
  std::vector<float> all;
  if (hot) {
    cudaGraph_t g; cudaGraphExec_t e;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 20; ++i) call();
    MUST(cudaStreamEndCapture(s, &g)); MUST(cudaGraphInstantiate(&e, g, 0));
    for (int r = 0; r < 25; ++r) { MUST(cudaEventRecord(a, s)); MUST(cudaGraphLaunch(e, s)); MUST(cudaEventRecord(b, s)); MUST(cudaEventSynchronize(b)); float ms; MUST(cudaEventElapsedTime(&ms, a, b)); all.push_back(ms * 50); }
    MUST(cudaGraphExecDestroy(e)); MUST(cudaGraphDestroy(g));
  } else {
    for (int r = 0; r < 9; ++r) { MUST(cudaMemsetAsync(sweep, r, 64 << 20, s)); MUST(cudaEventRecord(a, s)); call(); MUST(cudaEventRecord(b, s)); MUST(cudaEventSynchronize(b)); float ms; MUST(cudaEventElapsedTime(&ms, a, b)); all.push_back(ms * 1000); }
  }
  std::sort(all.begin(), all.end());
  std::printf("%-34s %9.2f us  (%.2f..%.2f) %016llx\n", name.c_str(), all[all.size() / 2], all.front(), all.back(), hash_of(out, result_bytes));
  std::fflush(stdout);
}
template <class Length> std::vector<std::int64_t> lengths(std::int64_t n, Length next) { std::vector<std::int64_t> o{0}; while (o.back() < n) o.push_back(std::min(n, o.back() + next())); return o; }
std::int64_t put(const std::vector<std::int64_t>& o) { MUST(cudaMemcpy(offs, o.data(), o.size() * 8, cudaMemcpyHostToDevice)); return std::int64_t(o.size()) - 1; }
int main(int argc, char** argv) {
  if (argc > 1) only = argv[1];
  tilefold::cuda_executor exec; gpu = &exec;
  MUST(cudaMalloc(&items, (most + 64) * 4)); MUST(cudaMalloc(&out, std::size_t{2} << 30)); MUST(cudaMalloc(&offs, std::size_t{9} << 27)); MUST(cudaMalloc(&sweep, 64 << 20));
  fill<<<1024, 256>>>(items, most); MUST(cudaDeviceSynchronize());
  std::mt19937_64 bits(7);
  [[maybe_unused]] auto geometric = [&](double mean) { return [&bits, d = std::geometric_distribution<std::int64_t>(1 / mean)]() mutable { return d(bits); }; };
  [[maybe_unused]] auto uniform = [&](std::int64_t mean) { return [&bits, d = std::uniform_int_distribution<std::int64_t>(0, 2 * mean)]() mutable { return d(bits); }; };
  [[maybe_unused]] auto sums = [&](const std::string& name, const std::vector<std::int64_t>& o) { const auto n = put(o); row(name, std::size_t(n) * 4, [=] { tilefold::segmented_reduce_into(*gpu, items, offs, n, out); }); };
#ifdef ROWS_FORESTS
  const std::int64_t g = std::int64_t{1} << 30;
  { std::vector<std::int64_t> o{0, 1 << 25}; for (int s = 0; s < 1 << 22; ++s) o.push_back(o.back() + 8); sums("giant", o); }
  for (int mean : {64, 256, 1024, 4096}) sums("geometric " + std::to_string(mean), lengths(g, geometric(mean)));
  for (int mean : {256, 1024, 4096}) sums("uniform " + std::to_string(mean), lengths(g, uniform(mean)));
  for (int mean : {1000, 4096, 65536}) sums("constant " + std::to_string(mean), lengths(g, [=] { return std::int64_t{mean}; }));
  sums("1 GiB, constant 1024", lengths(g / 4, [] { return std::int64_t{1024}; }));
  sums("1 GiB, geometric 1024", lengths(g / 4, geometric(1024)));
  sums("64 MiB, geometric 1024", lengths(g / 64, geometric(1024)));
  sums("power law", lengths(g / 4, [&]() -> std::int64_t { const auto dice = bits() % 10'000'000; return dice == 0 ? 10'000'000 : dice < 3'000'000 ? 0 : 1 + bits() % 8; }));
#endif
#ifdef ROWS_LANES
  const std::int64_t g = std::int64_t{1} << 30;
  for (int mean : {4, 7, 16, 33, 64, 128, 256, 512}) sums("geometric " + std::to_string(mean), lengths(mean < 16 ? g / 8 : g, geometric(mean)));
  for (int mean : {16, 64, 256}) sums("uniform " + std::to_string(mean), lengths(g, uniform(mean)));
  for (int mean : {33, 100, 256}) sums("constant " + std::to_string(mean), lengths(g, [=] { return std::int64_t{mean}; }));
  for (int mean : {16, 64, 256}) sums("64 MiB, geometric " + std::to_string(mean), lengths(g / 64, geometric(mean)));
#endif
#ifdef ROWS_STRUCT_FORESTS
  const std::int64_t words = std::int64_t{1} << 28;
  auto structs = [&]<int N>(many<N>*) {
    for (int mean : {4, 64, 1024}) { const auto n = put(lengths(words / N, geometric(mean))); const auto* p = reinterpret_cast<const many<N>*>(items); auto* q = reinterpret_cast<many<N>*>(out);
      row("structs of " + std::to_string(4 * N) + ", geometric " + std::to_string(mean), std::size_t(n) * 4 * N, [=] { tilefold::segmented_reduce_into(*gpu, p, offs, n, q, many<N>{}, add_many{}); }); } };
  structs((many<6>*)nullptr); structs((many<8>*)nullptr); structs((many<16>*)nullptr);
#endif
#ifdef ROWS_STRUCTS
  const std::int64_t words = std::int64_t{1} << 28;
  auto structs = [&]<int N>(many<N>*) {
    for (std::int64_t length : {4, 16, 64, 256, 1024}) { const std::int64_t n = words / N / length; const auto* p = reinterpret_cast<const many<N>*>(items); auto* q = reinterpret_cast<many<N>*>(out);
      row("structs of " + std::to_string(4 * N) + ", equal " + std::to_string(length), std::size_t(n) * 4 * N, [=] { tilefold::segmented_reduce_into(*gpu, p, n, length, q, many<N>{}, add_many{}); }); } };
  structs((many<3>*)nullptr); structs((many<6>*)nullptr); structs((many<8>*)nullptr); structs((many<16>*)nullptr); structs((many<32>*)nullptr);
#endif
#ifdef ROWS_DEFERRED
  std::int64_t* number; MUST(cudaMalloc(&number, 8));
  for (int k : {0, 10, 13, 14, 16, 17, 18, 19, 20, 21, 22, 25, 28}) { const std::int64_t n = (std::int64_t{1} << k) - (k > 0 ? 0 : 1); MUST(cudaMemcpy(number, &n, 8, cudaMemcpyHostToDevice));
    for (int bound : {k, 28}) if (bound == k || k < 28) row("deferred 2^" + std::to_string(k) + " of 2^" + std::to_string(bound), 4, [=] { tilefold::reduce_into(*gpu, items, tilefold::deferred(number, std::int64_t{1} << bound), out); }, k < 25);
    row("told     2^" + std::to_string(k), 4, [=] { tilefold::reduce_into(*gpu, items, items + n, out); }, k < 25); }
#endif
}
