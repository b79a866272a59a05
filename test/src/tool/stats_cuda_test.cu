// SPDX-License-Identifier: Apache-2.0
//
// The tool's reducers and summaries on a GPU: for every name and element type what the host gives,
// to the bit. Only host code, but it needs a GPU to pass.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "npy_writer.hpp"
#include "run_tool.hpp"
#include "tables.hpp"

namespace tilefold::test {
namespace {

using namespace tilefold::tool;

const test::tool gpu_tool(test::tool::gpus::visible);

std::vector<std::string> generated(const scratch& files) {
  std::vector<std::string> paths;
  for (const char* dtype : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                            "uint64", "float16", "float32", "float64"}) {
    for (const std::string bytes : {"8", "48kib"}) {
      paths.push_back(files.path(dtype + ("_" + bytes) + ".npy"));
      const outcome made = gpu_tool({"generate", "--dtype", dtype, "--bytes", bytes, paths.back()});
      EXPECT_EQ(made.exit_code, 0) << made.err;
    }
  }
  const double nan = std::nan("");
  std::vector<double> gaps(5000, nan);
  for (std::size_t i = 7; i < gaps.size(); i += 11) gaps[i] = std::sin(static_cast<double>(i));
  paths.push_back(files.file("gaps.npy", npy_file("<f8", gaps)));
  paths.push_back(files.file("none.npy", npy_file("<f8", std::vector<double>(3000, nan))));
  gaps.assign(3000, 1);
  gaps[1234] = HUGE_VAL;
  gaps[77] = -0.0;
  paths.push_back(files.file("infinite.npy", npy_file("<f8", gaps)));
  return paths;
}

outcome run_on(const std::string& executor, std::vector<std::string> words,
               const std::vector<std::string>& files) {
  words.insert(words.end(), {"--json", "--on", executor});
  words.insert(words.end(), files.begin(), files.end());
  return gpu_tool(words);
}

TEST(tool_cuda_reducers, have_the_bits_of_the_host) {
  const scratch files;
  const auto paths = generated(files);
  for (const op_row& op : op_rows) {
    if (op.is_operator || runs_on_host_only(op.id)) continue;
    const std::vector<std::string> words{"reduce", "--repeats", "1", "--op", std::string(op.name)};
    const outcome host = run_on("host", words, paths), gpu = run_on("cuda", words, paths);
    EXPECT_EQ(gpu.err, host.err) << op.name;
    const auto host_lines = lines_of(host.out), gpu_lines = lines_of(gpu.out);
    ASSERT_EQ(gpu_lines.size(), host_lines.size()) << op.name;
    ASSERT_GE(gpu_lines.size(), 9u) << op.name;
    for (std::size_t i = 0; i < gpu_lines.size(); ++i) {
      const json on_host = json::parse(host_lines[i]), on_gpu = json::parse(gpu_lines[i]);
      EXPECT_EQ(on_gpu["bits"], on_host["bits"]) << op.name << " of " << on_host["file"];
      EXPECT_EQ(on_gpu["value"], on_host["value"]);
      EXPECT_EQ(on_gpu["clock"], "CUDA events");
    }
  }
}

TEST(tool_cuda_reducers, lists_are_left_to_the_host) {
  const scratch files;
  const std::string file = files.file("a.npy", npy_file("<f4", std::vector<float>{1, 3, 2}));
  const outcome refused = gpu_tool({"reduce", "--op", "top_k", "--on", "cuda", file});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("runs on the host only"), std::string::npos) << refused.err;
  EXPECT_EQ(gpu_tool({"reduce", "--op", "top_k", file}).exit_code, 0);
}

TEST(tool_cuda_stats, are_those_of_the_host) {
  const scratch files;
  auto paths = generated(files);
  paths.push_back(files.path("pieces.npy"));  // three pieces and a bit
  gpu_tool({"generate", "--dtype", "float32", "--bytes", "50333000", paths.back()});
  paths.push_back(files.file("e.npy", npy_preamble(npy_dict("<i4", "(0, 4)"))));
  const outcome host = run_on("host", {"stats"}, paths);
  EXPECT_EQ(host.exit_code, 0) << host.err;
  for (const char* jobs : {"1", "4"}) {
    const outcome gpu = run_on("cuda", {"stats", "--jobs", jobs}, paths);
    EXPECT_EQ(gpu.exit_code, 0) << gpu.err;
    EXPECT_EQ(gpu.out, host.out);
  }
}

}  // namespace
}  // namespace tilefold::test
