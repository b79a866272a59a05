// SPDX-License-Identifier: Apache-2.0
//
// Many results on the host: segments, rows, columns, runs of equal keys and fused statistics,
// against plain OpenMP loops and against reading as many bytes, which is the ceiling. All data are
// 1 GiB of floats; bytes count items, offsets or keys, and results. Every contestant's results are
// checked once, before it is timed.
//
// Names are shape/contestant/n, n the items of a segment (their mean), the width of a matrix or the
// length of a run. A shape's items, results and checks are one class; a new contestant is one line.
#include "forests.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <tilefold/tilefold.hpp>

namespace bench {
namespace {

using index = std::int64_t;

constexpr index most_items = index{1} << 28;

/// An array that nothing has written to: its pages belong to who writes them first.
template <class T>
class raw_array {
 public:
  explicit raw_array(index n) : data_(new T[static_cast<std::size_t>(n)]), size_(n) {}
  T* get() const { return data_.get(); }
  index size() const { return size_; }
  T& operator[](index i) const { return data_[static_cast<std::size_t>(i)]; }

 private:
  std::unique_ptr<T[]> data_;
  index size_;
};

// Both signs, magnitudes over 20 binades, no zeros.
float item_of(index i) {
  auto bits = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9u;
  const auto exponent = static_cast<std::uint32_t>(117 + (bits >> 40) % 20);
  return __builtin_bit_cast(float,
                            (static_cast<std::uint32_t>(bits) & 0x807fffffu) | exponent << 23);
}

const float* items() {
  static const raw_array<float> made = [] {
    raw_array<float> array(most_items);
#pragma omp parallel for
    for (index i = 0; i < most_items; ++i) array[i] = item_of(i);
    return array;
  }();
  return made.get();
}

/// Reads the bytes as words, each thread its share; how fast memory is.
std::uint64_t read_bytes(const void* first, index bytes) {
  const auto* words = static_cast<const std::uint64_t*>(first);
  const index n = bytes / 8;
  std::uint64_t all = 0;
#pragma omp parallel for simd reduction(^ : all)
  for (index i = 0; i < n; ++i) all ^= words[i];
  return all;
}

// ---- contests

/// One shape with its data: how many bytes a turn moves, and whether its results are right.
class contest {
 public:
  contest(std::string name, index n) : name_(std::move(name)), n_(n) {}
  virtual ~contest() = default;

  virtual index bytes() const = 0;
  /// Before a contestant's first turn: leaves results that are wrong.
  virtual void spoil() = 0;
  virtual bool right() const = 0;

  const std::string& name() const { return name_; }
  index n() const { return n_; }

 private:
  std::string name_;
  index n_;
};

using make_contest = std::function<std::unique_ptr<contest>()>;

// Made when its first turn comes, and kept: turns are taken in any order.
contest& at_hand(const std::string& key, const make_contest& make) {
  static std::map<std::string, std::unique_ptr<contest>> made;
  auto& it = made[key];
  if (it == nullptr) it = make();
  return *it;
}

template <class Contest>
using contestants = std::vector<std::pair<std::string, std::function<void(Contest&)>>>;

template <class Contest, class... Arguments>
void enter(const std::string& shape, index n, const contestants<Contest>& all,
           Arguments... arguments) {
  const std::string key = shape + std::to_string(n);
  const make_contest make = [=] { return std::make_unique<Contest>(shape, n, arguments...); };
  const auto add = [&](const std::string& who, const std::function<void(Contest&)>& work,
                       bool checked) {
    const auto tried = std::make_shared<bool>(false);
    const auto run = [=](benchmark::State& state) {
      auto& mine = static_cast<Contest&>(at_hand(key, make));
      if (checked && !*tried) {
        mine.spoil();
        work(mine);
        if (!mine.right()) {
          state.SkipWithError("wrong result");
          return;
        }
      }
      *tried = true;
      for (auto _ : state) {
        work(mine);
        benchmark::ClobberMemory();
      }
      state.SetBytesProcessed(state.iterations() * mine.bytes());
    };
    benchmark::RegisterBenchmark((shape + "/" + who).c_str(), run)
        ->Arg(n)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  };
  for (const auto& [who, work] : all) add(who, work, true);
  // Results are read as well, which is cheaper than writing them.
  add(
      "read",
      [](Contest& mine) {
        const index bytes = std::min<index>(mine.bytes(), most_items * index{sizeof(float)});
        benchmark::DoNotOptimize(read_bytes(items(), bytes));
      },
      false);
}

// Of a sum of floats whose magnitudes add up to `scale`, in any order.
bool close(double got, double expected, double scale) {
  return std::abs(got - expected) <= 64 * double{std::numeric_limits<float>::epsilon()} * scale;
}

// ---- segments

enum class lengths { equal, constant, uniform, geometric, power_law, one_long };

/// Lengths of mean n, of which a segment takes any: quicker than a draw for each.
std::vector<index> make_lengths(lengths kind, index n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::geometric_distribution<index> geometric(1.0 / static_cast<double>(n));
  std::uniform_int_distribution<index> uniform(1, 2 * n - 1);
  std::vector<index> made;
  for (int i = 0; i < 65536; ++i) {
    const bool none = kind == lengths::power_law && random() % 10 < 3;
    made.push_back(kind == lengths::uniform     ? uniform(random)
                   : kind == lengths::geometric ? geometric(random) + 1
                   : none                       ? 0
                   : kind == lengths::power_law ? 1 + static_cast<index>(random() % 8)
                                                : n);
  }
  return made;
}

/// Offsets of segments of mean length n, as far as the items go.
std::vector<std::int32_t> make_offsets(lengths kind, index n) {
  std::vector<std::int32_t> offsets{0};
  const auto add = [&](index length) {
    offsets.push_back(static_cast<std::int32_t>(std::min(offsets.back() + length, most_items)));
  };
  if (kind == lengths::one_long) {
    for (index i = 0; i < 2000000; ++i) add(8);
    add(index{1} << 25);
    for (index i = 0; i < 2000000; ++i) add(8);
    return offsets;
  }
  const std::vector<index> some = make_lengths(kind, n);
  std::mt19937_64 random(7);
  while (offsets.back() < most_items) {
    // A few of the power law are long.
    const bool is_long = kind == lengths::power_law && offsets.size() % 8000000 == 0;
    add(is_long ? 10000000 : some[random() % some.size()]);
  }
  return offsets;
}

/// Sums of segments, by offsets or by their length.
class segment_sums : public contest {
 public:
  segment_sums(const std::string& name, index n, lengths kind)
      : contest(name, n),
        by_offsets_(kind != lengths::equal),
        offsets_(by_offsets_ ? make_offsets(kind, n) : std::vector<std::int32_t>()),
        out_(by_offsets_ ? static_cast<index>(offsets_.size()) - 1 : most_items / n) {
    spoil();
  }

