// SPDX-License-Identifier: Apache-2.0
//
// Options into what they mean, and complaints.
#include "command_parts.hpp"

#include <filesystem>
#include <iostream>
#include <system_error>

#include "input_error.hpp"

namespace tilefold::tool {

std::optional<raw_layout> find_raw_layout(const source_options& options) {
  if (options.raw.empty()) {
    if (options.offset_bytes != 0) {
      throw input_error("--offset is for raw binary: name the element type with --raw");
    }
    return std::nullopt;
  }
  return raw_layout{parse_item_type(options.raw), options.offset_bytes};
}

chosen_backend choose_backend(const executor_options& options) {
  if (options.on == "host") return {make_host_backend(options.threads), ""};
  if (options.on != "auto" && options.on != "cuda") {
    throw input_error("unknown executor " + in_quotes(options.on) +
                      " for --on; known: auto, host, cuda");
  }
  try {
    return {make_cuda_backend(), ""};
  } catch (const no_gpu_error& reason) {
    if (options.on == "cuda") throw input_error(std::string("--on cuda: ") + message_of(reason));
    return {make_host_backend(options.threads),
            std::string(" (no GPU: ") + message_of(reason) + ")"};
  }
}

void require_other_file(const std::string& option, const std::string& path,
                        const std::string& other) {
  std::error_code none_there;
  if (path.empty() || other.empty()) return;
  if (std::filesystem::weakly_canonical(path, none_there) ==
          std::filesystem::weakly_canonical(other, none_there) ||
      std::filesystem::equivalent(path, other, none_there)) {
    throw input_error(option + " " + in_quotes(path) + " and " + in_quotes(other) +
                      " are one file");
  }
}

void complain(const std::string& file, const std::string& what) {
  std::cout.flush();  // so that results and complaints stand in the order of the files
  std::cerr << "tilefold: " << one_line(file) << ": " << one_line(what) << '\n';
}

}  // namespace tilefold::tool
