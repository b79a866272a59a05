// SPDX-License-Identifier: Apache-2.0
//
// What ranks send each other and how often they combine, counted for any number of them; and from
// how many on merges of neighbours would be faster than the gather. Of sums of floats, over cuts
// that are drawn. Nothing is sent: a step is reckoned as 1.5 us and a byte as 0.1 ns, a combine is
// measured here. Prints a table of Markdown.
//
//     gather    every rank receives the blocks of all, and puts them together by itself
//     merges    step s: rank r + 2^s sends what it has to rank r, which puts both together;
//               in the end rank 0 sends the whole list back the same way
#include <tilefold/op.hpp>
#include <tilefold/reduce.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/ranks/block_list.hpp>

namespace {

using index = std::int64_t;
using reducer = tilefold::detail::op_reducer<float, tilefold::plus, tilefold::detail::as_is>;
using list = tilefold::detail::block_list<reducer>;
using blocks = list::blocks_type;

constexpr double step_seconds = 1.5e-6;
constexpr double byte_seconds = 1e-10;

struct kind_of_cuts {
  const char* name;
  index (*length)(std::mt19937_64&);
};

const kind_of_cuts kinds[] = {
    {"2^20 items each", [](std::mt19937_64&) { return index{1} << 20; }},
    {"10^6 items each", [](std::mt19937_64&) { return index{1000000}; }},
    {"0 to 2^21 items", [](std::mt19937_64& bits) { return static_cast<index>(bits() >> 43); }},
    {"0 to 2^31 items", [](std::mt19937_64& bits) { return static_cast<index>(bits() >> 33); }},
    {"0 to 2000 items", [](std::mt19937_64& bits) { return static_cast<index>(bits() % 2001); }}};

/// What either way costs: bytes that the busiest rank receives one after the other, and combines
/// that wait for each other.
struct cost {
  double bytes = 0;
  double combines = 0;
  int steps = 0;

  double seconds(double combine_seconds) const {
    return steps * step_seconds + bytes * byte_seconds + combines * combine_seconds;
  }
};

int steps_of(std::size_t ranks) {
  int steps = 0;
  while (std::size_t{1} << steps < ranks) ++steps;
  return steps;
}

/// `begins`: where each rank's items begin, and the end of all.
cost gather_of(const std::vector<index>& begins) {
  const std::size_t ranks = begins.size() - 1;
  int most = 0;
  double all = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const int count = blocks{{begins[r], begins[r + 1]}}.count();
    most = std::max(most, count);
    all += count;
  }
  return {static_cast<double>(ranks) * most * sizeof(float), all, steps_of(ranks)};
}

cost merges_of(const std::vector<index>& begins) {
  const std::size_t ranks = begins.size() - 1;
  cost sum;
  for (std::size_t half = 1; half < ranks; half *= 2) {
    int most = 0;
    for (std::size_t r = half; r < ranks; r += 2 * half) {
      const index end = begins[std::min(r + half, ranks)];
      most = std::max(most, blocks{{begins[r], end}}.count());
    }
    const int whole = blocks{{0, begins[ranks]}}.count();
    sum.bytes += (most + whole) * static_cast<double>(sizeof(float));
    sum.combines += most;
    sum.steps += 2;
  }
  return sum;
}

/// The time of a combine, with all that it takes to put it in its place.
double measured_combine() {
  std::mt19937_64 bits(1);
  std::vector<list> parts;
  index begin = 0;
  double combines = 0;
  const reducer sum{{}, {}};
  for (int r = 0; r < 1024; ++r) {
    const index end = begin + static_cast<index>(bits() >> 33);
    const blocks own{{begin, end}};
    list part(begin);
    for (int i = 0; i < own.count(); ++i) part.push(sum, 1.0f, own.size(i));
    combines += own.count();
    parts.push_back(part);
    begin = end;
  }
  double best = 1;
  float kept = 0;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    list whole(0);
    for (const list& part : parts) whole.append(sum, part);
    kept += whole.fold(sum);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / combines);
  }
  return kept > 0 ? best : 0;
}

std::vector<index> cut(std::size_t ranks, const kind_of_cuts& kind) {
  std::mt19937_64 bits(ranks);
  std::vector<index> begins{0};
  for (std::size_t r = 0; r < ranks; ++r) begins.push_back(begins.back() + kind.length(bits));
  return begins;
}

}  // namespace

int main() {
  const double combine = measured_combine();
  std::printf("A combine takes %.2f ns here.\n\n", combine * 1e9);
  std::printf("| items a rank | ranks | gather: KB, combines, us | merges: KB, combines, us |\n");
  std::printf("|---|---|---|---|\n");
  for (const kind_of_cuts& kind : kinds) {
    for (const std::size_t ranks : {8u, 64u, 1024u, 100000u}) {
      const auto begins = cut(ranks, kind);
      const cost all = gather_of(begins);
      const cost tree = merges_of(begins);
      std::printf("| %s | %zu | %.3g, %.0f, %.3g | %.3g, %.0f, %.3g |\n", kind.name, ranks,
                  all.bytes * 1e-3, all.combines, all.seconds(combine) * 1e6, tree.bytes * 1e-3,
                  tree.combines, tree.seconds(combine) * 1e6);
    }
  }
  std::printf("\nMerges are faster from how many ranks on:\n\n");
  for (const kind_of_cuts& kind : kinds) {
    std::size_t ranks = 2;
    for (; ranks < 1000000; ranks += std::max<std::size_t>(1, ranks / 20)) {
      const auto begins = cut(ranks, kind);
      if (merges_of(begins).seconds(combine) < gather_of(begins).seconds(combine)) break;
    }
    std::printf("- %s: %zu\n", kind.name, ranks);
  }
}
