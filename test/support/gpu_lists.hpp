// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs of the machine take part in a test of several, and in which order. Host code.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "device.cuh"

namespace tilefold::test {

inline int num_gpus() {
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus));
  return gpus;
}

/// GPUs 0, 1... of the machine.
inline std::vector<int> all_gpus() {
  std::vector<int> devices;
  for (int device = 0; device < num_gpus(); ++device) devices.push_back(device);
  return devices;
}

/// Lists of 1, 2, 3, 4, 7 and 8 GPUs, of each number one list that begins with each GPU. Numbers
/// that the machine does not have are left out, unless a list may name a GPU several times.
inline std::vector<std::vector<int>> gpu_lists(bool may_repeat) {
  const int gpus = num_gpus();
  std::vector<std::vector<int>> lists;
  for (const int count : {1, 2, 3, 4, 7, 8}) {
    if (count > gpus && !may_repeat) continue;
    for (int first = 0; first < gpus; ++first) {
      std::vector<int>& devices = lists.emplace_back();
      for (int i = 0; i < count; ++i) devices.push_back((first + i) % gpus);
    }
  }
  return lists;
}

inline std::string text_of(const std::vector<int>& devices) {
  std::ostringstream text;
  text << "GPUs";
  for (const int device : devices) text << ' ' << device;
  return text.str();
}

}  // namespace tilefold::test
