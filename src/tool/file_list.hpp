// SPDX-License-Identifier: Apache-2.0
//
// The files that a command line names.
#pragma once

#include <string>
#include <vector>

namespace tilefold::tool {

struct listed_file {
  std::string path;
  std::string trouble;  // why there is nothing to read; empty if there may be
};

/// The names as they are, but for a directory the .npy files in it (not in directories below), by
/// name. A directory without one is trouble, and any is if the files are raw.
std::vector<listed_file> list_files(const std::vector<std::string>& names, bool raw);

}  // namespace tilefold::tool
