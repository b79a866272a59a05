// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor of the C interface.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/executor/kept_executors.cuh>
#include <tilefold/error.hpp>

#include "../executor.hpp"
#include "../log_softmax.hpp"
#include "../piece_blocks.hpp"
#include "../pieces.hpp"
#include "by_index.cuh"
#include "by_key.cuh"
#include "demand.cuh"
#include "exact_blocks.cuh"

namespace tilefold::capi {

namespace {

const basic_table<cuda_executor>& cuda_kernels() {
  static const auto all = [] {
    basic_table<cuda_executor> made;
    // Items of 1 byte first: rows that read items by their dtype are among them, and places.cpp
    // replaces some of those by rows that read items by pointer.
    capi::add_operations(basic_table_part<cuda_executor, 1>(made));
    capi::add_operations(basic_table_part<cuda_executor, 2>(made));
    capi::add_operations(basic_table_part<cuda_executor, 4>(made));
    capi::add_operations(basic_table_part<cuda_executor, 8>(made));
    return made;
  }();
  return all;
}

/// Calls go to one executor, which keeps its workspace.
struct own_executor {
  std::optional<cuda_executor> exec;

  struct lent {
    cuda_executor& exec;
    cuda_executor& executor() const { return exec; }
  };
  int device_number() const { return exec->device(); }
  lent lend() { return {*exec}; }
  void release() {
    const detail::cuda::device_scope scope(exec->device());
    exec->synchronize();
    cuda_executor fresh(exec->stream());
    exec.emplace(std::move(fresh));
  }
};

/// Kernels load and store complex numbers whole, so that they lie as CUDA's own types do. A
/// misaligned access would end the caller's context.
void require_whole(const void* pointer, dtype type, const char* what) {
  if (type != dtype::complex64 && type != dtype::complex128) return;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address % static_cast<std::uintptr_t>(bytes_of(type)) == 0) return;
  throw invalid_range_error("tilefold: " + std::string(what) + " is the address " +
                            std::to_string(address) + ", which is no multiple of " +
                            std::to_string(bytes_of(type)) + ", as " + std::string(name_of(type)) +
                            " on a GPU needs it");
}

int num_sms_of(int device) {
  int count = 0;
  detail::cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  return count;
}

/// For executors whose calls need no workspace.
class no_memory_resource final : public device_memory_resource {
 public:
  void* allocate(std::int64_t bytes, cudaStream_t) override {
    throw allocation_error("tilefold: " + std::to_string(bytes) +
                               " bytes of workspace are asked for where none were expected",
                           bytes);
  }
  void deallocate(void*, std::int64_t, cudaStream_t) noexcept override {}
};

device_memory_resource& no_memory() {
  static no_memory_resource resource;
  return resource;
}

/// Each call borrows what its thread keeps for a stream, so the stream may end at any time.
struct kept_by_thread {
  int device;
  cudaStream_t stream;
  /// For calls that need no workspace: nothing in it changes, so that all threads use it, and
  /// the number of the stream need not be asked for.
  cuda_executor bare;

  struct lent {
    lent(int device, cudaStream_t stream) : scope(device), one(stream) {}
    cuda_executor& executor() { return one.executor(); }

    const detail::cuda::device_scope scope;  // the default streams are those of the current device
    detail::lent_executor<detail::cuda::this_build> one;
  };
  int device_number() const { return device; }
  lent lend() const { return {device, stream}; }
  void release() const {
    const detail::cuda::device_scope scope(device);
    detail::kept_executors<detail::cuda::this_build>::release();
  }
};

template <class Lender>
class gpu final : public tilefold_executor {
 public:
  explicit gpu(Lender lender) : lender_(std::move(lender)) {}

  void fold(op which, const job& call) override {
    const kernel& found = kernel_of(which, call.type);
    if constexpr (requires { lender_.bare; }) {
      if (needs_no_workspace(found, call)) {
        const detail::beside_captures mode;  // the first call loads kernels
        try {
          return run(found, lender_.bare, call);
        } catch (const cuda_error& e) {
          // After a reset of the device threads keep others.
          if (e.code() != static_cast<int>(cudaErrorContextIsDestroyed)) throw;
        }
      }
    }
    auto lent = lender_.lend();
    run(found, lent.executor(), call);
  }

  void dot(const void* x, const void* y, dtype type, std::int64_t n, void* result) override {
    static const std::vector<dot_kernel> all = [] {
      std::vector<dot_kernel> made;
      add_dots(made);
      return made;
    }();
    auto lent = lender_.lend();
    cuda_executor& exec = lent.executor();
    for (const dot_kernel& row : all) {
      if (row.items != type) continue;
      capi::require_whole(x, type, "x");
      capi::require_whole(y, type, "y");
      capi::require_whole(result, row.result, "result");
      by_callers_names([&] { row.fold(exec, x, y, n, result); },
                       [&] {
                         if (n > 0) reach(exec, x, "x");
                         if (n > 0) reach(exec, y, "y");
                         reach(exec, result, "result");
                       });
    }
  }

