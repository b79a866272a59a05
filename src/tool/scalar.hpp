// SPDX-License-Identifier: Apache-2.0
//
// One value of any type of the table, to carry a result from a backend to the report.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "tables.hpp"

namespace tilefold::tool {

class scalar {
 public:
  template <class T>
  static scalar of(const T& value) {
    scalar result(dtype_of<T>::value);
    std::memcpy(result.bytes_, &value, sizeof value);
    return result;
  }

  dtype type() const { return type_; }

  /// T must be the C++ type of type().
  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

  bool same_bits(const scalar& other) const {
    return type_ == other.type_ &&
           std::memcmp(bytes_, other.bytes_, static_cast<std::size_t>(row_of(type_).bytes)) == 0;
  }

 private:
  explicit scalar(dtype type) : type_(type), bytes_{} {}

  dtype type_;
  alignas(16) std::byte bytes_[16];
};

}  // namespace tilefold::tool
