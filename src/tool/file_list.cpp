// SPDX-License-Identifier: Apache-2.0
//
// Looks into directories.
#include "file_list.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tilefold::tool {

namespace {

namespace fs = std::filesystem;

std::vector<listed_file> files_in(const std::string& directory) {
  std::error_code error;
  std::vector<listed_file> files;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const fs::path& path = entry->path();
    if (path.extension() != ".npy" || entry->is_directory(ignored)) continue;
    files.push_back({path.string(), ""});
  }
  if (error) return {{directory, "cannot list: " + error.message()}};
  if (files.empty()) return {{directory, "is a directory without a .npy file"}};
  std::sort(files.begin(), files.end(),
            [](const listed_file& a, const listed_file& b) { return a.path < b.path; });
  return files;
}

}  // namespace

std::vector<listed_file> list_files(const std::vector<std::string>& names, bool raw) {
  std::vector<listed_file> files;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) {
      files.push_back({name, ""});
    } else if (raw) {
      files.push_back({name, "is a directory; name the raw files in it"});
    } else {
      for (listed_file& file : files_in(name)) files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace tilefold::tool
