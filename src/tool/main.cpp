// SPDX-License-Identifier: Apache-2.0
//
// The command line of the tool `tilefold`: parses it and calls the subcommand.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

#include <tilefold/config.hpp>

#include "backend.hpp"
#include "commands.hpp"
#include "input_error.hpp"
#include "op_names.hpp"
#include "tables.hpp"
#include "tuning.hpp"

namespace {

using namespace tilefold::tool;

constexpr const char* footer =
    "Examples:\n"
    "  tilefold reduce --op sum elevation.npy\n"
    "  tilefold reduce --op max --on host --threads 4 --check a.npy b.npy\n"
    "  tilefold reduce --op sum --raw float32 --offset 512 record.bin\n"
    "  tilefold reduce --op sum --json a.npy\n"
    "  tilefold reduce --op arg_max a.npy\n"
    "  tilefold reduce --op sum --checkpoint big.check big.npy\n"
    "  tilefold reduce --op sum --slice 0:1000000 --part a.part big.npy\n"
    "  tilefold merge a.part b.part\n"
    "  tilefold stats --histogram a.npy directory\n"
    "  tilefold generate --dtype float32 --bytes 1GiB big.npy\n"
    "  tilefold tune --type float32,float16 --op sum,min --out tuned.hpp\n"
    "\n"
    "Exit code: 0 all done, 1 a check found a wrong result, 2 something could not be done\n"
    "(one line on standard error says what; the other files are processed all the same).";

std::string version() {
  return "tilefold " + std::to_string(TILEFOLD_VERSION_MAJOR) + "." +
         std::to_string(TILEFOLD_VERSION_MINOR) + "." + std::to_string(TILEFOLD_VERSION_PATCH);
}

template <class T>
std::string refusal(const std::string& text, const std::string& what, T least, T most) {
  return in_quotes(text) + " is no " + what + " from " + CLI::detail::to_string(least) + " to " +
         CLI::detail::to_string(most);
}

// For Option::transform(). CLI11 alone takes the nearest number that fits in the place of one that
// does not, 8 for 010, 0 for nothing, and the largest number for -1 where there is no sign.
template <class T>
CLI::Validator number_in(T least, T most) {
  const auto parse = [=](std::string& text) -> std::string {
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || !(number >= least && number <= most)) {
      return refusal(text, std::is_integral_v<T> ? "whole number" : "number", least, most);
    }
    if constexpr (std::is_integral_v<T>) text = std::to_string(number);
    return "";
  };
  return CLI::Validator(
      parse, "in [" + CLI::detail::to_string(least) + " - " + CLI::detail::to_string(most) + "]");
}

// Likewise a number of bytes, with or without a unit.
CLI::Validator size_of_at_least(std::int64_t least) {
  const auto parse = [=](std::string& text) -> std::string {
    const auto refused = [&] {
      return refusal(text, "size", least, std::numeric_limits<std::int64_t>::max()) +
             " bytes, such as 4096, 64kB or 1GiB";
    };
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{}) return refused();
    std::string factor = "1" + std::string(unit, end);
    try {
      CLI::AsSizeValue(true)(factor);
    } catch (const CLI::ValidationError&) {
      return refused();
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(number, std::stoll(factor), &bytes) || bytes < least) {
      return refused();
    }
    text = std::to_string(bytes);
    return "";
  };
  return CLI::Validator(parse, "");
}

void add_executor_options(CLI::App& command, executor_options& options) {
  command.add_option("--on", options.on, "Executor: host, cuda, or auto (cuda if there is a GPU)")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of the host executor; 0: all cores")
      ->transform(number_in(0, 4096))
      ->type_name("N");
}

void add_source_options(CLI::App& command, source_options& options) {
  command
      .add_option("--raw,--dtype", options.raw,
                  "The files are raw binary of this type, by name or NumPy code ('>f4'): " +
                      list_names(dtype_rows))
      ->type_name("TYPE");
  command.add_option("--offset", options.offset_bytes, "Skip that much of a raw file's start")
      ->transform(size_of_at_least(0))
      ->type_name("BYTES");
}

