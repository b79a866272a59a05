// SPDX-License-Identifier: Apache-2.0
//
// Parts of reductions as the tool's users make them: sliced, merged, killed and gone on with, they
// give the bits of one reduction. GPUs are hidden.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "npy_writer.hpp"
#include "run_tool.hpp"
#include "support/items.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

json run_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin() + 1, "--json");
  const outcome result = tool()(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(result.out);
}

std::string complaint(const std::vector<std::string>& arguments) {
  const outcome result = tool()(arguments);
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  return result.err;
}

void expect_in(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(parts, any_slices_in_any_order_merge_to_the_whole) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  const std::int64_t n = 10007;
  const std::string f32 =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, n)));
  const std::string i8 =
      files.file("i.npy", npy_file("|i1", make_items<std::int8_t>(pattern::mixed, n)));
  for (const char* op : {"sum", "max", "arg_min", "mean_variance", "top_k", "first", "last",
                         "logsumexp", "exact_sum", "exact_l2"}) {
    for (const std::string& file : {f32, i8}) {
      const json whole = run_json({"reduce", "--op", op, "--on", "host", file});
      std::vector<std::int64_t> cuts{0, n};
      for (int i = 0; i < 4; ++i) cuts.push_back(bits.below(n + 1));
      std::sort(cuts.begin(), cuts.end());
      std::vector<std::string> merge{"merge"};
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const std::string part = files.path("part" + std::to_string(i));
        const json made = run_json({"reduce", "--op", op, "--slice",
                                    std::to_string(cuts[i]) + ":" + std::to_string(cuts[i + 1]),
                                    "--chunk", std::to_string(1 + bits.below(9000)), "--part", part,
                                    "--threads", i % 2 == 0 ? "1" : "2", file});
        EXPECT_EQ(made["begin"], cuts[i]);
        EXPECT_EQ(made["end"], cuts[i + 1]);
        EXPECT_EQ(made.contains("value"), cuts[i] == 0 && cuts[i + 1] > 0);
        merge.push_back(part);
      }
      std::rotate(merge.begin() + 1, merge.begin() + 2, merge.end());
      // Two steps: of some a part is made again.
      const json merged = run_json(merge);
      EXPECT_EQ(merged["bits"], whole["bits"]) << op;
      EXPECT_EQ(merged["end"], n);
    }
  }
}

TEST(parts, a_merged_part_is_a_part) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f8", make_items<double>(pattern::mixed, 1000)));
  const auto slice = [&](const std::string& range, const std::string& name) {
    run_json({"reduce", "--slice", range, "--part", files.path(name), file});
    return files.path(name);
  };
  const std::string a = slice(":300", "a"), b = slice("300:301", "b"), c = slice("301:", "c");
  const json bc = run_json({"merge", "--part", files.path("bc"), c, b});
  EXPECT_FALSE(bc.contains("value"));
  EXPECT_EQ(run_json({"merge", a, files.path("bc")})["bits"], run_json({"reduce", file})["bits"]);
  const outcome text = tool()({"merge", a, b});
  EXPECT_EQ(text.exit_code, 0);
  expect_in(text.out, "items 0 to 301 of 1000");
  expect_in(text.out, "of a part of the items only");
}

