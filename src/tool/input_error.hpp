// SPDX-License-Identifier: Apache-2.0
//
// The error for whatever a user can get wrong: a file, its contents, an option. The message is one
// line and does not name the file; whoever knows the file's name puts it in front.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tilefold::tool {

class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file's name on one line: control bytes escaped, everything else as it is.
std::string one_line(std::string_view name);

/// A piece of a file's contents or of a command line, in quotes: anything but printable ASCII
/// escaped, and cut to a length that fits a message.
std::string in_quotes(std::string_view text);

}  // namespace tilefold::tool
