// SPDX-License-Identifier: Apache-2.0
//
// Makes untrusted text fit for one line of a message.
#include "input_error.hpp"

#include <cstddef>

namespace tilefold::tool {

namespace {

void append_escaped(std::string& line, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

// Anything but printable ASCII escaped.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      append_escaped(line, byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

std::string one_line(std::string_view name) {
  std::string line;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      append_escaped(line, byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  return "'" + escaped(text.substr(0, longest)) + (text.size() > longest ? "...'" : "'");
}

std::string printable(std::string_view message) {
  constexpr std::size_t longest = 250;  // of the beginning and of the end
  if (message.size() <= 2 * longest) return escaped(message);
  return escaped(message.substr(0, longest)) + " ... " +
         escaped(message.substr(message.size() - longest));
}

}  // namespace tilefold::tool
