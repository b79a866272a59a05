// SPDX-License-Identifier: Apache-2.0
//
// The host executor against what a user would write instead: std::reduce (par_unseq),
// tbb::parallel_reduce and an OpenMP simd loop, in one run, their turns interleaved, every result
// checked. The rivals are compiled with the flags of this program, as in a user's build; the
// context lines say for which instruction set that is.
//
//     tilefold_host_benchmark [--quick] --benchmark_filter='float_sum|double_sum'
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <execution>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/tilefold.hpp>

#include "forests.hpp"

namespace {

using index = std::int64_t;

struct sizes {
  index smallest, largest;
  int factor;  // from one to the next
};
constexpr sizes all_sizes{index{1} << 10, index{1} << 26, 4};
constexpr sizes few_sizes{index{1} << 12, index{1} << 24, 64};
sizes measured = all_sizes;

// ---- input: both signs, magnitudes over 20 binades, no zeros

template <class T>
T random_item(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits | 1);
  } else {
    const double magnitude = std::ldexp(1.0 + static_cast<double>(bits >> 12) * 0x1p-52,
                                        static_cast<int>(bits % 20) - 10);
    return static_cast<T>(static_cast<float>((bits >> 11) & 1 ? magnitude : -magnitude));
  }
}

/// z -> scale * z + shift over the complex numbers, by its parts.
template <class Real>
struct affine_map {
  Real scale_re, scale_im, shift_re, shift_im;

  template <class Other>
  explicit operator affine_map<Other>() const {
    return {static_cast<Other>(scale_re), static_cast<Other>(scale_im),
            static_cast<Other>(shift_re), static_cast<Other>(shift_im)};
  }
};

/// First `f`, then `g`. Associative, not commutative.
struct composition {
  template <class Real>
  affine_map<Real> operator()(const affine_map<Real>& f, const affine_map<Real>& g) const {
    return {g.scale_re * f.scale_re - g.scale_im * f.scale_im,
            g.scale_re * f.scale_im + g.scale_im * f.scale_re,
            g.scale_re * f.shift_re - g.scale_im * f.shift_im + g.shift_re,
            g.scale_re * f.shift_im + g.scale_im * f.shift_re + g.shift_im};
  }
};

// Rotations, so that products of millions neither vanish nor overflow.
template <>
affine_map<float> random_item(std::mt19937_64& random) {
  const double angle = static_cast<double>(random() >> 11) * 0x1p-53 * 6.283185307179586;
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)),
          random_item<float>(random), random_item<float>(random)};
}

/// The first n items of a sequence that is made as far as it is asked for.
template <class T, int Seed = 1>
const T* items(index n) {
  static std::mt19937_64 random(Seed);
  static std::vector<T> made;
  made.reserve(static_cast<std::size_t>(n));
  while (static_cast<index>(made.size()) < n) made.push_back(random_item<T>(random));
  return made.data();
}

// ---- the rivals

template <class T>
auto value_of(const T& item) {
  if constexpr (tilefold::is_narrow_float<T>) {
    return static_cast<float>(item);
  } else {
    return item;
  }
}

template <class Acc, class T>
Acc std_sum(const T* p, index n) {
  return std::transform_reduce(std::execution::par_unseq, p, p + n, Acc{}, std::plus<>(),
                               [](const T& item) { return static_cast<Acc>(value_of(item)); });
}

template <class Acc, class T>
Acc tbb_sum(const T* p, index n) {
  const auto body = [p](const tbb::blocked_range<index>& range, Acc sum) {
    const T* const first = p + range.begin();
    const auto count = static_cast<index>(range.size());
#pragma omp simd reduction(+ : sum)
    for (index i = 0; i < count; ++i) sum += static_cast<Acc>(value_of(first[i]));
    return sum;
  };
  return tbb::parallel_reduce(tbb::blocked_range<index>(0, n), Acc{}, body, std::plus<>());
}

template <class Acc, class T>
Acc omp_sum(const T* p, index n) {
  Acc sum{};
#pragma omp parallel for simd reduction(+ : sum)
  for (index i = 0; i < n; ++i) sum += static_cast<Acc>(value_of(p[i]));
  return sum;
}

