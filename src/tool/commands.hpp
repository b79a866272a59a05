// SPDX-License-Identifier: Apache-2.0
//
// The subcommands, each as its options and a function that runs it and returns the exit code.
// An option that makes no sense throws input_error; trouble with one file is reported on standard
// error and does not keep the other files from being processed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilefold::tool {

inline constexpr int exit_success = 0;
inline constexpr int exit_wrong = 1;      // a check found a result that must not be
inline constexpr int exit_bad_input = 2;  // something could not be done

/// How to read the files.
struct source_options {
  std::string raw;  // element type of raw binary; empty: .npy files
  std::int64_t offset_bytes = 0;
};

/// Where to fold.
struct executor_options {
  std::string on;   // "host", "cuda", "auto"
  int threads = 0;  // of the host; 0: all cores
};

struct reduce_options {
  std::string op = "sum";
  int k = 5;
  executor_options executor{"auto"};
  source_options source;
  int repeats = 5;
  bool check = false;
  bool json = false;
  std::string slice;       // "begin:end"; empty: all items
  std::string part;        // file to write the piece to
  std::string checkpoint;  // file to go on from after an interruption
  double checkpoint_seconds = 5;
  std::int64_t chunk_bytes = std::int64_t{1} << 26;  // that are folded at a time
  bool progress = false;  // show the bar of chunks even if standard error is no terminal
  std::vector<std::string> files;
};

int run_reduce(const reduce_options& options);

struct merge_options {
  std::string part;  // file to write the merged piece to
  bool json = false;
  std::vector<std::string> files;
};

int run_merge(const merge_options& options);

struct stats_options {
  executor_options executor{"host"};
  source_options source;
  int jobs = 4;  // files at a time
  bool json = false;
  bool histogram = false;
  int bins = 0;  // 0: as many as is usual; else implies a histogram
  bool ascii = false;
  bool progress = false;           // show it even if standard error is no terminal
  std::vector<std::string> files;  // and directories
};

int run_stats(const stats_options& options);

struct generate_options {
  std::string type = "float32";
  std::int64_t bytes = 0;
  std::uint64_t seed = 1;
  std::string file;
};

int run_generate(const generate_options& options);

struct tune_options {
  std::vector<std::string> types{"float32"};
  std::vector<std::string> ops{"sum"};
  bool quick = false;
  std::string out;  // empty: no header
};

int run_tune(const tune_options& options);

}  // namespace tilefold::tool
