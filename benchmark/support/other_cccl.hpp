// SPDX-License-Identifier: Apache-2.0
//
// The way into the shared library of all peers that are compiled against another CCCL. It hides all
// else: parts of two CCCLs have the same names, and one program must not mix them.
#pragma once

#include "../forests/peers/peer.hpp"
#include "../keys/peers/peer.hpp"
#include "contestant.hpp"

#define TILEFOLD_PEERS_EXPORT __attribute__((visibility("default")))

/// Major.minor.patch.
TILEFOLD_PEERS_EXPORT const char* tilefold_other_cccl();
TILEFOLD_PEERS_EXPORT const bench::peer_table& tilefold_other_peers();
TILEFOLD_PEERS_EXPORT const std::vector<bench::segments_peer>& tilefold_other_segments_peers();
TILEFOLD_PEERS_EXPORT const std::vector<bench::runs_peer>& tilefold_other_runs_peers();

namespace bench {

/// Makes them contestants of this program.
inline void join_other_peers() {
  for (const auto& [shape, contestants] : tilefold_other_peers()) {
    auto& joined = peers()[shape];
    joined.insert(joined.end(), contestants.begin(), contestants.end());
  }
  for (const segments_peer& peer : tilefold_other_segments_peers()) {
    all_peers<segments_peer>().push_back(peer);
  }
  for (const runs_peer& peer : tilefold_other_runs_peers()) all_peers<runs_peer>().push_back(peer);
}

}  // namespace bench