TEST(parts, what_does_not_fit_is_refused) {
  const scratch files;
  const auto items = make_items<float>(pattern::mixed, 100);
  const std::string file = files.file("f.npy", npy_file("<f4", items));
  const std::string longer =
      files.file("l.npy", npy_file("<f4", make_items<float>(pattern::mixed, 101)));
  const auto part = [&](const std::string& op, const std::string& range, const std::string& of,
                        const std::string& name) {
    run_json({"reduce", "--op", op, "--slice", range, "--part", files.path(name), of});
    return files.path(name);
  };
  const std::string a = part("sum", "0:40", file, "a"), b = part("sum", "50:", file, "b");
  expect_in(complaint({"merge", a, b}), "ends at item 40");
  expect_in(complaint({"merge", b, a}), "begins at item 50");
  expect_in(complaint({"merge", a, part("max", "40:", file, "m")}), "max of 100 items of float32");
  expect_in(complaint({"merge", a, part("sum", "40:", longer, "o")}), "101 items");
  expect_in(complaint({"merge", file}), "no part");
  expect_in(complaint({"merge"}), "FILE is missing");
  std::string bytes = files.contents("a");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  expect_in(complaint({"merge", files.file("altered", bytes)}), "altered");
  expect_in(complaint({"merge", files.file("short", bytes.substr(0, 30))}),
            "altered, or some are missing");
  expect_in(complaint({"reduce", "--slice", "5:3", "--part", files.path("x"), file}), "5:3");
  expect_in(complaint({"reduce", "--slice", "0:101", "--part", files.path("x"), file}), "0 to 100");
  expect_in(complaint({"reduce", "--slice", "abc", "--part", files.path("x"), file}), "BEGIN:END");
  expect_in(complaint({"reduce", "--slice", "0:1", file}), "--part FILE");
  expect_in(complaint({"reduce", "--on", "cuda", "--part", files.path("x"), file}), "--on cuda: ");
  expect_in(complaint({"reduce", "--part", files.path("x"), file, longer}), "one file at a time");
  EXPECT_FALSE(std::filesystem::exists(files.path("x")));
  // What is written takes the place of nothing that is read or written besides.
  const std::string before = files.contents("f.npy");
  std::filesystem::create_symlink(file, files.path("link"));
  expect_in(complaint({"reduce", "--part", file, file}), "one file");
  expect_in(complaint({"reduce", "--part", files.path("link"), file}), "one file");
  expect_in(complaint({"reduce", "--checkpoint", file, file}), "one file");
  expect_in(complaint({"reduce", "--part", files.path("x"), "--checkpoint", files.path("x"), file}),
            "one file");
  expect_in(
      complaint({"reduce", "--part", files.path("x"), "--checkpoint", files.path("x.new"), file}),
      "one file");
  EXPECT_FALSE(std::filesystem::exists(files.path("x")));
  EXPECT_EQ(files.contents("f.npy"), before);
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

// Waits until `pid` has written a checkpoint since this was made, or has ended.
class next_checkpoint {
 public:
  explicit next_checkpoint(std::string path) : path_(std::move(path)), before_(written()) {}

  void await(pid_t pid) const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (written() == before_ && !has_ended(pid)) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "no checkpoint within 30 s";
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

 private:
  // Each checkpoint is a new file: an inode may come back, its time does not.
  std::pair<ino_t, std::int64_t> written() const {
    struct stat status{};
    if (stat(path_.c_str(), &status) != 0) return {};
    return {status.st_ino, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
  }

  std::string path_;
  std::pair<ino_t, std::int64_t> before_;
};

// Runs the tool to its end, after six runs that are killed at a random time after a checkpoint of
// theirs.
outcome run_and_kill(shape_stream& bits, const std::string& checkpoint,
                     const std::vector<std::string>& arguments, const std::string& part = {}) {
  for (int kills = 0;; ++kills) {
    tool program;
    const next_checkpoint next(checkpoint);
    const pid_t pid = program.start(arguments);
    if (kills < 6) {
      next.await(pid);
      std::this_thread::sleep_for(std::chrono::microseconds(bits.below(5000)));
      kill(pid, SIGKILL);
    }
    const outcome result = program.finish(pid);
    if (result.exit_code == -SIGKILL) continue;
    // Killed while it wrote its part: the message says to remove that.
    if (result.exit_code == 2 && !part.empty() && std::filesystem::remove(part + ".new")) continue;
    EXPECT_EQ(result.exit_code, 0) << result.err << " after " << kills << " kills";
    return result;
  }
}

// Neither the checkpoint nor a file whose name begins with its name.
void expect_no_checkpoint(const std::string& checkpoint) {
  const std::filesystem::path path(checkpoint);
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(path.filename().string()))
        << entry.path();
  }
}

TEST(parts, killed_and_gone_on_with) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 1000003)));
  const std::string expected = run_json({"reduce", "--op", "sum", "--on", "host", file})["bits"];
  const std::string checkpoint = files.path("check");
  int went_on = 0;
  for (int round = 0; round < 8; ++round) {
    const outcome result =
        run_and_kill(bits, checkpoint,
                     {"reduce", "--json", "--op", "sum", "--checkpoint", checkpoint,
                      "--checkpoint-seconds", "0", "--chunk", "16384", file});
    const json report = json::parse(result.out);
    EXPECT_EQ(report["bits"], expected);
    if (!report["notes"].empty()) ++went_on;
    expect_no_checkpoint(checkpoint);
  }
  EXPECT_GT(went_on, 0);
}

