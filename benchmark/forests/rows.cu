// SPDX-License-Identifier: Apache-2.0
//
// Launches in a row in a CUDA graph, each on other memory with L2 full of something else (graph),
// or all on the same memory (hot), as in support/shape.hpp. The time is that of one call. The
// ceiling is a kernel that only reads as many bytes as items, offsets and results are.
#include <cuda_fp16.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../support/device_array.hpp"
#include "../support/items.cuh"
#include "../support/read.hpp"
#include "../support/shape.hpp"
#include "check.cuh"
#include "contests.hpp"
#include "peers/peer.hpp"

namespace bench {

namespace {

struct row_shape {
  std::string name;
  index segments, size;
  bool halves = false;
  bool offsets = false;  // read, though lengths are equal
  mode how = mode::graph;

  index items() const { return segments * size; }
  index bytes() const {
    return items() * (halves ? 2 : 4) + 4 * segments + (offsets ? 8 * (segments + 1) : 0);
  }
  /// Of the input, for the session that fills it.
  shape input() const {
    shape result;
    result.item_bytes = halves ? 2 : 4;
    result.fill = halves ? &fill<mixed<tilefold::half>> : &fill<mixed<float>>;
    return result;
  }
};

std::vector<row_shape> row_shapes(bool quick) {
  using sizes = std::vector<index>;
  std::vector<row_shape> all;
  for (const index size : quick ? sizes{64, 4096} : sizes{64, 256, 1024, 4096, 16384}) {
    all.push_back({"half_rows_1_gib", (index{1} << 29) / size, size, true});
    all.push_back({"half_rows_256_mib", (index{1} << 27) / size, size, true});
    for (const index batch : {1, 16, 256, 4096}) {
      all.push_back({"half_rows_batch_" + std::to_string(batch), batch, size, true});
    }
  }
  // As long as a language model's vocabulary.
  all.push_back({"half_rows_batch_8", 8, 131072, true});
  all.push_back({"half_rows_batch_16", 16, 151936, true});
  all.push_back({"half_rows_batch_64", 64, 131072, true});
  for (const mode how : {mode::graph, mode::hot}) {
    all.push_back({"thousand_equal", 1000, 1000, false, false, how});
    all.push_back({"thousand_csr", 1000, 1000, false, true, how});
  }
  return all;
}

constexpr index most_rows = index{1} << 23;

__global__ void fill_offsets(std::int64_t* offsets, int* narrow_offsets, index segments,
                             index size) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index s = index{blockIdx.x} * blockDim.x + threadIdx.x; s <= segments; s += step) {
    offsets[s] = s * size;
    narrow_offsets[s] = static_cast<int>(s * size);
  }
}

class rows_contest {
 public:
  rows_contest(session& gpu, bool quick)
      : gpu_(gpu), executor_(gpu.stream()), shapes_(row_shapes(quick)) {}

  const std::vector<row_shape>& shapes() const { return shapes_; }

  segment_sums ours(const row_shape& s) {
    if (s.halves) {
      return [this](const segments_call& c) {
        tilefold::segmented_reduce_into<float>(executor_, c.items<tilefold::half>(), c.segments,
                                               c.size, c.result<float>());
      };
    }
    if (s.offsets) {
      return [this](const segments_call& c) {
        tilefold::segmented_reduce_into(executor_, c.items<float>(), c.offsets, c.segments,
                                        c.result<float>());
      };
    }
    return [this](const segments_call& c) {
      tilefold::segmented_reduce_into(executor_, c.items<float>(), c.segments, c.size,
                                      c.result<float>());
    };
  }

  timed_work work(const row_shape& s, const segment_sums& sums, bool checked) {
    if (!memory_) memory_.emplace();
    const shape input = s.input();
    const int calls = gpu_.launches(input, s.items());
    const windows items = gpu_.input(input, s.items(), s.how == mode::hot ? 1 : calls);
    lay_out(s);
    timed_work result;
    result.how = s.how;
    result.bytes = s.bytes();
    result.calls = calls;
    result.flush = s.how != mode::hot;
    result.enqueue = [=, this, &s, &sums] {
      for (int i = 0; i < calls; ++i) sums(call(s, items[i]));
    };
    if (checked) {
      result.check = [=, this, &s, &sums] {
        check_results(s, items[0], [&] { sums(call(s, items[0])); });
      };
    }
    return result;
  }

 private:
  struct memory {
    device_array<float> out{most_rows};
    device_array<char> scratch{index{1} << 26};
    device_array<std::int64_t> offsets{most_rows + 1};
    device_array<int> narrow_offsets{most_rows + 1};
  };

  void lay_out(const row_shape& s) {
    if (laid_out_ == &s) return;
    fill_offsets<<<2048, 256, 0, gpu_.stream()>>>(
        memory_->offsets.data(), memory_->narrow_offsets.data(), s.segments, s.size);
    check(cudaGetLastError(), "filling the offsets");
    laid_out_ = &s;
  }

  segments_call call(const row_shape& s, const void* first) const {
    return {{first, memory_->out.data(), gpu_.stream(), memory_->scratch.data(),
             static_cast<std::size_t>(memory_->scratch.size())},
            s.items(),
            s.segments,
            s.size,
            s.size,
            memory_->offsets.data(),
            memory_->narrow_offsets.data()};
  }

  template <class Work>
  void check_results(const row_shape& s, const void* first, const Work& work) {
    const cudaStream_t stream = gpu_.stream();
    float* const out = memory_->out.data();
    auto* const wrong = reinterpret_cast<unsigned long long*>(memory_->scratch.data());
    const segment_bounds rows{nullptr, s.size};
    check_segments(out, 4 * s.segments, wrong, stream, work, [&] {
      if (s.halves) {
        count_wrong_sums<<<2048, 256, 0, stream>>>(static_cast<const __half*>(first), rows,
                                                   s.segments, out, wrong);
      } else {
        count_wrong_sums<<<2048, 256, 0, stream>>>(static_cast<const float*>(first), rows,
                                                   s.segments, out, wrong);
      }
    });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  const std::vector<row_shape> shapes_;
  std::optional<memory> memory_;
  const row_shape* laid_out_ = nullptr;
};

/// Of rows all is known; with offsets only that none is longer than the size says.
bool takes_part(const segments_peer& peer, const row_shape& s) {
  return peer.forms.contains(s.halves ? "half" : "float") &&
         (peer.needs == promise::none ||
          (peer.needs == promise::equal_lengths ? !s.offsets : s.offsets));
}

}  // namespace

void enter_rows(roster& all) {
  const auto contest = std::make_shared<rows_contest>(all.gpu(), all.quick());
  for (const row_shape& s : contest->shapes()) {
    const auto one = [&](const std::string& who, const segment_sums& sums, bool checked) {
      return measurement{s.name,
                         name_of(s.how),
                         who,
                         s.size,
                         2,
                         [=, &s] { return contest->work(s, sums, checked); },
                         s.name + name_of(s.how) + std::to_string(s.size)};
    };
    bool any = all.enter(one("tilefold", contest->ours(s), true));
    for (const segments_peer& peer : all_peers<segments_peer>()) {
      if (!takes_part(peer, s)) continue;
      any |= all.enter(one(peer.name, peer.forms.at(s.halves ? "half" : "float"), true));
    }
    const segment_sums reading = [&s](const segments_call& c) {
      read_once(c.first, (s.bytes() + 15) / 16 * 16, static_cast<unsigned*>(c.scratch), c.stream);
    };
    if (any) all.enter_ceiling(one("read", reading, false));
  }
}

}  // namespace bench
