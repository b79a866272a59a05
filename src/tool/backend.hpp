// SPDX-License-Identifier: Apache-2.0
//
// What can run a reduction: the host, or a GPU if the tool was built for CUDA. The subcommands see
// only this interface, which has no template in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "comparison.hpp"
#include "input_error.hpp"
#include "scalar.hpp"

namespace tilefold::tool {

struct fold_job {
  op_kind op;
  dtype type;
  const std::byte* data;  // count items, aligned for their type, in host memory
  std::int64_t count;
  int repeats;       // at most this many timed calls, at least 1
  bool check;        // also compute a reference
  std::string name;  // of the file, for a progress bar
};

struct fold_result {
  scalar value;
  double seconds;  // the fastest of `timed_calls` calls
  int timed_calls;
  std::string clock;        // what timed them: "wall clock", "CUDA events"
  double copy_seconds = 0;  // from host memory to where the fold ran; 0 if it ran in place
  std::optional<comparison> check;
};

class backend {
 public:
  virtual ~backend() = default;

  /// "host, 2 threads", "NVIDIA H200"
  virtual std::string name() const = 0;

  /// The operator has to fit the type. Throws std::exception.
  virtual fold_result run(const fold_job& job) = 0;
};

/// No GPU can be used; the message says why.
class no_gpu_error : public input_error {
 public:
  using input_error::input_error;
};

/// threads = 0: all cores.
std::unique_ptr<backend> make_host_backend(int threads);

/// Throws no_gpu_error.
std::unique_ptr<backend> make_cuda_backend();

}  // namespace tilefold::tool
