// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys on a GPU: keys of any type are read through one iterator, so that an operation
// is compiled once for a type of items. The operations that are asked for most, of the usual types.
#pragma once

#include <cstdint>

#include <tilefold/cuda.cuh>

#include "../kernels.hpp"

namespace tilefold::capi {

/// A key as bits, with what its type says of equality.
struct key_bits {
  std::uint64_t bits;

  TILEFOLD_HD friend bool operator==(const key_bits& a, const key_bits& b) {
    return a.bits == b.bits;
  }
};

/// Keys of any type as bits.
struct any_keys {
  using value_type = key_bits;
  using difference_type = std::int64_t;

  const void* data;
  dtype type;

  TILEFOLD_HD key_bits operator[](std::int64_t i) const {
    switch (bytes_of(type)) {
      case 1:
        return {static_cast<const std::uint8_t*>(data)[i]};
      case 2:
        return {static_cast<const std::uint16_t*>(data)[i]};
      case 4:
        return {static_cast<const std::uint32_t*>(data)[i]};
      default:
        return {static_cast<const std::uint64_t*>(data)[i]};
    }
  }
  TILEFOLD_HD key_bits operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend any_keys operator+(const any_keys& it, std::int64_t n) {
    return {static_cast<const char*>(it.data) + n * bytes_of(it.type), it.type};
  }
  TILEFOLD_HD friend std::int64_t operator-(const any_keys& a, const any_keys& b) {
    return (static_cast<const char*>(a.data) - static_cast<const char*>(b.data)) / bytes_of(a.type);
  }
};

/// == of the keys' type: of floats two zeros are equal, and a NaN is equal to nothing.
struct equal_as {
  dtype type;

  TILEFOLD_HD bool operator()(const key_bits& a, const key_bits& b) const {
    switch (type) {
      case dtype::float16:
        return equal<half>(a, b);
      case dtype::bfloat16:
        return equal<bfloat16>(a, b);
      case dtype::float32:
        return __builtin_bit_cast(float, static_cast<std::uint32_t>(a.bits)) ==
               __builtin_bit_cast(float, static_cast<std::uint32_t>(b.bits));
      case dtype::float64:
        return __builtin_bit_cast(double, a.bits) == __builtin_bit_cast(double, b.bits);
      case dtype::boolean:
        return (a.bits != 0) == (b.bits != 0);
      default:
        return a == b;
    }
  }

 private:
  template <class Narrow>
  TILEFOLD_HD static bool equal(const key_bits& a, const key_bits& b) {
    Narrow x;
    Narrow y;
    x.bits = static_cast<std::uint16_t>(a.bits);
    y.bits = static_cast<std::uint16_t>(b.bits);
    return static_cast<float>(x) == static_cast<float>(y);
  }
};

/// Writes keys as their type has them.
struct any_keys_out {
  struct slot {
    void* at;
    dtype type;

    TILEFOLD_HD const slot& operator=(const key_bits& key) const {
      switch (bytes_of(type)) {
        case 1:
          *static_cast<std::uint8_t*>(at) = static_cast<std::uint8_t>(key.bits);
          break;
        case 2:
          *static_cast<std::uint16_t*>(at) = static_cast<std::uint16_t>(key.bits);
          break;
        case 4:
          *static_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(key.bits);
          break;
        default:
          *static_cast<std::uint64_t*>(at) = key.bits;
      }
      return *this;
    }
  };
  using difference_type = std::int64_t;

  void* data;
  dtype type;

  TILEFOLD_HD slot operator*() const { return {data, type}; }
  TILEFOLD_HD slot operator[](std::int64_t i) const { return *(*this + i); }
  TILEFOLD_HD friend any_keys_out operator+(const any_keys_out& it, std::int64_t n) {
    return {static_cast<char*>(it.data) + n * bytes_of(it.type), it.type};
  }
};

struct by_key_job {
  cuda_executor& exec;
  op which;
  any_keys keys;
  std::int64_t n;
  any_keys_out keys_out;
  const job& call;
  std::int64_t* num_runs;

  /// Does it, if items have Bytes bytes and the operation is compiled.
  template <int Bytes>
  bool of() const;
};

/// Throws `unsupported` for what is not compiled.
void fold_by_key(const by_key_job& job);

}  // namespace tilefold::capi
