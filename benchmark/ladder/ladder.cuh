// SPDX-License-Identifier: Apache-2.0
//
// All rungs of the ladder; README.md has their order.
#pragma once

#include "atomic_per_block.cuh"
#include "first_add.cuh"
#include "grid_stride.cuh"
#include "in_place.cuh"
#include "interleaved.cuh"
#include "interleaved_modulo.cuh"
#include "last_warp.cuh"
#include "sequential.cuh"
#include "strided_tile.cuh"
#include "teaching_improved.cuh"
#include "teaching_naive.cuh"
#include "two_pass.cuh"
#include "unrolled.cuh"
#include "warp_shuffle.cuh"
