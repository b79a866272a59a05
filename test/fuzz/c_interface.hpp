// SPDX-License-Identifier: Apache-2.0
//
// The C interface to pieces and accumulators without the rest of the library, which takes minutes
// to compile with sanitizers. A fuzzer has kernels() of its own. Included by one source of it.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/host.hpp>

#include "executor.hpp"
#include "pieces.hpp"
#include "reader.hpp"

namespace tilefold::capi {

tilefold_status code_of_current_exception() {
  try {
    throw;
  } catch (const coded_error& e) {
    return e.code();
  } catch (const format_error&) {
    return TILEFOLD_FORMAT;
  }
}

}  // namespace tilefold::capi

namespace tilefold::fuzz {

/// Folds what is appended, and can do nothing else.
struct c_executor final : tilefold_executor {
  void append(tilefold_piece& piece, const void* items, std::int64_t n) override {
    host_executor exec(1);
    piece.state->append(exec, items, piece.type, n);
  }
  void add(tilefold_accumulator& sum, const void* items, std::int64_t n) override {
    host_executor exec(1);
    sum.state->add(exec, items, sum.type, n);
  }

  void fold(op, const job&) override {}
  void dot(const void*, const void*, dtype, std::int64_t, void*) override {}
  void log_softmax(const capi::rows_call&) override {}
  void by_key(op, const void*, dtype, std::int64_t, void*, const job&, std::int64_t*) override {}
  void by_index(const capi::by_index_call&) override {}
  std::int64_t by_index_workspace(op, dtype, std::int64_t, std::int64_t, std::int64_t) override {
    return 0;
  }
  void check(const capi::any_offsets&, std::int64_t, std::int64_t) override {}
  bool may_read(const capi::any_offsets&, std::int64_t) const override { return true; }
  std::int64_t workspace(op, dtype, std::int64_t, std::int64_t) const override { return 0; }
  void reserve(std::int64_t) override {}
  void release() override {}
  void synchronize() override {}
};

}  // namespace tilefold::fuzz
