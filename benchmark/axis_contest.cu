// SPDX-License-Identifier: Apache-2.0
//
// Every result of every shape is checked once, before it is timed. Names are
// shape/graph/contestant/width, for report.py.
#include "axis_contest.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilefold/tilefold.cuh>

#include <cuda/std/mdspan>

#include "support/graph.hpp"
#include "support/items.cuh"
#include "support/read.hpp"

namespace bench {

namespace {

const std::string only_read = "read";

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

std::vector<axis_shape> axis_shapes() {
  constexpr index all = index{1} << 30;
  std::vector<axis_shape> shapes;
  for (const index width : {64, 256, 1024, 4096}) {
    shapes.push_back({"columns", 1, all / width, width, 0});
  }
  for (const index width : {64, 256, 1024, 4096}) {
    shapes.push_back({"columns_1_gib", 1, all / 4 / width, width, 0});
  }
  for (const index width : {64, 256, 1024, 4096}) {
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

template <class T>
std::shared_ptr<T> device_memory(index n) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(n) * sizeof(T)), "cudaMalloc");
  return std::shared_ptr<T>(static_cast<T*>(memory), [](T* p) { (void)cudaFree(p); });
}

class axis_contest {
 public:
  explicit axis_contest(session& gpu) : gpu_(gpu), executor_(gpu.stream()) {}

  const std::vector<axis_shape>& shapes() const { return shapes_; }

  void run(benchmark::State& state, const axis_shape& s, const std::string& who) {
    prepare();
    const auto work = [&] { enqueue(s, who); };
    if (who != only_read && checked_.insert(s.name + std::to_string(s.width)).second) {
      check_results(s, work);
    }
    const graph whole(gpu_.stream(), work);
    whole.launch(gpu_.stream());
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { whole.launch(gpu_.stream()); }));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * s.bytes());
  }

 private:
  static constexpr index most_items = (index{1} << 30) + 1024;
  static constexpr index most_results = index{1} << 26;

  // Only where these contests are run.
  void prepare() {
    if (items_) return;
    items_ = device_memory<float>(most_items + most_results);
    out_ = device_memory<float>(most_results);
    sums_ = device_memory<double>(2 * most_results);
    wrong_ = device_memory<unsigned long long>(1);
    fill<mixed<float>>(items_.get(), 4 * most_items, gpu_.stream());
  }

  void enqueue(const axis_shape& s, const std::string& who) {
    if (who == only_read) {
      read_once(items_.get(), s.bytes() / 16 * 16, reinterpret_cast<unsigned*>(wrong_.get()),
                gpu_.stream());
      return;
    }
    using cube = cuda::std::mdspan<const float, cuda::std::dextents<index, 3>>;
    using matrix = cuda::std::mdspan<float, cuda::std::dextents<index, 2>>;
    tilefold::axis_reduce_into(executor_, cube(items_.get() + s.shift, s.outer, s.rows, s.width),
                               matrix(out_.get(), s.outer, s.width), 1);
  }

  template <class Work>
  void check_results(const axis_shape& s, const Work& work) {
    const auto stream = gpu_.stream();
    check(cudaMemsetAsync(out_.get(), 0xff, static_cast<std::size_t>(s.results()) * 4, stream),
          "cudaMemsetAsync");
    work();
    check(cudaMemsetAsync(sums_.get(), 0, static_cast<std::size_t>(s.results()) * 16, stream),
          "cudaMemsetAsync");
    check(cudaMemsetAsync(wrong_.get(), 0, 8, stream), "cudaMemsetAsync");
    const dim3 blocks(
        static_cast<unsigned>((s.width + 127) / 128),
        static_cast<unsigned>(std::min((s.rows + check_rows - 1) / check_rows, check_pieces)));
    for (index o = 0; o < s.outer; ++o) {
      double* const sums = sums_.get() + o * s.width * 2;
      sum_pieces<<<blocks, 128, 0, stream>>>(items_.get() + s.shift + o * s.rows * s.width, s.rows,
                                             s.width, sums);
      count_wrong_columns<<<blocks.x, 128, 0, stream>>>(sums, s.width, out_.get() + o * s.width,
                                                        wrong_.get());
    }
    check(cudaGetLastError(), "launch of the check");
    unsigned long long found = 0;
    check(cudaMemcpyAsync(&found, wrong_.get(), sizeof found, cudaMemcpyDefault, stream), "copy");
    check(cudaStreamSynchronize(stream), "the check of the results");
    if (found != 0) throw std::runtime_error(std::to_string(found) + " results are wrong");
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<float> items_, out_;
  std::shared_ptr<double> sums_;
  std::shared_ptr<unsigned long long> wrong_;
  const std::vector<axis_shape> shapes_ = axis_shapes();
  std::set<std::string> checked_;  // shapes
};

}  // namespace

void enter_axis_contests(roster& all, session& gpu) {
  const auto contest = std::make_shared<axis_contest>(gpu);
  for (const axis_shape& s : contest->shapes()) {
    for (const std::string& who : std::vector<std::string>{"tilefold", only_read}) {
      all.enter(s.name, "graph", who, s.width, 2,
                [=, &s](benchmark::State& state) { contest->run(state, s, who); });
    }
  }
}

}  // namespace bench
