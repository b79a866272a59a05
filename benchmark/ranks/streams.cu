// SPDX-License-Identifier: Apache-2.0
//
// Sums of host memory by a GPU, chunk by chunk, against copies of the same pinned memory alone; and
// by all GPUs, a part each, against copies to all at the same time. n is the items of one GPU.
#include <tilefold/streamed.cuh>

#include <cstring>
#include <memory>

#include "../support/device_array.hpp"
#include "gpus.cuh"

namespace bench {

namespace {

using streamed = decltype(tilefold::streamed(std::declval<tilefold::cuda_executor&>()));

struct host_items {
  explicit host_items(index items)
      : n(items), on_gpu(items), pageable(static_cast<std::size_t>(items)) {
    check(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes()), "cudaMallocHost");
    fill<mixed<float>>(on_gpu.data(), n * static_cast<index>(sizeof(float)), nullptr);
    check(cudaMemcpy(pinned, on_gpu.data(), bytes(), cudaMemcpyDefault), "copy");
    std::memcpy(pageable.data(), pinned, bytes());
    expected = tilefold::reduce(gpu, on_gpu.data(), on_gpu.data() + n);
  }
  ~host_items() { (void)cudaFreeHost(pinned); }
  std::size_t bytes() const { return static_cast<std::size_t>(n) * sizeof(float); }

  index n;
  tilefold::cuda_executor gpu;
  device_array<float> on_gpu;
  float* pinned = nullptr;
  std::vector<float> pageable;
  float expected = 0;
};

/// A part of n items of the whole for each GPU, in pinned memory, and room on the GPU for a quarter
/// of it.
struct parts_of_host {
  parts_of_host(const std::shared_ptr<gpus>& all, index items) : host(all), n(items) {
    pinned.resize(static_cast<std::size_t>(host->size()), nullptr);
    for (int r = 0; r < host->size(); ++r) {
      on_gpu.push_back(std::make_unique<array_on<float>>(r, n / 4));
      streams.push_back(std::make_unique<streamed>(host->gpu(r), index{64} << 20));
    }
    host->team().run([&](int r) {
      float*& part = pinned[static_cast<std::size_t>(r)];
      check(cudaMallocHost(reinterpret_cast<void**>(&part), bytes()), "cudaMallocHost");
      check(cudaMemcpy(part, host->whole() + r * n, bytes(), cudaMemcpyDefault), "copy");
    });
    expected = tilefold::reduce(host->gpu(0), host->whole(), host->whole() + n * host->size());
  }
  parts_of_host(const parts_of_host&) = delete;
  parts_of_host& operator=(const parts_of_host&) = delete;
  ~parts_of_host() {
    for (float* const part : pinned) (void)cudaFreeHost(part);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(n) * sizeof(float); }

  void copy(int r) {
    const auto at = static_cast<std::size_t>(r);
    for (int quarter = 0; quarter < 4; ++quarter) {
      check(cudaMemcpyAsync(on_gpu[at]->data(), pinned[at] + quarter * (n / 4), bytes() / 4,
                            cudaMemcpyHostToDevice, host->gpu(r).stream()),
            "cudaMemcpyAsync");
    }
    host->gpu(r).synchronize();
  }
  float sum(int r) {
    const auto at = static_cast<std::size_t>(r);
    return tilefold::reduce(tilefold::ranks(host->threads(r), *streams[at]), pinned[at],
                            pinned[at] + n);
  }

  std::shared_ptr<gpus> host;
  index n;
  std::vector<float*> pinned;
  std::vector<std::unique_ptr<array_on<float>>> on_gpu;
  std::vector<std::unique_ptr<streamed>> streams;
  float expected = 0;
};

void enter_streams_of_all(roster& all, const std::shared_ptr<gpus>& host, measurement m) {
  const index n = m.n;
  const int size = host->size();
  const auto parts = std::make_shared<std::unique_ptr<parts_of_host>>();
  const std::string suffix = "-of-" + std::to_string(size);
  m.group = "streams of all";
  for (const bool sums : {false, true}) {
    m.who = (sums ? "pinned-64-mib" : "pinned-copy") + suffix;
    m.prepare = [=] {
      if (*parts == nullptr) *parts = std::make_unique<parts_of_host>(host, n);
      parts_of_host& x = **parts;
      const auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(size));
      timed_work work;
      work.how = mode::sync;
      work.bytes = n * static_cast<index>(sizeof(float)) * size;
      work.enqueue = [=, &x] {
        x.host->team().run([&](int r) {
          if (sums) {
            (*values)[static_cast<std::size_t>(r)] = x.sum(r);
          } else {
            x.copy(r);
          }
        });
      };
      if (!sums) return work;
      work.check = [=, &x, run = work.enqueue] {
        run();
        for (const float value : *values) {
          if (std::memcmp(&value, &x.expected, sizeof(float)) != 0) {
            throw std::runtime_error("other bits than those of one call");
          }
        }
      };
      return work;
    };
    all.enter(m);
  }
}

}  // namespace

void enter_streams(roster& all, const std::shared_ptr<gpus>& host) {
  const index n = index{1} << (all.quick() ? 28 : 30);
  const auto items = std::make_shared<std::unique_ptr<host_items>>();
  measurement m;
  m.shape = "streamed_float_sum";
  m.mode = "sync";
  m.n = n;
  m.iterations = 1;
  m.group = "streams";
  const auto enter = [&](const std::string& who, auto make) {
    m.who = who;
    m.prepare = [=] {
      if (*items == nullptr) *items = std::make_unique<host_items>(n);
      timed_work work = make(**items);
      work.how = mode::sync;
      work.bytes = n * static_cast<index>(sizeof(float));
      return work;
    };
    all.enter(m);
  };
  enter("pinned-copy", [](host_items& x) {
    timed_work work;
    work.enqueue = [&x] {
      check(cudaMemcpyAsync(x.on_gpu.data(), x.pinned, x.bytes(), cudaMemcpyHostToDevice,
                            x.gpu.stream()),
            "cudaMemcpyAsync");
      x.gpu.synchronize();
    };
    return work;
  });
  for (const bool pinned : {true, false}) {
    for (const index mebibytes : {4, 16, 64, 256}) {
      const auto stream = std::make_shared<std::unique_ptr<streamed>>();
      enter((pinned ? "pinned-" : "pageable-") + std::to_string(mebibytes) + "-mib",
            [=](host_items& x) {
              if (*stream == nullptr) *stream = std::make_unique<streamed>(x.gpu, mebibytes << 20);
              const float* const first = pinned ? x.pinned : x.pageable.data();
              const auto value = std::make_shared<float>();
              timed_work work;
              work.enqueue = [=, &x] { *value = tilefold::reduce(**stream, first, first + x.n); };
              work.check = [=, &x, run = work.enqueue] {
                run();
                if (std::memcmp(value.get(), &x.expected, sizeof(float)) != 0) {
                  throw std::runtime_error("other bits than those of one call");
                }
              };
              return work;
            });
    }
  }
  if (host->size() > 1) enter_streams_of_all(all, host, m);
}

}  // namespace bench
