// SPDX-License-Identifier: Apache-2.0
//
// Tables, histograms and JSON of statistics.
#include "stats_report.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "format.hpp"
#include "report_parts.hpp"

namespace tilefold::tool {

namespace {

// The place of item `index` in C order along each axis.
std::vector<std::int64_t> position(const std::vector<std::int64_t>& shape, std::int64_t index) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return place;
}

std::string place_text(const array& input, std::int64_t index) {
  const std::string flat = std::to_string(index);
  if (input.shape.size() < 2) return flat;
  std::string text;
  for (const std::int64_t i : position(input.shape, index)) {
    text += (text.empty() ? "[" : ", ") + std::to_string(i);
  }
  return text + "] = item " + flat;
}

std::string sum_text(const number_summary& numbers) {
  if (const auto* exact = std::get_if<exact_sum>(&numbers.sum)) return exact->decimal();
  return format_value(scalar::of(std::get<double>(numbers.sum)));
}

std::string number_lines(const stats_report& report, const number_summary& numbers) {
  const auto real = [](double x) { return format_value(scalar::of(x)); };
  const auto placed = [&](const placed_value& at) {
    return format_value(at.value) + " at " + place_text(report.input, at.index);
  };
  return labelled("sum", sum_text(numbers)) + labelled("mean", real(numbers.mean)) +
         labelled("sd", real(numbers.deviation)) + labelled("min", placed(numbers.min)) +
         labelled("max", placed(numbers.max)) + labelled("l1", real(numbers.l1)) +
         labelled("l2", real(numbers.l2)) + labelled("linf", format_value(numbers.linf));
}

// A bound in so many significant digits; integers in all of theirs.
std::string bound_text(const scalar& bound, int digits) {
  if (bound.type() != dtype::float64) return format_value(bound);
  return format_significant(bound.as<double>(), digits);
}

std::string range_text(const histogram::bin& bin, bool is_last, int digits) {
  const bool whole = bin.from.type() != dtype::float64;
  const std::string from = bound_text(bin.from, digits), to = bound_text(bin.to, digits);
  if (whole) return from == to ? from : from + " .. " + to;
  return "[" + from + ", " + to + (is_last ? "]" : ")");
}

// In as few digits as tell the bounds apart.
std::vector<std::string> range_texts(const std::vector<histogram::bin>& bins) {
  constexpr int most_digits = 17;
  int digits = 4;
  const auto alike = [&](const histogram::bin& bin) {
    return !bin.from.same_bits(bin.to) &&
           bound_text(bin.from, digits) == bound_text(bin.to, digits);
  };
  while (digits < most_digits && std::any_of(bins.begin(), bins.end(), alike)) ++digits;
  std::vector<std::string> texts;
  for (const histogram::bin& bin : bins) {
    texts.push_back(range_text(bin, texts.size() + 1 == bins.size(), digits));
  }
  return texts;
}

// `share` of `cells`, to an eighth of a cell where the characters allow it; never nothing for
// something.
std::string bar_text(double share, int cells, bool utf8) {
  if (share <= 0) return "";
  if (!utf8) {
    return std::string(static_cast<std::size_t>(std::max(1.0, share * cells + 0.5)), '#');
  }
  static constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = std::max(1, static_cast<int>(share * cells * 8 + 0.5));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + parts[eighths % 8];
}

struct drawn_row {
  std::string range;
  std::int64_t count;
};

std::string drawn(const histogram& found, const drawing& how) {
  std::vector<drawn_row> rows;
  if (found.minus_infinity > 0) rows.push_back({"-inf", found.minus_infinity});
  const auto ranges = range_texts(found.bins);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    rows.push_back({ranges[i], found.bins[i].count});
  }
  if (found.plus_infinity > 0) rows.push_back({"inf", found.plus_infinity});
  std::size_t range_width = 0, count_width = 0;
  std::int64_t most = 0;
  for (const drawn_row& row : rows) {
    range_width = std::max(range_width, row.range.size());
    count_width = std::max(count_width, std::to_string(row.count).size());
    most = std::max(most, row.count);
  }
  const int taken = static_cast<int>(range_width + count_width) + 6;
  const int cells = std::max(8, how.columns - taken - 1);
  std::string text;
  for (const drawn_row& row : rows) {
    const std::string count = std::to_string(row.count);
    const double share = static_cast<double>(row.count) / static_cast<double>(most);
    const std::string bar = bar_text(share, cells, how.utf8);
    text += "  " + row.range + std::string(range_width - row.range.size() + 2, ' ') +
            std::string(count_width - count.size(), ' ') + count + (bar.empty() ? "" : "  " + bar) +
            '\n';
  }
  return text;
}

// Integers of more than 64 bits are strings: JSON readers would round them.
json sum_of(const number_summary& numbers) {
  const auto* exact = std::get_if<exact_sum>(&numbers.sum);
  if (exact == nullptr) return json_of(scalar::of(std::get<double>(numbers.sum)));
  const std::string digits = exact->decimal();
  std::int64_t narrow = 0;
  std::uint64_t natural = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, narrow).ec == std::errc()) return narrow;
  if (std::from_chars(digits.data(), end, natural).ptr == end && natural > 0) return natural;
  return digits;
}

void add_numbers(json& object, const stats_report& report, const number_summary& numbers) {
  const auto real = [](double x) { return json_of(scalar::of(x)); };
  object["sum"] = sum_of(numbers);
  object["mean"] = real(numbers.mean);
  object["sd"] = real(numbers.deviation);
  for (const auto& [name, at] : {std::pair("min", numbers.min), std::pair("max", numbers.max)}) {
    const std::string label = name;
    object[label] = json_of(at.value);
    object[label + "_index"] = at.index;
    object[label + "_position"] = position(report.input.shape, at.index);
  }
  object["l1"] = real(numbers.l1);
  object["l2"] = real(numbers.l2);
  object["linf"] = json_of(numbers.linf);
}

json bins_object(const histogram& found) {
  json bins = json::array();
  for (const histogram::bin& bin : found.bins) {
    bins.push_back({{"from", json_of(bin.from)}, {"to", json_of(bin.to)}, {"count", bin.count}});
  }
  return {{"bins", bins},
          {"minus_infinity", found.minus_infinity},
          {"plus_infinity", found.plus_infinity}};
}

}  // namespace

std::string stats_text(const stats_report& report, const drawing& how) {
  const summary& found = report.found;
  std::string text = headline(report.file, report.input) +
                     labelled("count", std::to_string(found.count)) +
                     labelled("missing", std::to_string(found.missing));
  if (found.numbers) text += number_lines(report, *found.numbers);
  for (const std::string& note : report.input.notes) text += labelled("note", note);
  if (report.bins) text += drawn(*report.bins, how);
  return text;
}

std::string stats_json(const stats_report& report) {
  const summary& found = report.found;
  json object{{"file", report.file},         {"dtype", row_of(report.input.type).name},
              {"shape", report.input.shape}, {"bytes", item_bytes(report.input)},
              {"count", found.count},        {"missing", found.missing}};
  if (found.numbers) add_numbers(object, report, *found.numbers);
  if (report.bins) object["histogram"] = bins_object(*report.bins);
  object["notes"] = report.input.notes;
  return json_line(object);
}

}  // namespace tilefold::tool