  index bytes() const override {
    return end(out_.size() - 1) * 4 + static_cast<index>(offsets_.size()) * 4 + out_.size() * 4;
  }
  void spoil() override {
#pragma omp parallel for
    for (index i = 0; i < out_.size(); ++i) out_[i] = -1e30f;
  }
  bool right() const override {
    index wrong = 0;
#pragma omp parallel for reduction(+ : wrong) schedule(dynamic, 4096)
    for (index i = 0; i < out_.size(); ++i) {
      double sum = 0;
      double scale = 0;
      for (index k = begin(i); k < end(i); ++k) {
        sum += items()[k];
        scale += std::abs(items()[k]);
      }
      wrong += !close(out_[i], sum, scale);
    }
    return wrong == 0;
  }

  void tilefold_sums() const {
    const tilefold::host_executor host;
    if (by_offsets_) {
      tilefold::segmented_reduce(host, items(), offsets_.data(), out_.size(), out_.get());
    } else {
      tilefold::segmented_reduce(host, items(), out_.size(), n(), out_.get());
    }
  }
  void openmp_sums() const {
    const float* p = items();
#pragma omp parallel for schedule(guided, 64)
    for (index i = 0; i < out_.size(); ++i) {
      float sum = 0;
      const index first = begin(i);
      const index last = end(i);
#pragma omp simd reduction(+ : sum)
      for (index k = first; k < last; ++k) sum += p[k];
      out_[i] = sum;
    }
  }

 private:
  index begin(index i) const {
    return by_offsets_ ? offsets_[static_cast<std::size_t>(i)] : i * n();
  }
  index end(index i) const {
    return by_offsets_ ? offsets_[static_cast<std::size_t>(i) + 1] : i * n() + n();
  }

  bool by_offsets_;
  std::vector<std::int32_t> offsets_;
  raw_array<float> out_;
};

// ---- axes

/// A view of up to three dimensions, the last one fastest.
template <class T>
struct cube {
  using element_type = T;
  T* data;
  index extents[3];

  static constexpr std::size_t rank() { return 3; }
  index extent(std::size_t i) const { return extents[i]; }
  index stride(std::size_t i) const {
    return i == 2 ? 1 : i == 1 ? extents[2] : extents[1] * extents[2];
  }
  T* data_handle() const { return data; }
};

/// Sums over the middle axis of outer x rows x width.
class axis_sums : public contest {
 public:
  axis_sums(const std::string& name, index n, index outer, index rows, index width)
      : contest(name, n), outer_(outer), rows_(rows), width_(width), out_(outer * width) {
    spoil();
  }

