// SPDX-License-Identifier: Apache-2.0
//
// Everything, for nvcc: the verbs of tilefold.hpp and the CUDA executor.
#pragma once

#include <tilefold/cuda.cuh>
#include <tilefold/tilefold.hpp>
