// SPDX-License-Identifier: Apache-2.0
//
// Sums of segments of 64 floats over all GPUs. The cuts lie within segments, so each but the last
// GPU has one that ends on the next. n is the items of one GPU. Offsets and sums lie in the memory
// of each GPU; those of a group in pinned memory of the host, where it asks for them. So a group of
// one GPU is what a group is compared with; there, too, with segments of one size without offsets.
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "gpus.cuh"

namespace bench {

namespace {

constexpr index segment = 64;
constexpr index shift = 13;  // of the cuts, from where segments begin

__global__ void fill_offsets(index* offsets, index first, index count) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    offsets[i] = (first + i) * segment;
  }
}

/// The segments that begin on one GPU.
struct own_segments {
  own_segments(int device, index first, index num)
      : count(num), offsets(device, num + 1), sums(device, num) {
    check(cudaSetDevice(device), "cudaSetDevice");
    fill_offsets<<<1024, 256>>>(offsets.data(), first, num + 1);
    check(cudaGetLastError(), "offsets");
    check(cudaDeviceSynchronize(), "offsets");
    check(cudaSetDevice(0), "cudaSetDevice");
  }
  index count;
  array_on<index> offsets;
  array_on<float> sums;
};

/// GPU r has items [begin(r), begin(r + 1)).
struct division {
  division(gpus& host, index items) : n(items), size(host.size()), alone(0, 0, items / segment) {
    for (int r = 0; r < size; ++r) {
      const index first = (begin(r) + segment - 1) / segment;
      const index last = (begin(r + 1) + segment - 1) / segment;
      segments.push_back(std::make_unique<own_segments>(r, first, last - first));
      if (r == 0) continue;
      parts.push_back(std::make_unique<array_on<float>>(r, begin(r + 1) - begin(r)));
      check(cudaMemcpyPeer(parts.back()->data(), r, host.whole() + begin(r), 0,
                           static_cast<std::size_t>(begin(r + 1) - begin(r)) * sizeof(float)),
            "cudaMemcpyPeer");
      check(cudaDeviceSynchronize(), "the parts");
    }
  }
  index begin(int r) const { return r == 0 ? 0 : r == size ? n * size : r * n + shift; }
  const float* part(gpus& host, int r) const {
    return r == 0 ? host.whole() : parts[static_cast<std::size_t>(r - 1)]->data();
  }

  index n;
  int size;
  own_segments alone;
  std::vector<std::unique_ptr<own_segments>> segments;
  std::vector<std::unique_ptr<array_on<float>>> parts;
};

/// All segments of a number of GPUs, in memory that the host and all GPUs reach.
struct pinned_segments {
  explicit pinned_segments(index num) {
    allocate(reinterpret_cast<void**>(&offsets), (num + 1) * static_cast<index>(sizeof(index)));
    allocate(reinterpret_cast<void**>(&sums), num * static_cast<index>(sizeof(float)));
    fill_offsets<<<1024, 256>>>(offsets, 0, num + 1);
    check(cudaGetLastError(), "offsets");
    check(cudaDeviceSynchronize(), "offsets");
  }
  pinned_segments(const pinned_segments&) = delete;
  pinned_segments& operator=(const pinned_segments&) = delete;
  ~pinned_segments() {
    (void)cudaFreeHost(offsets);
    (void)cudaFreeHost(sums);
  }
  static void allocate(void** memory, index bytes) {
    check(cudaHostAlloc(memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
          "cudaHostAlloc");
  }

  index* offsets = nullptr;
  float* sums = nullptr;
};

std::vector<float> fetch(const float* sums, index count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  check(cudaMemcpy(values.data(), sums, values.size() * sizeof(float), cudaMemcpyDefault),
        "the sums");
  return values;
}

/// The segments from number `first` on, of the whole sequence, again by one call.
void require_bits_of_one_call(gpus& host, const float* sums, index first, index count) {
  const own_segments one(0, first, count);
  tilefold::segmented_reduce(host.gpu(0), host.whole(), one.offsets.data(), one.count,
                             one.sums.data());
  host.gpu(0).synchronize();
  const std::vector<float> expected = fetch(one.sums.data(), count);
  if (std::memcmp(fetch(sums, count).data(), expected.data(), expected.size() * sizeof(float)) !=
      0) {
    throw std::runtime_error("other bits than those of one call");
  }
}

using divided_once = std::shared_ptr<std::unique_ptr<division>>;

/// `sum` sums the segments of `gpus` GPUs; `check` compares what came out with one call.
void enter(roster& all, const std::shared_ptr<gpus>& host, const divided_once& divided, index n,
           const std::string& who, int num_gpus, const std::function<void(division&)>& sum,
           const std::function<void(division&)>& check) {
  measurement m;
  m.shape = "segments_of_64";
  m.mode = "sync";
  m.who = who;
  m.n = n;
  m.iterations = 3;
  m.group = "segments";
  m.prepare = [=] {
    if (*divided == nullptr) *divided = std::make_unique<division>(*host, n);
    division& d = **divided;
    timed_work work;
    work.how = mode::sync;
    work.bytes = n * static_cast<index>(sizeof(float)) * num_gpus;
    work.enqueue = [=, &d] { sum(d); };
    work.check = [=, &d] {
      sum(d);
      check(d);
    };
    return work;
  };
  all.enter(std::move(m));
}

/// A group of all GPUs, and one of the first alone.
void enter_groups(roster& all, const std::shared_ptr<gpus>& host, const divided_once& divided,
                  index n) {
  const auto pinned = std::make_shared<std::unique_ptr<pinned_segments>>();
  for (const int size : {1, host->size()}) {
    const auto group = size == 1 ? std::make_shared<tilefold::cuda_group>(std::vector<int>{0})
                                 : std::shared_ptr<tilefold::cuda_group>(host, &host->group());
    const index count = n / segment * size;
    const auto items = [=](division& d) {
      std::vector<const float*> parts;
      std::vector<index> lengths;
      for (int r = 0; r < size; ++r) {
        parts.push_back(d.part(*host, r));
        lengths.push_back(size == 1 ? n : d.begin(r + 1) - d.begin(r));
      }
      if (*pinned == nullptr) {
        *pinned = std::make_unique<pinned_segments>(n / segment * host->size());
      }
      return tilefold::shards<float>(parts, lengths).begin();
    };
    const auto check = [=](division&) {
      require_bits_of_one_call(*host, (*pinned)->sums, 0, count);
    };
    const std::string name = name_of(joined::group, size);
    enter(
        all, host, divided, n, name, size,
        [=](division& d) {
          const auto first = items(d);
          tilefold::segmented_reduce(*group, first, (*pinned)->offsets, count, (*pinned)->sums);
        },
        check);
    enter(
        all, host, divided, n, "equal-" + name, size,
        [=](division& d) {
          const auto first = items(d);
          tilefold::segmented_reduce(*group, first, count, segment, (*pinned)->sums);
        },
        check);
    if (host->size() == 1) return;
  }
}

}  // namespace

