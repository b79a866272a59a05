// SPDX-License-Identifier: Apache-2.0
//
// What tests of the C interface share: an executor, one operation over a range, types and items.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>
#include <tilefold/half.hpp>
#include <tilefold/precompiled.hpp>

#include "support/items.hpp"

namespace tilefold::test {

template <class T>
constexpr tilefold_dtype code = precompiled::detail::dtype_of<T>;

inline void must(tilefold_status status) {
  ASSERT_EQ(status, TILEFOLD_OK) << tilefold_last_error();
}

class CInterface : public ::testing::Test {
 protected:
  CInterface() { must(tilefold_host_executor(2, &host_)); }
  ~CInterface() override { tilefold_destroy(host_); }

  template <class Result, class T>
  Result reduced(const char* op, const std::vector<T>& items) {
    Result result;
    std::memset(static_cast<void*>(&result), 0xee, sizeof result);
    const auto n = static_cast<std::int64_t>(items.size());
    EXPECT_EQ(tilefold_reduce(host_, op, items.data(), code<T>, n, &result), TILEFOLD_OK)
        << op << ": " << tilefold_last_error();
    tilefold_dtype type{};
    std::int32_t count = 0;
    EXPECT_EQ(tilefold_result(op, code<T>, &type, &count), TILEFOLD_OK);
    EXPECT_EQ(type.bits / 8 * count, static_cast<int>(sizeof result)) << op;
    return result;
  }

  void expect_error(tilefold_status got, tilefold_status expected, const std::string& part) {
    EXPECT_EQ(got, expected) << tilefold_status_name(got);
    EXPECT_NE(std::string(tilefold_last_error()).find(part), std::string::npos)
        << tilefold_last_error();
  }

  tilefold_executor* host_ = nullptr;
};

// Short, long enough for vectors, and for threads.
inline const std::vector<std::int64_t> sizes{1, 2, 37, 1000, 300007};

template <class T>
std::vector<T> items_of(std::int64_t n) {
  return make_items<T>(pattern::mixed, n);
}

template <class T>
class CInterfaceOf : public CInterface {};
using real_types =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat16, float, double>;

}  // namespace tilefold::test
