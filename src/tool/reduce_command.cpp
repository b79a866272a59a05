// SPDX-License-Identifier: Apache-2.0
//
// tilefold reduce: folds each file and reports on it.
#include <exception>
#include <iostream>
#include <new>
#include <optional>

#include "backend.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "input_error.hpp"
#include "report.hpp"

namespace tilefold::tool {

namespace {

op_kind find_op(const std::string& name) {
  if (const auto op = find_by_name(op_rows, name)) return *op;
  throw input_error("unknown op " + in_quotes(name) + "; known: " + list_names(op_rows));
}

std::optional<raw_layout> find_raw_layout(const reduce_options& options) {
  if (options.raw.empty()) {
    if (options.offset_bytes != 0) {
      throw input_error("--offset is for raw binary: name the element type with --raw");
    }
    return std::nullopt;
  }
  if (options.offset_bytes < 0) {
    throw input_error("--offset " + std::to_string(options.offset_bytes) + " is negative");
  }
  return raw_layout{parse_item_type(options.raw), options.offset_bytes};
}

struct chosen_backend {
  std::unique_ptr<backend> runs;
  std::string note;  // why not the GPU, if that was wanted
};

chosen_backend choose_backend(const reduce_options& options) {
  if (options.on == "host") return {make_host_backend(options.threads), ""};
  if (options.on != "auto" && options.on != "cuda") {
    throw input_error("unknown executor " + in_quotes(options.on) +
                      " for --on; known: auto, host, cuda");
  }
  try {
    return {make_cuda_backend(), ""};
  } catch (const no_gpu_error& reason) {
    if (options.on == "cuda") throw input_error(std::string("--on cuda: ") + reason.what());
    return {make_host_backend(options.threads), std::string(" (no GPU: ") + reason.what() + ")"};
  }
}

void require_fit(op_kind op, const array& input) {
  if (!fits(op, input.type)) {
    throw input_error("op '" + std::string(row_of(op).name) + "' is not defined for " +
                      std::string(row_of(input.type).name));
  }
  if (input.count == 0 && !row_of(op).empty_has_value) {
    throw input_error("op '" + std::string(row_of(op).name) + "' has no value for an empty array");
  }
}

bool is_wrong(const fold_result& result) {
  return result.check && result.check->exact && !result.check->equal;
}

class reduction {
 public:
  explicit reduction(const reduce_options& options)
      : options_(options),
        op_(find_op(options.op)),
        raw_(find_raw_layout(options)),
        backend_(choose_backend(options)) {}

  int run_on(const std::string& file) {
    const array input = load_array(file, raw_);
    require_fit(op_, input);
    const fold_result result = backend_.runs->run(
        {op_, input.type, input.data, input.count, options_.repeats, options_.check, file});
    const reduction_report report{file, input, op_, backend_.runs->name() + backend_.note, result};
    options_.json ? print_json(report) : print_text(report);
    return is_wrong(result) ? exit_wrong : exit_success;
  }

 private:
  const reduce_options& options_;
  op_kind op_;
  std::optional<raw_layout> raw_;
  chosen_backend backend_;
};

int report_failure(const std::string& file, const char* what) {
  std::cout.flush();  // so that results and complaints stand in the order of the files
  std::cerr << "tilefold: " << one_line(file) << ": " << one_line(what) << '\n';
  return exit_bad_input;
}

}  // namespace

int run_reduce(const reduce_options& options) {
  reduction reduction(options);
  int exit_code = exit_success;
  for (const std::string& file : options.files) {
    int outcome;
    try {
      outcome = reduction.run_on(file);
    } catch (const std::bad_alloc&) {
      outcome = report_failure(file, "out of memory");
    } catch (const std::exception& error) {
      outcome = report_failure(file, error.what());
    }
    exit_code = std::max(exit_code, outcome);
  }
  return exit_code;
}

}  // namespace tilefold::tool
