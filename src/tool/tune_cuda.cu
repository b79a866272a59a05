// SPDX-License-Identifier: Apache-2.0
//
// Measures the candidates of `tilefold tune`: folds in a row, on inputs that rotate through more
// memory than the L2 cache holds, launched as one graph so that the host cannot be what is timed.
// All policies take turns, and of each the median counts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cuda_support.cuh"
#include "progress.hpp"
#include "tune_candidates.cuh"
#include "tuning.hpp"

namespace tilefold::tool {

namespace {

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;
constexpr int repeats = 9;
constexpr int least_launches = 4;  // in one timing

// The kernel module tells it in a sentence: "NVRM version: NVIDIA ... Module  580.159  Tue ...".
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool is_number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_number && word.find('.') != std::string::npos) return word;
  }
  int cuda = 0;
  check_cuda(cudaDriverGetVersion(&cuda), "cudaDriverGetVersion");
  return "for CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

/// What has been read before has left the L2 cache when so much has been read since.
std::int64_t rotation() {
  int device = 0;
  int bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device),
             "cudaDeviceGetAttribute");
  return 4 * std::max<std::int64_t>(bytes, mebibyte);
}

/// Sizes in bytes, from where launching matters to where only memory does, that leave room.
std::vector<std::int64_t> sizes(bool quick) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  std::vector<std::int64_t> all{256 * kibibyte, 4 * mebibyte, 64 * mebibyte, 1024 * mebibyte};
  if (quick) all = {256 * kibibyte, 16 * mebibyte};
  std::erase_if(all, [&](std::int64_t bytes) {
    return bytes > 64 * mebibyte && bytes > static_cast<std::int64_t>(free_bytes / 2);
  });
  return all;
}

// Both signs, magnitudes over many binades, finite, not zero.
template <class T>
T mixed_item(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits >> 8 | 1);
  } else {
    const double magnitude = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
    const double value = std::ldexp(magnitude, static_cast<int>(bits % 15) - 7);
    using wide = std::conditional_t<sizeof(T) == 8, double, float>;
    return static_cast<T>(static_cast<wide>((bits >> 11 & 1) != 0 ? -value : value));
  }
}

std::vector<std::byte> mixed_items(dtype type, std::int64_t bytes) {
  std::vector<std::byte> items(static_cast<std::size_t>(bytes));
  visit(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_complex(dtype_of<T>::value) && !std::is_same_v<T, bool>) {
      std::mt19937_64 random(1);
      for (std::size_t at = 0; at < items.size(); at += sizeof(T)) {
        const T item = mixed_item<T>(random);
        std::memcpy(items.data() + at, &item, sizeof item);
      }
    }
  });
  return items;
}

/// Device memory full of one type's items, which come again after the first MiB.
class rotating_input {
 public:
  rotating_input(dtype type, std::int64_t bytes)
      : bytes_(bytes), memory_(static_cast<std::size_t>(bytes)) {
    const std::vector<std::byte> first = mixed_items(type, std::min(bytes, mebibyte));
    auto* const to = static_cast<std::byte*>(memory_.get());
    check_cuda(cudaMemcpy(to, first.data(), first.size(), cudaMemcpyHostToDevice),
               "copying to the GPU");
    const auto all = static_cast<std::size_t>(bytes);
    for (std::size_t done = first.size(); done < all; done *= 2) {
      check_cuda(cudaMemcpy(to + done, to, std::min(done, all - done), cudaMemcpyDeviceToDevice),
                 "filling the GPU's memory");
    }
  }

  /// The input of the i-th fold of `bytes` bytes in a row.
  const void* window(std::int64_t bytes, std::int64_t i) const {
    return static_cast<const std::byte*>(memory_.get()) + i % (bytes_ / bytes) * bytes;
  }

 private:
  std::int64_t bytes_;
  device_buffer memory_;
};

