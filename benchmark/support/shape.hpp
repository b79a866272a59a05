// SPDX-License-Identifier: Apache-2.0
//
// A shape: one kind of input and operator, with everyone who competes in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contestant.hpp"
#include "judge.cuh"

namespace bench {

/// How the folds of one measurement are started, and what the caches hold before.
enum class mode {
  graph,   // launches in a row in a CUDA graph, each on other memory, L2 full of something else
  hot,     // the same, all launches on the same memory
  stream,  // launched one after the other by the host, as cold as in `graph`
  sync,    // one call that returns the value, by the host's clock, input as the last call left it
};

inline const char* name_of(mode m) {
  switch (m) {
    case mode::graph:
      return "graph";
    case mode::hot:
      return "hot";
    case mode::stream:
      return "stream";
    case mode::sync:
      return "sync";
  }
  return "?";
}

/// Where the items lie.
enum class memory { device, managed, pinned };
inline constexpr memory every_memory[] = {memory::device, memory::managed, memory::pinned};

inline const char* name_of(memory m) {
  switch (m) {
    case memory::device:
      return "device";
    case memory::managed:
      return "managed";
    case memory::pinned:
      return "pinned";
  }
  return "?";
}

struct shape {
  std::string name;
  index item_bytes;        // read for one item, from all arrays together
  index offset_bytes = 0;  // of the first item from an address aligned to 256
  memory place = memory::device;
  void (*fill)(void* memory, index bytes, cudaStream_t stream) = nullptr;
  std::shared_ptr<judge> rules;
  std::vector<mode> modes{mode::graph};
  std::vector<index> sizes;  // in place of those that go with the mode
  std::vector<contestant> contestants;

  index bytes(index n) const { return n * item_bytes; }
};

/// The shapes, in the order of their report.
using shapes = std::vector<shape>;

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

/// Plain reading, which nothing can be faster than. n counts 32-bit words here.
shape plain_read(memory place);

}  // namespace bench
