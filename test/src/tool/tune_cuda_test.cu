// SPDX-License-Identifier: Apache-2.0
//
// tilefold tune on a GPU: every policy of its table gives the bits of the default and of the host,
// and a run of the tool writes the header that it promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

#include "run_tool.hpp"
#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"
#include "tune_candidates.cuh"
#include "tuning.hpp"

namespace tilefold::tool {
namespace {

using test::gpu_array;
using test::make_items;
using test::must;
using test::name_of;
using test::outcome;
using test::pattern;
using test::scratch;
using test::seed;

/// The bytes that a policy leaves for n items.
std::vector<unsigned char> folded(const candidate& c, cuda_executor& executor, const void* items,
                                  std::int64_t n, std::size_t bytes) {
  const gpu_array<unsigned char> out(256);
  must(cudaMemset(out.data(), 0xff, 256));
  c.enqueue(executor, items, n, out.data());
  executor.synchronize();
  auto got = out.to_host();
  got.resize(bytes);
  return got;
}

template <class Item, class Op>
void expect_same_bits(dtype type, op_kind op, Op functor, pattern p) {
  SCOPED_TRACE(std::string(row_of(type).name) + " " + std::string(row_of(op).name) + ", " +
               name_of(p));
  const candidates tried = candidates_for(type, op);
  ASSERT_EQ(tried.policies.size(), 12u);
  ASSERT_EQ(std::count_if(tried.policies.begin(), tried.policies.end(),
                          [](const auto& c) { return c.is_default; }),
            1);
  const std::int64_t most = 2'000'003;
  const std::vector<Item> items = make_items<Item>(p, most, seed());
  const gpu_array<Item> on_gpu(items);
  cuda_executor executor;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{4095},
                               std::int64_t{65537}, std::int64_t{1 << 20}, most - 1}) {
    // From the second item on, so that the loads are shifted ones too.
    for (const std::int64_t first : {0, 1}) {
      const auto* const begin = items.data() + first;
      const auto value = reduce(host_executor(), begin, begin + n, functor);
      ASSERT_EQ(sizeof value, tried.accumulator_bytes);
      for (const candidate& c : tried.policies) {
        const auto got = folded(c, executor, on_gpu.data() + first, n, sizeof value);
        ASSERT_EQ(std::memcmp(got.data(), &value, sizeof value), 0)
            << n << " items from item " << first << ", policy {" << c.policy.nt << ", "
            << c.policy.vt << "}";
      }
    }
  }
}

template <class Item>
void expect_same_bits(dtype type) {
  for (const pattern p : {pattern::mixed, pattern::many_nans}) {
    expect_same_bits<Item>(type, op_kind::sum, plus{}, p);
    expect_same_bits<Item>(type, op_kind::minimum, minimum{}, p);
  }
}

TEST(tune_cuda, every_policy_gives_the_bits_of_the_default_float32) {
  expect_same_bits<float>(dtype::float32);
}
TEST(tune_cuda, every_policy_gives_the_bits_of_the_default_float64) {
  expect_same_bits<double>(dtype::float64);
}
TEST(tune_cuda, every_policy_gives_the_bits_of_the_default_float16) {
  expect_same_bits<half>(dtype::float16);
}
TEST(tune_cuda, every_policy_gives_the_bits_of_the_default_int8) {
  expect_same_bits<std::int8_t>(dtype::int8);
}
TEST(tune_cuda, every_policy_gives_the_bits_of_the_default_int32) {
  expect_same_bits<std::int32_t>(dtype::int32);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(tune_cuda, a_quick_run_prints_tables_and_writes_a_header) {
  const scratch files;
  const std::string path = files.path("tuned.hpp");
  const outcome result = test::tool(test::tool::gpus::visible)(
      {"tune", "--quick", "--type", "float32,float64,float16,int8,int32", "--op", "sum,min",
       "--out", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(occurrences(result.out, "  best"), 10u) << result.out;
  EXPECT_EQ(occurrences(result.out, "  default\n"), 10u) << result.out;
  EXPECT_EQ(occurrences(result.out, "OTHER BITS"), 0u) << result.out;
  EXPECT_EQ(occurrences(result.out, "wrote " + path), 1u) << result.out;
  const std::string header = files.contents("tuned.hpp");
  for (const char* type : {"float", "double", "half", "int8", "int32"}) {
    for (const char* op : {"sum", "min"}) {
      const std::string constant =
          std::string("inline constexpr tilefold::tile_policy tuned_") + type + "_" + op + "{";
      EXPECT_EQ(occurrences(header, constant), 1u) << header;
    }
  }
}

// With all sizes, where the workspace has to grow between one size's graphs and the next one's.
TEST(tune_cuda, a_full_run_has_a_speed_for_every_policy_and_size) {
  const auto tuner = make_cuda_tuner();
  const tuning measured = tuner->measure(dtype::float32, op_kind::sum, false);
  ASSERT_GE(measured.bytes.size(), 3u);
  for (const policy_timing& timing : measured.policies) {
    ASSERT_EQ(timing.seconds.size(), measured.bytes.size());
    for (const double seconds : timing.seconds) EXPECT_GT(seconds, 0);
    EXPECT_TRUE(timing.same_bits);
  }
}

}  // namespace
}  // namespace tilefold::tool