/// Launches on the GPU that are started as one.
class graph {
 public:
  template <class Work>
  graph(cudaStream_t stream, Work work) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    work();  // what throws here ends the program, and the capture with it
    cudaGraph_t captured = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&executable_, captured, 0);
    cudaGraphDestroy(captured);
    check_cuda(status, "cudaGraphInstantiate");
  }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph() { cudaGraphExecDestroy(executable_); }

  void launch(cudaStream_t stream) const {
    check_cuda(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class cuda_tuner final : public tuner {
 public:
  cuda_tuner()
      : device_(require_gpu()), driver_(driver_version()), rotation_(rotation()), out_(256) {}

  std::string device() const override { return device_; }
  std::string driver() const override { return driver_; }

  tuning measure(dtype type, op_kind op, bool quick) override {
    const candidates tried = candidates_for(type, op);
    tuning result{type, op, sizes(quick), {}};
    for (const candidate& c : tried.policies) {
      result.policies.push_back({c.policy, c.is_default, {}, true});
    }
    const rotating_input input(type, input_bytes(result.bytes.back()));
    std::int64_t due = 0;
    for (const std::int64_t bytes : result.bytes) {
      due += repeats * launches(bytes) * bytes * static_cast<std::int64_t>(tried.policies.size());
    }
    progress bar("measuring", constant_name(type, op), due);
    std::int64_t done = 0;
    for (const std::int64_t bytes : result.bytes) {
      warm_up(tried, input, bytes, result);
      measure_size(tried, input, bytes, result, [&] {
        done += launches(bytes) * bytes;
        bar.advance_to(done);
      });
    }
    return result;
  }

 private:
  std::int64_t input_bytes(std::int64_t largest) const {
    return (std::max(rotation_, largest) + largest - 1) / largest * largest;
  }
  std::int64_t launches(std::int64_t bytes) const {
    return std::max<std::int64_t>((rotation_ + bytes - 1) / bytes, least_launches);
  }

  // Loads every kernel, grows the workspace as far as graphs will need it, and compares the bits.
  void warm_up(const candidates& tried, const rotating_input& input, std::int64_t bytes,
               tuning& result) {
    const std::int64_t n = bytes / row_of(result.type).bytes;
    std::vector<std::vector<std::byte>> values;
    for (const candidate& c : tried.policies) {
      check_cuda(cudaMemsetAsync(out_.get(), 0xff, tried.accumulator_bytes, executor_.stream()),
                 "cudaMemset");
      c.enqueue(executor_, input.window(bytes, 0), n, out_.get());
      executor_.synchronize();
      values.emplace_back(tried.accumulator_bytes);
      check_cuda(cudaMemcpy(values.back().data(), out_.get(), tried.accumulator_bytes,
                            cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
    }
    const auto normal = std::find_if(tried.policies.begin(), tried.policies.end(),
                                     [](const candidate& c) { return c.is_default; });
    const auto& expected = values[static_cast<std::size_t>(normal - tried.policies.begin())];
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.policies[i].same_bits = result.policies[i].same_bits && values[i] == expected;
    }
  }

  template <class Step>
  void measure_size(const candidates& tried, const rotating_input& input, std::int64_t bytes,
                    tuning& result, Step step) {
    const std::int64_t n = bytes / row_of(result.type).bytes;
    std::vector<std::unique_ptr<graph>> graphs;
    for (const candidate& c : tried.policies) {
      graphs.push_back(std::make_unique<graph>(executor_.stream(), [&] {
        for (std::int64_t i = 0; i < launches(bytes); ++i) {
          c.enqueue(executor_, input.window(bytes, i), n, out_.get());
        }
      }));
      graphs.back()->launch(executor_.stream());
    }
    std::vector<std::vector<double>> seconds(graphs.size());
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        seconds[i].push_back(seconds_of(*graphs[i]) / static_cast<double>(launches(bytes)));
        step();
      }
    }
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      result.policies[i].seconds.push_back(median(seconds[i]));
    }
  }

  double seconds_of(const graph& work) {
    start_.record(executor_.stream());
    work.launch(executor_.stream());
    stop_.record(executor_.stream());
    stop_.wait();
    return stop_.seconds_since(start_);
  }

  std::string device_;  // first, since it throws where there is no GPU
  std::string driver_;
  std::int64_t rotation_;
  cuda_executor executor_;
  device_buffer out_;
  event start_, stop_;
};

}  // namespace

candidates candidates_for(dtype type, op_kind op) {
  switch (type) {
    case dtype::float32:
      return float32_candidates(op);
    case dtype::float64:
      return float64_candidates(op);
    case dtype::float16:
      return float16_candidates(op);
    case dtype::int8:
      return int8_candidates(op);
    case dtype::int32:
      return int32_candidates(op);
    default:
      throw std::logic_error("no candidates for this type");
  }
}

std::unique_ptr<tuner> make_cuda_tuner() { return std::make_unique<cuda_tuner>(); }

}  // namespace tilefold::tool