CLI::App* add_reduce(CLI::App& app, reduce_options& options) {
  CLI::App* command = app.add_subcommand(
      "reduce", "Fold the items of each file to one value, the same bits on every executor");
  command->add_option("--op", options.op, "What to compute, by a name below; list: show the names")
      ->capture_default_str();
  command->add_option("--k", options.k, "How many values top_k and its like list")
      ->transform(number_in(1, most_listed))
      ->capture_default_str();
  add_executor_options(*command, options.executor);
  command->add_flag("--check", options.check,
                    "Also compute the result of an operator (sum to bit_xor) another way (CUB on "
                    "the GPU, a serial loop on the host) and print the difference");
  command->add_flag("--json", options.json, "Print one JSON object a line");
  add_source_options(*command, options.source);
  command->add_option("--repeats", options.repeats, "Time the fastest of so many calls")
      ->transform(number_in(1, 1000000000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--checkpoint", options.checkpoint,
                   "Keep what is done in this file every few seconds, and go on from it if it is "
                   "there; one FILE")
      ->type_name("FILE");
  command
      ->add_option("--checkpoint-seconds", options.checkpoint_seconds,
                   "How long between; 0: after every chunk")
      ->transform(number_in(0.0, 1e9))
      ->type_name("S")
      ->capture_default_str();
  command
      ->add_option("--chunk", options.chunk_bytes,
                   "How much is read between two looks at the clock, with these options")
      ->transform(size_of_at_least(1))
      ->type_name("SIZE");
  command
      ->add_option("--slice", options.slice,
                   "Reduce items BEGIN to END alone, as a part of the whole")
      ->type_name("BEGIN:END");
  command->add_option("--part", options.part, "Write what tilefold merge takes to this file")
      ->type_name("FILE");
  command->add_flag("--progress", options.progress,
                    "Show the progress bar of what is read in chunks even if standard error is no "
                    "terminal");
  command->add_option("FILE", options.files, ".npy files, or raw binary with --raw");
  command->footer("Names for --op:\n" + op_list());
  return command;
}

CLI::App* add_merge(CLI::App& app, merge_options& options) {
  CLI::App* command = app.add_subcommand(
      "merge", "Put parts together that `reduce --part` made: the bits of one reduction");
  command->add_flag("--json", options.json, "Print one JSON object");
  command->add_option("--part", options.part, "Write the merged part to this file")
      ->type_name("FILE");
  command->add_option("FILE", options.files, "Parts, in any order");
  return command;
}

CLI::App* add_stats(CLI::App& app, stats_options& options) {
  CLI::App* command = app.add_subcommand(
      "stats",
      "Count, NaN, sum, mean, standard deviation, extremes with their places, and norms of each "
      "file, in one pass");
  command->add_flag("--json", options.json, "Print one JSON object a line");
  command->add_flag("--histogram", options.histogram,
                    "Draw one, which takes a second pass over the items");
  command->add_option("--bins", options.bins, "How many bins it has; implies --histogram")
      ->transform(number_in(1, 1000))
      ->type_name("N");
  command->add_flag("--ascii", options.ascii, "Draw with '#' even where UTF-8 is written");
  command->add_option("--jobs", options.jobs, "Files that are read at a time")
      ->transform(number_in(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--progress", options.progress,
                    "Show the progress bar even if standard error is no terminal");
  add_executor_options(*command, options.executor);
  add_source_options(*command, options.source);
  command
      ->add_option("FILE", options.files,
                   ".npy files, directories of them, or raw binary with --raw")
      ->required();
  command->footer(
      "NaN are counted as missing and left out of all else. Sums of integers are exact; all other\n"
      "sums, mean, sd (of a sample: n - 1), l1 and l2 are computed in double. Places count from 0\n"
      "in C order, of equal values the first counts.");
  return command;
}

CLI::App* add_generate(CLI::App& app, generate_options& options) {
  CLI::App* command = app.add_subcommand(
      "generate", "Write a .npy file of pseudo-random items of mixed magnitudes and signs");
  command->add_option("--dtype", options.type, "Element type")->capture_default_str();
  command->add_option("--bytes", options.bytes, "Size of all items together, such as 1GiB")
      ->transform(size_of_at_least(0))
      ->type_name("SIZE")
      ->required();
  command->add_option("--seed", options.seed, "Same seed, same file")
      ->transform(number_in<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command->add_option("FILE", options.file, "The file to write or replace")->required();
  return command;
}

CLI::App* add_tune(CLI::App& app, tune_options& options) {
  CLI::App* command = app.add_subcommand(
      "tune",
      "Measure tile policies on this GPU; they decide speed and leave the bits as they are");
  command->add_option("--type", options.types, "Item types: " + tunable_types())
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--op", options.ops, "Operators: " + tunable_ops())
      ->delimiter(',')
      ->capture_default_str();
  command->add_flag("--quick", options.quick, "Fewer and smaller sizes");
  command
      ->add_option("--out", options.out,
                   "Write a header with the fastest policy of each, for tilefold::with_policy")
      ->type_name("FILE");
  return command;
}

int fail(const std::string& what) {
  std::cout.flush();
  std::cerr << "tilefold: " << one_line(what) << '\n';
  return exit_bad_input;
}

int run(int argc, char** argv) {
  CLI::App app("Reductions in one fold order: the same bits on every CPU and GPU.", "tilefold");
  reduce_options reduce;
  stats_options stats;
  merge_options merge;
  generate_options generate;
  tune_options tune;
  app.set_version_flag("--version", version());
  app.require_subcommand(0, 1);  // none is complained of below, after any stray word
  app.footer(footer);
  CLI::App* const reduce_command = add_reduce(app, reduce);
  CLI::App* const merge_command = add_merge(app, merge);
  CLI::App* const stats_command = add_stats(app, stats);
  CLI::App* const generate_command = add_generate(app, generate);
  CLI::App* const tune_command = add_tune(app, tune);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return fail(printable(error.what()) + " (see tilefold --help)");
  }
  if (reduce_command->parsed()) return run_reduce(reduce);
  if (merge_command->parsed()) return run_merge(merge);
  if (stats_command->parsed()) return run_stats(stats);
  if (generate_command->parsed()) return run_generate(generate);
  if (tune_command->parsed()) return run_tune(tune);
  return fail(
      "say what to do: tilefold reduce, merge, stats, generate or tune (see tilefold --help)");
}

}  // namespace

int main(int argc, char** argv) {
  // A limit of the size of files is an error of write() like a full disk, and is said as one.
  std::signal(SIGXFSZ, SIG_IGN);
  // A file that is opened must not get the number of a stream that is closed: it would take what is
  // printed. Printing to it fails instead.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return exit_bad_input;
  }
  int exit_code;
  try {
    exit_code = run(argc, argv);
  } catch (const std::exception& error) {
    return fail(message_of(error));
  }
  std::cout.flush();
  if (!std::cout) return fail("cannot write to standard output");
  return exit_code;
}
