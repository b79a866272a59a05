// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people: values so that they can be read back exactly, times and rates so that they
// can be read at all.
#pragma once

#include <cstdint>
#include <string>

#include "scalar.hpp"

namespace tilefold::tool {

/// The shortest decimal that reads back as the same value: "0.1", "-7", "true", "(1,-2.5)".
std::string format_value(const scalar& value);

/// Floating values as hexadecimal fractions: "0x1.8p+1"; empty for other types.
std::string format_hex(const scalar& value);

/// The value's bits, as wide as the type: "0x3dcccccd"; two words for complex types.
std::string format_bits(const scalar& value);

std::string format_seconds(double seconds);        // "12.3 us"
std::string format_rate(double bytes_per_second);  // "4.56 GB/s"
std::string format_bytes(std::int64_t bytes);      // "1.07 GB"

/// `digits` significant ones, in scientific form where that is shorter.
std::string format_significant(long double x, int digits);

}  // namespace tilefold::tool
