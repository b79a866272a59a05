// SPDX-License-Identifier: Apache-2.0
//
// What NCCL itself takes to gather a message from every GPU: as the host sees it that waits, and in
// a graph. n is the bytes of a message.
#include "../support/graph.hpp"
#include "gpus.cuh"

namespace bench {

namespace {

void require(ncclResult_t code) {
  if (code != ncclSuccess) {
    throw std::runtime_error(std::string("ncclAllGather: ") + ncclGetErrorString(code));
  }
}

/// Every rank's memory and stream, and its graph of some gathers in a row.
struct gather_ends {
  explicit gather_ends(gpus& host, index bytes) {
    for (int r = 0; r < host.size(); ++r) {
      memory.push_back(std::make_unique<array_on<char>>(r, (host.size() + 1) * bytes));
    }
  }
  std::vector<std::unique_ptr<array_on<char>>> memory;
  std::vector<std::unique_ptr<graph>> graphs;
};

}  // namespace

void enter_gathers(roster& all, const std::shared_ptr<gpus>& host) {
  constexpr int in_a_row = 20;
  for (const index bytes : {64, 512, 4096}) {
    const auto ends = std::make_shared<gather_ends>(*host, bytes);
    const auto gather = [=](int rank) {
      char* const send = ends->memory[static_cast<std::size_t>(rank)]->data();
      require(ncclAllGather(send, send + bytes, static_cast<std::size_t>(bytes), ncclChar,
                            host->raw_nccl(rank), host->gpu(rank).stream()));
    };
    measurement m;
    m.shape = "nccl_gather";
    m.n = bytes;
    m.who = "nccl-of-" + std::to_string(host->size());
    m.iterations = 100;
    m.group = "nccl_gather";
    m.mode = "sync";
    m.prepare = [=] {
      timed_work work;
      work.how = mode::sync;
      work.bytes = bytes * host->size();
      work.enqueue = [=] {
        host->team().run([&](int rank) {
          gather(rank);
          host->gpu(rank).synchronize();
        });
      };
      return work;
    };
    all.enter(m);
    // A graph on every GPU; the time of one of its gathers, by the host's clock.
    m.mode = "graph";
    m.iterations = 10;
    m.prepare = [=] {
      if (ends->graphs.empty()) {
        ends->graphs.resize(static_cast<std::size_t>(host->size()));
        host->team().run([&](int rank) {
          ends->graphs[static_cast<std::size_t>(rank)] =
              std::make_unique<graph>(host->gpu(rank).stream(), [&] {
                for (int i = 0; i < in_a_row; ++i) gather(rank);
              });
        });
      }
      timed_work work;
      work.how = mode::sync;
      work.calls = in_a_row;
      work.bytes = bytes * host->size();
      work.enqueue = [=] {
        host->team().run([&](int rank) {
          ends->graphs[static_cast<std::size_t>(rank)]->launch(host->gpu(rank).stream());
          host->gpu(rank).synchronize();
        });
      };
      return work;
    };
    all.enter(m);
  }
}

}  // namespace bench
