// SPDX-License-Identifier: Apache-2.0
//
// Everything, for nvcc: the verbs of tilefold.hpp, the CUDA executor, and for your own kernels
// folds and deposits.
#pragma once

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/deposit.cuh>
#include <tilefold/tilefold.hpp>
