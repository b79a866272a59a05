// SPDX-License-Identifier: Apache-2.0
//
// A chunk is folded while the system reads the file ahead of it. Between chunks the piece so far
// can be kept: as a checkpoint to go on from, or in the end as a part to merge with others.
#include "chunked_reduce.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>
#include <utility>

#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/tree.hpp>

#include "command_parts.hpp"
#include "input_error.hpp"
#include "part_file.hpp"
#include "piece_task.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "run_lock.hpp"

namespace tilefold::tool {

namespace {

struct item_range {
  std::int64_t begin, end;
};

std::int64_t parse_position(const std::string& slice, std::string_view text, std::int64_t empty) {
  if (text.empty()) return empty;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw input_error("--slice " + in_quotes(slice) + ": write BEGIN:END, two positions of items");
  }
  return value;
}

// Which of `count` items a slice names.
item_range find_slice(const std::string& slice, std::int64_t count) {
  if (slice.empty()) return {0, count};
  const std::size_t colon = slice.find(':');
  if (colon == slice.npos) {
    throw input_error("--slice " + in_quotes(slice) + ": write BEGIN:END, two positions of items");
  }
  const std::string_view text = slice;
  const item_range range{parse_position(slice, text.substr(0, colon), 0),
                         parse_position(slice, text.substr(colon + 1), count)};
  if (range.end < range.begin || range.end > count) {
    throw input_error("--slice " + in_quotes(slice) + ": there are items 0 to " +
                      std::to_string(count) + ", and a slice does not end before it begins");
  }
  return range;
}

// Keeps the piece of what is done in a file, every few seconds.
class checkpoint {
 public:
  /// Throws input_error if another run keeps it.
  checkpoint(const reduce_options& options, part_file what)
      : path_(options.checkpoint), seconds_(options.checkpoint_seconds), what_(std::move(what)) {
    if (path_.empty()) return;
    try {
      lock_.emplace(path_ + checkpoint_lock);
    } catch (const input_error& error) {
      throw input_error("checkpoint " + in_quotes(path_) + ": " + error.what());
    }
    // A killed run can have left a file of this name, which nobody else gives to a file.
    suffix_ = "." + lock_->number() + unfinished_part;
    if (lock_->was_left_behind()) unlink((path_ + suffix_).c_str());
  }

  /// The piece to go on from, if an earlier run has left one. Throws input_error if it is of
  /// something else.
  std::optional<std::vector<std::byte>> left_behind() const {
    if (path_.empty() || access(path_.c_str(), F_OK) != 0) return std::nullopt;
    part_file found;
    try {
      found = read_part(path_);
    } catch (const input_error& error) {
      throw input_error("checkpoint " + in_quotes(path_) + ": " + error.what());
    }
    const bool same = found.op == what_.op && found.type == what_.type && found.k == what_.k &&
                      found.total == what_.total && found.begin == what_.begin &&
                      found.end == what_.end && found.source_bytes == what_.source_bytes &&
                      found.source_time_ns == what_.source_time_ns && found.source == what_.source;
    if (!same) {
      throw input_error("checkpoint " + in_quotes(path_) +
                        " is of another reduction, or the file has changed since; remove it to "
                        "begin anew");
    }
    return found.piece;
  }

  template <class Piece>
  void advanced(const Piece& piece) {
    if (path_.empty() || clock::now() - last_ < std::chrono::duration<double>(seconds_)) return;
    what_.piece = piece();
    write_part(path_, what_, suffix_);
    last_ = clock::now();
  }

  void remove() const {
    if (!path_.empty()) unlink(path_.c_str());
  }

 private:
  using clock = std::chrono::steady_clock;

  std::string path_;
  std::optional<run_lock> lock_;
  std::string suffix_;  // of checkpoints that are not whole
  double seconds_;
  part_file what_;
  clock::time_point last_ = clock::now();
};

// Shows how far the task is.
void show_progress(piece_task& task, std::optional<progress>& bar, const std::string& name,
                   std::int64_t item_bytes, const reduce_options& options) {
  const auto shown = options.progress ? progress::shown::always : progress::shown::to_people;
  task.begins = [=, &task, &bar](std::int64_t done) {
    bar.emplace("reducing", name, (task.end - task.begin) * item_bytes, shown, done * item_bytes);
  };
}

struct rank_message {
  std::optional<std::string> failure;
  std::string sees{};  // in the file
  double seconds = 0;
  std::vector<std::byte> piece{};
};

// What every rank says, on all of them. If one of them has failed, all throw input_error.
std::vector<rank_message> tell_all(program_ranks& ranks, const rank_message& own) {
  detail::byte_writer out;
  out.number(own.failure.has_value(), 1);
  out.text(own.failure.value_or(""));
  out.text(own.sees);
  out.number(static_cast<std::uint64_t>(own.seconds * 1e9));
  out.raw(own.piece);
  std::vector<rank_message> all;
  for (const auto& bytes : ranks.gather(out.finish())) {
    detail::byte_reader in(bytes, "what a rank says");
    in.require_checksum();
    const bool failed = in.number(1) != 0;
    const std::string why = in.text();
    if (failed) throw input_error("rank " + std::to_string(all.size()) + ": " + why);
    rank_message said{std::nullopt, in.text(), static_cast<double>(in.number()) * 1e-9};
    const auto piece = in.raw_before_checksum();
    said.piece.assign(piece.begin(), piece.end());
    all.push_back(std::move(said));
  }
  return all;
}

// Throws input_error on all ranks unless each can read the file, and sees the same in it.
void require_one_array(program_ranks& ranks, const std::optional<std::string>& failure,
                       const std::optional<array>& input) {
  rank_message own{failure};
  if (!failure) {
    own.sees = std::to_string(input->count) + " items of " + std::string(row_of(input->type).name);
  }
  const auto said = tell_all(ranks, own);
  for (std::size_t rank = 1; rank < said.size(); ++rank) {
    if (said[rank].sees == said[0].sees) continue;
    throw input_error("rank " + std::to_string(rank) + " sees " + said[rank].sees +
                      ", rank 0 sees " + said[0].sees + ": is it the same file for both?");
  }
}

// Parts of one length, but for their ends, which are those of aligned blocks.
piece_task part_of_rank(const program_ranks& ranks, const array& input, std::int64_t chunk_bytes) {
  constexpr std::int64_t block = 1 << 16;
  const auto begin_of = [&](int rank) {
    const std::int64_t blocks = tree::num_blocks(input.count, block);
    const std::int64_t at = blocks * rank / ranks.size() * block;
    return std::min(at, input.count);
  };
  return {begin_of(ranks.rank()), begin_of(ranks.rank() + 1),
          std::max<std::int64_t>(chunk_bytes / row_of(input.type).bytes, 1)};
}

}  // namespace