  void log_softmax(const rows_call& call) override {
    auto lent = lender_.lend();
    reach(lent.executor(), call.items, "items");
    reach(lent.executor(), call.results, "results");
    capi::run_log_softmax(lent.executor(), call);
  }

  void by_key(op which, const void* keys, dtype keys_type, std::int64_t n, void* keys_out,
              const job& call, std::int64_t* num_runs) override {
    auto lent = lender_.lend();
    cuda_executor& exec = lent.executor();
    require_whole_items(*kernels().find(which, call.type), call);
    if (n > 0) {
      look_at(exec, call);
      reach(exec, keys, "keys");
      reach(exec, keys_out, "keys_out");
    }
    reach(exec, num_runs, "num_runs");
    capi::fold_by_key({exec, which, {keys, keys_type}, n, {keys_out, keys_type}, call, num_runs});
  }

  void by_index(const by_index_call& call) override {
    const kernel& found = kernel_of(call.which, call.items.type);
    auto lent = lender_.lend();
    cuda_executor& exec = lent.executor();
    require_whole_items(found, call.items);
    if (call.checked && call.n > 0) require_no_capture(exec, "tilefold_reduce_by_index");
    if (call.n > 0) reach(exec, call.indices.data, "indices");
    if (call.items.reads_items) reach(exec, call.items.items, "items");
    if (call.segments() > 0) reach(exec, call.items.results, "results");
    capi::fold_by_index(exec, call, found.accumulator_bytes,
                        [&](const job& segments) { found.fold(exec, segments); });
  }
  std::int64_t by_index_workspace(op which, dtype type, std::int64_t rows, std::int64_t columns,
                                  std::int64_t num_results) override {
    return capi::by_index_workspace_bytes(lender_.lend().executor(), which, type, rows, columns,
                                          num_results, kernel_of(which, type).accumulator_bytes);
  }

  void append(tilefold_piece& piece, const void* items, std::int64_t n) override {
    auto lent = lender_.lend();
    cuda_executor& exec = lent.executor();
    require_no_capture(exec, "tilefold_piece_append");
    capi::require_whole(items, piece.type, "items");
    reach(exec, items, "items");
    const block_rule& rule = piece.kind->blocks;
    const auto* const found = rule.is_known ? cuda_kernels().find(rule.by, piece.type) : nullptr;
    if (rule.is_known && rule.by == op::exact_sum) {
      capi::exact_block(exec, items, piece.type, n,
                        [&](const void* sum) { capi::append_result(piece, sum, n); });
    } else if (found != nullptr) {
      capi::append_by_results(exec, *found, piece, items, n);
    } else {
      throw unsupported("tilefold_piece_append: on a GPU there is no piece of " +
                        std::string(name_of(piece.which)) + " of " +
                        std::string(name_of(piece.type)) + "; copy the items to the host");
    }
  }
  void add(tilefold_accumulator& sum, const void* items, std::int64_t n) override {
    if (!has_exact_blocks(sum.type)) {
      throw unsupported(
          "tilefold_accumulator_add: on a GPU there are accumulators of floats, not of " +
          std::string(name_of(sum.type)) + "; copy the items to the host");
    }
    auto lent = lender_.lend();
    require_no_capture(lent.executor(), "tilefold_accumulator_add");
    reach(lent.executor(), items, "items");
    capi::exact_block(lent.executor(), items, sum.type, n,
                      [&](const void* block) { sum.state->add_accumulator(block); });
  }

  // Offsets lie where only the GPU reads: a call that is asynchronous believes them.
  void check(const any_offsets&, std::int64_t, std::int64_t) override {}
  bool may_read(const any_offsets&, std::int64_t) const override { return true; }

  std::int64_t workspace(op which, dtype type, std::int64_t n,
                         std::int64_t segments) const override {
    std::int64_t accumulator = kernels().find(which, type)->accumulator_bytes;
    // Of operations that share kernels here it may be larger.
    if (const kernel* const here = cuda_kernels().find(which, type)) {
      accumulator = detail::larger(accumulator, here->accumulator_bytes);
    }
    return capi::demand_of_any_verb(n, segments, {bytes_of(type), accumulator},
                                    num_sms_of(lender_.device_number()));
  }
  void reserve(std::int64_t bytes) override { lender_.lend().executor().reserve(bytes); }
  void release() override { lender_.release(); }
  void synchronize() override { lender_.lend().executor().synchronize(); }

 private:
  using kernel = basic_kernel<cuda_executor>;

