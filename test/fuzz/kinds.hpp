// SPDX-License-Identifier: Apache-2.0
//
// Pieces of reducers whose accumulators say the most of their items: what comes of bytes is used in
// every way.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "fuzz.hpp"

namespace tilefold::fuzz {

/// use(an empty piece of each kind).
template <class Use>
void for_each_kind(const Use& use) {
  namespace r = reducers;
  const auto fused = r::fuse(r::any{}, r::mean{}, r::arg_max{});
  use(piece<float>());
  use(piece<double, r::mean>());
  use(piece<float, r::variance>());
  use(piece<double, r::kurtosis>());
  use(piece<double, r::geometric_mean>());
  use(piece<double, r::rms>());
  use(piece<float, r::logsumexp>());
  use(piece<double, r::softmax_pair>());
  use(piece<bool, r::any<>>());
  use(piece<float, r::arg_min<>>());
  use(piece<double, r::arg_minmax<>>());
  use(piece<float, r::top_k<5>>());
  use(piece<double, r::exact_sum<>>());
  use(piece<float, r::exact_mean<>>());
  use(piece<std::int32_t, r::exact_mean<>>());
  use(piece<double, r::exact_l2<>>());
  use(piece<float, std::remove_const_t<decltype(fused)>>(fused));
}

/// Pieces that begin at 0, and elsewhere, by the library.
inline std::vector<bytes> sound_pieces() {
  std::vector<bytes> all;
  for_each_kind([&](const auto& kind) {
    using piece_type = std::remove_cvref_t<decltype(kind)>;
    using item = typename piece_type::value_type;
    for (const std::int64_t begin : {0, 3}) {
      piece_type one(kind.op(), begin);
      item items[21];
      for (int i = 0; i < 21; ++i) items[i] = static_cast<item>(i % 7 - 3);
      one.append(host_executor(1), items, items + 21);
      all.push_back(one.to_bytes());
    }
  });
  return all;
}

/// Longer by a piece before it, by items and by a piece behind it.
template <class Piece>
void use_piece(Piece one) {
  using item = typename Piece::value_type;
  const item items[5] = {};
  const auto of = [&](std::int64_t begin) {
    Piece made(one.op(), begin);
    made.append(host_executor(1), items, items + 5);
    return made;
  };
  if (one.begin() >= 5) {
    Piece before = of(one.begin() - 5);
    before.merge(one);
    one = before;
  }
  if (one.end() <= std::numeric_limits<std::int64_t>::max() - 10) {
    one.append(host_executor(1), items, items + 5);
    one.merge(of(one.end()));
  }
  (void)one.to_bytes();
  if (one.begin() == 0 && one.num_blocks() > 0) (void)one.value();
}

/// Reads bytes as a piece of the kind that they name: refused, or used.
inline void read_as_piece(std::span<const std::byte> bytes) {
  refuses<format_error>([&] {
    const std::string signature = detail::piece_bytes::read(bytes, "fuzz").signature;
    for_each_kind([&](const auto& kind) {
      if (kind.signature() == signature) use_piece(kind.from_bytes(bytes));
    });
  });
}

}  // namespace tilefold::fuzz
