// SPDX-License-Identifier: Apache-2.0
//
// The version, and the one public macro. Included by every other header; includes nothing.
#pragma once

#define TILEFOLD_VERSION_MAJOR 0
#define TILEFOLD_VERSION_MINOR 1
#define TILEFOLD_VERSION_PATCH 0

// Marks a function that host and device code may both call. User functors may use it too: it is
// empty for a plain C++ compiler.
#if defined(__CUDACC__)
#define TILEFOLD_HD __host__ __device__
#else
#define TILEFOLD_HD
#endif

// Fast-math lets the compiler reassociate and flush subnormals, which breaks the fold order's
// promise of equal bits. nvcc's -use_fast_math defines no macro; docs/numerics.md speaks of it.
#if defined(__FAST_MATH__)
#error "tilefold: -ffast-math reorders additions; compile without it to get the promised bits"
#endif

static_assert(__cplusplus >= 202002L, "tilefold needs C++20: compile with -std=c++20");