void enter_segments(roster& all, const std::shared_ptr<gpus>& host) {
  const index n = index{1} << (all.quick() ? 28 : 31);
  const auto divided = std::make_shared<std::unique_ptr<division>>();
  // One GPU, by itself and as the only rank: what being a rank costs where there is no other.
  const auto alone = std::make_shared<tilefold::thread_communicator>(
      std::move(tilefold::thread_communicator::make(1)[0]));
  const auto sum_alone = [=](division& d, auto&& executor) {
    tilefold::segmented_reduce(executor, host->whole(), d.alone.offsets.data(), d.alone.count,
                               d.alone.sums.data());
    host->gpu(0).synchronize();
  };
  const auto check_alone = [=](division& d) {
    require_bits_of_one_call(*host, d.alone.sums.data(), 0, d.alone.count);
  };
  enter(
      all, host, divided, n, name_of(joined::one, 1), 1,
      [=](division& d) { sum_alone(d, host->gpu(0)); }, check_alone);
  enter(
      all, host, divided, n, name_of(joined::threads, 1), 1,
      [=](division& d) { sum_alone(d, tilefold::ranks(*alone, host->gpu(0), n)); }, check_alone);

  const auto sum_on_all = [=](division& d, const auto& communicator) {
    host->team().run([&](int r) {
      const own_segments& own = *d.segments[static_cast<std::size_t>(r)];
      const auto ranks =
          tilefold::ranks(communicator(r), host->gpu(r), d.begin(r + 1) - d.begin(r));
      tilefold::segmented_reduce(ranks, d.part(*host, r), own.offsets.data(), own.count,
                                 own.sums.data());
      host->gpu(r).synchronize();
    });
  };
  const auto check_all = [=](division& d) {
    index first = 0;
    for (const auto& own : d.segments) {
      require_bits_of_one_call(*host, own->sums.data(), first, own->count);
      first += own->count;
    }
  };
  enter(
      all, host, divided, n, name_of(joined::threads, host->size()), host->size(),
      [=](division& d) { sum_on_all(d, [&](int r) -> auto& { return host->threads(r); }); },
      check_all);
  enter(
      all, host, divided, n, name_of(joined::nccl, host->size()), host->size(),
      [=](division& d) { sum_on_all(d, [&](int r) -> auto& { return host->nccl(r); }); },
      check_all);
  enter(
      all, host, divided, n, name_of(joined::peers, host->size()), host->size(),
      [=](division& d) { sum_on_all(d, [&](int r) -> auto& { return host->peers(r); }); },
      check_all);
  enter_groups(all, host, divided, n);
}

}  // namespace bench
