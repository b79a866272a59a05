// SPDX-License-Identifier: Apache-2.0
//
// How every function of tilefold.h begins and ends: what it is told is read and checked under its
// name, and exceptions become codes and a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <tilefold/detail/core/float_control.hpp>
#include <tilefold/error.hpp>

#include "executor.hpp"
#include "types.hpp"

namespace tilefold::capi {

/// The same error with its code.
class coded_error : public error {
 public:
  coded_error(tilefold_status code, const std::string& what) : error(what), code_(code) {}
  tilefold_status code() const noexcept { return code_; }

 private:
  tilefold_status code_;
};

/// The code of the exception that is being handled; its sentence is what tilefold_last_error()
/// says.
tilefold_status code_of_current_exception();

/// Calls `body` in the processor's default mode, in which folds and conversions compute.
template <class Body>
tilefold_status guarded(const Body& body) noexcept {
  try {
    detail::host::in_default_float_mode(body);
    return TILEFOLD_OK;
  } catch (...) {
    try {
      return code_of_current_exception();
    } catch (...) {
      return TILEFOLD_NO_MEMORY;  // not even for the sentence
    }
  }
}

/// What a call is told, checked under the name of its function.
class reader {
 public:
  explicit reader(const char* function) : function_(function) {}

  [[noreturn]] void fail(tilefold_status code, const std::string& what) const {
    throw coded_error(code, std::string(function_) + ": " + what);
  }

  template <class T>
  T& there(T* pointer, const char* name) const {
    require(pointer, name, true);
    return *pointer;
  }
  /// That a pointer that is used is not null, and that one to a known type is aligned for it.
  template <class T>
  void require(const T* pointer, const char* name, bool is_used) const {
    if (is_used && pointer == nullptr) fail(TILEFOLD_NULL_POINTER, std::string(name) + " is null");
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T> ||
                  std::is_same_v<T, tilefold_dtype>) {
      require_multiple(pointer, alignof(T), name, "its type");
    }
  }

  std::int64_t count(std::int64_t n, const char* name) const {
    if (n < 0) {
      fail(TILEFOLD_INVALID_ARGUMENT, std::string(name) + " is " + std::to_string(n));
    }
    return n;
  }

  /// An array of n items: what an operation reads or writes, if n > 0.
  void array(const void* pointer, dtype type, std::int64_t n, const char* name) const {
    require(pointer, name, n > 0);
    require_bytes(n, type, name);
    require_aligned(pointer, type, name);
  }
  void require_bytes(std::int64_t n, dtype type, const char* name) const {
    if (n > std::numeric_limits<std::int64_t>::max() / bytes_of(type)) {
      fail(TILEFOLD_INVALID_ARGUMENT, std::string(name) + " are " + std::to_string(n) +
                                          " items of " + std::string(name_of(type)) +
                                          ", more than memory can hold");
    }
  }
  void require_aligned(const void* pointer, dtype type, const char* name) const {
    const bool is_pair = type == dtype::complex64 || type == dtype::complex128;
    require_multiple(pointer, static_cast<std::size_t>(bytes_of(type) / (is_pair ? 2 : 1)), name,
                     name_of(type));
  }
  /// Where the result of an operation goes.
  void result(const void* pointer, dtype type, const char* name = "result") const {
    require(pointer, name, true);
    require_aligned(pointer, type, name);
  }

  op operation(const char* name) const {
    require(name, "op", true);
    for (int i = 0; i < num_named_ops; ++i) {
      if (op_names[i] == name) return static_cast<op>(i);
    }
    std::string known(op_names[0]);
    for (int i = 1; i < num_named_ops; ++i) known += ", " + std::string(op_names[i]);
    // Whatever the caller's memory holds, the list can be read.
    constexpr std::size_t most_shown = 64;
    std::string shown = std::string(name, strnlen(name, most_shown + 1));
    if (shown.size() > most_shown) shown.replace(most_shown, 1, "...");
    fail(TILEFOLD_UNKNOWN_OP, "there is no operation '" + shown + "'; there are " + known);
  }

  dtype type(tilefold_dtype code, const char* name) const {
    for (int i = 0; i < num_dtypes; ++i) {
      const tilefold_dtype known = dtype_rows[i].code;
      if (known.code == code.code && known.bits == code.bits && known.lanes == code.lanes) {
        return static_cast<dtype>(i);
      }
    }
    fail(TILEFOLD_UNSUPPORTED, std::string(name) + " has code " + std::to_string(code.code) + ", " +
                                   std::to_string(code.bits) + " bits and " +
                                   std::to_string(code.lanes) + " lanes, which no type here has");
  }

  const basic_kernel<host_executor>& kernel_of(op which, dtype type) const {
    const basic_kernel<host_executor>* const found = kernels().find(which, type);
    if (found == nullptr) {
      fail(TILEFOLD_UNSUPPORTED,
           "there is no " + std::string(name_of(which)) + " of " + std::string(name_of(type)));
    }
    return *found;
  }

  void require_result_of_nothing(const basic_kernel<host_executor>& found) const {
    if (!found.has_empty) {
      fail(TILEFOLD_EMPTY, "there is nothing to fold, and " + std::string(name_of(found.which)) +
                               " has no result for that");
    }
  }

 private:
  void require_multiple(const void* pointer, std::size_t alignment, const char* name,
                        std::string_view type) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (address % alignment == 0) return;
    fail(TILEFOLD_INVALID_ARGUMENT, std::string(name) + " is the address " +
                                        std::to_string(address) + ", which is no multiple of " +
                                        std::to_string(alignment) + ", as " + std::string(type) +
                                        " needs it");
  }

  const char* function_;
};

}  // namespace tilefold::capi
