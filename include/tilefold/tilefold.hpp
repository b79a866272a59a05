// SPDX-License-Identifier: Apache-2.0
//
// Everything, for a C++ compiler. Under nvcc the verbs also know CUDA executors.
#pragma once

#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>
