// SPDX-License-Identifier: Apache-2.0
//
// The functions of tilefold.h: they read and check what they are told, make a job of it, and turn
// exceptions into codes and a sentence.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

#include <tilefold/tilefold.h>
#include <tilefold/config.hpp>
#include <tilefold/detail/verbs/axis_plan.hpp>
#include <tilefold/error.hpp>

#include "by_index.hpp"
#include "executor.hpp"
#include "log_softmax.hpp"
#include "reader.hpp"
#include "types.hpp"

namespace tilefold::capi {

namespace {

static_assert(TILEFOLD_C_VERSION_MAJOR == TILEFOLD_VERSION_MAJOR &&
                  TILEFOLD_C_VERSION_MINOR == TILEFOLD_VERSION_MINOR &&
                  TILEFOLD_C_VERSION_PATCH == TILEFOLD_VERSION_PATCH,
              "tilefold.h and config.hpp are of different versions");

thread_local std::string last_error;

}  // namespace

tilefold_status code_of_current_exception() {
  try {
    throw;
  } catch (const coded_error& e) {
    last_error = e.what();
    return e.code();
  } catch (const invalid_range_error& e) {
    last_error = e.what();
    return TILEFOLD_INVALID_ARGUMENT;
  } catch (const null_pointer_error& e) {
    last_error = e.what();
    return TILEFOLD_NULL_POINTER;
  } catch (const unsupported& e) {
    last_error = e.what();
    return TILEFOLD_UNSUPPORTED;
  } catch (const empty_range_error& e) {
    last_error = e.what();
    return TILEFOLD_EMPTY;
  } catch (const shape_error& e) {
    last_error = e.what();
    return TILEFOLD_BAD_SHAPE;
  } catch (const memory_space_error& e) {
    last_error = e.what();
    return TILEFOLD_MEMORY_SPACE;
  } catch (const allocation_error& e) {
    last_error = e.what();
    return TILEFOLD_NO_MEMORY;
  } catch (const capture_error& e) {
    last_error = e.what();
    return TILEFOLD_CAPTURE;
  } catch (const format_error& e) {
    last_error = e.what();
    return TILEFOLD_FORMAT;
  } catch (const float_mode_error& e) {
    last_error = e.what();
    return TILEFOLD_FLOAT_MODE;
  } catch (const cuda_error& e) {
    last_error = e.what();
    return TILEFOLD_CUDA;
  } catch (const std::bad_alloc&) {
    last_error = "tilefold: the host has no memory left";
    return TILEFOLD_NO_MEMORY;
  } catch (const std::exception& e) {
    last_error = e.what();
    return TILEFOLD_INTERNAL;
  } catch (...) {
    last_error = "tilefold: an exception of an unknown type";
    return TILEFOLD_INTERNAL;
  }
}

namespace {

/// A job over items one after the other, whose results lie so.
job plain_job(const void* items, dtype type, bool reads_items, std::int64_t segments,
              const any_offsets& offsets, void* results) {
  job call;
  call.items = items;
  call.type = type;
  call.reads_items = reads_items;
  call.segments = segments;
  call.offsets = offsets;
  call.results = results;
  call.plan.out = {1, {segments}, {1}};
  return call;
}

std::int64_t items_of_equal(const reader& read, std::int64_t segments, std::int64_t length,
                            const char* name) {
  if (length > 0 && segments > std::numeric_limits<std::int64_t>::max() / length) {
    read.fail(TILEFOLD_INVALID_ARGUMENT, std::to_string(segments) + " " + name + " of " +
                                             std::to_string(length) +
                                             " items are more than an array can hold");
  }
  return segments * length;
}

// The type of results: that of the operation, or one that its doubles are rounded to.
dtype read_result_type(const reader& read, const basic_kernel<host_executor>& found,
                       const tilefold_dtype* asked, const char* name) {
  if (asked == nullptr) return found.result;
  const dtype type = read.type(*asked, name);
  const bool rounds = capi::is_rounded(found.which) && capi::rounds_to(type);
  if (!rounds && type != found.result) {
    read.fail(TILEFOLD_UNSUPPORTED,
              std::string(name) + " is " + std::string(name_of(type)) + ", and the results of " +
                  std::string(name_of(found.which)) + " of " + std::string(name_of(found.items)) +
                  " are " + std::string(name_of(found.result)) +
                  (is_rounded(found.which) ? " or a narrower floating type" : ""));
  }
  return type;
}

void fold_range(const reader& read, tilefold_executor* executor, op which, const void* items,
                tilefold_dtype code, std::int64_t n, void* result,
                const tilefold_dtype* result_code = nullptr) {
  tilefold_executor& exec = read.there(executor, "executor");
  const dtype type = read.type(code, "dtype");
  const auto& found = read.kernel_of(which, type);
  const dtype of_result = capi::read_result_type(read, found, result_code, "result_dtype");
  read.array(items, type, read.count(n, "n"), "items");
  read.result(result, of_result);
  if (n == 0) read.require_result_of_nothing(found);
  job call = plain_job(items, type, n > 0, 1, {nullptr, n, 0}, result);
  call.is_range = true;
  call.results_type = of_result;
  exec.fold(which, call);
}

// Row-major strides of extents, for those who give none.
void fill_strides(detail::view_shape& shape) {
  std::int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    shape.stride[i] = step;
    step *= shape.extent[i] > 0 ? shape.extent[i] : 1;
  }
}

struct axis_shapes {
  detail::view_shape in;
  detail::view_shape out;
};

// Counts of items and strides are 64 bits; extents of 0 count as 1, since strides go over them.
void require_countable(const reader& read, const detail::view_shape& shape) {
  std::int64_t items = 1;
  std::string shown;
  for (int i = 0; i < shape.rank; ++i) {
    const std::int64_t extent = shape.extent[i] > 0 ? shape.extent[i] : 1;
    shown += (i == 0 ? "" : " x ") + std::to_string(shape.extent[i]);
    if (items > std::numeric_limits<std::int64_t>::max() / extent) {
      read.fail(TILEFOLD_BAD_SHAPE, "extents of " + shown + " are more items than 64 bits count");
    }
    items *= extent;
  }
}

// Distances in bytes are 64 bits, too.
void require_reach(const reader& read, const detail::view_shape& shape, dtype type,
                   const char* name) {
  const std::int64_t reach = detail::reach_of(shape, name);
  if (reach >= std::numeric_limits<std::int64_t>::max() / bytes_of(type)) {
    read.fail(TILEFOLD_BAD_SHAPE, std::string(name) + " lead " + std::to_string(reach) +
                                      " items of " + std::string(name_of(type)) +
                                      " away, further than memory reaches");
  }
}

axis_shapes read_shapes(const reader& read, std::int32_t rank, const std::int64_t* extents,
                        const std::int64_t* strides, std::int32_t num_axes,
                        const std::int32_t* axes_named, const std::int64_t* result_strides) {
  if (rank < 0 || rank > detail::max_axes) {
    read.fail(TILEFOLD_BAD_SHAPE, "rank is " + std::to_string(rank) + ", and must be 0 to 8");
  }
  if (num_axes < 0 || num_axes > rank) {
    read.fail(TILEFOLD_BAD_SHAPE, "num_axes is " + std::to_string(num_axes) +
                                      " for an array of rank " + std::to_string(rank));
  }
  read.require(extents, "extents", rank > 0);
  read.require(strides, "strides", false);
  read.require(axes_named, "axes", num_axes > 0);
  read.require(result_strides, "result_strides", false);
  axis_shapes shapes;
  shapes.in.rank = rank;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] < 0) {
      read.fail(TILEFOLD_BAD_SHAPE,
                "extent " + std::to_string(i) + " is " + std::to_string(extents[i]));
    }
    shapes.in.extent[i] = extents[i];
  }
  require_countable(read, shapes.in);
  fill_strides(shapes.in);
  for (int i = 0; i < rank && strides != nullptr; ++i) shapes.in.stride[i] = strides[i];
  axes reduced;
  reduced.count = num_axes;
  for (int i = 0; i < num_axes; ++i) reduced.number[i] = axes_named[i];
  detail::mark_reduced(shapes.in, reduced);
  for (int i = 0; i < rank; ++i) {
    if (!shapes.in.reduced[i]) shapes.out.extent[shapes.out.rank++] = shapes.in.extent[i];
  }
  fill_strides(shapes.out);
  for (int i = 0; i < shapes.out.rank && result_strides != nullptr; ++i) {
    shapes.out.stride[i] = result_strides[i];
  }
  return shapes;
}

