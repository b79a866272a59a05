// SPDX-License-Identifier: Apache-2.0
//
// One value of all GPUs' items, on every rank. n is the items of one GPU.
#pragma once

#include <array>
#include <cstring>

#include "gpus.cuh"

namespace bench {

using numbers = std::array<double, 5>;

template <class T>
  requires std::is_arithmetic_v<T>
numbers as_numbers(T value) {
  return {static_cast<double>(value)};
}
template <class Results>
  requires(!std::is_arithmetic_v<Results>)
numbers as_numbers(const Results& of) {
  return {static_cast<double>(tilefold::get<0>(of)), static_cast<double>(tilefold::get<1>(of)),
          static_cast<double>(tilefold::get<2>(of)), static_cast<double>(tilefold::get<3>(of)),
          static_cast<double>(tilefold::get<4>(of))};
}

template <class Op>
numbers fold_by(gpus& host, joined by, int rank, index n, Op op) {
  const float* const x = host.part(rank);
  switch (by) {
    case joined::one:
      return as_numbers(tilefold::reduce(host.gpu(0), x, x + n, op));
    case joined::group: {
      std::vector<const float*> parts;
      for (int d = 0; d < host.size(); ++d) parts.push_back(host.part(d));
      const std::vector<index> lengths(parts.size(), n);
      return as_numbers(
          tilefold::reduce(host.group(), tilefold::shards<float>(parts, lengths), op));
    }
    case joined::threads:
      return as_numbers(
          tilefold::reduce(tilefold::ranks(host.threads(rank), host.gpu(rank)), x, x + n, op));
    case joined::nccl:
      return as_numbers(
          tilefold::reduce(tilefold::ranks(host.nccl(rank), host.gpu(rank)), x, x + n, op));
    case joined::nccl_lengths:
    case joined::peers: {
      const tilefold::rank_lengths lengths(
          std::vector<index>(static_cast<std::size_t>(host.size()), n));
      const auto fold = [&](auto& comm) {
        return as_numbers(
            tilefold::reduce(tilefold::ranks(comm, host.gpu(rank), lengths), x, x + n, op));
      };
      return by == joined::peers ? fold(host.peers(rank)) : fold(host.nccl(rank));
    }
  }
  return {};
}

template <class Op>
void enter_fold(roster& all, const std::shared_ptr<gpus>& host, const char* shape, Op op) {
  for (const index n : all.quick() ? std::vector<index>{1024, index{1} << 28}
                                   : std::vector<index>{1024, index{1} << 20, index{1} << 31}) {
    for (const joined by : {joined::one, joined::group, joined::threads, joined::nccl,
                            joined::nccl_lengths, joined::peers}) {
      measurement m;
      m.shape = shape;
      m.mode = "sync";
      m.who = name_of(by, host->size());
      m.n = n;
      m.iterations = n < (1 << 16) ? 100 : n < (1 << 24) ? 30 : 3;
      m.group = std::string(shape) + std::to_string(n);
      m.prepare = [=] {
        host->divide(n);
        const bool alone = by == joined::one || by == joined::group;
        // Every rank's value; kept, so that the call is not left out.
        const auto values = std::make_shared<std::vector<numbers>>(alone ? 1 : host->size());
        timed_work work;
        work.how = mode::sync;
        work.bytes = n * static_cast<index>(sizeof(float)) * (by == joined::one ? 1 : host->size());
        if (alone) {
          work.enqueue = [=] { (*values)[0] = fold_by(*host, by, 0, n, op); };
        } else {
          work.enqueue = [=] {
            host->team().run([&](int rank) {
              (*values)[static_cast<std::size_t>(rank)] = fold_by(*host, by, rank, n, op);
            });
          };
        }
        work.check = [=, run = work.enqueue] {
          run();
          const index items = by == joined::one ? n : n * host->size();
          const numbers expected =
              as_numbers(tilefold::reduce(host->gpu(0), host->whole(), host->whole() + items, op));
          for (const numbers& got : *values) {
            if (std::memcmp(&got, &expected, sizeof got) != 0) {
              throw std::runtime_error("other bits than those of one call");
            }
          }
        };
        return work;
      };
      all.enter(std::move(m));
    }
  }
}

}  // namespace bench
