// SPDX-License-Identifier: Apache-2.0
//
// libtilefold on a GPU, from a program that nvcc never sees: every operation of every type has the
// host's bits, in every shape.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>
#include <tilefold/precompiled.hpp>

namespace {

void must(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}
void must(tilefold_status status) {
  if (status != TILEFOLD_OK) throw std::runtime_error(tilefold_last_error());
}

using bytes = std::vector<unsigned char>;

/// Memory of the GPU, filled with 0xee.
class gpu_bytes {
 public:
  explicit gpu_bytes(std::size_t n) : size_(n) {
    must(cudaMalloc(&data_, n == 0 ? 1 : n));
    clear();
  }
  explicit gpu_bytes(const bytes& content) : gpu_bytes(content.size()) { set(content); }
  gpu_bytes(const gpu_bytes&) = delete;  // frees itself
  gpu_bytes& operator=(const gpu_bytes&) = delete;
  ~gpu_bytes() { (void)cudaFree(data_); }

  void* data() const { return data_; }
  /// Fills it with 0xee again.
  void clear() const {
    must(cudaMemset(data_, 0xee, size_));
    wait_for_default_stream();
  }
  /// As many bytes as it has.
  void set(const bytes& content) const {
    must(cudaMemcpy(data_, content.data(), size_, cudaMemcpyDefault));
    wait_for_default_stream();
  }
  bytes to_host() const {
    bytes content(size_);
    must(cudaMemcpy(content.data(), data_, size_, cudaMemcpyDefault));
    return content;
  }

 private:
  // Both calls may be back before the GPU is done, and executors' streams do not wait for it.
  static void wait_for_default_stream() { must(cudaStreamSynchronize(cudaStreamLegacy)); }

  void* data_ = nullptr;
  std::size_t size_;
};

/// A graph of what calls() puts into a stream, which must outlive it.
class captured_graph {
 public:
  template <class Calls>
  captured_graph(cudaStream_t stream, cudaStreamCaptureMode mode, const Calls& calls)
      : stream_(stream) {
    must(cudaStreamBeginCapture(stream, mode));
    try {
      calls();
    } catch (...) {
      if (cudaStreamEndCapture(stream, &graph_) == cudaSuccess) (void)cudaGraphDestroy(graph_);
      throw;
    }
    must(cudaStreamEndCapture(stream, &graph_));
  }
  captured_graph(const captured_graph&) = delete;  // destroys its graph
  captured_graph& operator=(const captured_graph&) = delete;
  ~captured_graph() {
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    (void)cudaGraphDestroy(graph_);
  }

  /// Puts it into the stream, any number of times.
  void launch() {
    if (executable_ == nullptr) must(cudaGraphInstantiate(&executable_, graph_, 0));
    must(cudaGraphLaunch(executable_, stream_));
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

struct executor_end {
  void operator()(tilefold_executor* exec) const { tilefold_destroy(exec); }
};
using owned_executor = std::unique_ptr<tilefold_executor, executor_end>;
using make_executor = tilefold_status (*)(std::int32_t, void*, tilefold_executor**);

owned_executor executor_of(cudaStream_t stream, make_executor make) {
  tilefold_executor* exec = nullptr;
  must(make(0, stream, &exec));
  return owned_executor(exec);
}

const std::vector<tilefold_dtype> types{
    {TILEFOLD_INT, 8, 1},    {TILEFOLD_INT, 16, 1},     {TILEFOLD_INT, 32, 1},
    {TILEFOLD_INT, 64, 1},   {TILEFOLD_UINT, 8, 1},     {TILEFOLD_UINT, 16, 1},
    {TILEFOLD_UINT, 32, 1},  {TILEFOLD_UINT, 64, 1},    {TILEFOLD_FLOAT, 16, 1},
    {TILEFOLD_FLOAT, 32, 1}, {TILEFOLD_FLOAT, 64, 1},   {TILEFOLD_BFLOAT, 16, 1},
    {TILEFOLD_BOOL, 8, 1},   {TILEFOLD_COMPLEX, 64, 1}, {TILEFOLD_COMPLEX, 128, 1}};
constexpr tilefold_dtype int32_code{TILEFOLD_INT, 32, 1};
constexpr tilefold_dtype int64_code{TILEFOLD_INT, 64, 1};
constexpr tilefold_dtype float32_code{TILEFOLD_FLOAT, 32, 1};
constexpr tilefold_dtype float64_code{TILEFOLD_FLOAT, 64, 1};
constexpr tilefold_dtype float16_code{TILEFOLD_FLOAT, 16, 1};
constexpr tilefold_dtype bfloat16_code{TILEFOLD_BFLOAT, 16, 1};

std::string name_of(tilefold_dtype type) {
  return std::to_string(type.code) + ":" + std::to_string(type.bits);
}

std::size_t result_bytes(const char* op, tilefold_dtype type) {
  tilefold_dtype result{};
  std::int32_t count = 0;
  must(tilefold_result(op, type, &result, &count));
  return static_cast<std::size_t>(result.bits / 8 * count);
}

// Items of any type: mixed signs and magnitudes, all finite. Another salt gives others.
bytes items_of(tilefold_dtype type, std::int64_t n, std::uint64_t salt = 0) {
  const std::size_t size = type.bits / 8;
  bytes items(static_cast<std::size_t>(n) * size);
  std::uint64_t state = 88172645463325252u + type.code * 131u + type.bits + salt * 7919u;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::uint64_t item = state;
    if (type.code == TILEFOLD_BOOL) item = state % 8 == 0 ? 0 : 1;
    if (type.code == TILEFOLD_COMPLEX) {
      const std::uint64_t finite =
          type.bits == 64 ? ~0x2000000020000000u : ~(std::uint64_t{1} << 61);
      for (std::size_t byte = 0; byte < size; byte += 8, item = ~item) {
        const std::uint64_t part = item & finite;
        std::memcpy(items.data() + i * size + byte, &part, 8);
      }
      continue;
    }
    // A high bit of the exponent is cleared: no infinity, no NaN.
    if (type.code == TILEFOLD_FLOAT) item &= ~(std::uint64_t{1} << (type.bits - 3));
    if (type.code == TILEFOLD_BFLOAT) item &= ~(std::uint64_t{1} << 13);
    std::memcpy(items.data() + i * size, &item, size);
  }
  return items;
}

// float32, float64 or bfloat16 of both signs, 2^-6 to 2^4 large: exponentials of many items count
// in the sum of a row, where of items_of() one or two do.
bytes near_items_of(tilefold_dtype type, std::int64_t n, std::uint64_t salt = 0) {
  const std::size_t size = type.bits / 8;
  bytes items(static_cast<std::size_t>(n) * size);
  std::uint64_t state = 362436069u + type.code * 131u + type.bits + salt * 7919u;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // From the top, where they are best: a bit for the sign, four for the magnitude, then the rest.
    const double fraction = 1 + std::ldexp(static_cast<double>(state << 5 >> 12), -52);
    const double magnitude = std::ldexp(fraction, static_cast<int>(state >> 59 & 15) % 10 - 6);
    const double item = state >> 63 != 0 ? -magnitude : magnitude;
    if (type.bits == 64) {
      std::memcpy(items.data() + i * size, &item, size);
      continue;
    }
    const auto narrow = static_cast<float>(item);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, 4);
    if (type.bits == 16) bits >>= 16;  // a bfloat16 is the upper half
    std::memcpy(items.data() + i * size, &bits, size);
  }
  return items;
}

/// On a GPU exact sums and means are of two types.
bool is_hosts_alone(const std::string& op, tilefold_dtype type) {
  return (op == "exact_sum" || op == "exact_mean") &&
         (type.code != TILEFOLD_FLOAT || type.bits == 16);
}

class CInterfaceOnGpu : public ::testing::Test {
 protected:
  CInterfaceOnGpu() {
    must(tilefold_host_executor(0, &host_));
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    must(tilefold_cuda_executor(0, stream_, &gpu_));
  }
  ~CInterfaceOnGpu() override {
    tilefold_destroy(gpu_);
    (void)cudaStreamDestroy(stream_);
    tilefold_destroy(host_);
  }

  /// Calls use(op, type, bytes of a result) for every operation there is.
  template <class Use>
  void for_each_op(const Use& use) {
    int combinations = 0;
    for (int i = 0; tilefold_op_name(i) != nullptr; ++i) {
      for (const tilefold_dtype type : types) {
        tilefold_dtype result{};
        std::int32_t count = 0;
        if (tilefold_result(tilefold_op_name(i), type, &result, &count) != TILEFOLD_OK) continue;
        if (is_hosts_alone(tilefold_op_name(i), type)) continue;
        ++combinations;
        try {
          use(tilefold_op_name(i), type, static_cast<std::size_t>(result.bits / 8 * count));
        } catch (const std::exception& e) {
          ADD_FAILURE() << tilefold_op_name(i) << " of " << name_of(type) << ": " << e.what();
        }
      }
    }
    EXPECT_GE(combinations, 250);
  }

  tilefold_executor* host_ = nullptr;
  tilefold_executor* gpu_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// A call over float32 items that is the same on every executor.
struct any_call {
  const char* what;
  const char* output;  // what tilefold.h calls the argument that it writes through
  std::size_t result_bytes;
  std::function<tilefold_status(tilefold_executor*, const void* items, void* results)> on;

  bytes on_host(tilefold_executor* host, const bytes& items) const {
    bytes results(result_bytes, 0xee);
    must(on(host, items.data(), results.data()));
    return results;
  }
};

/// Items that the longest of them reads.
constexpr std::int64_t most_call_items = 3000001;

/// Short calls and longer ones, each of an operation or a verb of its own.
std::vector<any_call> calls_of_floats() {
  const auto range = [](const char* what, const char* op, std::int64_t n) {
    return any_call{what, "result", result_bytes(op, float32_code),
                    [op, n](tilefold_executor* exec, const void* items, void* result) {
                      return tilefold_reduce(exec, op, items, float32_code, n, result);
                    }};
  };
  const auto axis = [](const char* what, const char* op, std::int32_t folded, std::size_t results) {
    return any_call{what, "results", results * result_bytes(op, float32_code),
                    [op, folded](tilefold_executor* exec, const void* items, void* result) {
                      const std::int64_t extents[] = {700, 300};
                      return tilefold_axis_reduce(exec, op, items, float32_code, 2, extents,
                                                  nullptr, 1, &folded, result, nullptr);
                    }};
  };
  return {range("a short sum", "sum", 1000),
          range("a short norm", "l1", 4097),
          range("a short logsumexp", "logsumexp", 999),
          range("a long sum of doubles", "sum64", most_call_items),
          range("a long mean", "mean", most_call_items),
          range("a long logsumexp", "logsumexp", most_call_items),
          axis("rows", "variance", 1, 700),
          axis("columns", "compensated_sum", 0, 300),
          {"segments", "results", 8 * 8,
           [](tilefold_executor* exec, const void* items, void* results) {
             return tilefold_segmented_reduce_equal(exec, "l2", items, float32_code, 8, 131072,
                                                    results);
           }},
          {"statistics", "result", sizeof(tilefold_statistics),
           [](tilefold_executor* exec, const void* items, void* result) {
             return tilefold_stats(exec, items, float32_code, 300007,
                                   static_cast<tilefold_statistics*>(result));
           }},
          {"a dot product", "result", 4,
           [](tilefold_executor* exec, const void* items, void* result) {
             return tilefold_dot(exec, items, items, float32_code, 300007, result);
           }},
          {"log_softmax", "results", 4 * 300 * 1000,
           [](tilefold_executor* exec, const void* items, void* results) {
             return tilefold_log_softmax(exec, items, float32_code, 300, 1000, results,
                                         float32_code);
           }}};
}

// The first test of the program: no kernel is loaded yet, and to load one must not end the capture.
TEST_F(CInterfaceOnGpu, FirstCallsOfAStreamCanBeCaptured) {
  const bytes items = near_items_of(float32_code, most_call_items);
  const gpu_bytes on_gpu(items);
  const std::vector<any_call> calls = calls_of_floats();
  const owned_executor exec = executor_of(stream_, &tilefold_stream_executor);
  std::vector<std::unique_ptr<gpu_bytes>> results;
  for (const any_call& call : calls) {
    results.push_back(std::make_unique<gpu_bytes>(call.result_bytes));
  }
  captured_graph graph(stream_, cudaStreamCaptureModeGlobal, [&] {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(calls[i].on(exec.get(), on_gpu.data(), results[i]->data()), TILEFOLD_OK)
          << calls[i].what << ": " << tilefold_last_error();
    }
  });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(results[i]->to_host(), bytes(calls[i].result_bytes, 0xee)) << calls[i].what;
  }
  graph.launch();
  must(cudaStreamSynchronize(stream_));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(results[i]->to_host(), calls[i].on_host(host_, items)) << calls[i].what;
  }
}

