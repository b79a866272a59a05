// SPDX-License-Identifier: Apache-2.0
//
// Sums of host memory by a GPU, chunk by chunk, against copies of the same pinned memory alone.
#include <tilefold/streamed.cuh>

#include <cstring>
#include <memory>

#include "../support/device_array.hpp"
#include "gpus.cuh"

namespace bench {

namespace {

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

}  // namespace

void enter_streams(roster& all) {
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
      using streamed = decltype(tilefold::streamed(std::declval<tilefold::cuda_executor&>()));
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
}

}  // namespace bench
