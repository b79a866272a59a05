// SPDX-License-Identifier: Apache-2.0
//
// Prints the bits of what every verb makes of fixed numbers: a line `name n bits` each.
// host_bits_test.py builds it by several compilers and options, which must print the same. No
// function here adds what it has itself multiplied (functions.hpp), unless PLANTED_LEAK is defined.
//
//     host_bits [threads] [environment [first]]
//
// environment: default, flush (subnormals count as zero), up, down, zero (rounding), set before the
// calls, but not while items are made. With `first` it is set for the first parallel call of the
// program alone.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <tilefold/tilefold.hpp>

#include "bits.hpp"
#include "functions.hpp"

namespace tilefold::test::closed_reducer {
namespace {

namespace r = tilefold::reducers;

// The last one is for several threads, if there are any.
constexpr std::int64_t most = 300001;
constexpr std::int64_t sizes[] = {1, 2, 3, 7, 8, 9, 31, 64, 100, 257, 1000, 4097, most};

// Data.

template <class To, class From>
To of_bits(From bits) {
  static_assert(sizeof(To) == sizeof(From));
  To value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Of both signs, within `spread` binades of 1.
template <class T>
T item(numbers& source, std::uint64_t spread) {
  const std::uint64_t sign = source.next() & 1;
  const std::uint64_t significand = source.next() << 31 | source.next();
  const std::uint64_t exponent = source.next() % (2 * spread + 1);
  if constexpr (sizeof(T) == 4) {
    return of_bits<T>(static_cast<std::uint32_t>(sign << 31 | (127 - spread + exponent) << 23 |
                                                 (significand >> 39)));
  } else {
    return of_bits<T>(sign << 63 | (1023 - spread + exponent) << 52 | (significand >> 10));
  }
}
template <class T>
std::vector<T> mixed(std::uint64_t seed, std::uint64_t spread = 12) {
  numbers source(seed);
  std::vector<T> items;
  for (std::int64_t i = 0; i < most; ++i) items.push_back(item<T>(source, spread));
  return items;
}
/// The processor's default mode while this lives.
class default_mode {
#if defined(__SSE__)
 public:
  default_mode() : before_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~default_mode() { _mm_setcsr(before_); }
  default_mode(const default_mode&) = delete;

 private:
  unsigned before_;
#endif
};

/// Close to 1, so that products of many stay finite.
template <class T>
std::vector<T> near_one(std::uint64_t seed) {
  [[maybe_unused]] const default_mode mode;
  std::vector<T> items = mixed<T>(seed, 0);
  for (T& x : items) x = static_cast<T>(1) + x * static_cast<T>(0x1p-12f);
  return items;
}
template <class T>
std::vector<T> subnormal(std::uint64_t seed) {
  numbers source(seed);
  std::vector<T> items;
  for (std::int64_t i = 0; i < most; ++i) {
    const std::uint64_t bits = source.next() >> 16;
    if constexpr (sizeof(T) == 4) {
      items.push_back(of_bits<T>(static_cast<std::uint32_t>(bits)));
    } else {
      items.push_back(of_bits<T>(bits));
    }
  }
  return items;
}
/// With NaNs, infinities and zeros of both signs among them.
template <class T>
std::vector<T> with_specials(std::uint64_t seed) {
  std::vector<T> items = mixed<T>(seed);
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T specials[] = {T{0}, -T{0}, infinity, -infinity, std::numeric_limits<T>::quiet_NaN()};
  for (std::size_t i = 5; i < items.size(); i += 11) items[i] = specials[i % 5];
  return items;
}
template <class T, int N>
std::vector<pack<T, N>> packs(std::uint64_t seed) {
  const std::vector<T> values = mixed<T>(seed, 3);
  std::vector<pack<T, N>> items(values.size() / N);
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (int k = 0; k < N; ++k) items[i].v[k] = values[i * N + static_cast<std::size_t>(k)];
  }
  return items;
}

int threads = 1;
// One set of threads for all calls.
host_executor executor() {
  static const host_executor shared(threads);
  return shared;
}

/// Prints a line for every size of make(n).
template <class Make>
void each_size(const std::string& name, const Make& make, std::int64_t least = 1) {
  for (const std::int64_t n : sizes) {
    if (n < least) continue;
    std::printf("%s %lld %s\n", name.c_str(), static_cast<long long>(n), bits(make(n)).c_str());
  }
}
template <class T>
std::uint64_t digest(const std::vector<T>& results, std::int64_t n) {
  return closed_reducer::digest(results.data(), n);
}

template <class Lift, class Combine, class Project>
using made = decltype(r::make_reducer(Lift{}, Combine{}, Project{}));

#if defined(PLANTED_LEAK)
struct planted_leak {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a * static_cast<T>(0.7f) + b;
  }
};
#else
struct planted_leak {
  template <class T>
  T operator()(const T& a, const T& b) const {
    const volatile T rounded = a * static_cast<T>(0.7f);
    return rounded + b;
  }
};
#endif

// Verbs.

template <class T>
void operators(const std::string& type) {
  const std::vector<T> x = mixed<T>(1);
  const std::vector<T> ones = near_one<T>(2);
  const std::vector<T> specials = with_specials<T>(3);
  const std::vector<T> small = subnormal<T>(4);
  const auto of = [&](const char* name, const std::vector<T>& items, auto op) {
    each_size(type + "." + name, [&](std::int64_t n) {
      return tilefold::reduce(executor(), items.begin(), items.begin() + n, op);
    });
  };
  of("plus", x, plus{});
  of("plus.specials", specials, plus{});
  of("plus.subnormal", small, plus{});
  of("multiplies", ones, multiplies{});
  of("minimum.specials", specials, minimum{});
  of("maximum.specials", specials, maximum{});
  of("minimum_number.specials", specials, minimum_number{});
  of("sum", x, sum{});
  of("sum.subnormal", small, sum{});
  of("difference", x, difference{});
  of("product", ones, product{});
  of("sum_or_product", ones, sum_or_product{});
  of("planted_leak", x, planted_leak{});
  each_size(type + ".plus.init", [&](std::int64_t n) {
    return tilefold::reduce(executor(), x.begin(), x.begin() + n, x[0] * static_cast<T>(3.3f));
  });
  each_size(type + ".sum.init", [&](std::int64_t n) {
    return tilefold::reduce(executor(), x.begin(), x.begin() + n, x[0] * static_cast<T>(3.3f),
                            sum{});
  });
  each_size(type + ".plus.in_double", [&](std::int64_t n) {
    return tilefold::reduce<double>(executor(), x.begin(), x.begin() + n);
  });
}

template <class T>
void functions(const std::string& type) {
  const std::vector<T> x = mixed<T>(5);
  const std::vector<T> y = mixed<T>(6);
  const T start = static_cast<T>(0.7f);
  const auto of = [&](const char* name, auto op, auto f) {
    each_size(type + ".f." + name, [&](std::int64_t n) {
      return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, start, op, f);
    });
  };
  of("plus.scale", plus{}, scale{});
  of("sum.scale", sum{}, scale{});
  of("sum.scale_by", sum{}, scale_by<T>{static_cast<T>(1.7f)});
  of("difference.square", difference{}, square{});
  of("maximum.square", maximum{}, square{});
  const auto scaled = computed<scale>(x.data());
  each_size(type + ".computed.plus",
            [&](std::int64_t n) { return tilefold::reduce(executor(), scaled, scaled + n); });
  each_size(type + ".computed.sum", [&](std::int64_t n) {
    return tilefold::reduce(executor(), scaled, scaled + n, sum{});
  });
  each_size(type + ".computed.shift", [&](std::int64_t n) {
    return tilefold::transform_reduce(executor(), scaled, scaled + n, start, plus{}, shift{});
  });
  each_size(type + ".inner_product", [&](std::int64_t n) {
    return tilefold::inner_product(executor(), x.begin(), x.begin() + n, y.begin(), start);
  });
  each_size(type + ".two.sum.product", [&](std::int64_t n) {
    return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, y.begin(), start, sum{},
                                      product{});
  });
  each_size(type + ".two.computed.sum", [&](std::int64_t n) {
    return tilefold::transform_reduce(executor(), scaled, scaled + n, y.begin(), start, plus{},
                                      sum{});
  });
  T out{};
  each_size(type + ".output", [&](std::int64_t n) {
    tilefold::reduce_into(executor(), y.begin(), y.begin() + n, shifting_output<T>(&out),
                          made<keep, sum, scale>{});
    return out;
  });
}