  index bytes() const override { return (outer_ * rows_ * width_ + out_.size()) * 4; }
  void spoil() override { std::fill_n(out_.get(), out_.size(), -1e30f); }
  bool right() const override {
    index wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (index block = 0; block < out_.size(); block += columns) {
      double sum[columns] = {};
      double scale[columns] = {};
      const index many = std::min(columns, out_.size() - block);
      for (index r = 0; r < rows_; ++r) {
        for (index c = 0; c < many; ++c) {
          const float item = items()[at(block + c) + r * width_];
          sum[c] += item;
          scale[c] += std::abs(item);
        }
      }
      for (index c = 0; c < many; ++c) wrong += !close(out_[block + c], sum[c], scale[c]);
    }
    return wrong == 0;
  }

  void tilefold_sums() const {
    const cube<const float> in{items(), {outer_, rows_, width_}};
    const cube<float> out{out_.get(), {outer_, 1, width_}};
    tilefold::axis_reduce(tilefold::host_executor(), in, out, 1);
  }
  // Row by row into a line of sums, which a thread has to itself.
  void openmp_sums() const {
    std::fill_n(out_.get(), out_.size(), 0.0f);
    const float* p = items();
    float* out = out_.get();
    if (width_ == 1) {
#pragma omp parallel for
      for (index o = 0; o < outer_; ++o) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (index r = 0; r < rows_; ++r) sum += p[o * rows_ + r];
        out[o] = sum;
      }
      return;
    }
    if (outer_ > 64) {
#pragma omp parallel for
      for (index o = 0; o < outer_; ++o) {
        for (index r = 0; r < rows_; ++r) add_row(p + (o * rows_ + r) * width_, out + o * width_);
      }
      return;
    }
    for (index o = 0; o < outer_; ++o) {
      float* line = out + o * width_;
#pragma omp parallel for reduction(+ : line[ : width_])
      for (index r = 0; r < rows_; ++r) add_row(p + (o * rows_ + r) * width_, line);
    }
  }

 private:
  static constexpr index columns = 64;

  void add_row(const float* row, float* line) const {
#pragma omp simd
    for (index c = 0; c < width_; ++c) line[c] += row[c];
  }
  index at(index result) const { return result / width_ * rows_ * width_ + result % width_; }

  index outer_, rows_, width_;
  raw_array<float> out_;
};

// ---- runs of equal keys

class run_sums : public contest {
 public:
  run_sums(const std::string& name, index n)
      : contest(name, n), keys_(size), keys_out_(size / n), out_(size / n) {
#pragma omp parallel for
    for (index i = 0; i < size; ++i) keys_[i] = static_cast<std::int32_t>(i / n * 7);
    spoil();
  }

  index bytes() const override { return size * 8 + out_.size() * 8; }
  void spoil() override {
    std::fill_n(out_.get(), out_.size(), -1e30f);
    std::fill_n(keys_out_.get(), out_.size(), -1);
  }
  bool right() const override {
    index wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (index i = 0; i < out_.size(); ++i) {
      double sum = 0;
      double scale = 0;
      for (index k = i * n(); k < i * n() + n(); ++k) {
        sum += items()[k];
        scale += std::abs(items()[k]);
      }
      wrong += !close(out_[i], sum, scale) || keys_out_[i] != static_cast<std::int32_t>(i * 7);
    }
    return wrong == 0;
  }

  void tilefold_sums() const {
    tilefold::reduce_by_key(tilefold::host_executor(), keys_.get(), keys_.get() + size, items(),
                            keys_out_.get(), out_.get());
  }
  // One thread: where a run's result goes is known when all runs before it are.
  void plain_sums() const {
    index run = 0;
    for (index i = 0; i < size; ++run) {
      const std::int32_t key = keys_[i];
      float sum = 0;
      for (; i < size && keys_[i] == key; ++i) sum += items()[i];
      keys_out_[run] = key;
      out_[run] = sum;
    }
  }

 private:
  static constexpr index size = most_items / 2;

  raw_array<std::int32_t> keys_, keys_out_;
  raw_array<float> out_;
};

// ---- statistics

namespace r = tilefold::reducers;

const auto four = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});

struct moments {
  double mean, variance;
  float min, max;
};

moments plain_moments(const float* p, index n) {
  double sum = 0;
  double squares = 0;
  float min = p[0];
  float max = p[0];
#pragma omp simd reduction(+ : sum, squares) reduction(min : min) reduction(max : max)
  for (index k = 0; k < n; ++k) {
    sum += double{p[k]};
    squares += double{p[k]} * double{p[k]};
    min = p[k] < min ? p[k] : min;
    max = p[k] > max ? p[k] : max;
  }
  const double mean = sum / static_cast<double>(n);
  return {mean, (squares - mean * sum) / static_cast<double>(n - 1), min, max};
}

bool agree(const moments& a, const moments& b) {
  const auto near = [&](double x, double y) { return std::abs(x - y) <= 1e-6 * (1 + b.variance); };
  return near(a.mean, b.mean) && near(a.variance, b.variance) && a.min == b.min && a.max == b.max;
}

