// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands that read files have in common: options turned into what they mean, and
// complaints about one file that leave the others.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "backend.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "input_error.hpp"

namespace tilefold::tool {

/// Throws input_error.
std::optional<raw_layout> find_raw_layout(const source_options& options);

struct chosen_backend {
  std::unique_ptr<backend> runs;
  std::string note;  // why not the GPU, if that was wanted
};

/// Throws input_error.
chosen_backend choose_backend(const executor_options& options);

/// Throws input_error if both paths lead to one file: what is written must not take the place of
/// what is read, or of what else is written. Either may be empty, and then is none.
void require_other_file(const std::string& option, const std::string& path,
                        const std::string& other);

/// Writes the line "tilefold: FILE: WHAT" to standard error.
void complain(const std::string& file, const std::string& what);

/// Why call() threw, if it did.
template <class Call>
std::optional<std::string> failure_of(Call call) {
  try {
    call();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return message_of(error);
  }
}

}  // namespace tilefold::tool
