// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a part file or a checkpoint, and its piece gone on with, most with checksums that
// fit: that of the file, and that of the piece in it. What is taken for a part is merged as
// `tilefold merge` does it: alone, with itself, and with its neighbours.
#include "part_merge.hpp"

#include <algorithm>
#include <cstring>

#include <tilefold/detail/core/byte_format.hpp>

#include "backend_host.hpp"
#include "host_fold.hpp"
#include "input_error.hpp"
#include "kinds.hpp"

namespace tilefold::tool {

namespace {

// Folds as the tool's own, but not every operator and type, which takes minutes to compile with
// sanitizers.
class few_folds final : public backend {
 public:
  std::string name() const override { return "host, 1 thread"; }
  fold_result run(const fold_job& job) override {
    if (!folds(job.op, job.type)) throw input_error("is not folded here");
    if (!row_of(job.op).is_operator) return reduce_on_host(executor_, job);
    return visit(job.op, [&](auto op, auto functor) -> fold_result {
      if constexpr (fits(op, dtype::float32)) {
        host_fold fold(executor_, job);
        const auto value = fold(reinterpret_cast<const float*>(job.data), job.count, functor);
        return fold.result({one_field("", value)});
      } else {
        throw input_error("is not folded here");
      }
    });
  }
  summary summarize(const summary_job&) override { return {}; }

  static bool folds(op_kind op, dtype type) {
    if (!fits(op, type)) return false;
    return type == dtype::float32 || (type == dtype::float64 && !row_of(op).is_operator);
  }

 private:
  host_executor executor_{1};
};

}  // namespace

std::unique_ptr<backend> make_host_backend(int) { return std::make_unique<few_folds>(); }

}  // namespace tilefold::tool

namespace tilefold::fuzz {

namespace {

constexpr std::int64_t num_items = 64;

// A part like `like`, but of items `begin` to `end`, which are at most num_items or none.
tool::part_file sound_part(tool::part_file like, std::int64_t begin, std::int64_t end) {
  alignas(16) static const bytes items(16 * num_items, std::byte{0x3f});
  tool::piece_task task{begin, end, num_items};
  tool::fold_job job{like.op, like.type, items.data(), num_items, 1, false, like.k, ""};
  job.pieces = &task;
  tool::make_host_backend(1)->run(job);
  like.begin = begin;
  like.end = end;
  like.piece = task.piece;
  return like;
}

bytes merged_bytes(const std::vector<tool::part_file>& parts) {
  std::vector<tool::named_part> named;
  for (const tool::part_file& part : parts) named.push_back({"fuzz", part});
  const tool::part_file whole = tool::merge_parts(named).part;
  if (whole.begin != parts.front().begin || whole.end != parts.back().end) {
    fail("a merged part of other items");
  }
  return tool::part_bytes(whole);
}

void use_in_merges(const tool::part_file& part) {
  if (part.is_checkpoint()) return;
  const tool::named_part named{"fuzz", part};
  tool::require_same_reduction(named, named);
  bytes alone;
  // From here on nothing can be wrong with the part.
  if (refuses<tool::input_error>([&] { alone = merged_bytes({part}); })) return;
  if (merged_bytes({tool::parse_part(alone)}) != alone) fail("a part that is not what it was");
  const bool with_itself = !refuses<tool::input_error>([&] { merged_bytes({part, part}); });
  if (with_itself != (part.begin == part.end)) fail("items merged twice");
  // Of no items where those before would be too many to make.
  const std::int64_t before = part.begin <= num_items ? 0 : part.begin;
  const std::int64_t after = std::max(part.end, std::min(part.total, num_items));
  const tool::part_file left = sound_part(part, before, part.begin);
  const tool::part_file right = sound_part(part, part.end, after);
  const bytes all = merged_bytes({left, part, right});
  const tool::part_file first = tool::parse_part(merged_bytes({left, part}));
  const tool::part_file last = tool::parse_part(merged_bytes({part, right}));
  if (merged_bytes({first, right}) != all || merged_bytes({left, last}) != all) {
    fail("the order of merges shows");
  }
}

bytes file_of(const char* op, const char* type, std::int64_t begin, std::int64_t end,
              const std::string& source, const bytes& piece) {
  tool::part_file part{*tool::find_by_name(tool::op_rows, op),
                       *tool::find_by_name(tool::dtype_rows, type),
                       5,
                       100,
                       begin,
                       end};
  part.source_bytes = source.empty() ? 0 : 528;
  part.source = source;
  part.piece = piece;
  return tool::part_bytes(part);
}

// Where the piece of a part file stands, as far as its lengths tell; at most `size`.
std::size_t piece_place(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 8;
  const auto skip_text = [&] {
    if (size < at + 4) return at = size;
    std::uint32_t length = 0;
    std::memcpy(&length, data + at, 4);
    at += 4;
    return at = length > size - at ? size : at + length;
  };
  skip_text();
  skip_text();
  at = size - at < 48 ? size : at + 48;
  return skip_text();
}

}  // namespace

std::vector<bytes> seeds() {
  std::vector<bytes> all;
  for (const bytes& piece : sound_pieces()) {
    const std::int64_t begin = static_cast<std::int64_t>(all.size()) % 4 / 2 * 3;
    for (const char* const source : {"", "file 77"}) {
      all.push_back(file_of("mean", "float64", begin, begin + 21, source, piece));
    }
  }
  for (const tool::op_row& op : tool::op_rows) {
    for (const tool::dtype type : {tool::dtype::float32, tool::dtype::float64}) {
      if (!tool::few_folds::folds(op.id, type)) continue;
      for (const int k : {5, 32}) {
        const tool::part_file like{op.id, type, k, 40, 0, 0};
        for (const std::int64_t begin : {0, 3}) {
          all.push_back(tool::part_bytes(sound_part(like, begin, begin + 21)));
        }
        if (!tool::runs_on_host_only(op.id)) break;
      }
    }
  }
  return all;
}

}  // namespace tilefold::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace tilefold;
  const std::size_t place = fuzz::piece_place(data, size);
  if (seed % 2 == 0 && size >= place + 16) {
    // The piece alone, in the room that there is behind it.
    const std::size_t piece = LLVMFuzzerMutate(data + place, size - place - 8, most - place - 8);
    size = place + piece + 8;
    std::span<std::uint8_t> inner(data + place, piece);
    if (seed % 32 != 0) test::mend_checksum(inner);
  } else {
    size = LLVMFuzzerMutate(data, size, most);
  }
  std::span<std::uint8_t> all(data, size);
  if (seed % 16 != 1) test::mend_checksum(all);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilefold;
  tool::part_file part{};
  const bool refused = fuzz::refuses<tool::input_error>([&] {
    part = tool::parse_part(std::as_bytes(std::span(data, size)));
    if (part.begin < 0 || part.end < part.begin || part.total < part.end || part.k < 1) {
      fuzz::fail("a part that cannot be");
    }
    fuzz::read_as_piece(part.piece);
  });
  if (!refused) fuzz::use_in_merges(part);
  return 0;
}
