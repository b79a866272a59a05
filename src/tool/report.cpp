// SPDX-License-Identifier: Apache-2.0
//
// The two forms of a reduction's outcome.
#include "report.hpp"

#include <iostream>
#include <string_view>

#include "format.hpp"
#include "input_error.hpp"
#include "report_parts.hpp"

namespace tilefold::tool {

namespace {

double bytes_per_second(const reduction_report& report) {
  const double seconds = report.result.seconds;
  return seconds > 0 ? static_cast<double>(item_bytes(report.input)) / seconds : 0;
}

std::string_view type_name(const field& found) {
  return found.values.empty() ? "" : row_of(found.values.front().type()).name;
}

std::string time_text(const reduction_report& report) {
  const fold_result& result = report.result;
  if (result.reads_file) {
    return format_seconds(result.seconds) + ", " + format_rate(bytes_per_second(report)) + " (" +
           result.clock + ", reading the file)";
  }
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

json check_object(const comparison& check) {
  json object{{"method", check.method},
              {"reference", check.reference},
              {"exact", check.exact},
              {"equal", check.equal}};
  if (!check.exact) {
    object["absolute"] = json_of(scalar::of(static_cast<double>(check.absolute)));
    object["relative"] = json_of(scalar::of(static_cast<double>(check.relative)));
    object["ulps"] = json_of(scalar::of(static_cast<double>(check.ulps)));
  }
  return object;
}

bool is_single(const fold_result& result) {
  return result.fields.size() == 1 && result.fields.front().name.empty();
}

// "a, b, c", each value as `form` writes it.
template <class Form>
std::string joined(const field& found, Form form) {
  std::string text;
  for (const scalar& value : found.values) text += (text.empty() ? "" : ", ") + form(value);
  return text;
}

std::string exact_text(const field& found) {
  const std::string hex = joined(found, format_hex);
  return (type_name(found).empty() || is_integral(found.values.front().type()) ? "" : hex + ", ") +
         "bits " + joined(found, format_bits);
}

std::string value_lines(op_kind op, const fold_result& result) {
  const std::string name(row_of(op).name);
  const auto value_text = [](const field& found) {
    return joined(found, format_value) + "  (" + std::string(type_name(found)) + ")";
  };
  if (is_single(result)) {
    const field& found = result.fields.front();
    return labelled(name, value_text(found)) + labelled("exact", exact_text(found));
  }
  std::string lines = labelled("op", name);
  for (const field& found : result.fields) {
    lines += labelled(found.name, value_text(found)) + labelled("", exact_text(found));
  }
  return lines;
}

// What `form` makes of the only value, or an object with what it makes of each.
template <class Form>
json of_fields(const fold_result& result, Form form) {
  const auto of_field = [&](const field& found) {
    if (!found.is_list) return json(form(found.values.front()));
    json list = json::array();
    for (const scalar& value : found.values) list.push_back(form(value));
    return list;
  };
  if (is_single(result)) return of_field(result.fields.front());
  json object = json::object();
  for (const field& found : result.fields) object[found.name] = of_field(found);
  return object;
}

void add_value(json& object, const fold_result& result) {
  object["accumulator"] =
      of_fields(result, [](const scalar& value) { return row_of(value.type()).name; });
  object["value"] = of_fields(result, json_of);
  object["hex"] = of_fields(result, format_hex);
  object["bits"] = of_fields(result, format_bits);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + one_line(name);
  return text;
}

}  // namespace

void print_text(const reduction_report& report) {
  const fold_result& result = report.result;
  std::cout << headline(report.file, report.input) << value_lines(report.op, result)
            << labelled("executor", report.executor) << labelled("time", time_text(report));
  if (result.check) {
    std::cout << labelled("check", check_text(*result.check, type_name(result.fields.front())));
  }
  for (const std::string& note : report.input.notes) std::cout << labelled("note", note);
}

void print_json(const reduction_report& report) {
  const fold_result& result = report.result;
  const array& input = report.input;
  json object{{"file", report.file},
              {"op", row_of(report.op).name},
              {"dtype", row_of(input.type).name},
              {"shape", input.shape},
              {"n", input.count},
              {"bytes", item_bytes(input)}};
  add_value(object, result);
  object["executor"] = report.executor;
  object["seconds"] = result.seconds;
  object["gigabytes_per_second"] = bytes_per_second(report) / 1e9;
  object["timed_calls"] = result.timed_calls;
  object["clock"] = result.clock;
  object["read_seconds"] = input.load_seconds;
  object["copy_seconds"] = result.copy_seconds;
  if (result.check) object["check"] = check_object(*result.check);
  object["notes"] = input.notes;
  std::cout << json_line(object);
}

void print_text(const part_report& report) {
  std::cout << joined(report.files) << ": items " << report.begin << " to " << report.end << " of "
            << report.total << ", " << row_of(report.type).name << '\n';
  if (report.result != nullptr) {
    std::cout << value_lines(report.op, *report.result);
    if (report.end < report.total) std::cout << labelled("note", "of a part of the items only");
  } else {
    std::cout << labelled(row_of(report.op).name, "no value: it needs the items before it, too");
  }
  if (!report.written.empty()) std::cout << labelled("part", one_line(report.written));
}

void print_json(const part_report& report) {
  json object{{"files", report.files},
              {"op", row_of(report.op).name},
              {"dtype", row_of(report.type).name},
              {"begin", report.begin},
              {"end", report.end},
              {"n", report.total}};
  if (report.result != nullptr) add_value(object, *report.result);
  if (!report.written.empty()) object["part"] = report.written;
  std::cout << json_line(object);
}

}  // namespace tilefold::tool