TEST_F(CInterfaceOnGpu, RangesHaveTheHostsBits) {
  for (const std::int64_t n : {1, 37, 1000, 100003, 2000003}) {
    for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
      const bytes items = items_of(type, n);
      const gpu_bytes on_gpu(items), result(size);
      bytes expected(size, 0xee);
      must(tilefold_reduce(host_, op, items.data(), type, n, expected.data()));
      must(tilefold_reduce(gpu_, op, on_gpu.data(), type, n, result.data()));
      must(tilefold_synchronize(gpu_));
      EXPECT_EQ(result.to_host(), expected) << op << " of " << name_of(type) << ", " << n;
    });
  }
}

TEST_F(CInterfaceOnGpu, SegmentsHaveTheHostsBits) {
  const std::int64_t n = 300000;
  const std::vector<std::int64_t> wide{0, 1, 1, 4, 70, 70, 1000, 1001, 250000, 300000};
  const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
  const auto segments = static_cast<std::int64_t>(wide.size()) - 1;
  bytes wide_bytes(wide.size() * 8), narrow_bytes(wide.size() * 4);
  std::memcpy(wide_bytes.data(), wide.data(), wide_bytes.size());
  std::memcpy(narrow_bytes.data(), narrow.data(), narrow_bytes.size());
  const gpu_bytes wide_on_gpu(wide_bytes), narrow_on_gpu(narrow_bytes);
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
    const bytes items = items_of(type, n);
    const gpu_bytes on_gpu(items);
    const std::string what = std::string(op) + " of " + name_of(type);
    bytes expected(size * static_cast<std::size_t>(segments));
    must(tilefold_segmented_reduce(host_, op, items.data(), type, n, wide.data(), int64_code,
                                   segments, expected.data()));
    const gpu_bytes by_wide(expected.size()), by_narrow(expected.size());
    must(tilefold_segmented_reduce(gpu_, op, on_gpu.data(), type, n, wide_on_gpu.data(), int64_code,
                                   segments, by_wide.data()));
    must(tilefold_segmented_reduce(gpu_, op, on_gpu.data(), type, -1, narrow_on_gpu.data(),
                                   int32_code, segments, by_narrow.data()));
    must(tilefold_synchronize(gpu_));
    EXPECT_EQ(by_wide.to_host(), expected) << what;
    EXPECT_EQ(by_narrow.to_host(), expected) << what;
    for (const std::int64_t length : {3, 100, 5000}) {
      const std::int64_t many = n / length;
      bytes equal(size * static_cast<std::size_t>(many));
      const gpu_bytes equal_on_gpu(equal.size());
      must(tilefold_segmented_reduce_equal(host_, op, items.data(), type, many, length,
                                           equal.data()));
      must(tilefold_segmented_reduce_equal(gpu_, op, on_gpu.data(), type, many, length,
                                           equal_on_gpu.data()));
      must(tilefold_synchronize(gpu_));
      EXPECT_EQ(equal_on_gpu.to_host(), equal) << what << ", segments of " << length;
    }
  });
}

// Lengths have ways of their own through the kernels, and so have few rows and many. Rows may begin
// at any item, and what lies behind the last result stays as it is.
TEST_F(CInterfaceOnGpu, RowsOfOneLengthHaveTheHostsBits) {
  const std::int64_t most = std::int64_t{1} << 20;
  for (const tilefold_dtype type :
       {float32_code, bfloat16_code, float64_code, int32_code, int64_code}) {
    const bool is_integer = type.code == TILEFOLD_INT;
    for (const bytes& items :
         {items_of(type, most + 1), is_integer
                                        ? bytes(static_cast<std::size_t>(most + 1) * type.bits / 8)
                                        : near_items_of(type, most + 1)}) {
      const gpu_bytes on_gpu(items);
      // The pair shows what the logarithm may round away. Of zeros nothing settles early.
      for (const char* op :
           {"sum", "product", "min", "max", "arg_min", "arg_max", "any", "all", "count_nonzero",
            "mean", "variance", "l1", "l2", "logsumexp", "softmax_pair"}) {
        const std::size_t size = result_bytes(op, type);
        for (const std::int64_t length : {1, 4, 64, 1024, 4096, 131072}) {
          const std::int64_t all = most / length;
          const gpu_bytes got(size * static_cast<std::size_t>(all));
          for (const std::int64_t first : {0, 1}) {
            const auto at = [&](const void* data) {
              return static_cast<const char*>(data) + first * (type.bits / 8);
            };
            bytes of_all(size * static_cast<std::size_t>(all));
            must(tilefold_segmented_reduce_equal(host_, op, at(items.data()), type, all, length,
                                                 of_all.data()));
            for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, all - 1, all}) {
              bytes expected(of_all.size(), 0xee);
              std::copy_n(of_all.begin(), static_cast<std::ptrdiff_t>(size) * rows,
                          expected.begin());
              got.clear();
              must(tilefold_segmented_reduce_equal(gpu_, op, at(on_gpu.data()), type, rows, length,
                                                   got.data()));
              must(tilefold_synchronize(gpu_));
              EXPECT_EQ(got.to_host(), expected) << op << " of " << name_of(type) << ", " << rows
                                                 << " rows of " << length << " from " << first;
            }
          }
        }
      }
    }
  }
}

// Enough items for a GPU to fold each row by blocks of its own, in any order.
TEST_F(CInterfaceOnGpu, LongRowsHaveTheHostsBits) {
  for (const tilefold_dtype type :
       {float32_code, bfloat16_code, float64_code, int32_code, int64_code}) {
    for (const auto& [rows, length] : {std::pair{200, 40003}, std::pair{16, 600001}}) {
      const std::int64_t n = std::int64_t{rows} * length;
      const bytes items = items_of(type, n + 1);
      const gpu_bytes on_gpu(items);
      const auto at = [&](const void* data) {
        return static_cast<const char*>(data) + type.bits / 8;
      };
      for (const char* op : {"arg_min", "arg_max", "any", "all", "count_nonzero"}) {
        const std::size_t size = result_bytes(op, type) * static_cast<std::size_t>(rows);
        bytes expected(size);
        const gpu_bytes got(size);
        must(tilefold_segmented_reduce_equal(host_, op, at(items.data()), type, rows, length,
                                             expected.data()));
        must(tilefold_segmented_reduce_equal(gpu_, op, at(on_gpu.data()), type, rows, length,
                                             got.data()));
        must(tilefold_synchronize(gpu_));
        EXPECT_EQ(got.to_host(), expected)
            << op << " of " << name_of(type) << ", " << rows << " rows of " << length;
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, AxesHaveTheHostsBits) {
  const std::int64_t extents[] = {9, 70, 33};
  const std::int64_t padded[] = {70 * 40, 40, 1};
  const std::int64_t left[] = {1, 9, 9 * 70};
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
    const bytes items = items_of(type, 9 * 70 * 40);
    const gpu_bytes on_gpu(items);
    for (const std::int64_t* strides :
         {static_cast<const std::int64_t*>(nullptr), static_cast<const std::int64_t*>(padded),
          static_cast<const std::int64_t*>(left)}) {
      for (const unsigned set : {1u, 2u, 4u, 5u, 6u, 7u}) {
        std::vector<std::int32_t> axes;
        std::size_t results = 1;
        for (int i = 0; i < 3; ++i) {
          if (((set >> i) & 1u) != 0) {
            axes.push_back(i);
          } else {
            results *= static_cast<std::size_t>(extents[i]);
          }
        }
        const auto num_axes = static_cast<std::int32_t>(axes.size());
        bytes expected(size * results);
        const gpu_bytes result(expected.size());
        must(tilefold_axis_reduce(host_, op, items.data(), type, 3, extents, strides, num_axes,
                                  axes.data(), expected.data(), nullptr));
        must(tilefold_axis_reduce(gpu_, op, on_gpu.data(), type, 3, extents, strides, num_axes,
                                  axes.data(), result.data(), nullptr));
        must(tilefold_synchronize(gpu_));
        EXPECT_EQ(result.to_host(), expected)
            << op << " of " << name_of(type) << ", axes " << set << ", strides "
            << (strides == nullptr ? 0 : strides[0]);
      }
    }
  });
}

/// Numbers of which many are equal: zeros of both signs, NaNs of both, infinities, and the
/// extremes and neighbours of 0 of an int32.
bytes few_values_of(tilefold_dtype type, std::int64_t n) {
  const std::size_t size = type.bits / 8;
  const auto top = [&](std::uint64_t upper) { return upper << (type.bits - 16); };
  const bool is_half = type.code == TILEFOLD_FLOAT && type.bits == 16;
  const std::uint64_t infinity = is_half ? 0x7c00 : type.bits == 64 ? 0x7ff0 : 0x7f80;
  const std::uint64_t sign = 0x8000;
  std::vector<std::uint64_t> values;
  if (type.code == TILEFOLD_INT) {
    values = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 2};
  } else {
    for (const std::uint64_t upper :
         {std::uint64_t{0}, sign, infinity, infinity | sign, infinity - 1, (infinity - 1) | sign}) {
      values.push_back(top(upper));
    }
  }
  bytes items(static_cast<std::size_t>(n) * size);
  std::uint64_t state = 2463534242u + type.code * 131u + type.bits;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t item = values[(state >> 33) % values.size()];
    // A NaN in some rows, of any sign.
    if (type.code != TILEFOLD_INT && (state >> 40) % 500 == 0) {
      item = top(infinity | 1 << 3 | (state >> 20 & 1) << 15);
    }
    std::memcpy(items.data() + i * size, &item, size);
  }
  return items;
}

