// SPDX-License-Identifier: Apache-2.0
//
// tilefold stats: what there is to say about each file in one pass over it; several files at a
// time, reported in the order given.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "command_parts.hpp"
#include "commands.hpp"
#include "file_list.hpp"
#include "histogram.hpp"
#include "input_error.hpp"
#include "progress.hpp"
#include "stats_report.hpp"
#include "terminal.hpp"

namespace tilefold::tool {

namespace {

constexpr int usual_bins = 20;

struct outcome {
  std::string report;
  std::optional<std::string> failure;
};

std::int64_t bytes_of(const std::vector<listed_file>& files) {
  std::int64_t bytes = 0;
  for (const listed_file& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file.path, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::string progress_label(const std::vector<listed_file>& files) {
  return files.size() == 1 ? files.front().path : std::to_string(files.size()) + " files";
}

class statistics {
 public:
  statistics(const stats_options& options, std::vector<listed_file> files)
      : options_(options),
        raw_(find_raw_layout(options.source)),
        backend_(choose_backend(options.executor)),
        host_(options.executor.threads == 0 ? host_executor()
                                            : host_executor(options.executor.threads)),
        drawing_{terminal_columns(), !options.ascii && writes_utf8()},
        files_(std::move(files)),
        outcomes_(files_.size()),
        bar_("reading", progress_label(files_), bytes_of(files_),
             options.progress ? progress::shown::always : progress::shown::to_people) {}

  int run() {
    // Threads of their own, since they wait for disks; the folds share oneTBB's.
    const std::size_t jobs = std::min(static_cast<std::size_t>(options_.jobs), files_.size());
    std::vector<std::future<void>> workers;
    for (std::size_t i = 0; i < jobs; ++i) {
      try {
        workers.push_back(std::async(std::launch::async, [this] { work(); }));
      } catch (const std::system_error&) {
        break;  // no more threads: those that there are do it
      }
    }
    if (workers.empty()) work();
    int exit_code = exit_success;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!print(i)) exit_code = exit_bad_input;
    }
    return exit_code;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < files_.size(); i = next_++) {
      outcome found;
      found.failure = failure_of([&] { found.report = report_on(files_[i]); });
      const std::lock_guard lock(mutex_);
      outcomes_[i] = std::move(found);
      done_.notify_one();
    }
  }

  // Waits for the outcome of file i.
  bool print(std::size_t i) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return outcomes_[i].has_value(); });
    const outcome found = *std::exchange(outcomes_[i], outcome{});
    lock.unlock();
    bar_.wipe();
    if (found.failure) {
      complain(files_[i].path, *found.failure);
    } else {
      std::cout << found.report << std::flush;
    }
    return !found.failure;
  }

  std::string report_on(const listed_file& file) {
    if (!file.trouble.empty()) throw input_error(file.trouble);
    const array input = load_array(file.path, raw_, read_ahead::no);
    if (is_complex(input.type)) {
      throw input_error("statistics are of real numbers, not of " +
                        std::string(row_of(input.type).name));
    }
    const summary_job job{input.type, input.data, input.count,
                          [this](std::int64_t bytes) { bar_.advance_by(bytes); }};
    return while_whole(input.file, [&] {
      const summary found = backend_.runs->summarize(job);
      std::optional<histogram> bins;
      if ((options_.histogram || options_.bins > 0) && found.numbers) {
        const int wanted = options_.bins > 0 ? options_.bins : usual_bins;
        bins = count_bins(host_, job, *found.numbers, wanted);
      }
      const stats_report report{file.path, input, found, bins};
      return options_.json ? stats_json(report) : stats_text(report, drawing_);
    });
  }

  const stats_options& options_;
  std::optional<raw_layout> raw_;
  chosen_backend backend_;
  host_executor host_;
  drawing drawing_;
  std::vector<listed_file> files_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<outcome>> outcomes_;
  progress bar_;
};

}  // namespace

int run_stats(const stats_options& options) {
  return statistics(options, list_files(options.files, !options.source.raw.empty())).run();
}

}  // namespace tilefold::tool
