// SPDX-License-Identifier: Apache-2.0
// Calls from the host, one after the other: us a call, medians of repetitions; CUB of the toolkit beside.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>
#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>
#include <tilefold/tilefold.cuh>
#define MUST(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { std::printf("%s: %s\n", #x, cudaGetErrorString(code_)); std::exit(1);} } while (0)
struct contestant { std::string name; cudaStream_t s; std::function<void()> call; std::vector<double> us; };
template <class T, class Acc> void rows(const char* type) {
  for (int e : {10, 12}) {
    const int n = 1 << e; T* x; Acc* out; char* temp; MUST(cudaMalloc(&x, n * sizeof(T))); MUST(cudaMalloc(&out, 64)); MUST(cudaMalloc(&temp, 1 << 20)); MUST(cudaMemset(x, 1, n * sizeof(T)));
    cudaStream_t mine; MUST(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
    tilefold::cuda_executor borrowed(mine), own;
    std::size_t bytes = 1 << 20;
    auto cub_in = [=](cudaStream_t s) { return [=] { std::size_t b = bytes; MUST(cub::DeviceReduce::Reduce(temp, b, x, out, n, cuda::std::plus<>{}, Acc{}, s)); }; };
    std::vector<contestant> all{
      {"tilefold, caller's stream", mine, [&] { tilefold::reduce_into<Acc>(borrowed, x, x + n, out, tilefold::plus{}); }, {}},
      {"tilefold, own stream", own.stream(), [&] { tilefold::reduce_into<Acc>(own, x, x + n, out, tilefold::plus{}); }, {}},
      {"tilefold, caller's, 256 x 4", mine, [&] { auto p = tilefold::with_policy<tilefold::tile_policy{256, 4}>(borrowed); tilefold::reduce_into<Acc>(p, x, x + n, out, tilefold::plus{}); }, {}},
      {"tilefold, caller's, 128 x 8", mine, [&] { auto p = tilefold::with_policy<tilefold::tile_policy{128, 8}>(borrowed); tilefold::reduce_into<Acc>(p, x, x + n, out, tilefold::plus{}); }, {}},
      {"cub, caller's stream", mine, cub_in(mine), {}},
      {"cub, the other stream", own.stream(), cub_in(own.stream()), {}},
    };
    for (auto& c : all) { for (int i = 0; i < 200; ++i) c.call(); MUST(cudaStreamSynchronize(c.s)); }
    for (int r = 0; r < 101; ++r) for (auto& c : all) { const auto a = std::chrono::steady_clock::now(); for (int i = 0; i < 200; ++i) c.call(); MUST(cudaStreamSynchronize(c.s)); c.us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - a).count() / 200); }
    for (auto& c : all) { std::sort(c.us.begin(), c.us.end()); std::printf("%s 2^%d %-32s %6.2f us (%.2f..%.2f)\n", type, e, c.name.c_str(), c.us[50], c.us[25], c.us[75]); }
  }
}
int main() { rows<float, float>("float"); rows<std::int8_t, std::int32_t>("int8"); rows<float, float>("float again"); rows<std::int8_t, std::int32_t>("int8 again"); }