  static const kernel& kernel_of(op which, dtype type) {
    const kernel* const found = cuda_kernels().find(which, type);
    if (found != nullptr) return *found;
    throw unsupported("tilefold: there is no " + std::string(name_of(which)) + " of " +
                      std::string(name_of(type)) + " on a GPU");
  }

  static bool is_range_of_items(const job& call) { return call.is_range && call.offsets.step > 0; }

  // Of iterators only pointers tell how large the kernel's items are.
  static bool needs_no_workspace(const kernel& found, const job& call) {
    const std::int64_t bytes = bytes_of(call.type);
    return found.reads_by_pointer && is_range_of_items(call) &&
           cuda_executor::workspace_bytes(call.offsets.step, bytes, found.accumulator_bytes) == 0 &&
           cuda_executor::workspace_bytes(call.offsets.step, bytes + 8, found.accumulator_bytes) ==
               0;
  }

  // Folds look at the pointers that they are given before anything is launched; a question costs
  // a fifth of a microsecond. So callers' names for them are told only where one cannot be reached:
  // look() asks again, by those names.
  template <class Fold, class Look>
  static void by_callers_names(const Fold& fold, const Look& look) {
    try {
      fold();
    } catch (const memory_space_error&) {
      look();
      throw;
    }
  }

  // What folds do not look at is looked at here.
  static void run(const kernel& found, cuda_executor& exec, const job& call) {
    require_whole_items(found, call);
    if (call.reads_items && !found.reads_by_pointer) reach(exec, call.items, "items");
    if (call.offsets.bits != 0) reach(exec, call.offsets.data, "offsets");
    if (!is_range_of_items(call)) reach_results(exec, call);
    by_callers_names([&] { found.fold(exec, call); }, [&] { look_at(exec, call); });
  }

  template <class Exec>
  static void require_whole_items(const basic_kernel<Exec>& found, const job& call) {
    capi::require_whole(call.items, call.type, "items");
    capi::require_whole(call.results, found.result, call.is_range ? "result" : "results");
  }

  static void require_no_capture(const cuda_executor& exec, const char* function) {
    try {
      exec.require_waiting();
    } catch (const capture_error&) {
      throw capture_error(std::string(function) +
                          ": the stream is being captured, and this call waits for what it folds; "
                          "call it after the capture");
    }
  }
  static void reach(const cuda_executor& exec, const void* pointer, const char* what) {
    (void)exec.accessible(static_cast<const char*>(pointer), what);
  }
  static void reach_results(const cuda_executor& exec, const job& call) {
    reach(exec, call.results, call.is_range ? "result" : "results");
  }
  static void look_at(const cuda_executor& exec, const job& call) {
    if (call.reads_items) reach(exec, call.items, "items");
    reach_results(exec, call);
  }

  Lender lender_;
};

void require_device(const char* function, int device) {
  int devices = 0;
  detail::cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount (is there a CUDA device?)");
  if (device >= 0 && device < devices) return;
  throw invalid_range_error(std::string(function) + ": there is no device " +
                            std::to_string(device) + "; there are " + std::to_string(devices));
}

/// Throws unless the current device, which was asked for, is that of `stream`. Believes the caller
/// where that cannot be told: of a stream that is being captured, and before CUDA 12.8.
void require_stream_here(const char* function, cudaStream_t stream) {
  const int device = detail::cuda::current_device();
  const int own = detail::cuda::device_of(stream);
  if (own == device) return;
  throw invalid_range_error(std::string(function) + ": the stream is one of device " +
                            std::to_string(own) + ", and not of device " + std::to_string(device));
}

cudaStream_t stream_or_default(void* stream) {
  return stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream);
}

}  // namespace

tilefold_executor* new_cuda_executor(int device, void* stream) {
  if (device == -1 && stream != nullptr) {  // the stream's own
    return new gpu<own_executor>({cuda_executor(static_cast<cudaStream_t>(stream))});
  }
  capi::require_device("tilefold_cuda_executor", device);
  auto* const handle = capi::stream_or_default(stream);
  const detail::beside_captures mode;
  const detail::cuda::device_scope scope(device);
  capi::require_stream_here("tilefold_cuda_executor", handle);
  return new gpu<own_executor>({cuda_executor(handle)});
}

tilefold_executor* new_stream_executor(int device, void* stream) {
  capi::require_device("tilefold_stream_executor", device);
  auto* const handle = capi::stream_or_default(stream);
  const detail::beside_captures mode;
  const detail::cuda::device_scope scope(device);
  capi::require_stream_here("tilefold_stream_executor", handle);
  return new gpu<kept_by_thread>({device, handle, cuda_executor(handle, no_memory())});
}

bool has_cuda() { return true; }

}  // namespace tilefold::capi
