// SPDX-License-Identifier: Apache-2.0
//
// One GPU for one run: its stream, the memory that input, results and scratch live in, and the
// events that measure. Everything is allocated once, so nothing is while something is timed.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "contestant.hpp"
#include "shape.hpp"

namespace bench {

/// Where the n items of successive launches begin: copies of one kind of input, not of its values.
struct windows {
  char* first;
  index stride;
  int count;

  const void* operator[](int i) const { return first + i % count * stride; }
};

class session {
 public:
  static constexpr int most_launches = 32;

  /// Throws if there is no usable GPU.
  session();
  ~session();
  // One owner of the memory.
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// What the report should know of GPU and software, as name and value.
  std::map<std::string, std::string> describe() const;

  bool fits(const shape& s, index n) const { return stride(s, n) <= most_bytes(s.place); }
  /// Launches that make a measurement of n items long enough.
  int launches(const shape& s, index n) const;
  /// Memory filled for up to `count` launches on n items.
  windows input(const shape& s, index n, int count);
  /// Pushes everything out of the L2 cache, leaving nothing there to be written back.
  void flush_l2();

  /// A call on n items at `first` whose result is number `slot` in device memory.
  fold_call call(const void* first, index n, int slot) const;
  /// The same with the result in pinned memory.
  fold_call host_call(const void* first, index n) const;
  /// Makes every result of a call wrong until the call has written it.
  void spoil_results();
  /// The results as bytes, `slot_bytes` each. Blocks.
  const char* fetch_results();
  static constexpr int slot_bytes = 256;

  /// Microseconds on the GPU between the start and the end of what `work` enqueues.
  template <class Work>
  double microseconds(Work work) {
    check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
    work();
    return microseconds_since_begin();
  }

 private:
  // What fills a stretch of memory at present, and how far.
  struct region {
    char* first = nullptr;
    void (*content)(void*, index, cudaStream_t) = nullptr;
    index filled_bytes = 0;
  };

  static index stride(const shape& s, index n);
  index most_bytes(memory place) const;
  region& region_of(memory place);
  double microseconds_since_begin();

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  index input_bytes_ = 0;
  std::map<memory, region> inputs_;
  index flush_bytes_ = 0;
  void* flush_ = nullptr;
  void* scratch_ = nullptr;
  char* results_ = nullptr;
  char* host_results_ = nullptr;
};

}  // namespace bench
