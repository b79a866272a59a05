// SPDX-License-Identifier: Apache-2.0
//
// The version, the macros, and which compilers' options are refused. Included by every other
// header; includes nothing.
#pragma once

#if __cplusplus < 202002L
#error "tilefold needs C++20: compile with -std=c++20 (or later)"
// There is no such file. A missing one stops the compiler, which would go on after #error and put
// pages of others behind it.
#include <tilefold_needs_cxx20>
#endif

#define TILEFOLD_VERSION_MAJOR 0
#define TILEFOLD_VERSION_MINOR 3
#define TILEFOLD_VERSION_PATCH 0

// Marks a function that host and device code may both call. User functors may use it too: it is
// empty for a plain C++ compiler.
#if defined(__CUDACC__)
#define TILEFOLD_HD __host__ __device__
#else
#define TILEFOLD_HD
#endif

// Large functions that are rarely called stand apart, so that they take neither the registers nor
// the compile time of each kernel; but not in units that are linked on the device. There ptxas
// gives a function up to 255 registers, and refuses kernels that may have fewer and call it. Not
// public.
#if !defined(__CUDACC__)
#define TILEFOLD_APART
#elif defined(__CUDACC_RDC__) || defined(__CLANG_RDC__)
#define TILEFOLD_APART __forceinline__
#else
#define TILEFOLD_APART __noinline__
#endif

// Stands before a TILEFOLD_HD function that calls code of the caller's, which may be for the host
// or the device alone: nvcc then does not warn of it. Other compilers do not know the pragma. Not
// public.
#if defined(__CUDACC__) && defined(__NVCC__)
#define TILEFOLD_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define TILEFOLD_NO_EXEC_CHECK
#endif

// TILEFOLD_UNROLL() or, for a number of times, TILEFOLD_UNROLL(times) stands before a loop of
// device code that is to be unrolled. Compilers for the host choose by themselves. Not public.
#if defined(__CUDA_ARCH__)
#define TILEFOLD_PRAGMA(text) _Pragma(#text)
#define TILEFOLD_UNROLL(...) TILEFOLD_PRAGMA(unroll __VA_ARGS__)
#else
#define TILEFOLD_UNROLL(...)
#endif

// Around code that warnings of a user's -Werror would stop: array bounds of type int
// (-Wsign-conversion), and comparisons that mean equal (-Wfloat-equal). NVRTC does not know the
// pragmas. Not public.
#if defined(__CUDACC_RTC__)
#define TILEFOLD_WARNINGS_OFF
#define TILEFOLD_WARNINGS_BACK
#else
#define TILEFOLD_WARNINGS_OFF                                                        \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wfloat-equal\"") \
      _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define TILEFOLD_WARNINGS_BACK _Pragma("GCC diagnostic pop")
#endif

// Options that let a compiler compute something else than IEEE 754's operations break the promise
// of equal bits. Those that a header can see are refused here; docs/numerics.md speaks of the
// others.
#if defined(__FAST_MATH__)
#error "tilefold: -ffast-math reorders additions; compile without it"
#elif defined(__ASSOCIATIVE_MATH__)
#error "tilefold: -fassociative-math (-funsafe-math-optimizations) reorders additions"
#elif defined(__RECIPROCAL_MATH__)
#error "tilefold: -freciprocal-math rounds quotients twice; compile without it"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "tilefold: -ffinite-math-only loses NaN and infinities; compile without it"
#elif defined(__NO_SIGNED_ZEROS__)
#error "tilefold: -fno-signed-zeros loses the sign of zero; compile without it"
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == -1
#error "tilefold: the compiler may keep more digits (-mfpmath=both, unsafe math)"
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
// (16 is 0 to all types but _Float16.)
#error "tilefold: x87 arithmetic (-mfpmath=387, -m32) keeps more digits than a type has; use SSE2"
#endif
static_assert(sizeof(0.1) == sizeof(double),
              "tilefold: -fsingle-precision-constant makes floats of doubles; compile without it");