TEST(parts, slices_killed_and_gone_on_with) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  const std::int64_t n = 1000003;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, n)));
  const std::string checkpoint = files.path("check");
  int went_on = 0;
  for (const char* op : {"sum", "arg_min", "mean_variance"}) {
    const json whole = run_json({"reduce", "--op", op, "--on", "host", file});
    const std::int64_t cut = n / 3 + bits.below(n / 3);
    std::vector<std::string> merge{"merge"};
    for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, n}}) {
      const std::string part = files.path("part" + std::to_string(begin));
      const outcome result = run_and_kill(
          bits, checkpoint,
          {"reduce", "--progress", "--op", op, "--slice",
           std::to_string(begin) + ":" + std::to_string(end), "--part", part, "--checkpoint",
           checkpoint, "--checkpoint-seconds", "0", "--chunk", "16384", file},
          part);
      // The bar's first percentage is that of what was done before, and a chunk. There is no bar if
      // nothing was left to read: the run before had been killed after its last checkpoint.
      const std::size_t percent = result.err.find("] ");
      if (percent == std::string::npos) {
        EXPECT_EQ(result.err, "");
      } else if (std::stoi(result.err.substr(percent + 2)) > 5) {
        ++went_on;
      }
      expect_no_checkpoint(checkpoint);
      merge.push_back(part);
    }
    EXPECT_EQ(run_json(merge)["bits"], whole["bits"]) << op << ", cut at " << cut;
  }
  EXPECT_GT(went_on, 0);
}

TEST(parts, the_bar_is_shown_if_asked_for) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 100000)));
  const std::vector<std::string> arguments{"reduce",  "--part", files.path("part"),
                                           "--chunk", "4096",   file};
  const outcome silent = tool()(arguments);
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_EQ(silent.err, "");
  auto asked = arguments;
  asked.insert(asked.begin() + 1, "--progress");
  const outcome shown = tool()(asked);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.err.find("\rreducing " + file + " ["), 0u) << shown.err;
  expect_in(shown.err, "GB/s, ");
}

// Nothing but what a run has made itself is written over, wherever it lies.
TEST(parts, what_lies_beside_a_part_is_left_alone) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 1000)));
  const std::string victim = files.file("victim", "precious");
  std::filesystem::create_symlink(victim, files.path("a.part.new"));
  expect_in(complaint({"reduce", "--part", files.path("a.part"), file}), "is there already");
  EXPECT_EQ(files.contents("victim"), "precious");
  files.file("b.part.new", "of another run");
  expect_in(complaint({"reduce", "--part", files.path("b.part"), file}), "is there already");
  EXPECT_EQ(files.contents("b.part.new"), "of another run");
  EXPECT_FALSE(std::filesystem::exists(files.path("b.part")));
  std::filesystem::create_symlink(victim, files.path("g.npy.part"));
  expect_in(complaint({"generate", "--bytes", "80", files.path("g.npy")}), "is there already");
  EXPECT_EQ(files.contents("victim"), "precious");
  // Likewise a checkpoint, whose input lies where its lock would.
  const std::string other = files.file("d.lock", files.contents("f.npy"));
  expect_in(complaint({"reduce", "--checkpoint", files.path("d"), other}), "one file");
  expect_in(complaint({"reduce", "--checkpoint", files.path("d"), file}), "no lock of tilefold's");
  std::filesystem::create_symlink(victim, files.path("e.lock"));
  expect_in(complaint({"reduce", "--checkpoint", files.path("e"), file}), "cannot create");
  EXPECT_EQ(files.contents("victim"), "precious");
  EXPECT_EQ(files.contents("d.lock"), files.contents("f.npy"));
}

TEST(parts, a_checkpoint_is_of_one_run_at_a_time) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 1000)));
  const std::string checkpoint = files.path("check");
  const std::vector<std::string> arguments{
      "reduce",  "--op", "sum", "--checkpoint", checkpoint, "--checkpoint-seconds", "0",
      "--chunk", "64",   file};
  const int lock = open((checkpoint + ".lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  expect_in(complaint(arguments), "another run of tilefold uses it");
  // A run that was killed leaves both files, but no lock.
  struct stat status{};
  ASSERT_EQ(fstat(lock, &status), 0);
  close(lock);
  files.file("check." + std::to_string(status.st_ino) + ".new", "half a part");
  run_json(arguments);
  expect_no_checkpoint(checkpoint);
}

// What a user keeps beside an empty file of the lock's name is no killed run's: a whole part, the
// beginning of one, an empty file, the input, a link.
TEST(parts, a_lock_that_was_left_behind_gives_no_right_to_what_lies_beside_it) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 1000)));
  run_json({"reduce", "--slice", "0:40", "--part", files.path("part"), file});
  const std::string part = files.contents("part");
  const std::string expected = run_json({"reduce", file})["bits"];
  const auto reduce = [&](const std::string& input) {
    files.file("keep.lock", "");
    const json report = run_json({"reduce", "--checkpoint", files.path("keep"),
                                  "--checkpoint-seconds", "0", "--chunk", "64", input});
    EXPECT_EQ(report["bits"], expected);
    EXPECT_FALSE(std::filesystem::exists(files.path("keep")));
    EXPECT_FALSE(std::filesystem::exists(files.path("keep.lock")));
  };
  for (const std::string& kept : {part, part.substr(0, 60), std::string("TFPT"), std::string(),
                                  std::string("precious"), files.contents("f.npy")}) {
    const std::string path = files.file("keep.new", kept);
    reduce(file);
    ASSERT_TRUE(std::filesystem::exists(path)) << kept.size();
    EXPECT_EQ(files.contents("keep.new"), kept);
  }
  reduce(files.path("keep.new"));  // which holds the items
  EXPECT_EQ(files.contents("keep.new"), files.contents("f.npy"));
  std::filesystem::remove(files.path("keep.new"));
  std::filesystem::create_symlink(files.path("part"), files.path("keep.new"));
  reduce(file);
  EXPECT_TRUE(std::filesystem::is_symlink(files.path("keep.new")));
  EXPECT_EQ(files.contents("part"), part);
}

