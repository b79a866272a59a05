// SPDX-License-Identifier: Apache-2.0
//
// The host benchmark's contests over forests.
#pragma once

namespace bench {

/// Registers them, or few of them; their data are made when the first one runs.
void register_forests(bool quick);

}  // namespace bench
