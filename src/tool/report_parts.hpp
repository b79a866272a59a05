// SPDX-License-Identifier: Apache-2.0
//
// What the reports of the subcommands have in common: lines for people, values for JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "input.hpp"
#include "scalar.hpp"

namespace tilefold::tool {

using json = nlohmann::ordered_json;

std::int64_t item_bytes(const array& input);

/// "elevation.npy: 344 x 403 = 138632 items of int16, 277 kB\n"
std::string headline(const std::string& file, const array& input);

/// "  label       text\n"
std::string labelled(std::string_view label, std::string_view text);

/// A number, boolean or pair of numbers; "nan", "inf" and "-inf" where JSON has no number.
json json_of(const scalar& value);

/// One line. A file's name need not be UTF-8.
std::string json_line(const json& object);

}  // namespace tilefold::tool
