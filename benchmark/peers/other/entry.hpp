// SPDX-License-Identifier: Apache-2.0
//
// The way into the shared library of peers that are compiled against another CCCL. It hides all
// else: parts of two CCCLs have the same names, and one program must not mix them.
#pragma once

#include "../../support/contestant.hpp"

#define TILEFOLD_PEERS_EXPORT __attribute__((visibility("default")))

TILEFOLD_PEERS_EXPORT const bench::peer_table& tilefold_other_peers();
/// Major.minor.patch.
TILEFOLD_PEERS_EXPORT const char* tilefold_other_cccl();
