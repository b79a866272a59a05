// SPDX-License-Identifier: Apache-2.0
//
// What NCCL itself takes to gather a message from every GPU, and to add a float of every GPU (n is
// the bytes of a GPU): as the host sees it that waits, and in a graph. Beside it small sums in
// stream order, which take such a gather.
#include <functional>
#include <utility>

#include "../support/graph.hpp"
#include "gpus.cuh"

namespace bench {

namespace {

void require(ncclResult_t code) {
  if (code != ncclSuccess) {
    throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(code));
  }
}

/// What every rank does, some times in a row in a graph of its own; the time of one of them by the
/// clock of a host that waits for all graphs.
class graphs_of_ranks {
 public:
  static constexpr int in_a_row = 20;

  graphs_of_ranks(std::shared_ptr<gpus> host, int ranks, std::function<void(int)> call)
      : host_(std::move(host)), call_(std::move(call)), graphs_(static_cast<std::size_t>(ranks)) {}

  void launch() {
    on_ranks([&](int rank) {
      auto& own = graphs_[static_cast<std::size_t>(rank)];
      if (own == nullptr) {
        call_(rank);  // memory is had, code loaded
        host_->gpu(rank).synchronize();
        own = std::make_unique<graph>(host_->gpu(rank).stream(), [&] {
          for (int i = 0; i < in_a_row; ++i) call_(rank);
        });
      }
      own->launch(host_->gpu(rank).stream());
      host_->gpu(rank).synchronize();
    });
  }

 private:
  template <class Work>
  void on_ranks(const Work& work) {
    if (graphs_.size() == 1) return work(0);
    host_->team().run(work);
  }

  std::shared_ptr<gpus> host_;
  std::function<void(int)> call_;
  std::vector<std::unique_ptr<graph>> graphs_;
};

void enter_graphs(roster& all, measurement m, const std::shared_ptr<gpus>& host, int ranks,
                  const std::function<void(int)>& call) {
  const auto graphs = std::make_shared<graphs_of_ranks>(host, ranks, call);
  m.mode = "graph";
  m.iterations = 10;
  m.prepare = [=] {
    timed_work work;
    work.how = mode::sync;
    work.calls = graphs_of_ranks::in_a_row;
    work.enqueue = [=] { graphs->launch(); };
    return work;
  };
  all.enter(std::move(m));
}

}  // namespace

void enter_gathers(roster& all, const std::shared_ptr<gpus>& host) {
  const std::string nccl = name_of(joined::nccl, host->size());
  const auto enter_nccl = [&](const char* shape, index bytes, auto&& enqueue) {
    const auto memory = std::make_shared<std::vector<std::unique_ptr<array_on<char>>>>();
    for (int r = 0; r < host->size(); ++r) {
      memory->push_back(std::make_unique<array_on<char>>(r, (host->size() + 1) * bytes));
    }
    const auto call = [=](int rank) {
      char* const send = (*memory)[static_cast<std::size_t>(rank)]->data();
      require(enqueue(send, send + bytes, host->raw_nccl(rank), host->gpu(rank).stream()));
    };
    measurement m;
    m.shape = shape;
    m.n = bytes;
    m.who = nccl;
    m.iterations = 100;
    m.group = "small";
    m.mode = "sync";
    m.prepare = [=] {
      timed_work work;
      work.how = mode::sync;
      work.enqueue = [=] {
        host->team().run([&](int rank) {
          call(rank);
          host->gpu(rank).synchronize();
        });
      };
      return work;
    };
    all.enter(m);
    enter_graphs(all, m, host, host->size(), call);
  };
  for (const index bytes : {64, 1024, 4096}) {
    enter_nccl("nccl_gather", bytes, [=](char* send, char* all, ncclComm_t comm, cudaStream_t s) {
      return ncclAllGather(send, all, static_cast<std::size_t>(bytes), ncclChar, comm, s);
    });
  }
  enter_nccl("nccl_all_reduce", sizeof(float),
             [](char* send, char* sum, ncclComm_t comm, cudaStream_t s) {
               return ncclAllReduce(send, sum, 1, ncclFloat, ncclSum, comm, s);
             });

  // Sums of 4 KiB a rank, which stay on the GPUs.
  constexpr index n = 1024;
  const auto lengths = std::make_shared<tilefold::rank_lengths>(
      std::vector<index>(static_cast<std::size_t>(host->size()), n));
  const auto sums = std::make_shared<std::vector<std::unique_ptr<array_on<float>>>>();
  for (int r = 0; r < host->size(); ++r) sums->push_back(std::make_unique<array_on<float>>(r, 1));
  const auto sum = [=](auto& comm, int rank) {
    const float* const x = host->part(rank);
    tilefold::reduce_into(tilefold::ranks(comm, host->gpu(rank), *lengths), x, x + n,
                          (*sums)[static_cast<std::size_t>(rank)]->data());
  };
  measurement m;
  m.shape = "float_sum";
  m.n = n;
  m.group = "small";
  m.who = nccl;
  enter_graphs(all, m, host, host->size(), [=](int rank) { sum(host->nccl(rank), rank); });
  m.who = name_of(joined::peers, host->size());
  enter_graphs(all, m, host, host->size(), [=](int rank) { sum(host->peers(rank), rank); });
  m.who = name_of(joined::one, host->size());
  enter_graphs(all, m, host, 1, [=](int) {
    tilefold::reduce_into(host->gpu(0), host->whole(), host->whole() + n, (*sums)[0]->data());
  });
}

}  // namespace bench
