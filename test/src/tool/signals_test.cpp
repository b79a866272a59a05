// SPDX-License-Identifier: Apache-2.0
//
// The tool and the signals that a system ends it with: whatever comes, the next run gives the bits
// of one run, and nothing is left beside. (SIGKILL: parts_test; SIGBUS: mapped_file_test.) GPUs are
// hidden.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "npy_writer.hpp"
#include "part_file.hpp"
#include "run_tool.hpp"
#include "support/items.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// Runs the tool where no file may be longer than `bytes`.
outcome run_with_file_limit(rlim_t bytes, const std::vector<std::string>& arguments) {
  rlimit before{};
  EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = bytes;
  const tool program;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const pid_t pid = program.start(arguments);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  return program.finish(pid);
}

TEST(signals, a_limit_of_the_size_of_files_is_an_error_that_leaves_nothing) {
  const scratch files;
  const std::string input =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 100000)));
  const std::string output = files.path("output");
  const std::vector<std::string> top_k{"reduce", "--op", "top_k", "--k", "32", "--chunk", "4096"};
  const auto with = [](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"generate", "--bytes", "1MiB", output},
           with(top_k, {"--part", output, input}),
           with(top_k, {"--checkpoint", output, "--checkpoint-seconds", "0", input})}) {
    const outcome result = run_with_file_limit(512, arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments[0] << result.err;
    EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
    EXPECT_EQ(files.num_files(), 1u) << arguments[0];
    const outcome next = tool()(arguments);
    EXPECT_EQ(next.exit_code, 0) << next.err;
    std::filesystem::remove(output);
    EXPECT_EQ(files.num_files(), 1u) << arguments[0];
  }
}

TEST(signals, whatever_ends_a_run_the_next_one_goes_on) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 1000003)));
  const std::string expected =
      json::parse(tool()({"reduce", "--json", "--on", "host", file}).out)["bits"];
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) {
    for (int kills = 0;; ++kills) {
      const tool program;
      const pid_t pid = program.start({"reduce", "--json", "--checkpoint", files.path("check"),
                                       "--checkpoint-seconds", "0", "--chunk", "16384", file});
      if (kills < 4) {
        std::this_thread::sleep_for(std::chrono::microseconds(2000 + bits.below(20000)));
        kill(pid, signal);
      }
      const outcome result = program.finish(pid);
      if (result.exit_code == -signal) continue;
      EXPECT_EQ(result.exit_code, 0) << result.err << " after signal " << signal;
      EXPECT_EQ(json::parse(result.out)["bits"], expected);
      EXPECT_EQ(files.num_files(), 1u);
      if (kills >= 4) break;
    }
  }
}

// A part of 16 MiB takes its time: the signal comes while it is written.
TEST(signals, a_part_is_written_whole_or_not_at_all) {
  const scratch files;
  const std::string part = files.path("p.part");
  tilefold::tool::part_file what{};
  what.piece.resize(16 << 20);
  int ended = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        try {
          tilefold::tool::write_part(part, what);
        } catch (...) {
          _exit(1);
        }
        _exit(0);
      }
      const auto begins = std::chrono::steady_clock::now();
      while (!std::filesystem::exists(part + tilefold::tool::unfinished_part) &&
             std::chrono::steady_clock::now() - begins < std::chrono::seconds(20)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      kill(child, signal);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ended += WIFSIGNALED(status) ? 1 : 0;
      EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == signal : status == 0);
      EXPECT_FALSE(std::filesystem::exists(part + tilefold::tool::unfinished_part)) << signal;
      if (std::filesystem::exists(part)) {
        EXPECT_GT(std::filesystem::file_size(part), 16u << 20);
        std::filesystem::remove(part);
      }
    }
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace tilefold::test
