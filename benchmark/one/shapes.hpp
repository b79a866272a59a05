// SPDX-License-Identifier: Apache-2.0
//
// The shapes of one fold, a function a file.
#pragma once

#include "../support/shape.hpp"

namespace bench {

void add_sums(shapes& all, cudaStream_t stream);
void add_narrow_sums(shapes& all, cudaStream_t stream);
void add_extremes(shapes& all, cudaStream_t stream);
void add_misaligned(shapes& all, cudaStream_t stream);
void add_operators(shapes& all, cudaStream_t stream);
void add_structs(shapes& all, cudaStream_t stream);
void add_iterators(shapes& all, cudaStream_t stream);
void add_transforms(shapes& all, cudaStream_t stream);
void add_memory(shapes& all, cudaStream_t stream);
void add_ladder(shapes& all, cudaStream_t stream);
void add_blocks(shapes& all);

}  // namespace bench
