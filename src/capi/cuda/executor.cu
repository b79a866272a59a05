// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor of the C interface.
#include <string>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/error.hpp>

#include "../executor.hpp"
#include "by_key.cuh"

namespace tilefold::capi {

namespace {

const basic_table<cuda_executor>& cuda_kernels() {
  static const table all = [] {
    table made;
    for (const auto add : {add_sums, add_products, add_minima, add_maxima, add_extremes, add_places,
                           add_questions, add_bits, add_means, add_deviations, add_norms,
                           add_exponentials, add_precise_sums, add_statistics}) {
      add(made);
    }
    return made;
  }();
  return all;
}

class gpu final : public tilefold_executor {
 public:
  explicit gpu(cuda_executor exec) : exec_(std::move(exec)) {}

  void fold(op which, const job& call) override {
    const auto* const found = cuda_kernels().find(which, call.type);
    if (found == nullptr) {
      throw unsupported("tilefold: there is no " + std::string(name_of(which)) + " of " +
                        std::string(name_of(call.type)) + " on a GPU");
    }
    look_at(call);
    if (call.offsets.bits != 0) reach(call.offsets.data, "offsets");
    found->fold(exec_, call);
  }

  void dot(const void* x, const void* y, dtype type, std::int64_t n, void* result) override {
    static const std::vector<dot_kernel> all = [] {
      std::vector<dot_kernel> made;
      add_dots(made);
      return made;
    }();
    for (const dot_kernel& row : all) {
      if (row.items == type) row.fold(exec_, x, y, n, result);
    }
  }

  void by_key(op which, const void* keys, dtype keys_type, std::int64_t n, void* keys_out,
              const job& call, std::int64_t* num_runs) override {
    look_at(call);
    reach(keys, "keys");
    reach(keys_out, "keys_out");
    reach(num_runs, "num_runs");
    capi::fold_by_key(exec_, which, any_keys{keys, keys_type}, n, any_keys_out{keys_out, keys_type},
                      call, num_runs);
  }

  // Offsets lie where only the GPU reads: a call that is asynchronous believes them.
  void check(const any_offsets&, std::int64_t, std::int64_t) override {}

  std::int64_t workspace(op which, dtype type, std::int64_t n,
                         std::int64_t segments) const override {
    const std::int64_t accumulator = kernels().find(which, type)->accumulator_bytes;
    return detail::larger(
        detail::larger(cuda_executor::workspace_bytes(n, bytes_of(type), accumulator),
                       cuda_executor::segments_workspace_bytes(segments, accumulator)),
        cuda_executor::by_key_workspace_bytes(n, accumulator));
  }
  void reserve(std::int64_t bytes) override { exec_.reserve(bytes); }
  void synchronize() override { exec_.synchronize(); }

 private:
  void reach(const void* pointer, const char* what) const {
    (void)exec_.readable(static_cast<const char*>(pointer), what);
  }
  void look_at(const job& call) const {
    if (call.reads_items) reach(call.items, "items");
    reach(call.results, "results");
  }

  cuda_executor exec_;
};

}  // namespace

tilefold_executor* new_cuda_executor(int device, void* stream) {
  int devices = 0;
  detail::cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount (is there a CUDA device?)");
  if (stream == nullptr && (device < 0 || device >= devices)) {
    throw invalid_range_error("tilefold_cuda_executor: there is no device " +
                              std::to_string(device) + "; there are " + std::to_string(devices));
  }
  if (stream != nullptr) return new gpu(cuda_executor(static_cast<cudaStream_t>(stream)));
  const detail::cuda::device_scope scope(device);
  return new gpu(cuda_executor(cudaStreamLegacy));
}

bool has_cuda() { return true; }

}  // namespace tilefold::capi
