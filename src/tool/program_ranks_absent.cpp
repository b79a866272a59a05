// SPDX-License-Identifier: Apache-2.0
//
// Built without MPI.
#include "program_ranks.hpp"

namespace tilefold::tool {

std::unique_ptr<program_ranks> find_program_ranks() { return nullptr; }

}  // namespace tilefold::tool
