// SPDX-License-Identifier: Apache-2.0
//
// The host executor of the C interface.
#include <cstring>
#include <string>
#include <vector>

#include <pthread.h>

#include <tilefold/detail/core/real_math.hpp>
#include <tilefold/error.hpp>

#include "by_index.hpp"
#include "executor.hpp"
#include "job.hpp"
#include "log_softmax.hpp"
#include "pieces.hpp"

namespace tilefold::capi {

namespace {

// Where runs of n >= 1 keys begin, and one past the end. Keys are equal if == says so.
template <class Key>
std::vector<std::int64_t> heads_of(const Key* keys, std::int64_t n) {
  const auto value = [&](std::int64_t i) {
    if constexpr (is_narrow_float<Key>) {
      return static_cast<float>(keys[i]);
    } else {
      return keys[i];
    }
  };
  std::int64_t runs = 1;
  for (std::int64_t i = 1; i < n; ++i) runs += value(i - 1) == value(i) ? 0 : 1;
  std::vector<std::int64_t> heads;
  heads.reserve(static_cast<std::size_t>(runs) + 1);
  heads.push_back(0);
  for (std::int64_t i = 1; i < n; ++i) {
    if (!(value(i - 1) == value(i))) heads.push_back(i);
  }
  heads.push_back(n);
  return heads;
}

std::vector<std::int64_t> heads_of(const void* keys, dtype type, std::int64_t n) {
  const auto of = [&]<class Key>(const Key*) {
    return capi::heads_of(static_cast<const Key*>(keys), n);
  };
  switch (type) {
    case dtype::int8:
    case dtype::uint8:
      return of(static_cast<const std::uint8_t*>(nullptr));
    case dtype::boolean:
      return of(static_cast<const bool_byte*>(nullptr));
    case dtype::int16:
    case dtype::uint16:
      return of(static_cast<const std::uint16_t*>(nullptr));
    case dtype::int32:
    case dtype::uint32:
      return of(static_cast<const std::uint32_t*>(nullptr));
    case dtype::int64:
    case dtype::uint64:
      return of(static_cast<const std::uint64_t*>(nullptr));
    case dtype::float16:
      return of(static_cast<const half*>(nullptr));
    case dtype::bfloat16:
      return of(static_cast<const bfloat16*>(nullptr));
    case dtype::float32:
      return of(static_cast<const float*>(nullptr));
    case dtype::float64:
      return of(static_cast<const double*>(nullptr));
    default:
      throw unsupported("tilefold_reduce_by_key: keys cannot be " + std::string(name_of(type)));
  }
}

class host final : public tilefold_executor {
 public:
  explicit host(int threads) : exec_(threads == 0 ? host_executor() : host_executor(threads)) {}

  void fold(op which, const job& call) override {
    if (call.offsets.bits != 0 && call.segments > 0) require_here(call.offsets.data, "offsets");
    const auto& kernel = *kernels().find(which, call.type);
    if (which == op::mean && has_exact_sums(call)) return fold_means_of_columns(call);
    if (!is_rounded(which) || call.results_type == dtype::float64) return kernel.fold(exec_, call);
    require_here(call.results, call.is_range ? "result" : "results");
    std::vector<double> results(static_cast<std::size_t>(call.segments));
    job wide = call;
    wide.results = results.data();
    wide.results_type = dtype::float64;
    wide.plan.out = {1, {call.segments}, {1}};
    kernel.fold(exec_, wide);
    for (std::int64_t i = 0; i < call.segments; ++i) {
      write_result(call, i, results[static_cast<std::size_t>(i)]);
    }
  }

  void dot(const void* x, const void* y, dtype type, std::int64_t n, void* result) override {
    for (const dot_kernel& row : dots()) {
      if (row.items == type) row.fold(exec_, x, y, n, result);
    }
  }

  void log_softmax(const rows_call& call) override { capi::run_log_softmax(exec_, call); }

  // A run is a segment: its bits are those of a fold over it alone.
  void by_key(op which, const void* keys, dtype keys_type, std::int64_t n, void* keys_out,
              const job& call, std::int64_t* num_runs) override {
    require_here(num_runs, "num_runs");
    if (n == 0) {
      *num_runs = 0;
      return;
    }
    require_here(keys, "keys");
    require_here(keys_out, "keys_out");
    const std::vector<std::int64_t> heads = capi::heads_of(keys, keys_type, n);
    const std::size_t runs = heads.size() - 1;
    job runs_call = call;
    runs_call.segments = static_cast<std::int64_t>(runs);
    runs_call.offsets = {heads.data(), 0, 64};
    runs_call.plan.out = {1, {runs_call.segments}, {1}};
    fold(which, runs_call);
    const auto bytes = static_cast<std::size_t>(bytes_of(keys_type));
    for (std::size_t run = 0; run < runs; ++run) {
      std::memcpy(static_cast<char*>(keys_out) + run * bytes,
                  static_cast<const char*>(keys) + static_cast<std::size_t>(heads[run]) * bytes,
                  bytes);
    }
    *num_runs = runs_call.segments;
  }

