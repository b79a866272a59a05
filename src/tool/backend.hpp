// SPDX-License-Identifier: Apache-2.0
//
// What can run a reduction: the host, or a GPU if the tool was built for CUDA. The subcommands see
// only this interface, which has no template in it.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "field.hpp"
#include "input_error.hpp"
#include "scalar.hpp"
#include "summary.hpp"

namespace tilefold::tool {

/// The most values that top_k and its like can list.
inline constexpr int most_listed = 32;

struct piece_task;

struct fold_job {
  op_kind op;
  dtype type;
  const std::byte* data;  // count items, aligned for their type, in host memory
  std::int64_t count;
  int repeats;                   // at most this many timed calls, at least 1
  bool check;                    // also compute a reference; for operators only
  int k;                         // how many values top_k lists, at most most_listed
  std::string name;              // of the file, for a progress bar
  piece_task* pieces = nullptr;  // fold in chunks, once
};

struct fold_result {
  std::vector<field> fields;
  double seconds;  // the fastest of `timed_calls` calls
  int timed_calls;
  std::string clock;        // what timed them: "wall clock", "CUDA events"
  double copy_seconds = 0;  // from host memory to where the fold ran; 0 if it ran in place
  std::optional<comparison> check;
  bool reads_file = false;  // the seconds are those of reading it, too
};

class backend {
 public:
  virtual ~backend() = default;

  /// "host, 2 threads", "NVIDIA H200"
  virtual std::string name() const = 0;

  virtual bool is_host() const { return false; }

  /// How many bytes of items it may fold at once: half of the machine's memory. More than that goes
  /// in chunks.
  virtual std::int64_t most_bytes() const {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGESIZE)} / 2;
  }

  /// The operation has to fit the type. Throws std::exception.
  virtual fold_result run(const fold_job& job) = 0;

  /// Everything that `tilefold stats` tells, in one pass. May be called from several threads.
  virtual summary summarize(const summary_job& job) = 0;
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
