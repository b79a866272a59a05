// SPDX-License-Identifier: Apache-2.0
//
// Everything, for nvcc: the verbs of tilefold.hpp, the CUDA executor, and folds for your own
// kernels.
#pragma once

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/tilefold.hpp>