/// A reducer over items, over what f makes of them, and over what an iterator makes.
template <class T, class R>
void reduced(const std::string& name, R reducer, const std::vector<T>& x, std::int64_t least = 1) {
  each_size(
      name,
      [&](std::int64_t n) {
        return tilefold::reduce(executor(), x.begin(), x.begin() + n, reducer);
      },
      least);
  each_size(
      name + ".f",
      [&](std::int64_t n) {
        return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, reducer, scale{});
      },
      least);
  const auto scaled = computed<scale>(x.data());
  each_size(
      name + ".computed",
      [&](std::int64_t n) { return tilefold::reduce(executor(), scaled, scaled + n, reducer); },
      least);
}
template <class T, class R>
void once(const std::string& name, R reducer, const std::vector<T>& x, std::int64_t least = 1) {
  each_size(
      name,
      [&](std::int64_t n) {
        return tilefold::reduce(executor(), x.begin(), x.begin() + n, reducer);
      },
      least);
}

template <class T>
void library_reducers(const std::string& type) {
  const std::vector<T> x = mixed<T>(7);
  std::vector<T> positive = mixed<T>(8, 2);
  for (T& each : positive) each = each < 0 ? -each : each;
  const std::vector<T> specials = with_specials<T>(9);
  reduced(type + ".mean", r::mean{}, x);
  reduced(type + ".l2", r::l2{}, x);
  reduced(type + ".compensated_sum", r::compensated_sum{}, x);
  reduced(type + ".count_if", r::count_if{above_when_shifted{}}, x);
  reduced(type + ".arg_min_by", r::arg_min_by{shift{}}, x);
  once(type + ".arg_min_by.difference", r::arg_min_by{scale{}, less_by_difference{}}, x);
  once(type + ".mean_variance", r::mean_variance{}, x, 2);
  once(type + ".standard_deviation", r::standard_deviation{}, x, 2);
  once(type + ".kurtosis", r::kurtosis{}, x, 7);
  once(type + ".l1", r::l1{}, x);
  once(type + ".geometric_mean", r::geometric_mean{}, positive);
  once(type + ".harmonic_mean", r::harmonic_mean{}, positive);
  once(type + ".softmax_pair", r::softmax_pair{}, positive);
  once(type + ".arg_minmax.specials", r::arg_minmax{}, specials);
  once(type + ".top_k", r::top_k<3>{}, x);
  once(type + ".fuse", r::fuse(r::mean{}, r::min{}), x);
  once(type + ".fuse.l2", r::fuse(r::l2{}, made<shift, product, keep>{}), near_one<T>(10));
}