bool asks_for_parts(const reduce_options& options) {
  return !options.slice.empty() || !options.part.empty() || !options.checkpoint.empty();
}

bool is_large(const std::string& file, const backend& runs) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0 && status.st_size > runs.most_bytes();
}

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

void reduce_in_chunks(const std::string& file, const reduce_options& options, op_kind op,
                      const std::optional<raw_layout>& raw, backend& runs) {
  array input = load_array(file, raw, read_ahead::no);
  const file_state& before = input.file.state();
  require_fit(op, input);
  const item_range range = find_slice(options.slice, input.count);
  const std::int64_t item_bytes = row_of(input.type).bytes;
  part_file part{op,
                 input.type,
                 options.k,
                 input.count,
                 range.begin,
                 range.end,
                 before.bytes,
                 before.time_ns,
                 "file " + before.number + (input.converted ? " in the other byte order" : "")};
  checkpoint kept(options, part);
  piece_task task{range.begin, range.end,
                  std::max<std::int64_t>(options.chunk_bytes / item_bytes, 1)};
  if (auto piece = kept.left_behind()) {
    task.parts.push_back({std::move(*piece), options.checkpoint});
    input.notes.push_back("went on from checkpoint " + in_quotes(options.checkpoint));
  }
  const fold_result result = while_whole(input.file, [&] {
    std::optional<progress> bar;
    show_progress(task, bar, file, item_bytes, options);
    task.advanced = [&](std::int64_t done, const auto& piece) {
      bar->advance_to(done * item_bytes);
      input.file.require_whole();  // or zeros would get into the checkpoint
      kept.advanced(piece);
    };
    fold_job job{op, input.type, input.data, input.count, 1, false, options.k, file};
    job.pieces = &task;
    return runs.run(job);
  });
  if (!options.part.empty()) {
    part.source_bytes = 0;
    part.source_time_ns = 0;
    part.source.clear();
    part.piece = std::move(task.piece);
    write_part(options.part, part);
  }
  if (options.slice.empty() && options.part.empty()) {
    const reduction_report report{file, input, op, runs.name(), result};
    options.json ? print_json(report) : print_text(report);
  } else {
    const part_report report{
        {file},      options.part, op,          input.type,
        range.begin, range.end,    input.count, task.has_value ? &result : nullptr};
    options.json ? print_json(report) : print_text(report);
  }
  // Only what has been said may be forgotten.
  if (std::cout.flush()) kept.remove();
}

void reduce_on_ranks(const std::string& file, const reduce_options& options, op_kind op,
                     const std::optional<raw_layout>& raw, backend& runs, program_ranks& ranks) {
  std::optional<array> input;
  const auto unreadable = failure_of([&] {
    input.emplace(load_array(file, raw, read_ahead::no));
    require_fit(op, *input);
  });
  require_one_array(ranks, unreadable, input);
  piece_task task = part_of_rank(ranks, *input, options.chunk_bytes);
  double seconds = 0;
  const auto failure = failure_of([&] {
    std::optional<progress> bar;
    const std::int64_t item_bytes = row_of(input->type).bytes;
    if (ranks.rank() == 0) {  // which alone speaks
      const std::string name = file + " by " + std::to_string(ranks.size()) + " ranks, the first";
      show_progress(task, bar, name, item_bytes, options);
      task.advanced = [&](std::int64_t done, const auto&) { bar->advance_to(done * item_bytes); };
    }
    fold_job job{op, input->type, input->data, input->count, 1, false, options.k, file};
    job.pieces = &task;
    seconds = while_whole(input->file, [&] { return runs.run(job).seconds; });
  });
  piece_task whole{0, 0, 1};
  for (rank_message& said : tell_all(ranks, {failure, "", seconds, std::move(task.piece)})) {
    seconds = std::max(seconds, said.seconds);
    whole.parts.push_back({std::move(said.piece)});
  }
  whole.end = input->count;
  fold_job job{op, input->type, input->data, input->count, 1, false, options.k, file};
  job.pieces = &whole;
  fold_result result = runs.run(job);
  result.seconds = seconds;  // of the slowest; to put the parts together takes all but no time
  input->notes.push_back("by " + std::to_string(ranks.size()) + " ranks");
  const reduction_report report{file, *input, op, runs.name(), result};
  options.json ? print_json(report) : print_text(report);
}

}  // namespace tilefold::tool