TEST(parts, a_merged_part_takes_the_place_of_no_part) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 100)));
  run_json({"reduce", "--slice", ":40", "--part", files.path("a"), file});
  run_json({"reduce", "--slice", "40:", "--part", files.path("b"), file});
  const std::string before = files.contents("a");
  expect_in(complaint({"merge", files.path("a"), files.path("b"), "--part", files.path("a")}),
            "one file");
  EXPECT_EQ(files.contents("a"), before);
}

TEST(parts, of_nothing_have_the_bits_of_nothing) {
  const scratch files;
  const std::string file = files.file("e.npy", npy_file("<f4", std::vector<float>{}));
  EXPECT_EQ(run_json({"reduce", "--checkpoint", files.path("check"), file})["bits"],
            run_json({"reduce", file})["bits"]);
}

// Runs the tool and kills it when it has written a checkpoint, until a run was killed before its
// end.
void run_until_there_is(const std::string& checkpoint, const std::vector<std::string>& arguments) {
  for (int runs = 0; !std::filesystem::exists(checkpoint); ++runs) {
    ASSERT_LT(runs, 100) << "no run was killed between its first checkpoint and its end";
    tool program;
    const next_checkpoint next(checkpoint);
    const pid_t pid = program.start(arguments);
    next.await(pid);
    kill(pid, SIGKILL);
    program.finish(pid);
  }
}

TEST(parts, a_checkpoint_of_something_else_is_refused) {
  const scratch files;
  const std::string file =
      files.file("f.npy", npy_file("<f4", make_items<float>(pattern::mixed, 2000003)));
  const std::string checkpoint = files.path("check");
  const auto arguments = [&](const std::string& op) {
    return std::vector<std::string>{
        "reduce",  "--op", op,  "--checkpoint", checkpoint, "--checkpoint-seconds", "0",
        "--chunk", "4096", file};
  };
  ASSERT_NO_FATAL_FAILURE(run_until_there_is(checkpoint, arguments("sum")));
  expect_in(complaint(arguments("max")), "of another reduction");
  expect_in(complaint({"merge", checkpoint}), "is a checkpoint");
  // A file of the same size and time in its place.
  const auto time = std::filesystem::last_write_time(file);
  std::filesystem::rename(file, files.path("first.npy"));
  std::filesystem::copy_file(files.path("first.npy"), file);
  std::filesystem::last_write_time(file, time);
  expect_in(complaint(arguments("sum")), "changed since");
  std::filesystem::rename(files.path("first.npy"), file);
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(2));
  expect_in(complaint(arguments("sum")), "changed since");
}

// The same bytes are other numbers from the other end.
TEST(parts, a_checkpoint_of_the_other_byte_order_is_refused) {
  const scratch files;
  const auto items = make_items<float>(pattern::mixed, 2000003);
  const std::string file = files.file(
      "f.bin", std::string(reinterpret_cast<const char*>(items.data()), items.size() * 4));
  const std::string checkpoint = files.path("check");
  const auto arguments = [&](const std::string& type) {
    return std::vector<std::string>{"reduce", "--op",         "sum",      "--raw",
                                    type,     "--checkpoint", checkpoint, "--checkpoint-seconds",
                                    "0",      "--chunk",      "4096",     file};
  };
  ASSERT_NO_FATAL_FAILURE(run_until_there_is(checkpoint, arguments("<f4")));
  expect_in(complaint(arguments(">f4")), "of another reduction");
}

}  // namespace
}  // namespace tilefold::test