template <class T>
void two_ranges(const std::string& type) {
  const std::vector<T> x = mixed<T>(11);
  const std::vector<T> y = mixed<T>(12);
  const std::vector<T> weights = near_one<T>(13);
  const auto of = [&](const char* name, auto reducer, const std::vector<T>& second) {
    each_size(
        type + "." + name,
        [&](std::int64_t n) {
          return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, second.begin(),
                                            reducer);
        },
        3);
  };
  of("dot", r::dot{}, y);
  of("compensated_dot", r::compensated_dot{}, y);
  of("covariance", r::covariance{}, y);
  of("correlation", r::correlation{}, y);
  of("cosine", r::cosine{}, y);
  of("weighted_mean", r::weighted_mean{}, weights);
}

template <class T>
void own_reducers(const std::string& type) {
  const std::vector<T> x = mixed<T>(14);
  const std::vector<T> ones = near_one<T>(15);
  reduced(type + ".own.shift_sum", made<shift, sum, keep>{}, x);
  once(type + ".own.square_sum", made<square, sum, keep>{}, x);
  once(type + ".own.product_shift", made<keep, product, shift>{}, ones);
  once(type + ".own.sum_or_product", made<keep, sum_or_product, shift>{}, ones);
  // An initial value, a combine that multiplies, and a project that adds.
  each_size(type + ".own.init", [&](std::int64_t n) {
    return tilefold::reduce(executor(), ones.begin(), ones.begin() + n, static_cast<T>(0.3f),
                            made<keep, product, shift>{});
  });
}

