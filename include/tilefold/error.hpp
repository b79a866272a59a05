// SPDX-License-Identifier: Apache-2.0
//
// The exceptions that tilefold throws. Each message names the value that was wrong. After any of
// them no memory is lost, the executor can be used again, and nothing has been written through an
// output, with one exception: a cuda_error. What can be asked for ahead of a call's first launch is
// asked for there and leaves nothing written; but if a later launch is refused, or work on the GPU
// fails, outputs may hold some results. (A sticky CUDA error ends the context itself.)
#pragma once

#if !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
#error "tilefold: bad arguments throw exceptions; compile without -fno-exceptions"
// There is no such file: a missing one stops the compiler here.
#include <tilefold_needs_exceptions>
#endif

#include <stdexcept>
#include <string>

#include <tilefold/config.hpp>

namespace tilefold {

/// Base of every exception thrown by tilefold.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// last < first, a negative count, or a count that no launch can cover.
struct invalid_range_error : error {
  using error::error;
};

/// Invalid segments or arrays, found by checked() (checked.hpp); `index()` is the first whose
/// bounds are wrong.
class segment_error : public invalid_range_error {
 public:
  segment_error(const std::string& what, long long index)
      : invalid_range_error(what), index_(index) {}
  long long index() const noexcept { return index_; }

 private:
  long long index_;
};

/// An axis that a view does not have, extents that do not fit each other.
struct shape_error : error {
  using error::error;
};

/// A null pointer where n > 0 items were announced, or a null output.
struct null_pointer_error : error {
  using error::error;
};

/// An empty range without an initial value, folded with an op whose identity is unknown.
struct empty_range_error : error {
  using error::error;
};

/// A pointer into memory that the chosen executor cannot read or write, or that another GPU owns.
struct memory_space_error : error {
  using error::error;
};

/// A failed allocation; `bytes()` is the size that was requested.
class allocation_error : public error {
 public:
  allocation_error(const std::string& what, long long bytes) : error(what), bytes_(bytes) {}
  long long bytes() const noexcept { return bytes_; }

 private:
  long long bytes_;
};

/// A call that cannot be recorded while its stream is being captured into a CUDA graph.
struct capture_error : error {
  using error::error;
};

/// Not thrown any more: folds compute in the same mode whatever the processor is set to
/// (docs/numerics.md).
struct float_mode_error : error {
  using error::error;
};

/// Bytes of a piece or an accumulator that are truncated, altered, or of another type or version.
struct format_error : error {
  using error::error;
};

/// A communicator that cannot go on: a rank has left, or the transport failed (ranks.hpp).
struct communicator_error : error {
  using error::error;
};

/// Another rank's call failed, so that there is no result; rank() is the first such rank. That rank
/// throws its own exception. The communicator can be used again.
class rank_error : public error {
 public:
  rank_error(const std::string& what, int rank) : error(what), rank_(rank) {}
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// Ranks made calls of different verbs, operators or types. All ranks throw it, and the
/// communicator can be used again.
struct rank_mismatch_error : error {
  using error::error;
};

/// A CUDA runtime call or launch that failed; `code()` is the cudaError_t as an int.
class cuda_error : public error {
 public:
  cuda_error(const std::string& what, int code) : error(what), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace tilefold