float smaller(float a, float b) { return b < a ? b : a; }

float std_min(const float* p, index n) {
  return std::reduce(std::execution::par_unseq, p, p + n, p[0], smaller);
}

float tbb_min(const float* p, index n) {
  const auto body = [p](const tbb::blocked_range<index>& range, float least) {
    const float* const first = p + range.begin();
    const auto count = static_cast<index>(range.size());
#pragma omp simd reduction(min : least)
    for (index i = 0; i < count; ++i) least = smaller(least, first[i]);
    return least;
  };
  return tbb::parallel_reduce(tbb::blocked_range<index>(0, n), p[0], body, smaller);
}

float omp_min(const float* p, index n) {
  float least = p[0];
#pragma omp parallel for simd reduction(min : least)
  for (index i = 0; i < n; ++i) least = smaller(least, p[i]);
  return least;
}

float std_dot(const float* p, const float* q, index n) {
  return std::transform_reduce(std::execution::par_unseq, p, p + n, q, 0.0f);
}

float tbb_dot(const float* p, const float* q, index n) {
  const auto body = [p, q](const tbb::blocked_range<index>& range, float sum) {
    const float* const x = p + range.begin();
    const float* const y = q + range.begin();
    const auto count = static_cast<index>(range.size());
#pragma omp simd reduction(+ : sum)
    for (index i = 0; i < count; ++i) sum += x[i] * y[i];
    return sum;
  };
  return tbb::parallel_reduce(tbb::blocked_range<index>(0, n), 0.0f, body, std::plus<>());
}

float omp_dot(const float* p, const float* q, index n) {
  float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
  for (index i = 0; i < n; ++i) sum += p[i] * q[i];
  return sum;
}

affine_map<float> tbb_compose(const affine_map<float>* p, index n) {
  const composition op;
  const auto body = [p, op](const tbb::blocked_range<index>& range, affine_map<float> value) {
    for (index i = range.begin(); i < range.end(); ++i) value = op(value, p[i]);
    return value;
  };
  return tbb::parallel_reduce(tbb::blocked_range<index>(0, n), affine_map<float>{1, 0, 0, 0}, body,
                              op);
}

// ---- checks: against a fold in double; exact where the arithmetic is

template <class T>
bool close(const T& got, double expected, double scale) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(got) == expected;
  } else {
    const double epsilon = std::numeric_limits<T>::epsilon();
    // Plain loops lose more digits than trees do: n / (threads * lanes) additions in a row.
    return std::abs(static_cast<double>(got) - expected) <= 1e4 * epsilon * scale;
  }
}

bool close(const affine_map<float>& got, const affine_map<double>& expected) {
  const auto near = [](float a, double b, double scale) { return std::abs(a - b) <= 2e-2 * scale; };
  return near(got.scale_re, expected.scale_re, 1) && near(got.scale_im, expected.scale_im, 1) &&
         near(got.shift_re, expected.shift_re, 1e6) && near(got.shift_im, expected.shift_im, 1e6);
}

// ---- running and reporting