// Columns are taken as wide as a load, and results stored at once, where their memory allows it;
// the first of both may lie anywhere. Rows and columns of known length have reducers of their own.
TEST_F(CInterfaceOnGpu, RowsAndColumnsHaveTheHostsBits) {
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {3, 1032}, {8, 4096}, {70, 264}, {1000, 129}, {40, 1001}, {5000, 8}, {2, 100000}};
  for (const tilefold_dtype type :
       {float32_code, float16_code, bfloat16_code, float64_code, int32_code}) {
    std::vector<bytes> kinds{few_values_of(type, 200001)};
    kinds.push_back(type.code == TILEFOLD_INT || type.bits == 16 ? items_of(type, 200001)
                                                                 : near_items_of(type, 200001));
    for (const bytes& items : kinds) {
      const gpu_bytes on_gpu(items);
      for (const char* op : {"sum", "product", "min", "max", "arg_min", "arg_max", "any", "all",
                             "count_nonzero", "mean", "variance", "l2"}) {
        const std::string name = op;
        const bool rounds = name == "mean" || name == "variance" || name == "l2";
        std::vector<tilefold_dtype> result_types(1);
        std::int32_t count = 0;
        must(tilefold_result(op, type, result_types.data(), &count));
        if (rounds) result_types = {float64_code, float32_code, float16_code, bfloat16_code};
        for (const auto& [rows, columns] : shapes) {
          const std::int64_t extents[] = {rows, columns};
          for (const std::int32_t axis : {0, 1}) {
            for (const tilefold_dtype& of_results : result_types) {
              const std::size_t size = of_results.bits / 8;
              const auto results = static_cast<std::size_t>(axis == 0 ? columns : rows);
              for (const int shifts : {0, 1, 2, 3}) {  // of the items, the results, both
                const std::int64_t first = shifts & 1;
                const std::size_t first_result = static_cast<std::size_t>(shifts >> 1);
                const auto at = [&](const void* data) {
                  return static_cast<const char*>(data) + first * (type.bits / 8);
                };
                const auto reduce = [&](tilefold_executor* exec, const void* in, void* out) {
                  char* const to = static_cast<char*>(out) + first_result * size;
                  must(rounds ? tilefold_axis_reduce_as(exec, op, at(in), type, 2, extents, nullptr,
                                                        1, &axis, to, of_results, nullptr)
                              : tilefold_axis_reduce(exec, op, at(in), type, 2, extents, nullptr, 1,
                                                     &axis, to, nullptr));
                };
                bytes expected((results + 2) * size, 0xee);
                const gpu_bytes got(expected.size());
                reduce(host_, items.data(), expected.data());
                reduce(gpu_, on_gpu.data(), got.data());
                must(tilefold_synchronize(gpu_));
                EXPECT_EQ(got.to_host(), expected)
                    << op << " of " << name_of(type) << " as " << name_of(of_results) << ", "
                    << rows << " x " << columns << ", axis " << axis << ", from " << first << " to "
                    << first_result;
              }
            }
          }
        }
      }
    }
  }
}

/// `count` results of `size` bytes with a gap behind each, the last one first if `step` is -2. Gaps
/// are 0xee.
bytes with_gaps(const bytes& results, std::size_t size, int step) {
  const std::size_t count = results.size() / size;
  bytes spread(2 * results.size(), 0xee);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = step > 0 ? i : count - 1 - i;
    std::memcpy(spread.data() + 2 * place * size, results.data() + i * size, size);
  }
  return spread;
}

TEST_F(CInterfaceOnGpu, RoundsResultsAsTheHostDoes) {
  const std::int64_t extents[] = {40, 3, 333};
  const std::int64_t count = 40 * 3 * 333;
  for (const tilefold_dtype type : types) {
    if (type.code == TILEFOLD_COMPLEX) continue;
    const bytes items = items_of(type, count);
    const gpu_bytes on_gpu(items);
    for (const char* op : {"mean", "variance", "population_variance", "standard_deviation",
                           "population_standard_deviation", "l1", "l2", "logsumexp"}) {
      for (const tilefold_dtype of_results :
           {tilefold_dtype{TILEFOLD_FLOAT, 64, 1}, tilefold_dtype{TILEFOLD_FLOAT, 32, 1},
            tilefold_dtype{TILEFOLD_FLOAT, 16, 1}, tilefold_dtype{TILEFOLD_BFLOAT, 16, 1}}) {
        const std::size_t size = of_results.bits / 8;
        for (const std::vector<std::int32_t>& axes :
             {std::vector<std::int32_t>{0, 1, 2}, {2}, {0}, {1}, {0, 2}}) {
          std::size_t results = 1;
          for (std::int32_t i = 0; i < 3; ++i) {
            const bool is_left = std::find(axes.begin(), axes.end(), i) == axes.end();
            if (is_left) results *= static_cast<std::size_t>(extents[i]);
          }
          bytes expected(results * size);
          const gpu_bytes got(expected.size());
          const auto num_axes = static_cast<std::int32_t>(axes.size());
          must(tilefold_axis_reduce_as(host_, op, items.data(), type, 3, extents, nullptr, num_axes,
                                       axes.data(), expected.data(), of_results, nullptr));
          must(tilefold_axis_reduce_as(gpu_, op, on_gpu.data(), type, 3, extents, nullptr, num_axes,
                                       axes.data(), got.data(), of_results, nullptr));
          must(tilefold_synchronize(gpu_));
          EXPECT_EQ(got.to_host(), expected) << op << " of " << name_of(type) << " as "
                                             << name_of(of_results) << ", " << num_axes << " axes";
        }
        bytes expected(size);
        const gpu_bytes got(size);
        must(tilefold_reduce_as(host_, op, items.data(), type, count, expected.data(), of_results));
        must(tilefold_reduce_as(gpu_, op, on_gpu.data(), type, count, got.data(), of_results));
        must(tilefold_synchronize(gpu_));
        EXPECT_EQ(got.to_host(), expected) << op << " of " << name_of(type);
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, AxesWriteWhereTheirStridesSay) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {6, 500, 34}, {2, 4, 30000}, {30000, 2, 4}, {8, 1, 131072}};
  for (const tilefold_dtype type : {float32_code, bfloat16_code, float64_code}) {
    for (const auto& extents : shapes) {
      const bytes items = near_items_of(type, extents[0] * extents[1] * extents[2]);
      const gpu_bytes on_gpu(items);
      for (const char* op : {"sum", "logsumexp", "minmax"}) {
        const std::size_t size = result_bytes(op, type);
        for (const unsigned set : {1u, 2u, 3u, 4u, 5u, 6u}) {
          std::vector<std::int32_t> folded;
          std::vector<std::int64_t> strides;
          std::int64_t count = 1;
          for (int i = 2; i >= 0; --i) {
            if (((set >> i) & 1u) != 0) {
              folded.push_back(i);
            } else {
              strides.insert(strides.begin(), count);
              count *= extents[static_cast<std::size_t>(i)];
            }
          }
          const auto num_folded = static_cast<std::int32_t>(folded.size());
          bytes dense(size * static_cast<std::size_t>(count));
          must(tilefold_axis_reduce(host_, op, items.data(), type, 3, extents.data(), nullptr,
                                    num_folded, folded.data(), dense.data(), nullptr));
          for (const int step : {2, -2}) {
            std::vector<std::int64_t> wide = strides;
            for (std::int64_t& stride : wide) stride *= step;
            const bytes expected = with_gaps(dense, size, step);
            const gpu_bytes got(expected.size());
            const std::int64_t first = step > 0 ? 0 : 2 * (count - 1);
            must(tilefold_axis_reduce(
                gpu_, op, on_gpu.data(), type, 3, extents.data(), nullptr, num_folded,
                folded.data(),
                static_cast<char*>(got.data()) + first * static_cast<std::int64_t>(size),
                wide.data()));
            must(tilefold_synchronize(gpu_));
            EXPECT_EQ(got.to_host(), expected)
                << op << " of " << name_of(type) << ", " << extents[0] << " x " << extents[1]
                << " x " << extents[2] << ", axes " << set << ", results " << step << " apart";
          }
        }
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, ResultsOfNothingGoWhereTheirStridesSay) {
  const std::int64_t extents[] = {2, 0, 3};
  const std::int32_t middle = 1;
  const std::int64_t in_order[] = {3, 1}, turned[] = {1, 2}, turned_with_gaps[] = {1, 4};
  for (const char* op : {"sum", "max", "any", "all", "logsumexp", "softmax_pair", "minmax", "l2"}) {
    const std::size_t size = result_bytes(op, float32_code);
    for (const std::int64_t* strides : {in_order, turned, turned_with_gaps}) {
      bytes expected(12 * size, 0xee);
      const gpu_bytes got(expected.size());
      must(tilefold_axis_reduce(host_, op, nullptr, float32_code, 3, extents, nullptr, 1, &middle,
                                expected.data(), strides));
      must(tilefold_axis_reduce(gpu_, op, nullptr, float32_code, 3, extents, nullptr, 1, &middle,
                                got.data(), strides));
      must(tilefold_synchronize(gpu_));
      EXPECT_EQ(got.to_host(), expected) << op << ", strides " << strides[0] << ", " << strides[1];
      EXPECT_EQ(std::count(expected.begin(), expected.end(), 0xee),
                static_cast<std::ptrdiff_t>(6 * size));
    }
  }
}

TEST_F(CInterfaceOnGpu, RunsHaveTheHostsBits) {
  const std::int64_t n = 50000;
  for (const tilefold_dtype keys_type : types) {
    if (keys_type.code == TILEFOLD_COMPLEX) continue;
    const std::size_t key_size = keys_type.bits / 8;
    // Runs of 1 to 600 keys of many values, zeros of both signs among them.
    const bytes values = items_of(keys_type, 1000);
    bytes keys(static_cast<std::size_t>(n) * key_size);
    for (std::size_t i = 0, run = 0, left = 1; i < static_cast<std::size_t>(n); ++i) {
      if (--left == 0) {
        ++run;
        left = 1 + run * run % 600;
      }
      std::memcpy(keys.data() + i * key_size, values.data() + (run % 1000) * key_size, key_size);
    }
    const gpu_bytes keys_on_gpu(keys);
    for (const char* op : {"sum", "min", "max", "mean"}) {
      for (const tilefold_dtype type :
           {types[2], types[3], types[8], types[9], types[10], types[11]}) {
        tilefold_dtype result_type{};
        must(tilefold_result(op, type, &result_type, nullptr));
        const bytes items = items_of(type, n);
        const gpu_bytes on_gpu(items), keys_out(keys.size()), runs(8);
        const gpu_bytes results(static_cast<std::size_t>(n) * (result_type.bits / 8));
        bytes expected_keys(keys.size(), 0xee);
        bytes expected(static_cast<std::size_t>(n) * (result_type.bits / 8), 0xee);
        std::int64_t expected_runs = 0;
        must(tilefold_reduce_by_key(host_, op, keys.data(), keys_type, items.data(), type, n,
                                    expected_keys.data(), expected.data(), &expected_runs));
        must(tilefold_reduce_by_key(gpu_, op, keys_on_gpu.data(), keys_type, on_gpu.data(), type, n,
                                    keys_out.data(), results.data(),
                                    static_cast<std::int64_t*>(runs.data())));
        must(tilefold_synchronize(gpu_));
        std::int64_t found = 0;
        std::memcpy(&found, runs.to_host().data(), 8);
        EXPECT_EQ(found, expected_runs);
        EXPECT_EQ(keys_out.to_host(), expected_keys) << name_of(keys_type);
        EXPECT_EQ(results.to_host(), expected)
            << op << " of " << name_of(type) << " by " << name_of(keys_type);
      }
    }
  }
  const gpu_bytes some(64);
  EXPECT_EQ(
      tilefold_reduce_by_key(gpu_, "l2", some.data(), int32_code, some.data(), types[9], 2,
                             some.data(), some.data(), static_cast<std::int64_t*>(some.data())),
      TILEFOLD_UNSUPPORTED);
  EXPECT_NE(std::string(tilefold_last_error()).find("l2 of float32"), std::string::npos);
}

// Indices of few and many items, of none, and out of range.
template <class Index>
bytes indices_of(std::int64_t n, std::uint64_t bins) {
  bytes indices(static_cast<std::size_t>(n) * sizeof(Index));
  std::uint64_t state = 1;
  for (std::int64_t j = 0; j < n; ++j) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t most = state % 3 == 0 ? bins + 3 : bins / 7 + 1;
    const auto index = static_cast<Index>((state >> 33) % most - 1);
    std::memcpy(indices.data() + static_cast<std::size_t>(j) * sizeof index, &index, sizeof index);
  }
  return indices;
}

TEST_F(CInterfaceOnGpu, ItemsByIndexHaveTheHostsBits) {
  const std::int64_t n = 30000;
  const std::int64_t results = 900;
  const bytes indices = indices_of<std::int32_t>(n, 900);
  const gpu_bytes indices_on_gpu(indices);
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
    for (const std::int64_t columns : {1, 3}) {
      const bytes items = items_of(type, n * columns);
      const gpu_bytes on_gpu(items);
      bytes expected(size * static_cast<std::size_t>(results * columns));
      const gpu_bytes got(expected.size());
      must(tilefold_reduce_by_index(host_, op, indices.data(), int32_code, items.data(), type, n,
                                    columns, results, 0, expected.data()));
      must(tilefold_reduce_by_index(gpu_, op, indices_on_gpu.data(), int32_code, on_gpu.data(),
                                    type, n, columns, results, 0, got.data()));
      must(tilefold_synchronize(gpu_));
      EXPECT_EQ(got.to_host(), expected)
          << op << " of " << name_of(type) << ", " << columns << " columns";
    }
  });
  const auto of_indices = [&](const bytes& of, tilefold_dtype type) {
    const bytes items = items_of(float32_code, n);
    const gpu_bytes on_gpu(items), of_on_gpu(of);
    for (const std::int64_t bins : {1, 30, 100000}) {
      bytes expected(4 * static_cast<std::size_t>(bins));
      const gpu_bytes got(expected.size());
      must(tilefold_reduce_by_index(host_, "sum", of.data(), type, items.data(), float32_code, n, 1,
                                    bins, 0, expected.data()));
      must(tilefold_reduce_by_index(gpu_, "sum", of_on_gpu.data(), type, on_gpu.data(),
                                    float32_code, n, 1, bins, 0, got.data()));
      must(tilefold_synchronize(gpu_));
      EXPECT_EQ(got.to_host(), expected) << "indices of " << name_of(type) << ", " << bins;
    }
  };
  of_indices(indices_of<std::int8_t>(n, 100), types[0]);
  of_indices(indices_of<std::int16_t>(n, 30000), types[1]);
  of_indices(indices_of<std::int64_t>(n, 90000), types[3]);
  of_indices(indices_of<std::uint8_t>(n, 200), types[4]);
  of_indices(indices_of<std::uint16_t>(n, 60000), types[5]);
  of_indices(indices_of<std::uint32_t>(n, 90000), types[6]);
  of_indices(indices_of<std::uint64_t>(n, 90000), types[7]);
}

TEST_F(CInterfaceOnGpu, ItemsByIndexAreCheckedWhereThatIsAsked) {
  const std::int64_t indices[] = {0, 2, -3};
  bytes content(sizeof indices);
  std::memcpy(content.data(), indices, sizeof indices);
  const gpu_bytes indices_on_gpu(content), items(items_of(float32_code, 3)), out(3 * 4);
  const auto call = [&](std::int64_t n, std::int64_t results, std::int32_t checked) {
    return tilefold_reduce_by_index(gpu_, "sum", indices_on_gpu.data(), int64_code, items.data(),
                                    float32_code, n, 1, results, checked, out.data());
  };
  out.clear();
  const bytes before = out.to_host();
  EXPECT_EQ(call(3, 3, 1), TILEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilefold_last_error())
                .find("tilefold_reduce_by_index: item 2 has the index -3, but there are 3 results"),
            std::string::npos)
      << tilefold_last_error();
  must(tilefold_synchronize(gpu_));
  EXPECT_EQ(out.to_host(), before);
  must(call(3, 3, 0));
  must(call(2, 3, 1));
  must(call(0, 3, 1));
  must(tilefold_synchronize(gpu_));
  const std::vector<float> nothing(3, -0.0f);
  const bytes found = out.to_host();
  EXPECT_EQ(std::memcmp(found.data(), nothing.data(), 12), 0);
}

