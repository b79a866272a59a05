// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU of CUDA's types of 8 bits, and arrays of them.
#pragma once

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "../support/device.cuh"
#include "fp8_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bits_of;

template <class T>
class CudaExactFp8 : public testing::Test {};
using types_of_8_bits = testing::Types<__nv_fp8_e4m3, __nv_fp8_e5m2>;

}  // namespace
}  // namespace tilefold
