// SPDX-License-Identifier: Apache-2.0
//
// A contest in sums of items T by segment. The ceiling is a kernel that only reads as many bytes as
// items, offsets and results are. Every result of every contestant is checked once, before it is
// timed.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../support/read.hpp"
#include "../support/values.cuh"
#include "check.cuh"
#include "contests.hpp"
#include "peers/peer.hpp"
#include "shapes.hpp"

namespace bench {

template <class T>
class sums_contest {
 public:
  sums_contest(session& gpu, std::shared_ptr<shared_values<T>> items, const std::string& type,
               std::vector<segment_shape> shapes)
      : gpu_(gpu),
        executor_(gpu.stream()),
        items_(std::move(items)),
        type_(type),
        shapes_(std::move(shapes)) {}

  /// Everyone in every shape.
  static void enter(roster& all, const std::shared_ptr<sums_contest>& contest) {
    for (const segment_shape& s : contest->shapes_) {
      const auto one = [&](const std::string& who, const segment_sums& sums, bool checked) {
        measurement m{s.name, "graph", who, s.mean, 2, {}, s.name + std::to_string(s.mean)};
        m.prepare = [=, &s] { return contest->work(s, sums, checked); };
        return m;
      };
      bool any = all.enter(one("tilefold", contest->ours(false), true));
      if (s.bounded) any |= all.enter(one("tilefold-bound", contest->ours(true), true));
      for (const segments_peer& peer : all_peers<segments_peer>()) {
        const auto form = peer.forms.find(contest->type_);
        if (form == peer.forms.end() || !fulfils(s, peer.needs)) continue;
        any |= all.enter(one(peer.name, form->second, true));
      }
      if (any) all.enter_ceiling(one("read", contest->reading(), false));
    }
  }

 private:
  /// A shape in device memory.
  struct layout {
    explicit layout(const segment_shape& s) : layout(s, s.offsets(s.mean, s.items)) {}
    layout(const segment_shape& s, const std::vector<std::int64_t>& all)
        : what(s),
          items(all.back()),
          longest(s.bounded ? longest_of(all) : 0),
          offsets(all),
          narrow_offsets(std::vector<int>(all.begin(), all.end())),
          out(offsets.size() - 1) {}

    static index longest_of(const std::vector<std::int64_t>& all) {
      index longest = 0;
      for (std::size_t s = 1; s < all.size(); ++s) longest = std::max(longest, all[s] - all[s - 1]);
      return longest;
    }
    index result_bytes() const { return static_cast<index>(sizeof(T)) * out.size(); }
    index bytes() const {
      return static_cast<index>(sizeof(T)) * items + result_bytes() +
             (what.equal ? 0 : 8 * offsets.size());
    }

    const segment_shape& what;
    const index items;
    const index longest;
    device_array<std::int64_t> offsets;
    device_array<int> narrow_offsets;
    device_array<T> out;
  };

  static bool fulfils(const segment_shape& s, promise needed) {
    switch (needed) {
      case promise::none:
        return true;
      case promise::equal_lengths:
        return s.equal;
      case promise::longest:
        return s.bounded;
    }
    return false;
  }

  // `bounded`: it is told the longest length.
  segment_sums ours(bool bounded) {
    return [this, bounded](const segments_call& c) {
      const auto fold = [&](auto... segments) {
        if constexpr (std::is_arithmetic_v<T>) {
          tilefold::segmented_reduce_into(executor_, c.items<T>(), segments..., c.result<T>());
        } else {
          tilefold::segmented_reduce_into(executor_, c.items<T>(), segments..., c.result<T>(), T{},
                                          vec_plus{});
        }
      };
      if (c.size != 0) {
        fold(c.segments, c.size);
      } else if (bounded) {
        fold(c.offsets, c.segments, tilefold::segment_bound(c.longest));
      } else {
        fold(c.offsets, c.segments);
      }
    };
  }

  segment_sums reading() {
    return [this](const segments_call& c) {
      read_once(c.first, laid_out_->bytes() / 16 * 16, static_cast<unsigned*>(c.scratch), c.stream);
    };
  }

  timed_work work(const segment_shape& s, const segment_sums& sums, bool checked) {
    if (!laid_out_ || &laid_out_->what != &s) {
      laid_out_.reset();
      laid_out_.emplace(s);
    }
    if (!scratch_) scratch_.emplace(index{1} << 28);
    timed_work result;
    result.bytes = laid_out_->bytes();
    result.enqueue = [this, call = call(), &sums] { sums(call); };
    if (checked) result.check = [this, enqueue = result.enqueue] { check_results(enqueue); };
    return result;
  }

  segments_call call() {
    const layout& s = *laid_out_;
    return {{items_->data(), s.out.data(), gpu_.stream(), scratch_->data(),
             static_cast<std::size_t>(scratch_->size())},
            s.items,
            s.out.size(),
            s.what.equal ? s.what.mean : 0,
            s.longest,
            s.offsets.data(),
            s.narrow_offsets.data()};
  }

  template <class Work>
  void check_results(const Work& work) {
    const layout& s = *laid_out_;
    auto* const wrong = reinterpret_cast<unsigned long long*>(scratch_->data());
    check_segments(s.out.data(), s.result_bytes(), wrong, gpu_.stream(), work, [&] {
      count_wrong_sums<<<2048, 256, 0, gpu_.stream()>>>(
          items_->data(), segment_bounds{s.offsets.data(), 0}, s.out.size(), s.out.data(), wrong);
    });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<shared_values<T>> items_;
  const std::string type_;  // as peers name it
  const std::vector<segment_shape> shapes_;
  std::optional<layout> laid_out_;
  std::optional<device_array<char>> scratch_;
};

}  // namespace bench
