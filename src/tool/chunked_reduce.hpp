// SPDX-License-Identifier: Apache-2.0
//
// Reductions of files in chunks: those larger than memory, parts of files, and long ones that can
// be interrupted.
#pragma once

#include <optional>
#include <string>

#include "backend.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "program_ranks.hpp"

namespace tilefold::tool {

/// While a run keeps a checkpoint it holds a lock of that name and this behind it.
inline constexpr const char* checkpoint_lock = ".lock";

/// Whether the options ask for more than the value of whole files.
bool asks_for_parts(const reduce_options& options);

/// Whether `runs` folds the file in chunks, because it is larger than memory.
bool is_large(const std::string& file, const backend& runs);

/// Reduces the file and reports.
void reduce_in_chunks(const std::string& file, const reduce_options& options, op_kind op,
                      const std::optional<raw_layout>& raw, backend& runs);

/// The same by all ranks of the program, each of which reads its part of the file; the first
/// reports. What one of them cannot do throws input_error on all.
void reduce_on_ranks(const std::string& file, const reduce_options& options, op_kind op,
                     const std::optional<raw_layout>& raw, backend& runs, program_ranks& ranks);

/// Throws input_error if the operation cannot be done with the input.
void require_fit(op_kind op, const array& input);

}  // namespace tilefold::tool
