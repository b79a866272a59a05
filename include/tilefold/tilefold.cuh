// SPDX-License-Identifier: Apache-2.0
//
// For nvcc: the verbs of tilefold.hpp, the CUDA executor, and folds and deposits in kernels.
//
// Not included: piece.hpp, ranks.hpp, mpi.hpp, nccl.cuh and peers.cuh (partial results and ranks),
// cuda_group.cuh (several GPUs), streamed.cuh (data larger than the GPU's memory),
// thrust_compat.hpp, cub_compat.cuh.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/deposit.cuh>
#include <tilefold/memory_resource.cuh>
#include <tilefold/tilefold.hpp>

TILEFOLD_WARNINGS_BACK