TEST_F(CInterfaceOnGpu, ItemsByIndexCanBeCaptured) {
  const std::int64_t n = 50000;
  const std::int64_t results = 300;
  const std::int64_t columns = 2;
  const bytes indices = indices_of<std::int32_t>(n, 300), items = items_of(float32_code, 2 * n);
  const gpu_bytes indices_on_gpu(indices), on_gpu(items), got(8 * 600);
  bytes expected(8 * 600);
  must(tilefold_reduce_by_index(host_, "arg_max", indices.data(), int32_code, items.data(),
                                float32_code, n, columns, results, 0, expected.data()));
  const auto call = [&](tilefold_executor* exec, std::int32_t checked) {
    return tilefold_reduce_by_index(exec, "arg_max", indices_on_gpu.data(), int32_code,
                                    on_gpu.data(), float32_code, n, columns, results, checked,
                                    got.data());
  };
  must(call(gpu_, 0));  // loads kernels
  must(tilefold_synchronize(gpu_));
  for (const make_executor make : {&tilefold_cuda_executor, &tilefold_stream_executor}) {
    const owned_executor exec = executor_of(stream_, make);
    std::int64_t workspace = 0;
    must(tilefold_reduce_by_index_workspace(exec.get(), "arg_max", float32_code, n, columns,
                                            results, &workspace));
    EXPECT_GT(workspace, n * 16);
    if (make == &tilefold_cuda_executor) must(tilefold_reserve(exec.get(), workspace));
    must(tilefold_synchronize(exec.get()));
    captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
      EXPECT_EQ(call(exec.get(), 1), TILEFOLD_CAPTURE) << tilefold_last_error();
      EXPECT_EQ(call(exec.get(), 0), TILEFOLD_OK) << tilefold_last_error();
    });
    for (int round = 0; round < 2; ++round) {
      got.clear();
      graph.launch();
      must(cudaStreamSynchronize(stream_));
      EXPECT_EQ(got.to_host(), expected);
    }
  }
}

TEST_F(CInterfaceOnGpu, StatisticsAndDotHaveTheHostsBits) {
  const std::int64_t n = 300007;
  for (const tilefold_dtype type : types) {
    if (type.code == TILEFOLD_COMPLEX) continue;
    const bytes items = items_of(type, n);
    const gpu_bytes on_gpu(items), statistics(sizeof(tilefold_statistics)), product(8);
    bytes expected(sizeof(tilefold_statistics));
    must(tilefold_stats(host_, items.data(), type, n,
                        reinterpret_cast<tilefold_statistics*>(expected.data())));
    must(tilefold_stats(gpu_, on_gpu.data(), type, n,
                        static_cast<tilefold_statistics*>(statistics.data())));
    must(tilefold_synchronize(gpu_));
    EXPECT_EQ(statistics.to_host(), expected) << name_of(type);
    if (type.code == TILEFOLD_BOOL) continue;
    bytes expected_product(8, 0xee);
    must(tilefold_dot(host_, items.data(), items.data(), type, n, expected_product.data()));
    must(tilefold_dot(gpu_, on_gpu.data(), on_gpu.data(), type, n, product.data()));
    must(tilefold_synchronize(gpu_));
    EXPECT_EQ(product.to_host(), expected_product) << name_of(type);
  }
}

// Integers are read as wider ones, whose own ends must not show.
TEST_F(CInterfaceOnGpu, StatisticsOfNothingHaveInfiniteExtremes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const owned_executor of_stream = executor_of(stream_, &tilefold_stream_executor);
  bytes offsets(3 * 8);
  const std::int64_t begins[] = {0, 0, 1};
  std::memcpy(offsets.data(), begins, offsets.size());
  const gpu_bytes offsets_on_gpu(offsets);
  for (const tilefold_dtype type : types) {
    if (type.code == TILEFOLD_COMPLEX) continue;
    SCOPED_TRACE(name_of(type));
    const bytes item = items_of(type, 1);
    const gpu_bytes on_gpu(item);
    bytes expected(sizeof(tilefold_statistics));
    must(tilefold_stats(host_, nullptr, type, 0,
                        reinterpret_cast<tilefold_statistics*>(expected.data())));
    bytes expected_summaries(2 * result_bytes("summary", type));
    must(tilefold_segmented_reduce(host_, "summary", item.data(), type, 1, begins, int64_code, 2,
                                   expected_summaries.data()));
    for (tilefold_executor* const gpu : {gpu_, of_stream.get()}) {
      for (const void* const items :
           {static_cast<const void*>(nullptr), static_cast<const void*>(on_gpu.data())}) {
        const gpu_bytes got(expected.size());
        must(tilefold_stats(gpu, items, type, 0, static_cast<tilefold_statistics*>(got.data())));
        must(tilefold_synchronize(gpu));
        EXPECT_EQ(got.to_host(), expected);
        tilefold_statistics nothing{};
        std::memcpy(&nothing, got.to_host().data(), sizeof nothing);
        EXPECT_EQ(nothing.count, 0);
        EXPECT_TRUE(std::isnan(nothing.mean) && std::isnan(nothing.variance));
        EXPECT_EQ(nothing.min, infinity);
        EXPECT_EQ(nothing.max, -infinity);
      }
      // An empty segment, and one of one item.
      const gpu_bytes got(expected_summaries.size());
      must(tilefold_segmented_reduce(gpu, "summary", on_gpu.data(), type, 1, offsets_on_gpu.data(),
                                     int64_code, 2, got.data()));
      must(tilefold_synchronize(gpu));
      EXPECT_EQ(got.to_host(), expected_summaries);
      double numbers[12]{};
      std::memcpy(numbers, got.to_host().data(), sizeof numbers);
      EXPECT_EQ(numbers[0], 0);
      EXPECT_EQ(numbers[4], infinity);
      EXPECT_EQ(numbers[5], -infinity);
      EXPECT_EQ(numbers[6], 1);
    }
  }
}

