// SPDX-License-Identifier: Apache-2.0
//
// Lines and JSON values.
#include "report_parts.hpp"

#include <cmath>

#include "format.hpp"
#include "input_error.hpp"

namespace tilefold::tool {

namespace {

std::string shape_text(const array& input) {
  const std::string count = std::to_string(input.count);
  if (input.shape.size() < 2) return count;
  std::string text;
  for (const std::int64_t extent : input.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text + " = " + count;
}

// JSON has numbers for finite values only.
template <class T>
json number(T value) {
  if constexpr (requires { value.imag(); }) {
    return json::array({number(value.real()), number(value.imag())});
  } else if constexpr (is_narrow_float<T>) {
    return number(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto x = static_cast<double>(value);
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    return x;
  } else {
    return value;
  }
}

}  // namespace

std::int64_t item_bytes(const array& input) { return input.count * row_of(input.type).bytes; }

std::string headline(const std::string& file, const array& input) {
  return one_line(file) + ": " + shape_text(input) +
         (input.count == 1 ? " item of " : " items of ") + std::string(row_of(input.type).name) +
         ", " + format_bytes(item_bytes(input)) + '\n';
}

std::string labelled(std::string_view label, std::string_view text) {
  constexpr std::size_t width = 12;
  const std::size_t gap = label.size() < width ? width - label.size() : 1;
  return "  " + std::string(label) + std::string(gap, ' ') + std::string(text) + '\n';
}

json json_of(const scalar& value) {
  return visit(value.type(), [&]<class T>(std::type_identity<T>) { return number(value.as<T>()); });
}

std::string json_line(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace tilefold::tool
