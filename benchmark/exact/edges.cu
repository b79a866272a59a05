// SPDX-License-Identifier: Apache-2.0
//
// What exact and other sums make of items at the edges of their type.
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "../support/device_array.hpp"
#include "../support/tilefold.cuh"
#include "contests.hpp"

namespace bench {

namespace {

template <class T>
struct edge {
  std::string items;  // in words
  std::vector<T> values;
  std::string real;  // the sum of the real numbers, rounded once
};

template <class T>
std::vector<edge<T>> edges() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T most = std::numeric_limits<T>::max();
  const T large = sizeof(T) == 8 ? static_cast<T>(1e300) : static_cast<T>(1e38f);
  const std::string name = sizeof(T) == 8 ? "1e300" : "1e38";
  const std::string twice = sizeof(T) == 8 ? "2e+300" : "1.9999999e+38";  // 1e38f is less
  return {
      {name + ", " + name, {large, large}, twice},
      {name + ", 1, -" + name, {large, 1, -large}, "1"},
      {"max, max, -max", {most, most, -most}, sizeof(T) == 8 ? "1.7976931e+308" : "3.4028235e+38"},
      {"inf, 1", {infinity, 1}, "inf"},
      {"inf, -inf", {infinity, -infinity}, "nan"},
      {"1000 times 0", std::vector<T>(1000, T{0}), "0"},
      {"-0, -0", {-T{0}, -T{0}}, "-0"}};
}

std::string text(double x) {
  if (x != x) return "nan";  // of either sign
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.8g", x);
  return buffer;
}

/// What a contestant makes of a few items.
template <class T>
std::string value_by(session& gpu, const contestant& who, const std::vector<T>& values) {
  const device_array<T> items(values);
  const device_array<T> out(1);
  const device_array<char> scratch(index{1} << 26);
  who.enqueue({{items.data(), out.data(), gpu.stream(), scratch.data(),
                static_cast<std::size_t>(scratch.size())},
               items.size()});
  T got;
  check(cudaMemcpyAsync(&got, out.data(), sizeof got, cudaMemcpyDefault, gpu.stream()), "copy");
  check(cudaStreamSynchronize(gpu.stream()), "a sum at the edges");
  return text(static_cast<double>(got));
}

template <class T>
void print_edges_of(session& gpu, const std::string& type) {
  namespace r = tilefold::reducers;
  std::vector<contestant> all;
  all.push_back(ours(gpu.stream(), [](auto& executor, const fold_call& c) {
    tilefold::reduce_into(executor, c.items<T>(), c.items<T>() + c.n, c.result<T>(),
                          r::exact_sum<>{});
  }));
  all.back().name = "tilefold exact_sum";
  all.push_back(ours(gpu.stream(), [](auto& executor, const fold_call& c) {
    tilefold::reduce_into(executor, c.items<T>(), c.items<T>() + c.n, c.result<T>(),
                          tilefold::plus{});
  }));
  all.back().name = "tilefold plus";
  const auto found = peers().find("exact_sum_" + type);
  if (found != peers().end()) all.insert(all.end(), found->second.begin(), found->second.end());
  std::printf("| %s | the real sum |", type.c_str());
  for (const contestant& who : all) std::printf(" %s |", who.name.c_str());
  std::printf("\n|---|--:|");
  for (std::size_t i = 0; i < all.size(); ++i) std::printf("--:|");
  std::printf("\n");
  for (const edge<T>& e : edges<T>()) {
    std::printf("| %s | %s |", e.items.c_str(), e.real.c_str());
    for (const contestant& who : all) std::printf(" %s |", value_by(gpu, who, e.values).c_str());
    std::printf("\n");
  }
  std::printf("\n");
}

}  // namespace

void print_edges(session& gpu) {
  print_edges_of<double>(gpu, "double");
  print_edges_of<float>(gpu, "float");
  std::fflush(stdout);
}

}  // namespace bench
