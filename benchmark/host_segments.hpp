// SPDX-License-Identifier: Apache-2.0
//
// The host benchmark's contests over forests, in a file of their own.
#pragma once

namespace bench {

/// Registers them; their data are made when the first one runs.
void register_host_segments();

}  // namespace bench