void fold_axes(const reader& read, tilefold_executor* executor, const char* name, const void* items,
               tilefold_dtype code, std::int32_t rank, const std::int64_t* extents,
               const std::int64_t* strides, std::int32_t num_axes, const std::int32_t* axes,
               void* results, const tilefold_dtype* results_code,
               const std::int64_t* result_strides) {
  tilefold_executor& exec = read.there(executor, "executor");
  const op which = read.operation(name);
  const dtype type = read.type(code, "dtype");
  const auto& found = read.kernel_of(which, type);
  const dtype of_results = capi::read_result_type(read, found, results_code, "results_dtype");
  const axis_shapes shapes =
      read_shapes(read, rank, extents, strides, num_axes, axes, result_strides);
  const detail::matched_axes matched(shapes.in, shapes.out, num_axes);
  job call;
  call.plan = detail::make_axis_plan(shapes.in, shapes.out, matched);
  if (call.plan.results == 0) return;
  const bool nothing = call.plan.length == 0;
  if (nothing) read.require_result_of_nothing(found);
  read.require(items, "items", !nothing);
  read.require_aligned(items, type, "items");
  read.result(results, of_results, "results");
  require_reach(read, shapes.in, type, "extents and strides");
  require_reach(read, shapes.out, of_results, "result_strides");
  call.items = items;
  call.type = type;
  call.reads_items = !nothing;
  call.by_columns = !detail::has_equal_trees(call.plan);
  call.segments = call.plan.results;
  call.offsets = {nullptr, call.plan.length, 0};
  call.results = results;
  call.results_type = of_results;
  exec.fold(which, call);
}

}  // namespace

}  // namespace tilefold::capi