/// (mean, variance, min, max) of every segment of n items.
class segment_moments : public contest {
 public:
  segment_moments(const std::string& name, index n)
      : contest(name, n), fused_(most_items / n), plain_(most_items / n) {
    spoil();
  }

  index bytes() const override {
    return most_items * 4 + fused_.size() * static_cast<index>(sizeof(moments));
  }
  void spoil() override {
#pragma omp parallel for
    for (index i = 0; i < fused_.size(); ++i) plain_[i] = {};
    std::memset(static_cast<void*>(fused_.get()), 0,
                static_cast<std::size_t>(fused_.size()) * sizeof(result));
    turn_of_plain_ = false;
  }
  bool right() const override {
    index wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (index i = 0; i < fused_.size(); ++i) {
      const auto& [mean, variance, min, max] = fused_[i];
      const moments got = turn_of_plain_ ? plain_[i] : moments{mean, variance, min, max};
      wrong += !agree(got, plain_moments(items() + i * n(), n()));
    }
    return wrong == 0;
  }

  void tilefold_moments() const {
    // As rows, which are all alike: segments would have to say what an empty one gives.
    const cube<const float> in{items(), {1, fused_.size(), n()}};
    const cube<result> out{fused_.get(), {1, fused_.size(), 1}};
    tilefold::axis_reduce(tilefold::host_executor(), in, out, 2, four);
  }
  void openmp_moments() {
    turn_of_plain_ = true;
#pragma omp parallel for
    for (index i = 0; i < plain_.size(); ++i) plain_[i] = plain_moments(items() + i * n(), n());
  }

 private:
  using result = decltype(tilefold::reduce(items(), items(), four));

  raw_array<result> fused_;
  raw_array<moments> plain_;
  bool turn_of_plain_ = false;
};

/// Five statistics of all items; the peer is our own sum.
class whole_moments : public contest {
 public:
  using contest::contest;

  index bytes() const override { return n() * 4; }
  void spoil() override { right_ = false; }
  bool right() const override { return right_; }

  void tilefold_moments() {
    const auto got = tilefold::reduce(tilefold::host_executor(), items(), items() + n(), five);
    if (right_) return;
    const auto& [count, mean, variance, min, max] = got;
    right_ = count == n() && agree({mean, variance, min, max}, plain_moments(items(), n()));
  }
  void tilefold_sum() {
    benchmark::DoNotOptimize(tilefold::reduce(tilefold::host_executor(), items(), items() + n()));
    right_ = true;
  }

 private:
  bool right_ = false;
};

}  // namespace

void register_forests(bool quick) {
  using sizes = std::vector<index>;
  const contestants<segment_sums> sums{{"tilefold", &segment_sums::tilefold_sums},
                                       {"openmp", &segment_sums::openmp_sums}};
  for (const index n : quick ? sizes{4, 1024} : sizes{4, 16, 64, 128, 256, 1024, 4096, 65536}) {
    enter("equal", n, sums, lengths::equal);
  }
  for (const index n : quick ? sizes{4, 256} : sizes{4, 7, 16, 33, 64, 256, 1024, 4096, 65536}) {
    enter("csr_constant", n, sums, lengths::constant);
    enter("csr_uniform", n, sums, lengths::uniform);
    enter("csr_geometric", n, sums, lengths::geometric);
  }
  enter("csr_power_law", 5, sums, lengths::power_law);
  enter("csr_one_long", 12, sums, lengths::one_long);

  const contestants<axis_sums> axes{{"tilefold", &axis_sums::tilefold_sums},
                                    {"openmp", &axis_sums::openmp_sums}};
  for (const index n : quick ? sizes{256} : sizes{64, 256, 1024, 4096}) {
    enter("rows", n, axes, most_items / n, n, index{1});
    enter("columns", n, axes, index{1}, most_items / n, n);
    enter("middle", n, axes, index{1024}, most_items / 1024 / n, n);
  }

  const contestants<run_sums> runs{{"tilefold", &run_sums::tilefold_sums},
                                   {"plain", &run_sums::plain_sums}};
  for (const index n : quick ? sizes{16} : sizes{2, 16, 256, 65536}) enter("by_key", n, runs);

  const contestants<segment_moments> statistics{{"tilefold", &segment_moments::tilefold_moments},
                                                {"openmp", &segment_moments::openmp_moments}};
  for (const index n : quick ? sizes{16, 4096} : sizes{16, 256, 4096, 65536})
    enter("fused_four", n, statistics);
  const contestants<whole_moments> whole{{"tilefold", &whole_moments::tilefold_moments},
                                         {"sum", &whole_moments::tilefold_sum}};
  enter("fused_five", index{1} << 26, whole);
}

}  // namespace bench
