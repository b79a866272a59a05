// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <fstream>
#include <regex>

#include <tilefold/config.hpp>

#include "read.hpp"

namespace bench {

namespace {

constexpr index mebibyte = index{1} << 20;
constexpr index most_input_bytes = 8 * 1024 * mebibyte + 8 * mebibyte;
// Elsewhere than on the GPU. One measurement there reads as much.
constexpr index elsewhere_bytes = 128 * mebibyte;
constexpr index scratch_bytes = 64 * mebibyte;
// One measurement reads about this much, or `most_launches` times its input.
constexpr index measured_bytes = 4 * 1024 * mebibyte;

cudaDeviceProp properties() {
  int device = 0;
  cudaDeviceProp result{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&result, device), "cudaGetDeviceProperties");
  return result;
}

template <class T>
T* allocate(index bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)),
        ("cudaMalloc of " + std::to_string(bytes) + " bytes").c_str());
  return static_cast<T*>(memory);
}

std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_version() {
  int newest_cuda = 0;
  check(cudaDriverGetVersion(&newest_cuda), "cudaDriverGetVersion");
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::smatch version;
  if (std::getline(file, line) &&
      std::regex_search(line, version, std::regex(R"((\d+\.[\d.]+)\s)"))) {
    return version[1].str() + " (CUDA " + dotted(newest_cuda) + ")";
  }
  return "for CUDA " + dotted(newest_cuda);
}

}  // namespace

session::session() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no usable GPU");
  if (devices == 0) throw std::runtime_error("no usable GPU: this machine has none");
  const cudaDeviceProp gpu = properties();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  flush_bytes_ = std::max<index>(index{4} * gpu.l2CacheSize, 64 * mebibyte) / 16 * 16;
  const index spare = static_cast<index>(free_bytes) - flush_bytes_ - scratch_bytes;
  input_bytes_ = std::min(most_input_bytes, spare / 10 * 7 / mebibyte * mebibyte);
  if (input_bytes_ < 64 * mebibyte) {
    throw std::runtime_error("the GPU has only " + std::to_string(free_bytes) + " bytes free");
  }
  check(cudaStreamCreate(&stream_), "cudaStreamCreate");
  check(cudaEventCreate(&begin_), "cudaEventCreate");
  check(cudaEventCreate(&end_), "cudaEventCreate");
  inputs_[memory::device].first = allocate<char>(input_bytes_);
  flush_ = allocate<void>(flush_bytes_);
  check(cudaMemset(flush_, 0, static_cast<std::size_t>(flush_bytes_)), "cudaMemset");
  scratch_ = allocate<void>(scratch_bytes);
  results_ = allocate<char>((most_launches + 1) * slot_bytes);
  check(cudaMallocHost(reinterpret_cast<void**>(&host_results_), most_launches * slot_bytes),
        "cudaMallocHost");
}

session::~session() {
  // Errors have nowhere to go here, and the process is about to end.
  for (void* allocated : {static_cast<void*>(inputs_[memory::device].first),
                          static_cast<void*>(inputs_[memory::managed].first), flush_, scratch_,
                          static_cast<void*>(results_)}) {
    (void)cudaFree(allocated);
  }
  (void)cudaFreeHost(inputs_[memory::pinned].first);
  (void)cudaFreeHost(host_results_);
  (void)cudaEventDestroy(begin_);
  (void)cudaEventDestroy(end_);
  (void)cudaStreamDestroy(stream_);
}

std::map<std::string, std::string> session::describe() const {
  const cudaDeviceProp gpu = properties();
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"device", gpu.name},
          {"multiprocessors", std::to_string(gpu.multiProcessorCount)},
          {"compute_capability", std::to_string(gpu.major) + "." + std::to_string(gpu.minor)},
          {"driver", driver_version()},
          {"cuda_runtime", dotted(runtime)},
          {"tilefold", std::to_string(TILEFOLD_VERSION_MAJOR) + "." +
                           std::to_string(TILEFOLD_VERSION_MINOR) + "." +
                           std::to_string(TILEFOLD_VERSION_PATCH)}};
}

// Windows lie as separate allocations do: at multiples of 2 MiB.
index session::stride(const shape& s, index n) {
  return (s.bytes(n) + s.offset_bytes + 2 * mebibyte - 1) / (2 * mebibyte) * (2 * mebibyte);
}

index session::most_bytes(memory place) const {
  return place == memory::device ? input_bytes_ : elsewhere_bytes;
}

// Memory elsewhere is allocated when it is first asked for.
session::region& session::region_of(memory place) {
  region& result = inputs_[place];
  if (result.first != nullptr) return result;
  void* allocated = nullptr;
  check(place == memory::pinned ? cudaMallocHost(&allocated, elsewhere_bytes)
                                : cudaMallocManaged(&allocated, elsewhere_bytes),
        place == memory::pinned ? "cudaMallocHost" : "cudaMallocManaged");
  result.first = static_cast<char*>(allocated);
  return result;
}

int session::launches(const shape& s, index n) const {
  const index bytes = std::min(measured_bytes, most_bytes(s.place));
  return static_cast<int>(std::clamp<index>(bytes / stride(s, n), 2, most_launches));
}

windows session::input(const shape& s, index n, int count) {
  const index step = stride(s, n);
  count = static_cast<int>(std::clamp<index>(most_bytes(s.place) / step, 1, count));
  const index bytes = count * step;
  region& memory = region_of(s.place);
  if (memory.content != s.fill || memory.filled_bytes < bytes) {
    s.fill(memory.first, bytes, stream_);
    memory.content = s.fill;
    memory.filled_bytes = bytes;
  }
  return {memory.first + s.offset_bytes, step, count};
}

void session::flush_l2() {
  read_once(flush_, flush_bytes_,
            reinterpret_cast<unsigned*>(results_ + most_launches * slot_bytes), stream_);
}

fold_call session::call(const void* first, index n, int slot) const {
  return {{first, results_ + slot * slot_bytes, stream_, scratch_, scratch_bytes}, n};
}

fold_call session::host_call(const void* first, index n) const {
  return {{first, host_results_, stream_, scratch_, scratch_bytes}, n};
}

void session::spoil_results() {
  std::fill_n(host_results_, most_launches * slot_bytes, '\xff');
  check(cudaMemsetAsync(results_, 0xff, most_launches * slot_bytes, stream_), "cudaMemsetAsync");
}

const char* session::fetch_results() {
  check(cudaMemcpyAsync(host_results_, results_, most_launches * slot_bytes, cudaMemcpyDefault,
                        stream_),
        "copy of the results");
  check(cudaStreamSynchronize(stream_), "copy of the results");
  return host_results_;
}

double session::microseconds_since_begin() {
  check(cudaEventRecord(end_, stream_), "cudaEventRecord");
  check(cudaEventSynchronize(end_), "the timed work");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
  return 1e3 * milliseconds;
}

}  // namespace bench
