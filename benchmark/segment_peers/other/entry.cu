// SPDX-License-Identifier: Apache-2.0
#include "entry.hpp"

const std::vector<bench::segments_peer>& tilefold_other_segments_peers() {
  return bench::segments_peers();
}
