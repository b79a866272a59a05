// SPDX-License-Identifier: Apache-2.0
//
// Every result of every shape is checked once, before it is timed.
#include "columns.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilefold/tilefold.cuh>

#include <cuda/std/mdspan>

#include "../support/device_array.hpp"
#include "../support/items.cuh"
#include "../support/read.hpp"

namespace bench {

namespace {

/// `outer` matrices of rows x width items, of which the rows are folded away; `shift` items past an
/// aligned address.
struct axis_shape {
  std::string name;
  index outer, rows, width;
  index shift;

  index items() const { return outer * rows * width; }
  index results() const { return outer * width; }
  index bytes() const { return 4 * (items() + results()); }
};

std::vector<axis_shape> axis_shapes(bool quick) {
  using lengths = std::vector<index>;
  const lengths widths = quick ? lengths{64, 4096} : lengths{64, 256, 1024, 4096};
  constexpr index all = index{1} << 30;
  std::vector<axis_shape> shapes;
  for (const index width : widths) {
    shapes.push_back({"columns", 1, all / width, width, 0});
  }
  for (const index width : widths) {
    shapes.push_back({"columns_1_gib", 1, all / 4 / width, width, 0});
  }
  for (const index width : widths) {
    shapes.push_back({"axis_middle", all / 1024 / width, 1024, width, 0});
  }
  for (const index width : {64, 4096}) {
    shapes.push_back({"columns_off_by_one", 1, all / width, width, 1});
  }
  for (const index width : {4, 16}) shapes.push_back({"columns", 1, all / width, width, 0});
  shapes.push_back({"columns_short", 1, 16, all / 16, 0});
  return shapes;
}

// Of a piece, and the pieces that the check looks at at once.
constexpr int check_rows = 4096;
constexpr index check_pieces = 1 << 14;

/// Sums and magnitudes of pieces of columns, added up in double.
__global__ void sum_pieces(const float* items, index rows, index width, double* sums) {
  const index c = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c >= width) return;
  for (index first = index{blockIdx.y} * check_rows; first < rows;
       first += index{gridDim.y} * check_rows) {
    double sum = 0;
    double magnitude = 0;
    for (index r = first; r < rows && r < first + check_rows; ++r) {
      sum += items[r * width + c];
      magnitude += fabs(static_cast<double>(items[r * width + c]));
    }
    atomicAdd(sums + 2 * c, sum);
    atomicAdd(sums + 2 * c + 1, magnitude);
  }
}

__global__ void count_wrong_columns(const double* sums, index width, const float* got,
                                    unsigned long long* wrong) {
  const index c = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c < width && !(fabs(got[c] - sums[2 * c]) <= 1e-5 * sums[2 * c + 1])) atomicAdd(wrong, 1ull);
}

class axis_contest {
 public:
  axis_contest(session& gpu, bool quick)
      : gpu_(gpu), executor_(gpu.stream()), shapes_(axis_shapes(quick)) {}

  const std::vector<axis_shape>& shapes() const { return shapes_; }

  timed_work fold(const axis_shape& s) {
    timed_work result = work(s, [this, &s] { enqueue(s); });
    result.check = [this, &s] { check_results(s); };
    return result;
  }

  timed_work read(const axis_shape& s) {
    return work(s, [this, &s] {
      read_once(memory_->items.data(), s.bytes() / 16 * 16,
                reinterpret_cast<unsigned*>(memory_->wrong.data()), gpu_.stream());
    });
  }

 private:
  static constexpr index most_items = (index{1} << 30) + 1024;
  static constexpr index most_results = index{1} << 26;

  struct memory {
    device_array<float> items{most_items + most_results};
    device_array<float> out{most_results};
    device_array<double> sums{2 * most_results};
    device_array<unsigned long long> wrong{1};
  };

  template <class Enqueue>
  timed_work work(const axis_shape& s, const Enqueue& enqueue) {
    if (!memory_) {
      memory_.emplace();
      fill<mixed<float>>(memory_->items.data(), 4 * memory_->items.size(), gpu_.stream());
    }
    timed_work result;
    result.bytes = s.bytes();
    result.enqueue = enqueue;
    return result;
  }

  void enqueue(const axis_shape& s) {
    using cube = cuda::std::mdspan<const float, cuda::std::dextents<index, 3>>;
    using matrix = cuda::std::mdspan<float, cuda::std::dextents<index, 2>>;
    tilefold::axis_reduce_into(executor_,
                               cube(memory_->items.data() + s.shift, s.outer, s.rows, s.width),
                               matrix(memory_->out.data(), s.outer, s.width), 1);
  }

  void check_results(const axis_shape& s) {
    const auto stream = gpu_.stream();
    const float* const items = memory_->items.data() + s.shift;
    const float* const out = memory_->out.data();
    double* const sums = memory_->sums.data();
    unsigned long long* const wrong = memory_->wrong.data();
    check(cudaMemsetAsync(memory_->out.data(), 0xff, static_cast<std::size_t>(s.results()) * 4,
                          stream),
          "cudaMemsetAsync");
    enqueue(s);
    check(cudaMemsetAsync(sums, 0, static_cast<std::size_t>(s.results()) * 16, stream),
          "cudaMemsetAsync");
    check(cudaMemsetAsync(wrong, 0, 8, stream), "cudaMemsetAsync");
    const dim3 blocks(
        static_cast<unsigned>((s.width + 127) / 128),
        static_cast<unsigned>(std::min((s.rows + check_rows - 1) / check_rows, check_pieces)));
    for (index o = 0; o < s.outer; ++o) {
      double* const of_outer = sums + o * s.width * 2;
      sum_pieces<<<blocks, 128, 0, stream>>>(items + o * s.rows * s.width, s.rows, s.width,
                                             of_outer);
      count_wrong_columns<<<blocks.x, 128, 0, stream>>>(of_outer, s.width, out + o * s.width,
                                                        wrong);
    }
    check(cudaGetLastError(), "launch of the check");
    unsigned long long found = 0;
    check(cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDefault, stream), "copy");
    check(cudaStreamSynchronize(stream), "the check of the results");
    if (found != 0) throw std::runtime_error(std::to_string(found) + " results are wrong");
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  const std::vector<axis_shape> shapes_;
  std::optional<memory> memory_;
};

}  // namespace

void enter_columns(roster& all) {
  const auto contest = std::make_shared<axis_contest>(all.gpu(), all.quick());
  for (const axis_shape& s : contest->shapes()) {
    const auto one = [&](const std::string& who,
                         timed_work (axis_contest::*prepare)(const axis_shape&)) {
      return measurement{
          s.name, "graph", who, s.width, 2, [=, &s] { return (*contest.*prepare)(s); }, "columns"};
    };
    if (all.enter(one("tilefold", &axis_contest::fold))) {
      all.enter_ceiling(one("read", &axis_contest::read));
    }
  }
}

}  // namespace bench
