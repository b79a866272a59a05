// SPDX-License-Identifier: Apache-2.0
//
// The progress bar: what it says of work that an earlier run has begun, and where it is shown.
#include "progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilefold::tool {
namespace {

constexpr std::int64_t kB = 1000;

TEST(progress, a_bar_of_work) {
  EXPECT_EQ(bar_of({400 * kB, 100 * kB, 0, 0.5}),
            "[#######.....................]  25% 0.0002 GB/s, 1.50 s left");
}

// 300 kB of 400 were there. This run has done 50 of the 100 that are its own, in half a second.
TEST(progress, what_an_earlier_run_did_took_no_time) {
  EXPECT_EQ(bar_of({400 * kB, 350 * kB, 300 * kB, 0.5}),
            "[########################....]  88% 0.0001 GB/s, 500 ms left");
  EXPECT_EQ(bar_of({400 * kB, 300 * kB, 300 * kB, 0.5}),
            "[#####################.......]  75% 0 GB/s, 0 ns left");
}

TEST(progress, nothing_to_do_is_done) {
  EXPECT_EQ(bar_of({0, 0, 0, 0.5}), "[############################] 100% 0 GB/s, 0 ns left");
}

TEST(progress, is_drawn_at_once_if_always_shown) {
  testing::internal::CaptureStderr();
  {
    progress bar("reducing", "a\nfile", 400, progress::shown::always, 300);
    bar.advance_to(350);
  }
  const std::string drawn = testing::internal::GetCapturedStderr();
  EXPECT_EQ(drawn.find("\rreducing a\\x0afile [########################....]  88% "), 0u) << drawn;
  EXPECT_EQ(drawn.substr(drawn.size() - 4), "\r\033[K");
}

TEST(progress, is_for_terminals) {
  testing::internal::CaptureStderr();
  {
    progress bar("reducing", "file", 400);
    bar.advance_to(350);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tilefold::tool
