// SPDX-License-Identifier: Apache-2.0
//
// The two forms of a reduction's outcome.
#include "report.hpp"

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "format.hpp"
#include "input_error.hpp"

namespace tilefold::tool {

namespace {

using json = nlohmann::ordered_json;

std::int64_t input_bytes(const reduction_report& report) {
  return report.input.count * row_of(report.input.type).bytes;
}

double bytes_per_second(const reduction_report& report) {
  const double seconds = report.result.seconds;
  return seconds > 0 ? static_cast<double>(input_bytes(report)) / seconds : 0;
}

std::string_view accumulator_name(const reduction_report& report) {
  return row_of(report.result.value.type()).name;
}

std::string shape_text(const array& input) {
  const std::string count = std::to_string(input.count);
  if (input.shape.size() < 2) return count;
  std::string text;
  for (const std::int64_t extent : input.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text + " = " + count;
}

std::string time_text(const reduction_report& report) {
  const fold_result& result = report.result;
  const std::string calls =
      result.timed_calls == 1 ? "one warm call"
                              : "fastest of " + std::to_string(result.timed_calls) + " warm calls";
  std::string text = format_seconds(result.seconds) + ", " + format_rate(bytes_per_second(report)) +
                     " (" + calls + ", " + result.clock + "); reading the file took " +
                     format_seconds(report.input.load_seconds);
  if (result.copy_seconds > 0) {
    text += ", copying to the GPU " + format_seconds(result.copy_seconds);
  }
  return text;
}

std::string check_text(const comparison& check, std::string_view accumulator) {
  const std::string start = check.method + ": ";
  if (check.equal) return start + "equal";
  if (check.exact) return start + check.reference + ", DIFFERENT where nothing is rounded";
  return start + check.reference + "; difference " + format_significant(check.absolute, 3) +
         ", relative " + format_significant(check.relative, 3) + ", " +
         format_significant(check.ulps, 3) + " ulp of " + std::string(accumulator);
}

void print_line(std::string_view label, const std::string& text) {
  std::cout << "  " << label << std::string(label.size() < 12 ? 12 - label.size() : 1, ' ') << text
            << '\n';
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

json check_object(const comparison& check) {
  json object{{"method", check.method},
              {"reference", check.reference},
              {"exact", check.exact},
              {"equal", check.equal}};
  if (!check.exact) {
    object["absolute"] = number(check.absolute);
    object["relative"] = number(check.relative);
    object["ulps"] = number(check.ulps);
  }
  return object;
}

}  // namespace

void print_text(const reduction_report& report) {
  const fold_result& result = report.result;
  const array& input = report.input;
  std::cout << one_line(report.file) << ": " << shape_text(input)
            << (input.count == 1 ? " item of " : " items of ") << row_of(input.type).name << ", "
            << format_bytes(input_bytes(report)) << '\n';
  const std::string accumulator(accumulator_name(report));
  print_line(row_of(report.op).name, format_value(result.value) + "  (" + accumulator + ")");
  const std::string hex = format_hex(result.value);
  print_line("exact", (hex.empty() ? "" : hex + ", ") + "bits " + format_bits(result.value));
  print_line("executor", report.executor);
  print_line("time", time_text(report));
  if (result.check) print_line("check", check_text(*result.check, accumulator));
  for (const std::string& note : input.notes) print_line("note", note);
}

void print_json(const reduction_report& report) {
  const fold_result& result = report.result;
  const array& input = report.input;
  json object{{"file", report.file},
              {"op", row_of(report.op).name},
              {"dtype", row_of(input.type).name},
              {"shape", input.shape},
              {"n", input.count},
              {"bytes", input_bytes(report)},
              {"accumulator", accumulator_name(report)}};
  object["value"] = visit(result.value.type(), [&]<class T>(std::type_identity<T>) {
    return number(result.value.as<T>());
  });
  object["hex"] = format_hex(result.value);
  object["bits"] = format_bits(result.value);
  object["executor"] = report.executor;
  object["seconds"] = result.seconds;
  object["gigabytes_per_second"] = bytes_per_second(report) / 1e9;
  object["timed_calls"] = result.timed_calls;
  object["clock"] = result.clock;
  object["read_seconds"] = input.load_seconds;
  object["copy_seconds"] = result.copy_seconds;
  if (result.check) object["check"] = check_object(*result.check);
  object["notes"] = input.notes;
  // A file's name need not be UTF-8.
  std::cout << object.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace tilefold::tool