template <class T, int N>
void structs(const std::string& type) {
  using acc = pack<T, N>;
  const std::vector<T> x = mixed<T>(16, 1);
  const std::vector<acc> items = packs<T, N>(17);
  const auto of = [&](const char* name, auto op) {
    each_size(type + "." + name, [&](std::int64_t n) {
      return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n,
                                        scaled_pack<acc>{}(x[0]), op, scaled_pack<acc>{});
    });
  };
  of("pass_through", pass_through{});
  of("swap_places", swap_places{});
  of("product_last", product_last{});
  of("sum_last", sum_last{});
  const auto each = [&](const char* name, auto reducer) {
    each_size(type + "." + name, [&](std::int64_t n) {
      return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, reducer,
                                        scaled_pack<acc>{});
    });
  };
  each("shift_each", made<shift_each, pass_through, keep>{});
  each("total", made<total, sum, keep>{});
  each("project_total", made<keep, swap_places, total>{});
  const auto scaled = computed<scale_each>(items.data());
  for (const std::int64_t n : {1, 2, 7, 64, 1000, 5000}) {
    std::printf("%s.computed %lld %s\n", type.c_str(), static_cast<long long>(n),
                bits(tilefold::reduce(executor(), scaled, scaled + n,
                                      made<shift_each, pass_through, keep>{}))
                    .c_str());
  }
}

// Many results.

template <class It>
struct matrix {
  It first;
  std::int64_t rows, columns;

  std::int64_t rank() const { return 2; }
  std::int64_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  std::int64_t stride(std::size_t i) const { return i == 0 ? columns : 1; }
  It data_handle() const { return first; }
};
template <class It>
struct row {
  It first;
  std::int64_t size;

  std::int64_t rank() const { return 1; }
  std::int64_t extent(std::size_t) const { return size; }
  std::int64_t stride(std::size_t) const { return 1; }
  It data_handle() const { return first; }
};

template <class T>
void many_results(const std::string& type) {
  const std::vector<T> x = mixed<T>(18);
  const auto scaled = computed<scale>(x.data());
  const T start = static_cast<T>(0.7f);
  std::vector<int> offsets{0};
  numbers lengths(19);
  while (offsets.back() < 60000) {
    const auto length = static_cast<int>(lengths.next() % (lengths.next() % 16 == 0 ? 4000 : 40));
    offsets.push_back(offsets.back() + length);
  }
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  std::vector<T> out(static_cast<std::size_t>(most));
  const auto line = [&](const char* name, std::int64_t n) {
    std::printf("%s.%s %lld %s\n", type.c_str(), name, static_cast<long long>(n),
                bits(digest(out, n)).c_str());
  };
  segmented_reduce(executor(), x.begin(), offsets.begin(), segments, out.begin());
  line("segments.plus", segments);
  segmented_reduce(executor(), scaled, offsets.begin(), segments, out.begin(), start, sum{});
  line("segments.computed", segments);
  segmented_reduce(executor(), scaled, offsets.begin(), segments, out.begin(), start,
                   made<shift, sum, keep>{});
  line("segments.own", segments);
  segmented_reduce(executor(), scaled, 700, 100, out.begin(), start, sum{});
  line("equal.computed", 700);
  segmented_reduce(executor(), x.begin(), 10000, 7, out.begin(), r::l2{});
  line("equal.l2", 10000);
  std::vector<std::remove_const_t<decltype(scaled)>> arrays;
  std::vector<int> counts;
  for (std::int64_t i = 0; i < 100; ++i) {
    arrays.push_back(scaled + 37 * i);
    counts.push_back(static_cast<int>(i * 5));
  }
  batched_reduce(executor(), arrays.begin(), counts.begin(), 100, out.begin(), start, sum{});
  line("batched.computed", 100);
  std::vector<T> keys(x.size());
  const auto runs = reduce_by_key(executor(), scaled, scaled + most, scaled, keys.begin(),
                                  out.begin(), close_by{}, start, sum{});
  line("by_key.computed", runs);
  const matrix<std::remove_const_t<decltype(scaled)>> in{scaled, 200, 300};
  axis_reduce(executor(), in, row<T*>{out.data(), 300}, 0, start, sum{});
  line("columns.computed", 300);
  axis_reduce(executor(), in, row<T*>{out.data(), 200}, 1, start, sum{});
  line("rows.computed", 200);
}

template <class T>
void complexes(const std::string& type) {
  using complex = std::complex<T>;
  const std::vector<T> re = near_one<T>(20);
  const std::vector<T> im = mixed<T>(21, 0);
  std::vector<complex> z;
  for (std::size_t i = 0; i < re.size(); ++i)
    z.emplace_back(re[i], im[i] * static_cast<T>(0x1p-9f));
  each_size(type + ".sum",
            [&](std::int64_t n) { return tilefold::reduce(executor(), z.begin(), z.begin() + n); });
  each_size(type + ".product", [&](std::int64_t n) {
    return tilefold::reduce(executor(), z.begin(), z.begin() + n, multiplies{});
  });
  each_size(type + ".dot", [&](std::int64_t n) {
    return tilefold::transform_reduce(executor(), z.begin(), z.begin() + n, z.begin(),
                                      complex(1, 2));
  });
  each_size(type + ".f", [&](std::int64_t n) {
    return tilefold::transform_reduce(
        executor(), z.begin(), z.begin() + n, complex(1, 2), plus{}, [](const complex& each) {
          return complex(each.real() * static_cast<T>(3.3f), each.imag() * static_cast<T>(1.7f));
        });
  });
}