TEST_F(CInterfaceOnGpu, LogSoftmaxHasTheHostsBits) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  for (const tilefold_dtype type : {types[8], types[9], types[10], types[11]}) {
    for (const tilefold_dtype results : {type, f32}) {
      if (results.bits < type.bits) continue;
      for (const std::int64_t length :
           {1, 3, 7, 64, 100, 512, 1000, 1024, 4096, 5001, 40000, 600001}) {
        const std::int64_t rows = 1 + 20000 / length;
        const bytes items = items_of(type, rows * length);
        bytes expected(static_cast<std::size_t>(rows * length) * (results.bits / 8), 0xee);
        const gpu_bytes on_gpu(items), got(expected.size());
        must(tilefold_log_softmax(host_, items.data(), type, rows, length, expected.data(),
                                  results));
        must(tilefold_log_softmax(gpu_, on_gpu.data(), type, rows, length, got.data(), results));
        must(tilefold_synchronize(gpu_));
        EXPECT_EQ(got.to_host(), expected)
            << name_of(type) << " to " << name_of(results) << ", rows of " << length;
      }
    }
  }
  const gpu_bytes some(64);
  float on_host[4] = {};
  EXPECT_EQ(tilefold_log_softmax(gpu_, some.data(), f32, 1, 4, on_host, f32),
            TILEFOLD_MEMORY_SPACE);
}

TEST_F(CInterfaceOnGpu, WorkspaceCanBeReservedAndACaptureRecorded) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const std::int64_t n = 5000001;
  const bytes items = items_of(f32, n);
  const gpu_bytes on_gpu(items), result(4);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, n, expected.data()));
  must(tilefold_reduce(gpu_, "sum", on_gpu.data(), f32, 1, result.data()));  // loads kernels
  must(tilefold_synchronize(gpu_));
  const captured_graph of_nothing(stream_, cudaStreamCaptureModeThreadLocal, [&] {
    EXPECT_EQ(tilefold_reduce(gpu_, "sum", on_gpu.data(), f32, n, result.data()), TILEFOLD_CAPTURE)
        << tilefold_last_error();
  });
  std::int64_t workspace = 0;
  must(tilefold_workspace(gpu_, "sum", f32, n, 1, &workspace));
  EXPECT_GT(workspace, 0);
  must(tilefold_reserve(gpu_, workspace));
  must(tilefold_synchronize(gpu_));
  captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
    must(tilefold_reduce(gpu_, "sum", on_gpu.data(), f32, n, result.data()));
  });
  graph.launch();
  must(tilefold_synchronize(gpu_));
  EXPECT_EQ(result.to_host(), expected);
}

// Of large accumulators columns take more workspace than any other verb does.
TEST_F(CInterfaceOnGpu, WhatWasReservedIsEnoughForColumns) {
  const tilefold_dtype f64{TILEFOLD_FLOAT, 64, 1};
  const std::int64_t extents[] = {10000, 500};
  const std::int64_t n = extents[0] * extents[1];
  const std::int32_t axis = 0;
  const bytes items = items_of(f64, n);
  const gpu_bytes on_gpu(items), result(8 * 500);
  bytes expected(8 * 500);
  must(tilefold_axis_reduce(host_, "exact_sum", items.data(), f64, 2, extents, nullptr, 1, &axis,
                            expected.data(), nullptr));
  const auto call = [&](tilefold_executor* exec) {
    return tilefold_axis_reduce(exec, "exact_sum", on_gpu.data(), f64, 2, extents, nullptr, 1,
                                &axis, result.data(), nullptr);
  };
  tilefold_executor* other = nullptr;
  must(tilefold_cuda_executor(0, stream_, &other));
  must(call(other));  // loads kernels
  must(tilefold_synchronize(other));
  result.clear();
  std::int64_t workspace = 0;
  must(tilefold_workspace(gpu_, "exact_sum", f64, n, extents[1], &workspace));
  must(tilefold_reserve(gpu_, workspace));
  must(tilefold_synchronize(gpu_));
  captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal,
                       [&] { EXPECT_EQ(call(gpu_), TILEFOLD_OK) << tilefold_last_error(); });
  graph.launch();
  must(cudaStreamSynchronize(stream_));
  EXPECT_EQ(result.to_host(), expected);
  tilefold_destroy(other);
}

// By their length, by offsets and along an axis, in one graph, which is replayed on other items.
TEST_F(CInterfaceOnGpu, WhatWasReservedIsEnoughForLongRows) {
  const std::int64_t rows = 8;
  const std::int64_t length = 131072;
  const std::int64_t extents[] = {rows, length};
  const std::int32_t axis = 1;
  bytes offsets((rows + 1) * 8);
  for (std::int64_t i = 0; i <= rows; ++i) {
    const std::int64_t begin = i * length;
    std::memcpy(offsets.data() + i * 8, &begin, 8);
  }
  const gpu_bytes offsets_on_gpu(offsets);
  for (const tilefold_dtype type : {float32_code, bfloat16_code}) {
    const bytes of_rounds[] = {items_of(type, rows * length), near_items_of(type, rows * length),
                               near_items_of(type, rows * length, 1)};
    const gpu_bytes on_gpu(of_rounds[2]);
    for (const char* op : {"sum", "logsumexp"}) {
      const std::string what = std::string(op) + " of " + name_of(type);
      const std::size_t size = static_cast<std::size_t>(rows) * result_bytes(op, type);
      const gpu_bytes by_length(size), by_offsets(size), by_axis(size);
      const auto call = [&](tilefold_executor* exec) {
        must(tilefold_segmented_reduce_equal(exec, op, on_gpu.data(), type, rows, length,
                                             by_length.data()));
        must(tilefold_segmented_reduce(exec, op, on_gpu.data(), type, rows * length,
                                       offsets_on_gpu.data(), int64_code, rows, by_offsets.data()));
        must(tilefold_axis_reduce(exec, op, on_gpu.data(), type, 2, extents, nullptr, 1, &axis,
                                  by_axis.data(), nullptr));
      };
      call(gpu_);  // loads kernels
      must(tilefold_synchronize(gpu_));
      // One that has no workspace yet.
      const owned_executor exec = executor_of(stream_, &tilefold_cuda_executor);
      std::int64_t workspace = 0;
      must(tilefold_workspace(exec.get(), op, type, rows * length, rows, &workspace));
      must(tilefold_reserve(exec.get(), workspace));
      must(tilefold_synchronize(exec.get()));
      captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] { call(exec.get()); });
      for (int round = 0; round < 3; ++round) {
        bytes expected(size);
        must(tilefold_segmented_reduce_equal(host_, op, of_rounds[round].data(), type, rows, length,
                                             expected.data()));
        on_gpu.set(of_rounds[round]);
        for (const gpu_bytes* got : {&by_length, &by_offsets, &by_axis}) got->clear();
        graph.launch();
        must(cudaStreamSynchronize(stream_));
        EXPECT_EQ(by_length.to_host(), expected) << what << ", round " << round;
        EXPECT_EQ(by_offsets.to_host(), expected) << what << ", round " << round;
        EXPECT_EQ(by_axis.to_host(), expected) << what << ", round " << round;
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, WorkspaceIsKnownOfMoreItemsThanByKeyTakes) {
  const std::int64_t n = std::int64_t{1} << 36;
  for (const char* op : {"sum", "sum64", "count_nonzero"}) {
    std::int64_t workspace = 0;
    EXPECT_EQ(tilefold_workspace(gpu_, op, {TILEFOLD_INT, 8, 1}, n, 1, &workspace), TILEFOLD_OK)
        << tilefold_last_error();
    EXPECT_GT(workspace, 0);
    EXPECT_LT(workspace, std::int64_t{1} << 30) << "not what keys would need";
  }
}

TEST_F(CInterfaceOnGpu, StreamsMayEndBeforeTheirExecutor) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const std::int64_t n = 3000001;
  const bytes items = items_of(f32, n);
  const gpu_bytes on_gpu(items);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, n, expected.data()));
  std::vector<tilefold_executor*> executors;
  for (int round = 0; round < 30; ++round) {
    cudaStream_t stream = nullptr;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    tilefold_executor* exec = nullptr;
    must(tilefold_stream_executor(0, stream, &exec));
    executors.push_back(exec);
    const gpu_bytes result(4);
    // Any thread may call.
    const auto call = [&] {
      must(tilefold_reduce(exec, "sum", on_gpu.data(), f32, n, result.data()));
    };
    if (round % 3 == 0) {
      std::thread(call).join();
    } else {
      call();
    }
    must(cudaStreamSynchronize(stream));
    EXPECT_EQ(result.to_host(), expected) << round;
    must(cudaStreamDestroy(stream));
  }
  for (tilefold_executor* exec : executors) tilefold_destroy(exec);
}

// Nobody waits for the work of a stream before it ends. The next stream may get its handle and,
// after eight others, its memory.
TEST_F(CInterfaceOnGpu, CallsGoOnWhenAnotherStreamHasEnded) {
  const bytes items = near_items_of(float32_code, most_call_items);
  const gpu_bytes on_gpu(items);
  const std::vector<any_call> calls = calls_of_floats();
  std::vector<bytes> expected;
  for (const any_call& call : calls) expected.push_back(call.on_host(host_, items));
  std::vector<owned_executor> executors;  // outlive their streams
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<gpu_bytes>> results;
    for (int stream = 0; stream < 2; ++stream) {
      for (const any_call& call : calls) {
        results.push_back(std::make_unique<gpu_bytes>(call.result_bytes));
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      cudaStream_t stream = nullptr;
      must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      executors.push_back(executor_of(stream, &tilefold_stream_executor));
      for (std::size_t c = 0; c < calls.size(); ++c) {
        must(calls[c].on(executors.back().get(), on_gpu.data(),
                         results[i * calls.size() + c]->data()));
      }
      must(cudaStreamDestroy(stream));
    }
    must(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i]->to_host(), expected[i % calls.size()])
          << calls[i % calls.size()].what << ", stream " << i / calls.size() << " of round "
          << round;
    }
  }
}

TEST_F(CInterfaceOnGpu, CallsOfAStreamCanBeCapturedAtOnce) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const std::int64_t n = 5000001;
  const bytes items = items_of(f32, n);
  const gpu_bytes on_gpu(items), result(4);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, n, expected.data()));
  tilefold_executor* exec = nullptr;
  must(tilefold_stream_executor(0, stream_, &exec));
  must(tilefold_reduce(exec, "sum", on_gpu.data(), f32, 1, result.data()));  // loads kernels
  must(tilefold_synchronize(exec));
  captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
    must(tilefold_reduce(exec, "sum", on_gpu.data(), f32, n, result.data()));
  });
  graph.launch();
  must(cudaStreamSynchronize(stream_));
  EXPECT_EQ(result.to_host(), expected);
  tilefold_destroy(exec);
}

