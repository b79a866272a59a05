// SPDX-License-Identifier: Apache-2.0
#include "entry.hpp"

#include <cuda/version>

const bench::peer_table& tilefold_other_peers() { return bench::peers(); }

const char* tilefold_other_cccl() {
  static const std::string version = std::to_string(CCCL_MAJOR_VERSION) + "." +
                                     std::to_string(CCCL_MINOR_VERSION) + "." +
                                     std::to_string(CCCL_PATCH_VERSION);
  return version.c_str();
}
