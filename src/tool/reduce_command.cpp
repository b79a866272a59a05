// SPDX-License-Identifier: Apache-2.0
//
// tilefold reduce: folds each file and reports on it.
#include <iostream>
#include <optional>

#include "command_parts.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "input_error.hpp"
#include "op_names.hpp"
#include "report.hpp"

namespace tilefold::tool {

namespace {

void require_fit(op_kind op, const array& input) {
  if (!fits(op, input.type)) {
    throw input_error("op '" + std::string(row_of(op).name) + "' is not defined for " +
                      std::string(row_of(input.type).name) + ", only for " +
                      std::string(name_of(row_of(op).needs)));
  }
  if (input.count == 0 && !row_of(op).empty_has_value) {
    throw input_error("op '" + std::string(row_of(op).name) + "' has no value for an empty array");
  }
}

bool is_wrong(const fold_result& result) {
  return result.check && result.check->exact && !result.check->equal;
}

executor_options executor_for(op_kind op, executor_options wanted) {
  if (!runs_on_host_only(op)) return wanted;
  if (wanted.on == "cuda") {
    throw input_error("--on cuda: op '" + std::string(row_of(op).name) + "' runs on the host only");
  }
  if (wanted.on == "auto") wanted.on = "host";
  return wanted;
}

class reduction {
 public:
  explicit reduction(const reduce_options& options)
      : options_(options),
        op_(find_op(options.op)),
        raw_(find_raw_layout(options.source)),
        backend_(choose_backend(executor_for(op_, options.executor))) {
    if (options.check && !row_of(op_).is_operator) {
      throw input_error("--check knows no second way to compute op '" +
                        std::string(row_of(op_).name) + "'");
    }
  }

  void run_on(const std::string& file) {
    const array input = load_array(file, raw_, read_ahead::yes);
    require_fit(op_, input);
    const fold_result result = while_whole(input.file, [&] {
      return backend_.runs->run({op_, input.type, input.data, input.count, options_.repeats,
                                 options_.check, options_.k, file});
    });
    const reduction_report report{file, input, op_, backend_.runs->name() + backend_.note, result};
    options_.json ? print_json(report) : print_text(report);
    if (is_wrong(result)) found_wrong_ = true;
  }

  bool found_wrong() const { return found_wrong_; }

 private:
  const reduce_options& options_;
  op_kind op_;
  std::optional<raw_layout> raw_;
  chosen_backend backend_;
  bool found_wrong_ = false;
};

}  // namespace

int run_reduce(const reduce_options& options) {
  if (options.op == "list") {
    std::cout << op_list();
    return exit_success;
  }
  if (options.files.empty()) throw input_error("FILE is missing: name what to reduce");
  reduction reduction(options);
  bool failed = false;
  for (const std::string& file : options.files) {
    if (const auto failure = failure_of([&] { reduction.run_on(file); })) {
      complain(file, *failure);
      failed = true;
    }
  }
  if (failed) return exit_bad_input;
  return reduction.found_wrong() ? exit_wrong : exit_success;
}

}  // namespace tilefold::tool
