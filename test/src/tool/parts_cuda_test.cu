// SPDX-License-Identifier: Apache-2.0
//
// Reductions in chunks on a GPU: whatever the cuts and the chunks, and whoever folds a part, host
// or GPU, the bits are those of one reduction on the host. Only host code, but it needs a GPU to
// pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "npy_writer.hpp"
#include "run_tool.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "tables.hpp"

namespace tilefold::test {
namespace {

using namespace tilefold::tool;

const test::tool gpu_tool(test::tool::gpus::visible);

json run_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin() + 1, "--json");
  const outcome result = gpu_tool(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

std::string generated(const scratch& files, const std::string& type, const std::string& bytes) {
  const std::string path = files.path(type + ".npy");
  const outcome made = gpu_tool({"generate", "--dtype", type, "--bytes", bytes, path});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return path;
}

// Parts of host and GPU in turn, in chunks of any size.
void expect_parts_of_the_whole(shape_stream& bits, const scratch& files, const std::string& op,
                               const std::string& file) {
  const json whole = run_json({"reduce", "--op", op, "--on", "host", file});
  const std::int64_t n = whole["count"];
  std::vector<std::int64_t> cuts{0, n};
  for (int i = 0; i < 3; ++i) cuts.push_back(bits.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::string> merge{"merge"};
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    merge.push_back(files.path("part" + std::to_string(i)));
    run_json({"reduce", "--op", op, "--on", i % 3 == 2 ? "host" : "cuda", "--slice",
              std::to_string(cuts[i]) + ":" + std::to_string(cuts[i + 1]), "--chunk",
              std::to_string(1000 + bits.below(30000)), "--part", merge.back(), file});
  }
  EXPECT_EQ(run_json(merge)["bits"], whole["bits"]) << op << " of " << file;
}

TEST(tool_cuda_parts, operators_have_the_bits_of_the_host) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  for (const auto& type : dtype_rows) {
    if (type.id == dtype::bfloat16) continue;  // no such file
    const std::string file = generated(files, std::string(type.name), "48kib");
    for (const op_row& op : op_rows) {
      if (!op.is_operator || !fits(op.id, type.id)) continue;
      expect_parts_of_the_whole(bits, files, std::string(op.name), file);
    }
  }
}

TEST(tool_cuda_parts, reducers_have_the_bits_of_the_host) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  for (const char* type : {"int16", "uint8", "float32"}) {
    const std::string file = generated(files, type, "48kib");
    for (const op_row& op : op_rows) {
      if (op.is_operator || runs_on_host_only(op.id) || !fits(op.id, dtype::int16)) continue;
      expect_parts_of_the_whole(bits, files, std::string(op.name), file);
    }
  }
}

TEST(tool_cuda_parts, checkpoints_between_chunks) {
  const scratch files;
  const std::string file = generated(files, "float32", "48mib");
  const json whole = run_json({"reduce", "--on", "host", file});
  for (const char* chunk : {"1048576", "999999"}) {
    const json gpu = run_json({"reduce", "--on", "cuda", "--chunk", chunk, "--checkpoint",
                               files.path("check"), "--checkpoint-seconds", "0", file});
    EXPECT_EQ(gpu["bits"], whole["bits"]) << chunk;
  }
}

}  // namespace
}  // namespace tilefold::test
