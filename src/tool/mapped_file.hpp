// SPDX-License-Identifier: Apache-2.0
//
// A file in memory, as it is on the disk. POSIX only (mmap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tilefold::tool {

/// What tells whether a file is another one, or another's contents, than it was.
struct file_state {
  std::int64_t bytes = 0;
  std::int64_t time_ns = 0;  // when it was changed
  std::string number{};  // another file has another; not the device's, which a mount may give anew
};

/// A regular file's whole contents, read-only, for as long as the object lives. What somebody cuts
/// off the file meanwhile reads as zeros; require_whole() tells.
class mapped_file {
 public:
  /// Throws input_error if the file cannot be read or is not a regular file.
  explicit mapped_file(const std::string& path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&&) = delete;
  ~mapped_file();

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Of the file that is mapped, whatever its name has come to mean, as it was before it was
  /// mapped.
  const file_state& state() const { return state_; }

  /// Throws input_error if a part of the file went away since it was mapped, so that what was read
  /// may never have stood there.
  void require_whole() const;

 private:
  std::span<const std::byte> bytes_;
  file_state state_;
  int descriptor_ = -1;
  int watched_ = -1;  // place in the table of mapped ranges
};

/// Copies bytes from memory. If they are a mapped file's, reads them from the file, which is faster
/// than to map every page first; what is gone reads as zeros, and require_whole() tells.
void copy_mapped(std::byte* to, const std::byte* from, std::size_t bytes);

/// use(), which reads the file. If the file has become shorter, that is the error, whatever else
/// came of it.
template <class Use>
auto while_whole(const mapped_file& file, Use use) {
  try {
    auto result = use();
    file.require_whole();
    return result;
  } catch (...) {
    file.require_whole();
    throw;
  }
}

}  // namespace tilefold::tool
