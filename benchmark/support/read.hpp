// SPDX-License-Identifier: Apache-2.0
//
// Plain reading: the ceiling, and what pushes everything else out of the L2 cache.
#pragma once

#include "contestant.hpp"
#include "shape.hpp"

namespace bench {

/// Reads `bytes` bytes (a multiple of 16) once and folds them into *out with xor.
void read_once(const void* first, index bytes, unsigned* out, cudaStream_t stream);

/// The shape in which three kernels that only read compete, which nothing can be faster than. n
/// counts 32-bit words.
shape plain_read(memory place);

}  // namespace bench
