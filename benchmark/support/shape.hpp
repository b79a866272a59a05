// SPDX-License-Identifier: Apache-2.0
//
// A shape: one kind of input and operator, with everyone who competes in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contestant.hpp"
#include "judge.cuh"
#include "timing.hpp"

namespace bench {

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

}  // namespace bench