// Calls that need no workspace ask nothing of the stream, and one executor serves all threads.
TEST_F(CInterfaceOnGpu, ShortCallsOfAStreamServeAnyThreadAndCaptures) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const std::int64_t most = 20000;
  const bytes items = items_of(f32, most);
  const gpu_bytes on_gpu(items);
  for (void* const stream : {static_cast<void*>(stream_), static_cast<void*>(nullptr)}) {
    tilefold_executor* exec = nullptr;
    must(tilefold_stream_executor(0, stream, &exec));
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        tilefold_executor* host = nullptr;
        must(tilefold_host_executor(1, &host));
        const gpu_bytes result(4);
        bytes expected(4);
        for (const std::int64_t n : {1, 999, 1000, 4097, 8192, 16385, 20000}) {
          const std::int64_t first = t * 7 % (most - n + 1);
          const auto at = [&](const void* data) {
            return static_cast<const char*>(data) + 4 * first;
          };
          must(tilefold_reduce(host, "sum", at(items.data()), f32, n, expected.data()));
          for (int round = 0; round < 50; ++round) {
            must(cudaMemset(result.data(), 0xee, 4));
            must(cudaDeviceSynchronize());
            must(tilefold_reduce(exec, "sum", at(on_gpu.data()), f32, n, result.data()));
            must(tilefold_synchronize(exec));
            EXPECT_EQ(result.to_host(), expected) << n << " items, thread " << t;
          }
        }
        tilefold_destroy(host);
      });
    }
    for (std::thread& one : threads) one.join();
    tilefold_destroy(exec);
  }
  const gpu_bytes result(4);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, 1000, expected.data()));
  tilefold_executor* exec = nullptr;
  must(tilefold_stream_executor(0, stream_, &exec));
  captured_graph graph(stream_, cudaStreamCaptureModeGlobal, [&] {
    must(tilefold_reduce(exec, "sum", on_gpu.data(), f32, 1000, result.data()));
  });
  EXPECT_EQ(result.to_host(), bytes(4, 0xee));
  graph.launch();
  must(cudaStreamSynchronize(stream_));
  EXPECT_EQ(result.to_host(), expected);
  std::vector<float> on_host(1000);
  EXPECT_EQ(tilefold_reduce(exec, "sum", on_host.data(), f32, 1000, result.data()),
            TILEFOLD_MEMORY_SPACE);
  EXPECT_NE(std::string(tilefold_last_error()).find("items = 0x"), std::string::npos);
  EXPECT_EQ(tilefold_reduce(exec, "sum", on_gpu.data(), f32, 1000, on_host.data()),
            TILEFOLD_MEMORY_SPACE);
  EXPECT_NE(std::string(tilefold_last_error()).find("result = 0x"), std::string::npos)
      << tilefold_last_error();
  tilefold_destroy(exec);
}

TEST_F(CInterfaceOnGpu, ExecutorsOfAStreamNameABadDevice) {
  for (const make_executor make : {&tilefold_cuda_executor, &tilefold_stream_executor}) {
    for (void* const stream : {static_cast<void*>(stream_), static_cast<void*>(nullptr)}) {
      for (const int device : {-2, 99}) {
        tilefold_executor* none = nullptr;
        EXPECT_EQ(make(device, stream, &none), TILEFOLD_INVALID_ARGUMENT);
        EXPECT_NE(std::string(tilefold_last_error())
                      .find("there is no device " + std::to_string(device) + "; there are "),
                  std::string::npos)
            << tilefold_last_error();
        EXPECT_EQ(none, nullptr);
        tilefold_destroy(none);
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, ExecutorsOfAStreamOfAnotherDeviceAreRefused) {
#if CUDART_VERSION < 12080
  GTEST_SKIP() << "streams do not tell their device before CUDA 12.8";
#endif
  int devices = 0;
  must(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "there is one device";
  must(cudaSetDevice(1));
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  must(cudaSetDevice(0));
  for (const make_executor make : {&tilefold_cuda_executor, &tilefold_stream_executor}) {
    tilefold_executor* exec = nullptr;
    EXPECT_EQ(make(0, stream, &exec), TILEFOLD_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tilefold_last_error()).find("one of device 1, and not of device 0"),
              std::string::npos)
        << tilefold_last_error();
    EXPECT_EQ(exec, nullptr);
    EXPECT_EQ(make(1, stream, &exec), TILEFOLD_OK) << tilefold_last_error();
    tilefold_destroy(exec);
    // Only the one that lasts as long as its stream asks that for its device.
    const bool asks = make == &tilefold_cuda_executor;
    EXPECT_EQ(make(-1, stream, &exec), asks ? TILEFOLD_OK : TILEFOLD_INVALID_ARGUMENT);
    if (asks) tilefold_destroy(exec);
    int current = -1;
    must(cudaGetDevice(&current));
    EXPECT_EQ(current, 0);
  }
  must(cudaStreamDestroy(stream));
}

// A stream that is being captured does not tell its device, and asking would end the capture.
TEST_F(CInterfaceOnGpu, ExecutorsOfAStreamAreMadeWhileItIsCaptured) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const bytes items = items_of(f32, 1000);
  const gpu_bytes on_gpu(items), result(4);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, 1000, expected.data()));
  must(tilefold_reduce(gpu_, "sum", on_gpu.data(), f32, 1000, result.data()));  // loads kernels
  must(tilefold_synchronize(gpu_));
  for (const make_executor make : {&tilefold_cuda_executor, &tilefold_stream_executor}) {
    result.clear();
    tilefold_executor* exec = nullptr;
    tilefold_executor* of_default = nullptr;
    {
      captured_graph graph(stream_, cudaStreamCaptureModeGlobal, [&] {
        EXPECT_EQ(make(0, stream_, &exec), TILEFOLD_OK) << tilefold_last_error();
        EXPECT_EQ(make(0, nullptr, &of_default), TILEFOLD_OK) << tilefold_last_error();
        EXPECT_EQ(tilefold_reduce(exec, "sum", on_gpu.data(), f32, 1000, result.data()),
                  TILEFOLD_OK)
            << tilefold_last_error();
      });
      graph.launch();
      must(cudaStreamSynchronize(stream_));
      EXPECT_EQ(result.to_host(), expected);
    }
    tilefold_destroy(of_default);
    tilefold_destroy(exec);
  }
}

TEST_F(CInterfaceOnGpu, ErrorsNameTheBadValue) {
  const tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
  const std::vector<float> host_items{1, 2, 3};
  const gpu_bytes some(64);
  EXPECT_EQ(tilefold_reduce(gpu_, "sum", host_items.data(), f32, 3, some.data()),
            TILEFOLD_MEMORY_SPACE);
  EXPECT_NE(std::string(tilefold_last_error()).find("items = 0x"), std::string::npos)
      << tilefold_last_error();
  float out = 42;
  EXPECT_EQ(tilefold_reduce(gpu_, "sum", some.data(), f32, 3, &out), TILEFOLD_MEMORY_SPACE);
  EXPECT_EQ(out, 42);
  EXPECT_EQ(tilefold_segmented_reduce(gpu_, "sum", nullptr, f32, -1, some.data(), int32_code, 1,
                                      some.data()),
            TILEFOLD_NULL_POINTER);
  EXPECT_NE(std::string(tilefold_last_error()).find("items is null"), std::string::npos);
  EXPECT_EQ(tilefold_segmented_reduce(gpu_, "sum", some.data(), f32, -1, host_items.data(),
                                      int32_code, 1, some.data()),
            TILEFOLD_MEMORY_SPACE);
  EXPECT_NE(std::string(tilefold_last_error()).find("offsets"), std::string::npos);
  tilefold_executor* none = nullptr;
  EXPECT_EQ(tilefold_cuda_executor(99, nullptr, &none), TILEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilefold_last_error()).find("device 99"), std::string::npos);
  const float nothing = 0;
  must(cudaMemcpy(some.data(), &nothing, 4, cudaMemcpyDefault));
  must(cudaDeviceSynchronize());
  must(tilefold_reduce(gpu_, "sum", some.data(), f32, 1, some.data()));
  must(tilefold_synchronize(gpu_));
}

// C aligns complex numbers as their parts; kernels read and write them whole, and a misaligned
// access would be the end of all later calls.
TEST_F(CInterfaceOnGpu, ComplexNumbersThatDoNotLieAtTheirSizeAreRefused) {
  for (const int bits : {64, 128}) {
    const tilefold_dtype type{TILEFOLD_COMPLEX, static_cast<std::uint8_t>(bits), 1};
    const gpu_bytes some(1024), room(64);
    char* const apart = static_cast<char*>(some.data()) + bits / 16;
    const auto expect_refused = [&](tilefold_status got, const std::string& name) {
      EXPECT_EQ(got, TILEFOLD_INVALID_ARGUMENT) << tilefold_status_name(got);
      const std::string message = tilefold_last_error();
      EXPECT_NE(message.find(name + " is the address"), std::string::npos) << message;
      EXPECT_NE(message.find("no multiple of " + std::to_string(bits / 8)), std::string::npos)
          << message;
    };
    const std::int64_t extents[] = {3, 5};
    const std::int32_t axis = 0;
    for (const char* op : {"sum", "product", "any", "all", "count_nonzero"}) {
      expect_refused(tilefold_reduce(gpu_, op, apart, type, 7, room.data()), "items");
      expect_refused(tilefold_segmented_reduce_equal(gpu_, op, apart, type, 3, 2, room.data()),
                     "items");
      expect_refused(tilefold_axis_reduce(gpu_, op, apart, type, 2, extents, nullptr, 1, &axis,
                                          room.data(), nullptr),
                     "items");
      must(tilefold_reduce(gpu_, op, some.data(), type, 7, room.data()));
    }
    char* const result = static_cast<char*>(room.data()) + bits / 16;
    expect_refused(tilefold_reduce(gpu_, "sum", some.data(), type, 7, result), "result");
    expect_refused(tilefold_dot(gpu_, some.data(), apart, type, 7, room.data()), "y");
    must(tilefold_synchronize(gpu_));
  }
}

/// A call was refused for the memory behind `pointer`, by the name of the argument in tilefold.h.
void expect_unreachable(tilefold_status got, const std::string& name, const void* pointer) {
  EXPECT_EQ(got, TILEFOLD_MEMORY_SPACE) << tilefold_status_name(got);
  if (got == TILEFOLD_OK) return;
  char address[32];
  std::snprintf(address, sizeof address, "%p", pointer);
  const std::string named = ": " + name + " = " + address;
  EXPECT_NE(std::string(tilefold_last_error()).find(named), std::string::npos)
      << tilefold_last_error() << "\nand not" << named;
}

