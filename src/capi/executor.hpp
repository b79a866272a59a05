// SPDX-License-Identifier: Apache-2.0
//
// What an executor of the C interface does, whatever it runs on.
#pragma once

#include <cstdint>

#include <tilefold/tilefold.h>

#include "kernels.hpp"

namespace tilefold::capi {
struct rows_call;
struct by_index_call;
}  // namespace tilefold::capi

struct tilefold_executor {
  tilefold_executor() = default;
  tilefold_executor(const tilefold_executor&) = delete;  // C holds it by its address
  tilefold_executor& operator=(const tilefold_executor&) = delete;
  virtual ~tilefold_executor() = default;

  using dtype = tilefold::capi::dtype;
  using op = tilefold::capi::op;
  using job = tilefold::capi::job;

  /// All that a call names is there and fits; whether it can be reached, the executor sees.
  virtual void fold(op which, const job& call) = 0;
  virtual void dot(const void* x, const void* y, dtype type, std::int64_t n, void* result) = 0;
  /// There are rows, and they have items.
  virtual void log_softmax(const tilefold::capi::rows_call& call) = 0;
  /// n >= 0; of no items only `num_runs` is used. `call` has the items and where results go.
  virtual void by_key(op which, const void* keys, dtype keys_type, std::int64_t n, void* keys_out,
                      const job& call, std::int64_t* num_runs) = 0;
  virtual void by_index(const tilefold::capi::by_index_call& call) = 0;
  /// What by_index() needs of `rows` rows, as tilefold_reduce_by_index_workspace() answers.
  virtual std::int64_t by_index_workspace(op which, dtype type, std::int64_t rows,
                                          std::int64_t columns, std::int64_t num_results) = 0;
  /// Adds n >= 1 items to a piece or an accumulator; they are folded when this returns.
  virtual void append(tilefold_piece& piece, const void* items, std::int64_t n) = 0;
  virtual void add(tilefold_accumulator& sum, const void* items, std::int64_t n) = 0;
  /// Throws segment_error for the first segment that is not one of [0, num_items), if it can look.
  virtual void check(const tilefold::capi::any_offsets& offsets, std::int64_t segments,
                     std::int64_t num_items) = 0;
  /// Whether segments have items by offsets that are believed; true where it cannot look.
  virtual bool may_read(const tilefold::capi::any_offsets& offsets,
                        std::int64_t segments) const = 0;
  virtual std::int64_t workspace(op which, dtype type, std::int64_t n,
                                 std::int64_t segments) const = 0;
  virtual void reserve(std::int64_t bytes) = 0;
  /// Gives back what is kept between calls.
  virtual void release() = 0;
  virtual void synchronize() = 0;
};

namespace tilefold::capi {

/// What every operation makes of every dtype; the same on every executor.
const basic_table<host_executor>& kernels();
const std::vector<basic_dot_kernel<host_executor>>& dots();

tilefold_executor* new_host_executor(int threads);
/// Throws cuda_error without a GPU, unsupported without CUDA.
tilefold_executor* new_cuda_executor(int device, void* stream);
/// The same, of a stream whose workspace the calling threads keep.
tilefold_executor* new_stream_executor(int device, void* stream);
bool has_cuda();

/// Not for this dtype, or not in this build.
class unsupported : public error {
 public:
  using error::error;
};

}  // namespace tilefold::capi
