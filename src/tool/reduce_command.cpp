// SPDX-License-Identifier: Apache-2.0
//
// tilefold reduce: folds each file and reports on it.
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>

#include "chunked_reduce.hpp"
#include "command_parts.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "input_error.hpp"
#include "op_names.hpp"
#include "part_file.hpp"
#include "report.hpp"

namespace tilefold::tool {

namespace {

bool is_wrong(const fold_result& result) {
  return result.check && result.check->exact && !result.check->equal;
}

executor_options executor_for(op_kind op, const reduce_options& options,
                              const program_ranks* ranks) {
  executor_options wanted = options.executor;
  const bool in_parts = asks_for_parts(options);
  if (!runs_on_host_only(op) && !in_parts && ranks == nullptr) return wanted;
  if (wanted.on == "cuda" && (runs_on_host_only(op) || ranks != nullptr)) {
    throw input_error("--on cuda: " +
                      (ranks != nullptr ? std::string("ranks run")
                                        : "op '" + std::string(row_of(op).name) + "' runs") +
                      " on the host only");
  }
  // Parts wait for the file, so a GPU must be asked for.
  if (wanted.on == "auto") wanted.on = "host";
  return wanted;
}

void require_parts_to_make_sense(const reduce_options& options) {
  if (options.files.size() > 1) {
    throw input_error("--slice, --part and --checkpoint are for one file at a time");
  }
  if (options.check) {
    throw input_error("--check does not go with --slice, --part or --checkpoint");
  }
  if (!options.slice.empty() && options.part.empty()) {
    throw input_error("--slice makes a part: say where it goes, --part FILE");
  }
  require_other_file("--part", options.part, options.files.front());
  if (options.checkpoint.empty()) return;
  for (const char* const beside : {"", checkpoint_lock}) {
    const std::string own = options.checkpoint + beside;
    require_other_file("--checkpoint", own, options.files.front());
    require_other_file("--checkpoint", own, options.part);
  }
  if (!options.part.empty()) {
    require_other_file("--checkpoint", options.checkpoint, options.part + unfinished_part);
  }
}

// Of several ranks the first alone speaks.
class silence_of_others {
 public:
  explicit silence_of_others(const program_ranks* ranks)
      : silent_(ranks != nullptr && ranks->rank() != 0) {
    if (!silent_) return;
    out_ = std::cout.rdbuf(&nowhere_);
    err_ = std::cerr.rdbuf(&nowhere_);
  }
  silence_of_others(const silence_of_others&) = delete;
  silence_of_others& operator=(const silence_of_others&) = delete;
  ~silence_of_others() {
    if (!silent_) return;
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }

 private:
  struct nowhere final : std::streambuf {
    int overflow(int c) override { return c == EOF ? 0 : c; }
  };

  bool silent_;
  nowhere nowhere_;
  std::streambuf* out_ = nullptr;
  std::streambuf* err_ = nullptr;
};

class reduction {
 public:
  reduction(const reduce_options& options, program_ranks* ranks)
      : options_(options),
        ranks_(ranks),
        op_(find_op(options.op)),
        raw_(find_raw_layout(options.source)),
        backend_(choose_backend(executor_for(op_, options, ranks))) {
    if (ranks != nullptr && (asks_for_parts(options) || options.check)) {
      throw input_error("--check, --slice, --part and --checkpoint do not go with mpirun");
    }
    if (asks_for_parts(options)) require_parts_to_make_sense(options);
    if (options.check && !row_of(op_).is_operator) {
      throw input_error("--check knows no second way to compute op '" +
                        std::string(row_of(op_).name) + "'");
    }
  }

  void run_on(const std::string& file) {
    if (ranks_ != nullptr) {
      reduce_on_ranks(file, options_, op_, raw_, *backend_.runs, *ranks_);
      return;
    }
    if (asks_for_parts(options_) || (!options_.check && is_large(file, *backend_.runs))) {
      reduce_in_chunks(file, options_, op_, raw_, *backend_.runs);
      return;
    }
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
  program_ranks* ranks_;
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
  const std::unique_ptr<program_ranks> ranks = find_program_ranks();
  const silence_of_others silence(ranks.get());
  reduction reduction(options, ranks.get());
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
