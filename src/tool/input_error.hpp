// SPDX-License-Identifier: Apache-2.0
//
// The error for whatever a user can get wrong: a file, its contents, an option. The message is one
// line and does not name the file; whoever knows the file's name puts it in front.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tilefold/error.hpp>

namespace tilefold::tool {

class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file's name on one line: letters of UTF-8 as they are, everything else escaped, and without
/// its middle if it has thousands of bytes.
std::string one_line(std::string_view name);

/// A piece of a file's contents or of a command line, in quotes: anything but printable ASCII
/// escaped, and cut to a length that fits a message.
std::string in_quotes(std::string_view text);

/// A message that may quote a file's contents or a command line: anything but printable ASCII
/// escaped, and without its middle if it is too long for one line.
std::string printable(std::string_view message);

/// The message of an error of the library, without the library's name, with which the tool's
/// lines begin.
std::string message_of(const std::exception& error);

/// Calls read(), which gives bytes of `file`, if it has a name, to the library. The library's
/// errors, which may quote the bytes, become input_error.
template <class Read>
auto reading_bytes(Read read, const std::string& file = {}) {
  try {
    return read();
  } catch (const tilefold::error& error) {
    const std::string what = printable(message_of(error));
    throw input_error(file.empty() ? what : one_line(file) + ": " + what);
  }
}

}  // namespace tilefold::tool
