// SPDX-License-Identifier: Apache-2.0
//
// Reductions in chunks on a GPU: whatever the cuts and the chunks, and whoever folds a part, host
// or GPU, the bits are those of one reduction on the host. Only host code, but it needs a GPU to
// pass.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
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

// A part of the GPU's and one of the host's, in chunks of any sizes. Programs that use a GPU take
// long to begin.
void expect_parts_of_the_whole(shape_stream& bits, const scratch& files, const std::string& op,
                               const std::string& file) {
  const json whole = run_json({"reduce", "--op", op, "--on", "host", file});
  const std::int64_t n = whole["n"];
  const std::string cut = std::to_string(bits.below(n + 1));
  const bool gpu_first = bits.one_in(2);
  const auto part = [&](bool first) {
    const std::string path = files.path(first ? "first" : "second");
    run_json({"reduce", "--op", op, "--on", first == gpu_first ? "cuda" : "host", "--slice",
              first ? ":" + cut : cut + ":", "--chunk", std::to_string(1000 + bits.below(30000)),
              "--part", path, file});
    return path;
  };
  EXPECT_EQ(run_json({"merge", part(true), part(false)})["bits"], whole["bits"])
      << op << " of " << file << " cut at " << cut;
}

// Every type, and every operator.
TEST(tool_cuda_parts, operators_have_the_bits_of_the_host) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  std::size_t next = 0;
  for (const auto& type : dtype_rows) {
    if (type.id == dtype::bfloat16) continue;  // no such file
    const std::string file = generated(files, std::string(type.name), "48kib");
    expect_parts_of_the_whole(bits, files, "sum", file);
    const op_row* op = nullptr;
    do {
      op = &op_rows[next++ % op_rows.size()];
    } while (!op->is_operator || !fits(op->id, type.id));
    expect_parts_of_the_whole(bits, files, std::string(op->name), file);
  }
}

TEST(tool_cuda_parts, reducers_have_the_bits_of_the_host) {
  SCOPED_TRACE(seed());
  shape_stream bits(seed());
  const scratch files;
  const std::vector<std::string> paths{generated(files, "int16", "48kib"),
                                       generated(files, "uint8", "48kib"),
                                       generated(files, "float32", "48kib")};
  std::size_t next = 0;
  for (const op_row& op : op_rows) {
    if (op.is_operator || runs_on_host_only(op.id) || !fits(op.id, dtype::int16)) continue;
    expect_parts_of_the_whole(bits, files, std::string(op.name), paths[next++ % paths.size()]);
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