using namespace tilefold;
using namespace tilefold::capi;

extern "C" {

uint32_t tilefold_version(void) {
  return 10000u * TILEFOLD_VERSION_MAJOR + 100u * TILEFOLD_VERSION_MINOR + TILEFOLD_VERSION_PATCH;
}

const char* tilefold_version_text(void) {
#define TILEFOLD_TEXT_OF(x) #x
#define TILEFOLD_TEXT(x) TILEFOLD_TEXT_OF(x)
  return TILEFOLD_TEXT(TILEFOLD_VERSION_MAJOR) "." TILEFOLD_TEXT(
      TILEFOLD_VERSION_MINOR) "." TILEFOLD_TEXT(TILEFOLD_VERSION_PATCH);
#undef TILEFOLD_TEXT
#undef TILEFOLD_TEXT_OF
}

const char* tilefold_last_error(void) { return last_error.c_str(); }

const char* tilefold_status_name(tilefold_status status) {
  static constexpr const char* names[] = {"TILEFOLD_OK",           "TILEFOLD_INVALID_ARGUMENT",
                                          "TILEFOLD_NULL_POINTER", "TILEFOLD_UNKNOWN_OP",
                                          "TILEFOLD_UNSUPPORTED",  "TILEFOLD_EMPTY",
                                          "TILEFOLD_BAD_SHAPE",    "TILEFOLD_MEMORY_SPACE",
                                          "TILEFOLD_NO_MEMORY",    "TILEFOLD_CAPTURE",
                                          "TILEFOLD_FLOAT_MODE",   "TILEFOLD_CUDA",
                                          "TILEFOLD_INTERNAL",     "TILEFOLD_FORMAT"};
  return status >= 0 && status <= TILEFOLD_FORMAT ? names[status] : "an unknown status";
}

tilefold_status tilefold_host_executor(int32_t threads, tilefold_executor** executor) {
  return guarded([&] {
    const reader read("tilefold_host_executor");
    read.require(executor, "executor", true);
    if (threads < 0 || threads > 4096) {
      read.fail(TILEFOLD_INVALID_ARGUMENT,
                "threads is " + std::to_string(threads) + ", and must be 1 to 4096, or 0 for all");
    }
    *executor = capi::new_host_executor(threads);
  });
}

tilefold_status tilefold_cuda_executor(int32_t device, void* stream, tilefold_executor** executor) {
  return guarded([&] {
    reader("tilefold_cuda_executor").require(executor, "executor", true);
    *executor = capi::new_cuda_executor(device, stream);
  });
}

tilefold_status tilefold_stream_executor(int32_t device, void* stream,
                                         tilefold_executor** executor) {
  return guarded([&] {
    reader("tilefold_stream_executor").require(executor, "executor", true);
    *executor = capi::new_stream_executor(device, stream);
  });
}

int32_t tilefold_has_cuda(void) { return capi::has_cuda() ? 1 : 0; }

void tilefold_destroy(tilefold_executor* executor) { delete executor; }

tilefold_status tilefold_synchronize(tilefold_executor* executor) {
  return guarded([&] { reader("tilefold_synchronize").there(executor, "executor").synchronize(); });
}

tilefold_status tilefold_workspace(const tilefold_executor* executor, const char* op,
                                   tilefold_dtype dtype, int64_t n, int64_t segments,
                                   int64_t* bytes) {
  return guarded([&] {
    const reader read("tilefold_workspace");
    const tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    read.kernel_of(which, type);
    read.count(n, "n");
    read.count(segments, "segments");
    read.require(bytes, "bytes", true);
    *bytes = exec.workspace(which, type, n, segments);
  });
}

tilefold_status tilefold_reserve(tilefold_executor* executor, int64_t bytes) {
  return guarded([&] {
    const reader read("tilefold_reserve");
    read.there(executor, "executor").reserve(read.count(bytes, "bytes"));
  });
}

tilefold_status tilefold_release(tilefold_executor* executor) {
  return guarded([&] { reader("tilefold_release").there(executor, "executor").release(); });
}

const char* tilefold_op_name(int32_t index) {
  return index >= 0 && index < num_named_ops ? op_names[index].data() : nullptr;
}

tilefold_status tilefold_result(const char* op, tilefold_dtype dtype, tilefold_dtype* result,
                                int32_t* count) {
  return guarded([&] {
    const reader read("tilefold_result");
    const auto& found = read.kernel_of(read.operation(op), read.type(dtype, "dtype"));
    read.require(result, "result", false);
    read.require(count, "count", false);
    if (result != nullptr) *result = dtype_rows[static_cast<int>(found.result)].code;
    if (count != nullptr) *count = found.count;
  });
}

tilefold_status tilefold_reduce(tilefold_executor* executor, const char* op, const void* items,
                                tilefold_dtype dtype, int64_t n, void* result) {
  return guarded([&] {
    const reader read("tilefold_reduce");
    capi::fold_range(read, executor, read.operation(op), items, dtype, n, result);
  });
}

tilefold_status tilefold_reduce_as(tilefold_executor* executor, const char* op, const void* items,
                                   tilefold_dtype dtype, int64_t n, void* result,
                                   tilefold_dtype result_dtype) {
  return guarded([&] {
    const reader read("tilefold_reduce_as");
    capi::fold_range(read, executor, read.operation(op), items, dtype, n, result, &result_dtype);
  });
}

tilefold_status tilefold_segmented_reduce(tilefold_executor* executor, const char* op,
                                          const void* items, tilefold_dtype dtype,
                                          int64_t num_items, const void* offsets,
                                          tilefold_dtype offsets_dtype, int64_t segments,
                                          void* results) {
  return guarded([&] {
    const reader read("tilefold_segmented_reduce");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    const auto& found = read.kernel_of(which, type);
    const capi::dtype of_offsets = read.type(offsets_dtype, "offsets_dtype");
    if (of_offsets != capi::dtype::int32 && of_offsets != capi::dtype::int64) {
      read.fail(TILEFOLD_UNSUPPORTED,
                "offsets are " + std::string(name_of(of_offsets)) + ", and must be int32 or int64");
    }
    read.count(segments, "segments");
    if (num_items < -1) {
      read.fail(TILEFOLD_INVALID_ARGUMENT, "num_items is " + std::to_string(num_items));
    }
    if (segments == 0) return;
    read.require(offsets, "offsets", true);
    read.require_aligned(offsets, of_offsets, "offsets");
    read.require(results, "results", true);
    read.require_bytes(num_items, type, "items");
    const any_offsets begins{offsets, 0, 8 * bytes_of(of_offsets)};
    if (num_items >= 0) exec.check(begins, segments, num_items);
    const bool is_unknown = items == nullptr && num_items < 0;
    read.require(items, "items", is_unknown ? exec.may_read(begins, segments) : num_items > 0);
    read.require_aligned(items, type, "items");
    read.array(results, found.result, segments, "results");
    exec.fold(which, plain_job(items, type, items != nullptr, segments, begins, results));
  });
}

tilefold_status tilefold_segmented_reduce_equal(tilefold_executor* executor, const char* op,
                                                const void* items, tilefold_dtype dtype,
                                                int64_t segments, int64_t length, void* results) {
  return guarded([&] {
    const reader read("tilefold_segmented_reduce_equal");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    const auto& found = read.kernel_of(which, type);
    read.count(segments, "segments");
    read.count(length, "length");
    const std::int64_t n = items_of_equal(read, segments, length, "segments");
    if (segments == 0) return;
    read.array(items, type, n, "items");
    read.array(results, found.result, segments, "results");
    exec.fold(which, plain_job(items, type, n > 0, segments, {nullptr, length, 0}, results));
  });
}

tilefold_status tilefold_log_softmax(tilefold_executor* executor, const void* items,
                                     tilefold_dtype dtype, int64_t rows, int64_t length,
                                     void* results, tilefold_dtype results_dtype) {
  return guarded([&] {
    const reader read("tilefold_log_softmax");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::dtype type = read.type(dtype, "dtype");
    const capi::dtype of_results = read.type(results_dtype, "results_dtype");
    read.count(rows, "rows");
    read.count(length, "length");
    const std::int64_t n = items_of_equal(read, rows, length, "rows");
    if (n == 0) return;
    read.array(items, type, n, "items");
    read.array(results, of_results, n, "results");
    exec.log_softmax({items, type, rows, length, results, of_results});
  });
}

tilefold_status tilefold_reduce_by_key(tilefold_executor* executor, const char* op,
                                       const void* keys, tilefold_dtype keys_dtype,
                                       const void* items, tilefold_dtype dtype, int64_t n,
                                       void* keys_out, void* results, int64_t* num_runs) {
  return guarded([&] {
    const reader read("tilefold_reduce_by_key");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    const auto& found = read.kernel_of(which, type);
    const capi::dtype of_keys = read.type(keys_dtype, "keys_dtype");
    if (of_keys == capi::dtype::complex64 || of_keys == capi::dtype::complex128) {
      read.fail(TILEFOLD_UNSUPPORTED, "keys cannot be " + std::string(name_of(of_keys)));
    }
    read.count(n, "n");
    read.require(num_runs, "num_runs", true);
    read.array(keys, of_keys, n, "keys");
    read.array(items, type, n, "items");
    read.array(keys_out, of_keys, n, "keys_out");
    read.array(results, found.result, n, "results");
    exec.by_key(which, keys, of_keys, n, keys_out, plain_job(items, type, n > 0, 1, {}, results),
                num_runs);
  });
}

tilefold_status tilefold_reduce_by_index(tilefold_executor* executor, const char* op,
                                         const void* indices, tilefold_dtype indices_dtype,
                                         const void* items, tilefold_dtype dtype, int64_t n,
                                         int64_t columns, int64_t num_results, int32_t checked,
                                         void* results) {
  return guarded([&] {
    const reader read("tilefold_reduce_by_index");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    const auto& found = read.kernel_of(which, type);
    const capi::dtype of_indices = read.type(indices_dtype, "indices_dtype");
    if (indices_dtype.code != TILEFOLD_INT && indices_dtype.code != TILEFOLD_UINT) {
      read.fail(TILEFOLD_UNSUPPORTED,
                "indices are " + std::string(name_of(of_indices)) + ", and must be integers");
    }
    read.count(n, "n");
    read.count(columns, "columns");
    read.count(num_results, "num_results");
    const std::int64_t num_items = items_of_equal(read, n, columns, "rows");
    const std::int64_t segments = items_of_equal(read, num_results, columns, "results");
    read.array(indices, of_indices, n, "indices");
    read.array(items, type, num_items, "items");
    read.require_bytes(segments, capi::dtype::complex128, "results");
    read.array(results, found.result, segments, "results");
    exec.by_index({which,
                   {indices, of_indices},
                   n,
                   columns,
                   num_results,
                   checked != 0,
                   plain_job(items, type, num_items > 0, segments, {}, results)});
  });
}

tilefold_status tilefold_reduce_by_index_workspace(tilefold_executor* executor, const char* op,
                                                   tilefold_dtype dtype, int64_t n, int64_t columns,
                                                   int64_t num_results, int64_t* bytes) {
  return guarded([&] {
    const reader read("tilefold_reduce_by_index_workspace");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    read.kernel_of(which, type);
    read.count(n, "n");
    read.count(columns, "columns");
    read.count(num_results, "num_results");
    read.require_bytes(items_of_equal(read, n, columns, "rows"), capi::dtype::complex128, "items");
    read.require_bytes(items_of_equal(read, num_results, columns, "results"),
                       capi::dtype::complex128, "results");
    read.require(bytes, "bytes", true);
    *bytes = exec.by_index_workspace(which, type, n, columns, num_results);
  });
}

tilefold_status tilefold_axis_reduce(tilefold_executor* executor, const char* op, const void* items,
                                     tilefold_dtype dtype, int32_t rank, const int64_t* extents,
                                     const int64_t* strides, int32_t num_axes, const int32_t* axes,
                                     void* results, const int64_t* result_strides) {
  return guarded([&] {
    capi::fold_axes(reader("tilefold_axis_reduce"), executor, op, items, dtype, rank, extents,
                    strides, num_axes, axes, results, nullptr, result_strides);
  });
}

tilefold_status tilefold_axis_reduce_as(tilefold_executor* executor, const char* op,
                                        const void* items, tilefold_dtype dtype, int32_t rank,
                                        const int64_t* extents, const int64_t* strides,
                                        int32_t num_axes, const int32_t* axes, void* results,
                                        tilefold_dtype results_dtype,
                                        const int64_t* result_strides) {
  return guarded([&] {
    capi::fold_axes(reader("tilefold_axis_reduce_as"), executor, op, items, dtype, rank, extents,
                    strides, num_axes, axes, results, &results_dtype, result_strides);
  });
}

tilefold_status tilefold_stats(tilefold_executor* executor, const void* items, tilefold_dtype dtype,
                               int64_t n, tilefold_statistics* result) {
  return guarded([&] {
    capi::fold_range(reader("tilefold_stats"), executor, capi::op::statistics, items, dtype, n,
                     result);
  });
}

tilefold_status tilefold_dot(tilefold_executor* executor, const void* x, const void* y,
                             tilefold_dtype dtype, int64_t n, void* result) {
  return guarded([&] {
    const reader read("tilefold_dot");
    tilefold_executor& exec = read.there(executor, "executor");
    const capi::dtype type = read.type(dtype, "dtype");
    const auto found = std::ranges::find(dots(), type, &dot_kernel::items);
    if (found == dots().end()) {
      read.fail(TILEFOLD_UNSUPPORTED, "there is no dot of " + std::string(name_of(type)));
    }
    read.array(x, type, read.count(n, "n"), "x");
    read.array(y, type, n, "y");
    read.result(result, found->result);
    exec.dot(x, y, type, n, result);
  });
}
}
