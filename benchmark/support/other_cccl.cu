// SPDX-License-Identifier: Apache-2.0
#include "other_cccl.hpp"

#include <cuda/version>

const char* tilefold_other_cccl() {
  static const std::string version = std::to_string(CCCL_MAJOR_VERSION) + "." +
                                     std::to_string(CCCL_MINOR_VERSION) + "." +
                                     std::to_string(CCCL_PATCH_VERSION);
  return version.c_str();
}

const bench::peer_table& tilefold_other_peers() { return bench::peers(); }

const std::vector<bench::segments_peer>& tilefold_other_segments_peers() {
  return bench::all_peers<bench::segments_peer>();
}

const std::vector<bench::runs_peer>& tilefold_other_runs_peers() {
  return bench::all_peers<bench::runs_peer>();
}
