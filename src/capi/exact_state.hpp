// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators of the C interface, for items of any dtype that has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tilefold/host.hpp>

#include "types.hpp"

namespace tilefold::capi {

/// What items have given, in any order.
class exact_state {
 public:
  exact_state() = default;
  exact_state(const exact_state&) = delete;  // held by its address
  exact_state& operator=(const exact_state&) = delete;
  virtual ~exact_state() = default;

  /// Adds n >= 1 items, on the host.
  virtual void add(host_executor& exec, const void* items, dtype type, std::int64_t n) = 0;
  /// Adds an exact_accumulator of these items.
  virtual void add_accumulator(const void* sum) = 0;
  /// Adds one for the same items.
  virtual void merge(const exact_state& other) = 0;
  virtual void write_value(void* result) const = 0;
  virtual void write_mean(std::int64_t n, void* result) const = 0;
  virtual std::vector<std::byte> to_bytes() const = 0;
  /// Throws format_error for bytes that are not of one for these items.
  virtual void assign(std::span<const std::byte> bytes) = 0;
};

/// Null for items that have none.
std::unique_ptr<exact_state> new_exact_state(dtype items);

}  // namespace tilefold::capi