  void by_index(const by_index_call& call) override {
    if (call.n > 0) require_here(call.indices.data, "indices");
    if (call.items.reads_items) require_here(call.items.items, "items");
    capi::fold_by_index(exec_, call, [&](const job& segments) { fold(call.which, segments); });
  }
  std::int64_t by_index_workspace(op, dtype, std::int64_t, std::int64_t, std::int64_t) override {
    return 0;
  }

  void append(tilefold_piece& piece, const void* items, std::int64_t n) override {
    piece.state->append(exec_, items, piece.type, n);
  }
  void add(tilefold_accumulator& sum, const void* items, std::int64_t n) override {
    sum.state->add(exec_, items, sum.type, n);
  }

  void check(const any_offsets& offsets, std::int64_t segments, std::int64_t num_items) override {
    require_here(offsets.data, "offsets");
    for (std::int64_t i = 0; i < segments; ++i) {
      const std::int64_t begin = offsets[i];
      const std::int64_t end = offsets[i + 1];
      if (begin >= 0 && begin <= end && end <= num_items) continue;
      throw segment_error("tilefold_segmented_reduce: segment " + std::to_string(i) + " is [" +
                              std::to_string(begin) + ", " + std::to_string(end) + ") of " +
                              std::to_string(num_items) + " items",
                          i);
    }
  }

  bool may_read(const any_offsets& offsets, std::int64_t segments) const override {
    require_here(offsets.data, "offsets");
    std::int64_t i = 0;
    while (i < segments && offsets[i] == offsets[i + 1]) ++i;
    return i < segments;
  }

  std::int64_t workspace(op, dtype, std::int64_t, std::int64_t) const override { return 0; }
  void reserve(std::int64_t) override {}
  void release() override {}
  void synchronize() override {}

 private:
  // Whether a job folds columns of integers whose sums a double holds.
  static bool has_exact_sums(const job& call) {
    const int bits = 8 * bytes_of(call.type);
    const auto* sum = kernels().find(op::sum64, call.type);
    if (!call.by_columns || bits > 32 || sum == nullptr) return false;
    const bool of_integers = sum->result == dtype::int64 || sum->result == dtype::uint64;
    const std::int64_t rows = call.plan.rows.size();
    return of_integers && 0 < rows && rows <= std::int64_t{1} << (53 - bits);
  }

  // Their sums in 64 bits, for which there are vector loops, divided by their number: what the mean
  // computes, since no sum is rounded.
  void fold_means_of_columns(const job& call) {
    require_here(call.results, "results");
    const auto& sum = *kernels().find(op::sum64, call.type);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(call.segments));
    job of_sums = call;
    of_sums.results = sums.data();
    of_sums.results_type = sum.result;
    of_sums.plan.out = {1, {call.segments}, {1}};
    sum.fold(exec_, of_sums);
    const auto rows = static_cast<double>(call.plan.rows.size());
    for (std::int64_t i = 0; i < call.segments; ++i) {
      const auto exact = static_cast<double>(sums[static_cast<std::size_t>(i)]);
      write_result(call, i, detail::rounded_quotient(exact, rows));
    }
  }

  static void write_result(const job& call, std::int64_t i, double result) {
    capi::write_rounded(
        result, call.results_type,
        static_cast<char*>(call.results) + call.plan.out.offset(i) * bytes_of(call.results_type));
  }

  // Throws for memory of a GPU.
  void require_here(const void* pointer, const char* what) const {
    (void)exec_.accessible(static_cast<const char*>(pointer), what);
  }

  host_executor exec_;
};

}  // namespace

tilefold_executor* new_host_executor(int threads) { return new host(threads); }

const std::vector<dot_kernel>& dots() {
  static const std::vector<dot_kernel> all = [] {
    std::vector<dot_kernel> made;
    add_dots(made);
    return made;
  }();
  return all;
}

const basic_table<host_executor>& kernels() {
  static const auto all = [] {
    basic_table<host_executor> made;
    capi::add_operations(table(made));
    // Of bools, these end at the first item that decides.
    made.share_fold(op::max, op::any, dtype::boolean);
    made.share_fold(op::min, op::all, dtype::boolean);
    return made;
  }();
  return all;
}

namespace {

// A fork waits until a thread whose first call is making these tables has made them. A child with a
// half-made table would wait for that thread, which it does not have, for ever.
[[maybe_unused]] const int handler = pthread_atfork(
    [] {
      try {
        (void)kernels();
        (void)dots();
        (void)log_softmax_kernels<host_executor>();
      } catch (...) {  // no memory: the table is not begun
      }
    },
    nullptr, nullptr);

}  // namespace

}  // namespace tilefold::capi
