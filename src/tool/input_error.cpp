// SPDX-License-Identifier: Apache-2.0
//
// Makes untrusted text fit for one line of a message.
#include "input_error.hpp"

#include <cstddef>
#include <cstdint>

namespace tilefold::tool {

namespace {

void append_escaped(std::string& line, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

// How many bytes of UTF-8 the first letter of a text has; 0 if it is none that a terminal shows: a
// control character, one that turns the direction of writing, or no UTF-8.
std::size_t bytes_of_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t bytes = byte(0) < 0xc2   ? 0
                            : byte(0) < 0xe0 ? 2
                            : byte(0) < 0xf0 ? 3
                            : byte(0) < 0xf5 ? 4
                                             : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  std::uint32_t letter = byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    letter = letter << 6 | (byte(i) & 0x3fu);
  }
  const bool is_control = letter < 0xa0 || (letter >= 0x200e && letter <= 0x200f) ||
                          (letter >= 0x2028 && letter <= 0x202e) ||
                          (letter >= 0x2066 && letter <= 0x2069) || letter == 0x061c;
  const bool is_none = (letter >= 0xd800 && letter <= 0xdfff) || letter > 0x10ffff ||
                       (bytes == 3 && letter < 0x800) || (bytes == 4 && letter < 0x10000);
  return is_control || is_none ? 0 : bytes;
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

std::string message_of(const std::exception& error) {
  constexpr std::string_view name = "tilefold: ";
  const std::string_view what = error.what();
  return std::string(what.starts_with(name) ? what.substr(name.size()) : what);
}

std::string one_line(std::string_view name) {
  constexpr std::size_t longest = 1000;  // of the beginning and of the end
  if (name.size() > 2 * longest) {
    return one_line(name.substr(0, longest)) + " ... " +
           one_line(name.substr(name.size() - longest));
  }
  std::string line;
  while (!name.empty()) {
    const std::size_t bytes = bytes_of_letter(name);
    if (bytes > 0) {
      line += name.substr(0, bytes);
    } else {
      append_escaped(line, static_cast<unsigned char>(name.front()));
    }
    name.remove_prefix(bytes > 0 ? bytes : 1);
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
