// SPDX-License-Identifier: Apache-2.0
//
// The table and the header that a tuning becomes.
#include "tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <stdexcept>

#include "format.hpp"
#include "input_error.hpp"

namespace tilefold::tool {

namespace {

// As C++ calls it, without std:: and _t.
std::string type_word(dtype type) {
  switch (type) {
    case dtype::float16:
      return "half";
    case dtype::float32:
      return "float";
    case dtype::float64:
      return "double";
    default:
      return std::string(row_of(type).name);
  }
}

const policy_timing& default_of(const tuning& measured) {
  for (const policy_timing& timing : measured.policies) {
    if (timing.is_default) return timing;
  }
  throw std::logic_error("the default policy was not measured");
}

std::string in_braces(tile_policy policy) {
  return "{" + std::to_string(policy.nt) + ", " + std::to_string(policy.vt) + "}";
}

std::string right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// "256 KiB": sizes are powers of two.
std::string size_text(std::int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes % 1024 == 0 && unit < 4; ++unit) bytes /= 1024;
  return std::to_string(bytes) + " " + units[unit];
}

std::string sizes_text(const tuning& measured) {
  std::string list;
  for (const std::int64_t bytes : measured.bytes) {
    list += (list.empty() ? "" : ", ") + size_text(bytes);
  }
  return list;
}

std::string remarks(const tuning& measured, const policy_timing& timing) {
  std::string text;
  if (&timing == &fastest(measured)) text += "  best";
  if (timing.is_default) text += "  default";
  if (!timing.same_bits) text += "  OTHER BITS";
  return text;
}

template <class Rows>
std::string tunable_names(const Rows& rows) {
  std::string list;
  for (const auto& row : rows) {
    if (can_tune(row.id)) list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return list;
}

}  // namespace

double speed_against_default(const tuning& measured, const policy_timing& timing) {
  const policy_timing& normal = default_of(measured);
  double sum = 0;
  for (std::size_t i = 0; i < timing.seconds.size(); ++i) {
    sum += std::log(normal.seconds[i] / timing.seconds[i]);
  }
  return std::exp(sum / static_cast<double>(timing.seconds.size()));
}

const policy_timing& fastest(const tuning& measured) {
  return *std::max_element(measured.policies.begin(), measured.policies.end(),
                           [&](const policy_timing& a, const policy_timing& b) {
                             return speed_against_default(measured, a) <
                                    speed_against_default(measured, b);
                           });
}

void print_table(std::ostream& out, const tuning& measured) {
  constexpr std::size_t width = 11;
  const int item_bytes = row_of(measured.type).bytes;
  out << row_of(measured.type).name << ' ' << row_of(measured.op).name << ", GB/s:\n  "
      << right("nt", 4) << right("vt", 5) << right("bytes/thread", 14);
  for (const std::int64_t bytes : measured.bytes) out << right(size_text(bytes), width);
  out << right("speed", width) << '\n';
  for (const policy_timing& timing : measured.policies) {
    out << "  " << right(std::to_string(timing.policy.nt), 4)
        << right(std::to_string(timing.policy.vt), 5)
        << right(std::to_string(timing.policy.vt * item_bytes), 14);
    for (std::size_t i = 0; i < measured.bytes.size(); ++i) {
      const double bytes = static_cast<double>(measured.bytes[i]);
      out << right(fixed(bytes / timing.seconds[i] * 1e-9, 1), width);
    }
    out << right(fixed(speed_against_default(measured, timing), 3), width)
        << remarks(measured, timing) << '\n';
  }
}

std::string constant_name(dtype type, op_kind op) {
  return "tuned_" + type_word(type) + "_" + std::string(row_of(op).name);
}

std::string policy_header(const tuning_place& place, const std::vector<tuning>& all) {
  // What others wrote must not end the comment that it stands in.
  std::string text = "// Tile policies for " + one_line(place.device) + ", driver " +
                     one_line(place.driver) + ",\n// measured on " + one_line(place.date) +
                     " by `tilefold tune`. They decide speed and nothing else: every\n"
                     "// policy gives the same bits.\n"
                     "//\n"
                     "//     auto tuned = tilefold::with_policy<" +
                     constant_name(all.front().type, all.front().op) +
                     ">(executor);\n"
                     "#pragma once\n"
                     "\n"
                     "#include <tilefold/policy.hpp>\n";
  for (const tuning& measured : all) {
    const policy_timing& best = fastest(measured);
    text += "\n// " + fixed(speed_against_default(measured, best), 3) +
            " times the speed of the default " + in_braces(default_of(measured).policy) +
            ", over " + sizes_text(measured) + ".\ninline constexpr tilefold::tile_policy " +
            constant_name(measured.type, measured.op) + in_braces(best.policy) + ";\n";
  }
  return text;
}

bool can_tune(dtype type) {
  return type == dtype::float32 || type == dtype::float64 || type == dtype::float16 ||
         type == dtype::int8 || type == dtype::int32;
}

bool can_tune(op_kind op) { return op == op_kind::sum || op == op_kind::minimum; }

std::string tunable_types() { return tunable_names(dtype_rows); }
std::string tunable_ops() { return tunable_names(op_rows); }

}  // namespace tilefold::tool
