// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators of the C interface, for items of any dtype that has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/host.hpp>

#include "reader.hpp"
#include "types.hpp"

namespace tilefold::capi {

/// The value of a sum, of integers in 64 bits. Throws coded_error if those do not hold it.
template <class T>
auto exact_value(const exact_accumulator<T>& sum) {
  const auto value = sum.value();
  if constexpr (std::is_integral_v<T>) {
    exact_accumulator<T> held(value);
    exact_accumulator<T> whole = sum;
    for (auto* const one : {&held, &whole}) one->add(T{0});  // which zeros were seen is no matter
    if (!(held == whole)) {
      char shown[32];
      std::snprintf(shown, sizeof shown, "%.6g", sum.mean(1));
      throw coded_error(TILEFOLD_INVALID_ARGUMENT, "tilefold: an exact sum of integers is about " +
                                                       std::string(shown) +
                                                       ", which 64 bits do not hold");
    }
  }
  return value;
}

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
  virtual dtype value_type() const = 0;
  virtual dtype mean_type() const = 0;
  virtual void write_value(void* result) const = 0;
  virtual void write_mean(std::int64_t n, void* result) const = 0;
  virtual std::vector<std::byte> to_bytes() const = 0;
  /// Throws format_error for bytes that are not of one for these items.
  virtual void assign(std::span<const std::byte> bytes) = 0;
};

/// Null for items that have none.
std::unique_ptr<exact_state> new_exact_state(dtype items);

}  // namespace tilefold::capi
