// SPDX-License-Identifier: Apache-2.0
//
// Every thread of a fold computes in the default mode, whatever mode the calling thread is in and
// the arena of threads was first used in.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <tilefold/tilefold.hpp>

#include "support/float_mode.hpp"
#include "support/views.hpp"

#if defined(TILEFOLD_TEST_FLOAT_MODES)

namespace tilefold::test {
namespace {

namespace tbb = oneapi::tbb;

constexpr control_bits modes[] = {as_started, as_started | flush_to_zero | denormals_are_zero,
                                  as_started | round_downward, as_started | round_upward,
                                  as_started | round_toward_zero};

// Calls test(executor, name) for an executor with an arena of its own and for one without, each
// used for the first time while the register is at `first`. The second one's arena belongs to the
// calling thread, so each has a thread to itself.
template <class Test>
void after_first_use_in(control_bits first, Test test) {
  const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
  const std::vector<int> items(1 << 20, 1);
  const auto use_and_test = [&](const host_executor& exec, const std::string& name) {
    {
      const float_mode set(first);
      ASSERT_EQ(reduce(exec, items), 1 << 20);
    }
    test(exec, name + ", first used in mode " + std::to_string(first));
  };
  std::thread([&] { use_and_test(host_executor(4), "four threads"); }).join();
  std::thread([&] { use_and_test(host_executor(), "the default executor"); }).join();
}

// Adds integers, and counts the calls in another mode than the default.
struct noting_plus {
  std::atomic<int>* strangers;

  int operator()(int a, int b) const {
    if (control_bits_now() != as_started) ++*strangers;
    return a + b;
  }
};

TEST(HostFloatEnvironment, SubnormalsDoNotGetLostAfterACallThatFlushedThem) {
  const std::vector<float> items(1 << 22, std::numeric_limits<float>::denorm_min());
  after_first_use_in(as_started | flush_to_zero | denormals_are_zero,
                     [&](const host_executor& exec, const std::string& name) {
                       EXPECT_EQ(reduce(exec, items), 0x1p-127f) << name;
                       EXPECT_EQ(reduce(host_executor(1), items), 0x1p-127f) << name;
                     });
}

TEST(HostFloatEnvironment, SumsDoNotGetRoundedAsAnEarlierCallWas) {
  std::vector<float> items(
      1 << 20);  // no two neighbours alike, so that nearly every sum is rounded
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = 1.0f / static_cast<float>(i + 1);
  const float wanted = reduce(host_executor(1), items);
  for (const control_bits first : {round_downward, round_upward, round_toward_zero}) {
    after_first_use_in(as_started | first, [&](const host_executor& exec, const std::string& name) {
      EXPECT_EQ(reduce(exec, items), wanted) << name;
    });
  }
}

// What the verbs do with blocks, short and long trees, runs of keys, and columns.
TEST(HostFloatEnvironment, IsTheDefaultForEveryVerb) {
  constexpr std::int64_t n = std::int64_t{1} << 19;
  const std::vector<int> items(n, 1);
  std::vector<int> short_runs(n), long_runs(n, 3);
  for (std::int64_t i = 0; i < n; ++i)
    short_runs[static_cast<std::size_t>(i)] = static_cast<int>(i / 9);
  std::vector<int> out(n), keys_out(n);
  const std::array<std::int64_t, 4> offsets{0, n / 2, n - 100, n};
  const test_view matrix{items.data(), right_layout({n / 512, 512})};
  const test_view column_sums{out.data(), right_layout({512})};
  const test_view row_sums{out.data(), right_layout({n / 512})};

  for (const control_bits first : modes) {
    after_first_use_in(first, [&](const host_executor& exec, const std::string& name) {
      for (const control_bits mode : modes) {
        const auto every_thread_is_in_mode = [&](const char* verb, auto call) {
          std::atomic<int> strangers{0};
          const float_mode set(mode);
          call(noting_plus{&strangers});
          EXPECT_EQ(control_bits_now(), mode) << verb << " left another mode behind";
          EXPECT_EQ(strangers, 0) << verb << " in mode " << mode << " on " << name;
        };
        every_thread_is_in_mode("reduce",
                                [&](noting_plus op) { EXPECT_EQ(reduce(exec, items, op), n); });
        every_thread_is_in_mode("segmented_reduce", [&](noting_plus op) {
          segmented_reduce(exec, items.begin(), n / 16, 16, out.begin(), 0, op);
        });
        every_thread_is_in_mode("segmented_reduce of long segments", [&](noting_plus op) {
          segmented_reduce(exec, items.begin(), offsets.begin(), 3, out.begin(), 0, op);
        });
        every_thread_is_in_mode("reduce_by_key", [&](noting_plus op) {
          reduce_by_key(exec, short_runs.begin(), short_runs.end(), items.begin(), keys_out.begin(),
                        out.begin(), std::equal_to<>(), op);
        });
        every_thread_is_in_mode("reduce_by_key of a long run", [&](noting_plus op) {
          reduce_by_key(exec, long_runs.begin(), long_runs.end(), items.begin(), keys_out.begin(),
                        out.begin(), std::equal_to<>(), op);
        });
        every_thread_is_in_mode("axis_reduce of columns", [&](noting_plus op) {
          axis_reduce(exec, matrix, column_sums, axes{0}, 0, op);
        });
        every_thread_is_in_mode("axis_reduce of rows", [&](noting_plus op) {
          axis_reduce(exec, matrix, row_sums, axes{1}, 0, op);
        });
      }
    });
  }
}

TEST(HostFloatEnvironment, IsTheCallersAfterAnException) {
  const std::vector<int> items(1 << 20, 1);
  const auto throws = [](int, int) -> int { throw std::runtime_error("an operator's"); };
  after_first_use_in(as_started, [&](const host_executor& exec, const std::string& name) {
    for (const control_bits mode : modes) {
      const float_mode set(mode);
      EXPECT_THROW(reduce(exec, items, throws), std::runtime_error);
      EXPECT_EQ(control_bits_now(), mode) << name;
    }
  });
}

// More callers than the executor's arena has places: what some of them want done others do.
TEST(HostFloatEnvironment, IsTheDefaultWhereSeveralShareAnExecutor) {
  const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
  const std::vector<int> items(1 << 18, 1);
  const host_executor exec(2);
  std::atomic<int> strangers{0};
  std::vector<std::thread> callers;
  for (const control_bits mode : modes) {
    callers.emplace_back([&, mode] {
      const float_mode set(mode);
      for (int i = 0; i < 20; ++i) {
        if (reduce(exec, items, noting_plus{&strangers}) != 1 << 18) ++strangers;
        if (control_bits_now() != mode) ++strangers;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(strangers, 0);
}

}  // namespace
}  // namespace tilefold::test

#endif