template <class Fold, class Check>
void contest(const std::string& what, const std::string& who, index item_bytes, Fold fold,
             Check check) {
  const auto checked = std::make_shared<std::set<index>>();
  const auto run = [=](benchmark::State& state) {
    const index n = state.range(0);
    if (checked->count(n) == 0 && !check(fold(n), n)) {
      state.SkipWithError("wrong result");
      return;
    }
    checked->insert(n);
    for (auto _ : state) benchmark::DoNotOptimize(fold(n));
    state.SetBytesProcessed(state.iterations() * n * item_bytes);
  };
  benchmark::RegisterBenchmark((what + "/" + who).c_str(), run)
      ->RangeMultiplier(measured.factor)
      ->Range(measured.smallest, measured.largest)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

template <class Acc, class T>
void sums(const std::string& what) {
  const auto check = [](const Acc& got, index n) {
    const T* p = items<T>(n);
    using wide = std::conditional_t<std::is_integral_v<Acc>, std::int64_t, double>;
    const auto add = [=](auto f) {
      return tilefold::transform_reduce(p, p + n, wide{}, std::plus<>(), f);
    };
    const wide sum = add([](const T& item) { return static_cast<wide>(value_of(item)); });
    if constexpr (std::is_integral_v<Acc>) {
      return got == static_cast<Acc>(sum);
    } else {
      return close(got, sum,
                   add([](const T& item) { return std::abs(static_cast<wide>(value_of(item))); }));
    }
  };
  const auto enter = [&](const std::string& who, Acc (*sum)(const T*, index)) {
    contest(what, who, sizeof(T), [=](index n) { return sum(items<T>(n), n); }, check);
  };
  enter("tilefold", [](const T* p, index n) { return tilefold::reduce<Acc>(p, p + n); });
  enter("std", std_sum<Acc, T>);
  enter("tbb", tbb_sum<Acc, T>);
  enter("openmp", omp_sum<Acc, T>);
}

void minima(const std::string& what) {
  const auto check = [](float got, index n) {
    return got == *std::min_element(items<float>(n), items<float>(n) + n);
  };
  const auto enter = [&](const std::string& who, float (*min)(const float*, index)) {
    contest(what, who, sizeof(float), [=](index n) { return min(items<float>(n), n); }, check);
  };
  enter("tilefold",
        [](const float* p, index n) { return tilefold::reduce(p, p + n, tilefold::minimum()); });
  enter("std", std_min);
  enter("tbb", tbb_min);
  enter("openmp", omp_min);
}

void dot_products(const std::string& what) {
  using dot = float (*)(const float*, const float*, index);
  const auto check = [](float got, index n) {
    const float* p = items<float>(n);
    const float* q = items<float, 2>(n);
    const auto product = [](float a, float b) { return static_cast<double>(a) * b; };
    const auto magnitude = [](float a, float b) { return std::abs(static_cast<double>(a) * b); };
    return close(got, tilefold::transform_reduce(p, p + n, q, 0.0, std::plus<>(), product),
                 tilefold::transform_reduce(p, p + n, q, 0.0, std::plus<>(), magnitude));
  };
  const auto enter = [&](const std::string& who, dot f) {
    contest(
        what, who, 2 * sizeof(float),
        [=](index n) { return f(items<float>(n), items<float, 2>(n), n); }, check);
  };
  enter("tilefold", [](const float* p, const float* q, index n) {
    return tilefold::transform_reduce(p, p + n, q, 0.0f);
  });
  enter("std", std_dot);
  enter("tbb", tbb_dot);
  enter("openmp", omp_dot);
}

// Exact reducers against ours in the fold order: what exactness costs.
template <class T>
void exact_sums(const std::string& what) {
  namespace r = tilefold::reducers;
  const auto enter = [&](const std::string& reducer, int arrays, auto exact, auto plain) {
    // Tests say whether it is exact.
    const auto check = [plain](const T& got, index n) {
      const auto near = static_cast<double>(plain(n));
      return close(got, near, std::abs(near));
    };
    const auto name = what + "_" + reducer;
    const auto bytes = static_cast<index>(arrays * sizeof(T));
    contest(name, "tilefold", bytes, exact, check);
    contest(name, "plain", bytes, plain, check);
  };
  const auto one = [](auto reducer) {
    return [=](index n) -> T { return tilefold::reduce(items<T>(n), items<T>(n) + n, reducer); };
  };
  const auto sum = [](index n) -> T { return tilefold::reduce(items<T>(n), items<T>(n) + n); };
  const auto dot = [](index n) -> T {
    return tilefold::transform_reduce(items<T>(n), items<T>(n) + n, items<T, 2>(n), T{});
  };
  const auto squares = [](index n) -> T {
    return tilefold::transform_reduce(items<T>(n), items<T>(n) + n, items<T>(n), T{});
  };
  const auto exact_dot = [](index n) -> T {
    return tilefold::transform_reduce(items<T>(n), items<T>(n) + n, items<T, 2>(n), r::exact_dot{});
  };
  enter("exact_sum", 1, one(r::exact_sum{}), sum);
  enter("exact_sum_of_squares", 1, one(r::exact_sum_of_squares{}), squares);
  enter("exact_dot", 2, exact_dot, dot);
}

// std::reduce and OpenMP's loops may swap operands, so they are no rivals here.
void compositions(const std::string& what) {
  using map = affine_map<float>;
  const auto check = [](const map& got, index n) {
    const map* p = items<map>(n);
    return close(got, tilefold::reduce<affine_map<double>>(p, p + n, composition()));
  };
  const auto enter = [&](const std::string& who, map (*compose)(const map*, index)) {
    contest(what, who, sizeof(map), [=](index n) { return compose(items<map>(n), n); }, check);
  };
  enter("tilefold",
        [](const map* p, index n) { return tilefold::reduce(p, p + n, composition()); });
  enter("tbb", tbb_compose);
}

/// The console's lines, and at the end one line for each contest: our median against the best
/// rival's.
class ratio_reporter : public benchmark::ConsoleReporter {
 public:
  ratio_reporter() : ConsoleReporter(OO_None) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const std::string name = run.run_name.function_name;
      const auto slash = name.find('/');
      if (run.error_occurred) {
        std::printf("%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
      } else if (run.run_type == Run::RT_Iteration) {
        times_[name.substr(0, slash)][std::stoll(run.run_name.args)][name.substr(slash + 1)]
            .push_back(run.counters.at("bytes_per_second") * 1e-9);
      }
    }
  }

  void Finalize() override {
    std::printf("%-12s %10s  median GB/s (spread)\n", "", "n");
    for (auto& [what, by_size] : times_) {
      for (auto& [n, by_rival] : by_size) report(what, n, by_rival);
    }
  }

 private:
  using rates = std::map<std::string, std::vector<double>>;

  static void report(const std::string& what, index n, rates& by_rival) {
    std::printf("%-12s %10lld ", what.c_str(), static_cast<long long>(n));
    double ours = 0;
    double best = 0;
    double read = 0;
    for (auto& [who, rate] : by_rival) {
      std::sort(rate.begin(), rate.end());
      const double median = rate[rate.size() / 2];
      std::printf(" %s %.2f (%.2f-%.2f)", who.c_str(), median, rate.front(), rate.back());
      double& rank = who == "tilefold" ? ours : who == "read" ? read : best;
      rank = std::max(rank, median);
    }
    if (ours > 0 && best > 0) std::printf("  ratio %.2f", ours / best);
    if (ours > 0 && read > 0) std::printf("  of ceiling %.2f", ours / read);
    std::printf("\n");
  }

  std::map<std::string, std::map<index, rates>> times_;
};