TEST_F(CInterfaceOnGpu, ResultsInHostMemoryAreRefusedByNameAndAddress) {
  int reads_pageable = 0;
  must(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, 0));
  if (reads_pageable != 0) GTEST_SKIP() << "this GPU reaches all memory of the host";
  const bytes items = near_items_of(float32_code, most_call_items);
  const gpu_bytes on_gpu(items);
  bytes offsets(3 * 8);
  const std::int64_t begins[] = {0, 700, 1000};
  std::memcpy(offsets.data(), begins, offsets.size());
  const gpu_bytes offsets_on_gpu(offsets), some(4 * 1000), runs(8);
  const owned_executor of_stream = executor_of(stream_, &tilefold_stream_executor);
  for (tilefold_executor* const gpu : {gpu_, of_stream.get()}) {
    for (const any_call& call : calls_of_floats()) {
      SCOPED_TRACE(call.what);
      bytes on_host(call.result_bytes, 0xee);
      expect_unreachable(call.on(gpu, on_gpu.data(), on_host.data()), call.output, on_host.data());
      EXPECT_EQ(on_host, bytes(call.result_bytes, 0xee)) << "nothing is written";
    }
    bytes on_host(64, 0xee);
    void* const out = on_host.data();
    expect_unreachable(tilefold_reduce(gpu, "sum", nullptr, float32_code, 0, out), "result", out);
    expect_unreachable(
        tilefold_stats(gpu, nullptr, int32_code, 0, static_cast<tilefold_statistics*>(out)),
        "result", out);
    expect_unreachable(tilefold_dot(gpu, nullptr, nullptr, float32_code, 0, out), "result", out);
    // Items that are read through an iterator, not by a pointer.
    expect_unreachable(tilefold_reduce(gpu, "mean", on_gpu.data(), int32_code, 1000, out), "result",
                       out);
    expect_unreachable(tilefold_segmented_reduce(gpu, "sum", on_gpu.data(), float32_code, 1000,
                                                 offsets_on_gpu.data(), int64_code, 2, out),
                       "results", out);
    const auto by_key = [&](void* keys_out, void* results, void* num_runs) {
      return tilefold_reduce_by_key(gpu, "sum", on_gpu.data(), int32_code, on_gpu.data(),
                                    float32_code, 1000, keys_out, results,
                                    static_cast<std::int64_t*>(num_runs));
    };
    expect_unreachable(tilefold_reduce_by_index(gpu, "sum", on_gpu.data(), int32_code,
                                                on_gpu.data(), float32_code, 1000, 1, 8, 0, out),
                       "results", out);
    expect_unreachable(by_key(out, some.data(), runs.data()), "keys_out", out);
    expect_unreachable(by_key(some.data(), out, runs.data()), "results", out);
    expect_unreachable(by_key(some.data(), some.data(), out), "num_runs", out);
    expect_unreachable(
        tilefold_reduce_by_key(gpu, "sum", nullptr, int32_code, nullptr, float32_code, 0, nullptr,
                               nullptr, static_cast<std::int64_t*>(out)),
        "num_runs", out);
    must(cudaDeviceSynchronize());
    EXPECT_EQ(on_host, bytes(64, 0xee)) << "nothing is written";
    EXPECT_EQ(some.to_host(), bytes(4 * 1000, 0xee)) << "nor to what can be reached";
    EXPECT_EQ(runs.to_host(), bytes(8, 0xee));
    for (const any_call& call : calls_of_floats()) {
      const gpu_bytes result(call.result_bytes);
      must(call.on(gpu, on_gpu.data(), result.data()));
      must(tilefold_synchronize(gpu));
      EXPECT_EQ(result.to_host(), call.on_host(host_, items))
          << call.what << ": the executor can be used again";
    }
  }
}

TEST_F(CInterfaceOnGpu, WhatIsReadInHostMemoryIsRefusedByNameAndAddress) {
  int reads_pageable = 0;
  must(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, 0));
  if (reads_pageable != 0) GTEST_SKIP() << "this GPU reaches all memory of the host";
  const bytes items = near_items_of(float32_code, most_call_items);
  const void* const in = items.data();
  const gpu_bytes on_gpu(items), out(4 * 1000), runs(8);
  const owned_executor of_stream = executor_of(stream_, &tilefold_stream_executor);
  for (tilefold_executor* const gpu : {gpu_, of_stream.get()}) {
    for (const any_call& call : calls_of_floats()) {
      SCOPED_TRACE(call.what);
      const gpu_bytes result(call.result_bytes);
      const bool is_dot = std::string(call.what) == "a dot product";
      expect_unreachable(call.on(gpu, in, result.data()), is_dot ? "x" : "items", in);
      EXPECT_EQ(result.to_host(), bytes(call.result_bytes, 0xee)) << "nothing is written";
    }
    for (const std::int64_t n : {1000, 300007}) {
      expect_unreachable(tilefold_dot(gpu, in, on_gpu.data(), float32_code, n, out.data()), "x",
                         in);
      expect_unreachable(tilefold_dot(gpu, on_gpu.data(), in, float32_code, n, out.data()), "y",
                         in);
    }
    // Through an iterator.
    expect_unreachable(tilefold_reduce(gpu, "mean", in, int32_code, 1000, out.data()), "items", in);
    expect_unreachable(
        tilefold_stats(gpu, in, int32_code, 1000, static_cast<tilefold_statistics*>(out.data())),
        "items", in);
    expect_unreachable(tilefold_segmented_reduce(gpu, "sum", on_gpu.data(), float32_code, -1, in,
                                                 int64_code, 2, out.data()),
                       "offsets", in);
    const auto by_key = [&](const void* keys, const void* values) {
      return tilefold_reduce_by_key(gpu, "sum", keys, int32_code, values, float32_code, 1000,
                                    out.data(), out.data(),
                                    static_cast<std::int64_t*>(runs.data()));
    };
    const auto by_index = [&](const void* indices, const void* items) {
      return tilefold_reduce_by_index(gpu, "sum", indices, int32_code, items, float32_code, 1000, 1,
                                      8, 0, out.data());
    };
    expect_unreachable(by_index(in, on_gpu.data()), "indices", in);
    expect_unreachable(by_index(on_gpu.data(), in), "items", in);
    expect_unreachable(by_key(in, on_gpu.data()), "keys", in);
    expect_unreachable(by_key(on_gpu.data(), in), "items", in);
    must(cudaDeviceSynchronize());
    EXPECT_EQ(out.to_host(), bytes(4 * 1000, 0xee)) << "nothing is written";
    EXPECT_EQ(runs.to_host(), bytes(8, 0xee));
  }
}

// By no write of the host's: that would come before what the stream has to do still, and once for
// all replays of a graph.
TEST_F(CInterfaceOnGpu, RunsOfNoItemsAreCountedInTheOrderOfTheStream) {
  const owned_executor of_stream = executor_of(stream_, &tilefold_stream_executor);
  const gpu_bytes on_gpu(8);
  void* memory = nullptr;
  must(cudaHostAlloc(&memory, 8, cudaHostAllocDefault));
  const std::unique_ptr<void, cudaError_t (*)(void*)> pinned(memory, &cudaFreeHost);
  const auto no_items = [](tilefold_executor* exec, const char* op, void* num_runs) {
    return tilefold_reduce_by_key(exec, op, nullptr, int32_code, nullptr, float32_code, 0, nullptr,
                                  nullptr, static_cast<std::int64_t*>(num_runs));
  };
  for (tilefold_executor* const gpu : {gpu_, of_stream.get()}) {
    for (void* const num_runs : {on_gpu.data(), pinned.get()}) {
      SCOPED_TRACE(num_runs == on_gpu.data() ? "memory of the GPU" : "pinned");
      const auto poison = [&] { must(cudaMemsetAsync(num_runs, 0xee, 8, stream_)); };
      const auto written = [&] {
        must(cudaStreamSynchronize(stream_));
        bytes content(8);
        must(cudaMemcpy(content.data(), num_runs, 8, cudaMemcpyDefault));
        return content;
      };
      const bytes zero(8);
      poison();
      EXPECT_EQ(no_items(gpu, "sum", num_runs), TILEFOLD_OK) << tilefold_last_error();
      EXPECT_EQ(written(), zero);
      poison();
      EXPECT_EQ(written(), bytes(8, 0xee));
      captured_graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
        EXPECT_EQ(no_items(gpu, "sum", num_runs), TILEFOLD_OK) << tilefold_last_error();
      });
      EXPECT_EQ(written(), bytes(8, 0xee)) << "the capture itself writes nothing";
      for (int round = 0; round < 2; ++round) {
        poison();
        graph.launch();
        EXPECT_EQ(written(), zero) << "replay " << round;
      }
      // What is refused of items is refused of none.
      poison();
      EXPECT_EQ(no_items(gpu, "l2", num_runs), TILEFOLD_UNSUPPORTED);
      EXPECT_EQ(written(), bytes(8, 0xee)) << "nothing is written";
    }
    EXPECT_EQ(no_items(gpu, "sum", nullptr), TILEFOLD_NULL_POINTER);
  }
  EXPECT_EQ(no_items(host_, "sum", on_gpu.data()), TILEFOLD_MEMORY_SPACE)
      << "the host does not write there";
}

TEST_F(CInterfaceOnGpu, ResultsInPinnedAndManagedMemoryHaveTheHostsBits) {
  const bytes items = near_items_of(float32_code, most_call_items);
  const gpu_bytes on_gpu(items);
  const owned_executor of_stream = executor_of(stream_, &tilefold_stream_executor);
  for (const any_call& call : calls_of_floats()) {
    const bytes expected = call.on_host(host_, items);
    for (const bool is_managed : {false, true}) {
      void* memory = nullptr;
      must(is_managed ? cudaMallocManaged(&memory, call.result_bytes, cudaMemAttachGlobal)
                      : cudaHostAlloc(&memory, call.result_bytes, cudaHostAllocDefault));
      const std::unique_ptr<void, cudaError_t (*)(void*)> result(
          memory, is_managed ? &cudaFree : &cudaFreeHost);
      for (tilefold_executor* const gpu : {gpu_, of_stream.get()}) {
        std::memset(memory, 0xee, call.result_bytes);
        must(call.on(gpu, on_gpu.data(), memory));
        must(tilefold_synchronize(gpu));
        EXPECT_EQ(std::memcmp(memory, expected.data(), expected.size()), 0)
            << call.what << (is_managed ? ", managed" : ", pinned");
      }
    }
  }
}

TEST_F(CInterfaceOnGpu, WhatIsTheHostsAloneIsRefused) {
  const gpu_bytes some(64);
  for (const char* op : {"exact_mean", "exact_sum"}) {
    EXPECT_EQ(tilefold_reduce(gpu_, op, some.data(), int32_code, 2, some.data()),
              TILEFOLD_UNSUPPORTED);
    EXPECT_NE(std::string(tilefold_last_error()).find(op + std::string(" of int32 on a GPU")),
              std::string::npos);
  }
}

/// What a sequence gives that is cut in two, the first part on a GPU and the second on the host.
bytes value_of_parts(tilefold_executor* gpu, tilefold_executor* host, const char* op,
                     tilefold_dtype type, const bytes& items, const gpu_bytes& on_gpu,
                     std::int64_t begin, std::int64_t end, std::size_t size) {
  const std::int64_t n = static_cast<std::int64_t>(items.size()) / (type.bits / 8);
  const auto at = [&](const void* first, std::int64_t i) {
    return static_cast<const char*>(first) + i * (type.bits / 8);
  };
  tilefold_piece *left = nullptr, *middle = nullptr, *right = nullptr;
  must(tilefold_piece_create(op, type, 0, &left));
  must(tilefold_piece_create(op, type, begin, &middle));
  must(tilefold_piece_create(op, type, end, &right));
  must(tilefold_piece_append(left, host, items.data(), begin));
  must(tilefold_piece_append(middle, gpu, at(on_gpu.data(), begin), end - begin));
  must(tilefold_piece_append(right, host, at(items.data(), end), n - end));
  must(tilefold_piece_merge(middle, right));
  must(tilefold_piece_merge(left, middle));
  bytes value(size, 0xee);
  must(tilefold_piece_value(left, value.data()));
  for (tilefold_piece* piece : {left, middle, right}) tilefold_piece_destroy(piece);
  return value;
}

