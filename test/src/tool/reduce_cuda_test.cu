// SPDX-License-Identifier: Apache-2.0
//
// The tool on a GPU: for every operator and element type the bits that the host gives, and CUB's
// result beside them. Only host code, but it needs a GPU to pass.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "npy_writer.hpp"
#include "run_tool.hpp"

namespace tilefold::test {
namespace {

const tool gpu_tool(tool::gpus::visible);

// One result for each file named.
std::vector<json> reduced(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"reduce", "--json"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const outcome result = gpu_tool(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  std::vector<json> results;
  for (const std::string& line : lines_of(result.out)) results.push_back(json::parse(line));
  return results;
}

// All files in one run each, because every process makes a CUDA context anew.
void expect_same_bits(const std::string& op, const std::vector<std::string>& files) {
  std::vector<std::string> on_host{"--on", "host", "--op", op};
  std::vector<std::string> on_gpu{"--on", "cuda", "--check", "--op", op};
  on_host.insert(on_host.end(), files.begin(), files.end());
  on_gpu.insert(on_gpu.end(), files.begin(), files.end());
  const auto host = reduced(on_host), gpu = reduced(on_gpu);
  ASSERT_EQ(host.size(), files.size());
  ASSERT_EQ(gpu.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(gpu[i]["bits"], host[i]["bits"]) << op << " of " << host[i]["dtype"];
    EXPECT_EQ(gpu[i]["accumulator"], host[i]["accumulator"]);
    EXPECT_EQ(gpu[i]["check"]["method"], "cub::DeviceReduce");
    EXPECT_TRUE(gpu[i]["check"]["equal"] == true || gpu[i]["check"]["exact"] == false) << gpu[i];
  }
}

std::vector<std::string> generated(const scratch& files, const std::vector<std::string>& dtypes) {
  std::vector<std::string> paths;
  for (const std::string& dtype : dtypes) {
    for (const std::string bytes : {"16", "48kib", "6mib"}) {
      paths.push_back(files.path(dtype + "_" + bytes + ".npy"));
      const outcome made = gpu_tool({"generate", "--dtype", dtype, "--bytes", bytes, paths.back()});
      EXPECT_EQ(made.exit_code, 0) << made.err;
    }
  }
  return paths;
}

TEST(tool_cuda, integers_have_the_bits_of_the_host) {
  const scratch files;
  const auto paths = generated(
      files, {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"});
  for (const char* op :
       {"sum", "product", "min", "max", "min_number", "max_number", "and", "or", "xor"}) {
    expect_same_bits(op, paths);
  }
}

TEST(tool_cuda, floats_have_the_bits_of_the_host) {
  const scratch files;
  const auto paths = generated(files, {"float16", "float32", "float64"});
  for (const char* op : {"sum", "product", "min", "max", "min_number", "max_number"}) {
    expect_same_bits(op, paths);
  }
}

TEST(tool_cuda, complex_values_have_the_bits_of_the_host) {
  const scratch files;
  const auto paths = generated(files, {"complex64", "complex128"});
  for (const char* op : {"sum", "product"}) expect_same_bits(op, paths);
}

TEST(tool_cuda, auto_takes_the_gpu) {
  const scratch files;
  const std::string file = files.file("a.npy", npy_file("<f4", std::vector<float>{1, 2, 3.5f}));
  const json result = reduced({file}).at(0);
  EXPECT_EQ(result["value"], 6.5);
  EXPECT_EQ(result["executor"].get<std::string>().rfind("host", 0), std::string::npos);
  EXPECT_EQ(result["clock"], "CUDA events");
}

TEST(tool_cuda, special_values) {
  const scratch files;
  const double nan = std::nan("");
  const std::string file = files.file("a.npy", npy_file("<f8", std::vector<double>{3, -nan, -1}));
  for (const char* op : {"sum", "min", "max", "min_number", "max_number"}) {
    expect_same_bits(op, {file});
  }
}

TEST(tool_cuda, empty_arrays) {
  const scratch files;
  const std::string file = files.file("e.npy", npy_preamble(npy_dict("<i4", "(0,)")));
  EXPECT_EQ(reduced({"--on", "cuda", "--check", file}).at(0)["value"], 0);
  const std::string bools = files.file("b.npy", npy_preamble(npy_dict("|b1", "(0,)")));
  EXPECT_EQ(reduced({"--on", "cuda", "--op", "and", bools}).at(0)["value"], true);
}

TEST(tool_cuda, a_file_that_fails_leaves_the_others) {
  const scratch files;
  const std::string good = files.file("a.npy", npy_file("<i4", std::vector<std::int32_t>{1, 2}));
  const outcome result =
      gpu_tool({"reduce", "--json", "--on", "cuda", good, files.path("missing"), good});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(lines_of(result.err).size(), 1u);
  EXPECT_EQ(lines_of(result.out).size(), 2u);
}

}  // namespace
}  // namespace tilefold::test
