// SPDX-License-Identifier: Apache-2.0
//
// The way into the shared library of segment_peers/ compiled against another CCCL, as
// peers/other/entry.hpp is for peers/.
#pragma once

#include "../../peers/other/entry.hpp"
#include "../peer.hpp"

TILEFOLD_PEERS_EXPORT const std::vector<bench::segments_peer>& tilefold_other_segments_peers();