bool has_pieces_on_gpu(const std::string& op, tilefold_dtype type) {
  const bool is_float = type.code == TILEFOLD_FLOAT || type.code == TILEFOLD_BFLOAT;
  if (op == "mean" || op == "exact_sum" || op == "exact_mean") return is_float;
  if (op == "logsumexp" || op == "softmax_pair") return !is_float || type.bits == 64;
  for (const char* known : {"sum", "sum64", "product", "product64", "min", "max", "minmax", "any",
                            "all", "count_nonzero", "bit_and", "bit_or", "bit_xor", "l1", "linf"}) {
    if (op == known) return true;
  }
  return false;
}

TEST_F(CInterfaceOnGpu, PiecesHaveTheBitsOfOneCall) {
  tilefold_executor* stream_executor = nullptr;
  must(tilefold_stream_executor(0, stream_, &stream_executor));
  for (const std::int64_t n : {1, 37, 100003, 3000001}) {
    for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
      if (!has_pieces_on_gpu(op, type)) return;
      const bytes items = items_of(type, n);
      const gpu_bytes on_gpu(items);
      bytes expected(size, 0xee);
      must(tilefold_reduce(host_, op, items.data(), type, n, expected.data()));
      for (const std::int64_t begin : {std::int64_t{0}, n / 3}) {
        for (tilefold_executor* gpu : {gpu_, stream_executor}) {
          EXPECT_EQ(value_of_parts(gpu, host_, op, type, items, on_gpu, begin, n - n / 7, size),
                    expected)
              << op << " of " << name_of(type) << ", " << n << " from " << begin;
        }
      }
    });
  }
  tilefold_destroy(stream_executor);
  tilefold_piece* variance = nullptr;
  const gpu_bytes some(64);
  must(tilefold_piece_create("variance", types[9], 0, &variance));
  EXPECT_EQ(tilefold_piece_append(variance, gpu_, some.data(), 2), TILEFOLD_UNSUPPORTED);
  EXPECT_NE(std::string(tilefold_last_error()).find("no piece of variance of float32"),
            std::string::npos);
  std::int64_t end = -1;
  must(tilefold_piece_info(variance, nullptr, nullptr, nullptr, &end));
  EXPECT_EQ(end, 0);
  const float on_host[2] = {};
  tilefold_piece* sum = nullptr;
  must(tilefold_piece_create("sum", types[9], 0, &sum));
  EXPECT_EQ(tilefold_piece_append(sum, gpu_, on_host, 2), TILEFOLD_MEMORY_SPACE);
  tilefold_piece_destroy(sum);
  tilefold_piece_destroy(variance);
}

TEST_F(CInterfaceOnGpu, AccumulatorsHaveTheHostsBytes) {
  const std::int64_t n = 300007;
  for (const tilefold_dtype type : types) {
    if (type.code == TILEFOLD_COMPLEX) continue;
    const bytes items = items_of(type, n);
    const gpu_bytes on_gpu(items);
    tilefold_accumulator *here = nullptr, *there = nullptr;
    must(tilefold_accumulator_create(type, &here));
    must(tilefold_accumulator_create(type, &there));
    must(tilefold_accumulator_add(here, host_, items.data(), n));
    if (type.code == TILEFOLD_FLOAT || type.code == TILEFOLD_BFLOAT) {
      must(tilefold_accumulator_add(there, gpu_, on_gpu.data(), n));
      std::int64_t size = 0;
      must(tilefold_accumulator_bytes(here, nullptr, 0, &size));
      bytes expected(static_cast<std::size_t>(size)), got(expected.size());
      must(tilefold_accumulator_bytes(here, expected.data(), size, &size));
      must(tilefold_accumulator_bytes(there, got.data(), size, &size));
      EXPECT_EQ(got, expected) << name_of(type);
    } else {
      EXPECT_EQ(tilefold_accumulator_add(there, gpu_, on_gpu.data(), n), TILEFOLD_UNSUPPORTED);
    }
    tilefold_accumulator_destroy(here);
    tilefold_accumulator_destroy(there);
  }
}

/// What this process has of the pool that workspace comes from.
std::uint64_t bytes_of_pool() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t used = 0;
  must(cudaDeviceGetDefaultMemPool(&pool, 0));
  must(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return used;
}

TEST_F(CInterfaceOnGpu, GivesBackItsWorkspaceAndWorksOn) {
  const tilefold_dtype f32 = types[9];
  const std::int64_t n = 5000001;
  const bytes items = items_of(f32, n);
  const gpu_bytes on_gpu(items), result(4);
  bytes expected(4);
  must(tilefold_reduce(host_, "sum", items.data(), f32, n, expected.data()));
  tilefold_executor* stream_executor = nullptr;
  must(tilefold_stream_executor(0, stream_, &stream_executor));
  must(tilefold_reduce(gpu_, "sum", on_gpu.data(), f32, n, result.data()));
  const std::int64_t large = std::int64_t{1} << 26;
  for (tilefold_executor* gpu : {gpu_, stream_executor}) {
    must(tilefold_release(gpu));
    must(cudaDeviceSynchronize());
    const std::uint64_t before = bytes_of_pool();
    must(tilefold_reserve(gpu, large));
    must(tilefold_reduce(gpu, "sum", on_gpu.data(), f32, n, result.data()));
    must(tilefold_synchronize(gpu));
    EXPECT_GE(bytes_of_pool(), before + static_cast<std::uint64_t>(large));
    must(tilefold_release(gpu));
    must(cudaDeviceSynchronize());
    EXPECT_EQ(bytes_of_pool(), before);
    must(tilefold_reduce(gpu, "sum", on_gpu.data(), f32, n, result.data()));
    must(tilefold_synchronize(gpu));
    EXPECT_EQ(result.to_host(), expected);
  }
  tilefold_destroy(stream_executor);
}

TEST(PrecompiledOnGpu, FoldsFromPlainCpp) {
  namespace p = tilefold::precompiled;
  p::cuda_executor gpu;
  const std::vector<float> x{1, 2, 3.5f};
  const gpu_bytes items(12), result(4);
  must(cudaMemcpy(items.data(), x.data(), 12, cudaMemcpyDefault));
  p::reduce_into(gpu, static_cast<const float*>(items.data()), 3,
                 static_cast<float*>(result.data()), p::sum);
  gpu.synchronize();
  float sum = 0;
  std::memcpy(&sum, result.to_host().data(), 4);
  EXPECT_EQ(sum, 6.5f);
}

// Magnitudes and signs are mixed, so that another order would have other bits.
TEST(PrecompiledOnGpu, ReturnsTheHostsBits) {
  namespace p = tilefold::precompiled;
  p::cuda_executor gpu;
  p::host_executor host;
  std::vector<float> x(100003);
  std::uint64_t state = 1;
  for (float& item : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    item = std::ldexp(static_cast<float>(static_cast<int>(state >> 40 & 0xffff) - 0x8000),
                      static_cast<int>(state >> 59));
  }
  const gpu_bytes memory(4 * x.size());
  must(cudaMemcpy(memory.data(), x.data(), 4 * x.size(), cudaMemcpyDefault));
  const auto* items = static_cast<const float*>(memory.data());
  for (const std::int64_t n : {1, 2, 1000, 8193, 100003}) {
    const auto expect_equal = [n](const auto& got, const auto& expected) {
      EXPECT_EQ(std::memcmp(&got, &expected, sizeof got), 0) << n << " items";
    };
    expect_equal(p::reduce(gpu, items, n), p::reduce(host, x.data(), n));
    expect_equal(p::reduce(gpu, items, n, p::mean), p::reduce(host, x.data(), n, p::mean));
    expect_equal(p::reduce(gpu, items, n, p::minmax), p::reduce(host, x.data(), n, p::minmax));
  }
  EXPECT_EQ(p::reduce(gpu, items, 0), p::reduce(host, x.data(), 0));
}

// These are the last: a reset ends all that the process has on the GPU. So they share nothing with
// other tests, and leave nothing behind. The reset comes from a CUDA runtime other than the one
// inside the library.
class CInterfaceAfterAReset : public ::testing::Test {
 protected:
  CInterfaceAfterAReset() {
    tilefold_executor* host = nullptr;
    must(tilefold_host_executor(0, &host));
    host_.reset(host);
    for (const any_call& call : calls_) expected_.push_back(call.on_host(host, items_));
  }

  void expect_the_hosts_bits(tilefold_executor* gpu) const {
    const gpu_bytes on_gpu(items_);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const gpu_bytes result(calls_[i].result_bytes);
      EXPECT_EQ(calls_[i].on(gpu, on_gpu.data(), result.data()), TILEFOLD_OK)
          << calls_[i].what << ": " << tilefold_last_error();
      EXPECT_EQ(tilefold_synchronize(gpu), TILEFOLD_OK) << tilefold_last_error();
      EXPECT_EQ(result.to_host(), expected_[i]) << calls_[i].what;
    }
  }

  const std::vector<any_call> calls_ = calls_of_floats();
  const bytes items_ = near_items_of(float32_code, most_call_items);
  std::vector<bytes> expected_;
  owned_executor host_;
};

TEST_F(CInterfaceAfterAReset, CallsOfTheDefaultStreamGoOn) {
  const owned_executor gpu = executor_of(nullptr, &tilefold_stream_executor);
  expect_the_hosts_bits(gpu.get());
  for (int round = 0; round < 3; ++round) {
    must(cudaDeviceReset());
    expect_the_hosts_bits(gpu.get());
    std::thread([&] { expect_the_hosts_bits(gpu.get()); }).join();
  }
}

TEST_F(CInterfaceAfterAReset, ExecutorsMadeBeforeSaySo) {
  owned_executor gpu = executor_of(nullptr, &tilefold_cuda_executor);
  expect_the_hosts_bits(gpu.get());
  must(cudaDeviceReset());
  {
    const gpu_bytes on_gpu(items_);
    for (const any_call& call : calls_) {
      const gpu_bytes result(call.result_bytes);
      EXPECT_EQ(call.on(gpu.get(), on_gpu.data(), result.data()), TILEFOLD_CUDA) << call.what;
      EXPECT_NE(std::string(tilefold_last_error()).find("cudaDeviceReset"), std::string::npos)
          << tilefold_last_error();
      EXPECT_EQ(result.to_host(), bytes(call.result_bytes, 0xee)) << call.what;
    }
    EXPECT_EQ(tilefold_synchronize(gpu.get()), TILEFOLD_CUDA);
    EXPECT_EQ(tilefold_reserve(gpu.get(), std::int64_t{1} << 32), TILEFOLD_CUDA);
    EXPECT_EQ(tilefold_release(gpu.get()), TILEFOLD_CUDA);
  }
  gpu.reset();
  expect_the_hosts_bits(executor_of(nullptr, &tilefold_cuda_executor).get());
}

}  // namespace
