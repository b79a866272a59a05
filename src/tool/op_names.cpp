// SPDX-License-Identifier: Apache-2.0
//
// Finds and lists operations.
#include "op_names.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "input_error.hpp"

namespace tilefold::tool {

namespace {

// Letters to add, drop or change in one to get the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// The known name nearest to `name`, if one is near enough to have been meant.
std::string_view nearest(std::string_view name) {
  std::string_view best;
  std::size_t least = name.size() / 2 + 1;
  const auto consider = [&](std::string_view known) {
    const std::size_t d = distance(name, known);
    if (d < least) {
      least = d;
      best = known;
    }
  };
  for (const op_row& row : op_rows) consider(row.name);
  for (const alias_row& row : alias_rows) consider(row.name);
  return best;
}

}  // namespace

op_kind find_op(const std::string& name) {
  std::string_view wanted = name;
  for (const alias_row& row : alias_rows) {
    if (row.name == name) wanted = row.stands_for;
  }
  if (const auto op = find_by_name(op_rows, wanted)) return *op;
  const std::string_view meant = nearest(name);
  throw input_error("unknown op " + in_quotes(name) +
                    (meant.empty() ? "" : ", did you mean '" + std::string(meant) + "'?") +
                    "; known: " + list_names(op_rows));
}

std::string op_list() {
  std::size_t width = 0;
  for (const op_row& row : op_rows) width = std::max(width, row.name.size());
  std::string list;
  const auto add = [&](std::string_view name, const std::string& meaning) {
    list += "  " + std::string(name) + std::string(width + 2 - name.size(), ' ') + meaning + '\n';
  };
  for (const op_row& row : op_rows) {
    const bool is_choosy = row.needs == domain::integral || row.needs == domain::floating;
    add(row.name, std::string(row.meaning) +
                      (is_choosy ? "; of " + std::string(name_of(row.needs)) + " only" : ""));
  }
  for (const alias_row& row : alias_rows) add(row.name, "same as " + std::string(row.stands_for));
  return list;
}

}  // namespace tilefold::tool
