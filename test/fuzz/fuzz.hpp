// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers have in common (cmake/fuzz.sh builds and runs them): the first inputs are made
// by the program itself, and checksums are mended after most mutations, so that lies get past them.
// Included by the one source of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/forged.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tilefold::fuzz {

using bytes = std::vector<std::byte>;

/// Well-formed inputs, by the program that writes them. Each fuzzer has its own.
std::vector<bytes> seeds();

/// Runs a call whose errors are no faults: only exceptions of type Error may come out.
template <class Error, class Call>
bool refuses(const Call& call) {
  try {
    call();
    return false;
  } catch (const Error&) {
    return true;
  }
}

[[noreturn]] inline void fail(const std::string& what) {
  std::cerr << "fault: " << what << std::endl;
  __builtin_trap();
}

}  // namespace tilefold::fuzz

// Fills the folder of inputs if it has none.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::filesystem::path folder((*arguments)[i]);
    if (!std::filesystem::is_directory(folder) || !std::filesystem::is_empty(folder)) continue;
    int number = 0;
    for (const auto& seed : tilefold::fuzz::seeds()) {
      std::ofstream(folder / ("seed" + std::to_string(number++)), std::ios::binary)
          .write(reinterpret_cast<const char*>(seed.data()),
                 static_cast<std::streamsize>(seed.size()));
    }
    break;
  }
  return 0;
}