template <class T>
void narrow(const std::string& type) {
  std::vector<T> x;
  for (const float each : mixed<float>(22, 4)) x.push_back(T(each));
  each_size(type + ".sum",
            [&](std::int64_t n) { return tilefold::reduce(executor(), x.begin(), x.begin() + n); });
  each_size(type + ".minimum", [&](std::int64_t n) {
    return tilefold::reduce(executor(), x.begin(), x.begin() + n, minimum{});
  });
  each_size(type + ".f", [&](std::int64_t n) {
    return tilefold::transform_reduce(executor(), x.begin(), x.begin() + n, 0.7f, sum{},
                                      [](const T& each) { return float(each) * 3.3f; });
  });
  each_size(type + ".mean",
            [&](std::int64_t n) { return tilefold::mean(executor(), x.begin(), x.begin() + n); });
  each_size(type + ".logsumexp", [&](std::int64_t n) {
    return tilefold::logsumexp(executor(), x.begin(), x.begin() + n);
  });
}

template <class T>
void verbs(const std::string& type) {
  const std::vector<T> x = mixed<T>(23);
  const std::vector<T> small = mixed<T>(24, 1);
  const auto of = [&](const char* name, const std::vector<T>& items, auto verb,
                      std::int64_t least = 1) {
    each_size(
        type + ".verb." + name,
        [&](std::int64_t n) { return verb(items.begin(), items.begin() + n); }, least);
  };
  of("count", x, [](auto a, auto b) { return tilefold::count(executor(), a, b, a[0]); });
  of("any_of", x,
     [](auto a, auto b) { return tilefold::any_of(executor(), a, b, above_when_shifted{}); });
  of("min_element", x, [](auto a, auto b) { return tilefold::min_element(executor(), a, b) - a; });
  of("minmax_value", x, [](auto a, auto b) { return tilefold::minmax_value(executor(), a, b); });
  of("variance", x, [](auto a, auto b) { return tilefold::variance(executor(), a, b); }, 2);
  of("norm", x, [](auto a, auto b) { return tilefold::norm(executor(), a, b); });
  of("logsumexp", small, [](auto a, auto b) { return tilefold::logsumexp(executor(), a, b); });
}

template <class T>
void all_of_type(const std::string& type) {
  operators<T>(type);
#if !defined(PLANTED_LEAK)
  functions<T>(type);
  library_reducers<T>(type);
  two_ranges<T>(type);
  own_reducers<T>(type);
  structs<T, 2>(type + "x2");
  structs<T, 3>(type + "x3");
  many_results<T>(type);
  complexes<T>("complex_" + type);
  verbs<T>(type);
#endif
}

// The floating-point environment of this thread.

unsigned control_of(const std::string& name) {
  constexpr unsigned as_started = 0x1f80;
  if (name == "flush") return as_started | 0x8040;
  if (name == "down") return as_started | 0x2000;
  if (name == "up") return as_started | 0x4000;
  if (name == "zero") return as_started | 0x6000;
  return as_started;
}
void set_environment([[maybe_unused]] const std::string& name) {
#if defined(__SSE__)
  _mm_setcsr(control_of(name));
#endif
}

void first_parallel_call() {
  const std::vector<float> x(1 << 21, 1.0f);
  (void)tilefold::reduce(executor(), x.begin(), x.end());
}

}  // namespace
}  // namespace tilefold::test::closed_reducer

int main(int argc, char** argv) {
  using namespace tilefold::test::closed_reducer;
  threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::string environment = argc > 2 ? argv[2] : "default";
  if (argc > 3) {
    set_environment(environment);
    first_parallel_call();
    set_environment("default");
  } else {
    first_parallel_call();
    set_environment(environment);
  }
  all_of_type<float>("float");
  all_of_type<double>("double");
#if !defined(PLANTED_LEAK)
  narrow<tilefold::half>("half");
  narrow<tilefold::bfloat16>("bfloat16");
#endif
  return 0;
}
