// SPDX-License-Identifier: Apache-2.0
//
// tilefold tune as far as it goes without a GPU: which policy is called the fastest, the table, the
// header (which this file includes and uses), and what is refused. tune_cuda_test.cu has the rest.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <tilefold/tilefold.hpp>

#include "run_tool.hpp"
#include "tuned_sample.inc"
#include "tuning.hpp"

namespace tilefold::tool {
namespace {

using test::lines_of;
using test::outcome;
using test::scratch;

// Over the two sizes 256 x 16 takes 1/4 and 1 times as long as the default, 1024 x 16 twice as long
// and half as long.
tuning float_sums() {
  return {dtype::float32,
          op_kind::sum,
          {256 << 10, 64 << 20},
          {{{1024, 16}, false, {8e-6, 10e-6}, true},
           {{512, 16}, true, {4e-6, 20e-6}, true},
           {{256, 16}, false, {1e-6, 20e-6}, true}}};
}

tuning half_minima() {
  return {dtype::float16,
          op_kind::minimum,
          {1 << 30},
          {{{512, 32}, true, {1e-3}, true}, {{128, 64}, false, {1.1e-3}, false}}};
}

std::vector<std::string> table_of(const tuning& measured) {
  std::ostringstream out;
  print_table(out, measured);
  return lines_of(out.str());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(tune, speed_is_the_geometric_mean_over_the_sizes) {
  const tuning measured = float_sums();
  EXPECT_DOUBLE_EQ(speed_against_default(measured, measured.policies[0]), 1);
  EXPECT_DOUBLE_EQ(speed_against_default(measured, measured.policies[1]), 1);
  EXPECT_DOUBLE_EQ(speed_against_default(measured, measured.policies[2]), 2);
  EXPECT_EQ(fastest(measured).policy, (tile_policy{256, 16}));
}

TEST(tune, table_marks_the_fastest_and_the_default) {
  const auto lines = table_of(float_sums());
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "float32 sum, GB/s:");
  EXPECT_EQ(lines[1], "    nt   vt  bytes/thread    256 KiB     64 MiB      speed");
  EXPECT_EQ(lines[2], "  1024   16            64       32.8     6710.9      1.000");
  EXPECT_EQ(lines[3], "   512   16            64       65.5     3355.4      1.000  default");
  EXPECT_EQ(lines[4], "   256   16            64      262.1     3355.4      2.000  best");
}

TEST(tune, table_shows_a_policy_with_other_bits) {
  const auto lines = table_of(half_minima());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(contains(lines[2], "1.000  best  default")) << lines[2];
  EXPECT_TRUE(contains(lines[3], "0.909  OTHER BITS")) << lines[3];
}

TEST(tune, header_is_the_sample) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "tuned_sample.inc";
  std::ifstream file(path);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(
      policy_header({"Some GPU \n 9", "580.159", "2025-01-31"}, {float_sums(), half_minima()}),
      expected);
}

TEST(tune, sample_serves_with_policy) {
  static_assert(tuned_half_min == tile_policy{512, 32});
  const std::vector<float> items{1e8f, 1, -1e8f, 1, 0.1f};
  host_executor executor;
  EXPECT_EQ(reduce(with_policy<tuned_float_sum>(executor), items.begin(), items.end()),
            reduce(executor, items.begin(), items.end()));
}

TEST(tune, constants_are_named_after_type_and_op) {
  EXPECT_EQ(constant_name(dtype::float64, op_kind::minimum), "tuned_double_min");
  EXPECT_EQ(constant_name(dtype::int8, op_kind::sum), "tuned_int8_sum");
}

void expect_complaint(const std::vector<std::string>& arguments, const std::string& message) {
  const outcome result = test::tool()(arguments);
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "") << message;
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  EXPECT_TRUE(contains(result.err, message)) << result.err;
}

TEST(tune, refuses_what_it_has_no_kernels_for) {
  expect_complaint(
      {"tune", "--type", "bfloat16"},
      "cannot tune for type 'bfloat16'; known: int8, int32, float16, float32, float64");
  expect_complaint({"tune", "--type", "float32,float31"}, "'float31'");
  expect_complaint({"tune", "--op", "sum,max"}, "cannot tune for op 'max'; known: sum, min");
  expect_complaint({"tune", "--op", ""}, "cannot tune for op ''");
  expect_complaint({"tune", "elevation.npy"}, "elevation.npy");
}

TEST(tune, refuses_a_file_that_cannot_be_written_before_it_measures) {
  const scratch files;
  expect_complaint({"tune", "--out", files.path("")}, "is a directory");
  expect_complaint({"tune", "--out", files.path("no/such/place.hpp")}, "there is no directory");
}

TEST(tune, without_a_gpu_says_so_and_writes_nothing) {
  const scratch files;
  expect_complaint({"tune"}, "tune needs a GPU: ");
  expect_complaint({"tune", "--quick", "--out", files.path("tuned.hpp")}, "tune needs a GPU: ");
  EXPECT_EQ(files.num_files(), 0u);
}

TEST(tune, help_names_types_and_ops) {
  const outcome help = test::tool()({"tune", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"int8, int32, float16, float32, float64", "sum, min", "--out"}) {
    EXPECT_TRUE(contains(help.out, word)) << word;
  }
}

}  // namespace
}  // namespace tilefold::tool