const char* instruction_set() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__SSE2__)
  return "SSE2 (x86-64 baseline)";
#else
  return "the compiler's default";
#endif
}

void register_all() {
  sums<float, float>("float_sum");
  sums<double, double>("double_sum");
  sums<float, tilefold::half>("half_sum");
  sums<std::int32_t, std::int8_t>("int8_sum");
  sums<std::int32_t, std::int32_t>("int32_sum");
  minima("float_min");
  dot_products("float_dot");
  compositions("struct_op");
  exact_sums<float>("float");
  exact_sums<double>("double");
}

}  // namespace

int main(int argc, char** argv) {
  // Defaults that the command line can change: each contestant's turns scattered over the run.
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  char** const options = argv + 1;
  char** const end = std::remove_if(options, argv + argc,
                                    [](const char* a) { return std::strcmp(a, "--quick") == 0; });
  const bool quick = end != argv + argc;
  if (quick) measured = few_sizes;
  std::string repetitions = "--benchmark_repetitions=" + std::to_string(quick ? 7 : 21);
  std::string time = "--benchmark_min_time=0.02";
  std::vector<char*> args{argv[0], interleave.data(), repetitions.data(), time.data()};
  args.insert(args.end(), options, end);
  int count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (benchmark::ReportUnrecognizedArguments(count, args.data())) return 1;
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("rivals are compiled for", instruction_set());
  benchmark::AddCustomContext("tilefold's vectors", tilefold::detail::host::simd_target(0));
  benchmark::AddCustomContext("threads", std::to_string(tilefold::host_executor().threads()));
  register_all();
  bench::register_forests(quick);
  ratio_reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
