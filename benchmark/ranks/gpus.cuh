// SPDX-License-Identifier: Apache-2.0
//
// Several GPUs with a part of one sequence each, joined in every way that the library has.
#pragma once

#include <nccl.h>
#include <tilefold/cuda_group.cuh>
#include <tilefold/nccl.cuh>
#include <tilefold/peers.cuh>
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.cuh>

#include <memory>
#include <string>
#include <vector>

#include "../support/items.cuh"
#include "../support/roster.hpp"
#include "crew.hpp"

namespace bench {

/// Memory of one GPU.
template <class T>
class array_on {
 public:
  array_on(int device, index n) : device_(device) {
    use();
    check(cudaMalloc(&memory_, static_cast<std::size_t>(n) * sizeof(T)), "cudaMalloc");
    check(cudaSetDevice(0), "cudaSetDevice");
  }
  array_on(const array_on&) = delete;
  array_on& operator=(const array_on&) = delete;
  ~array_on() {
    (void)cudaSetDevice(device_);
    (void)cudaFree(memory_);
    (void)cudaSetDevice(0);
  }
  T* data() const { return static_cast<T*>(memory_); }

 private:
  void use() const { check(cudaSetDevice(device_), "cudaSetDevice"); }

  int device_;
  void* memory_ = nullptr;
};

/// How the GPUs are joined. `one` is the first GPU with its own part: what linear is measured by.
/// `nccl_lengths` and `peers` give the lengths, so that all is in stream order.
enum class joined { one, group, threads, nccl, nccl_lengths, peers };

inline std::string name_of(joined by, int gpus) {
  const std::string suffix = "-of-" + std::to_string(gpus);
  switch (by) {
    case joined::one:
      return "one-gpu";
    case joined::group:
      return "group" + suffix;
    case joined::threads:
      return "threads" + suffix;
    case joined::nccl:
      return "nccl" + suffix;
    case joined::nccl_lengths:
      return "nccl-lengths" + suffix;
    case joined::peers:
      return "peers" + suffix;
  }
  return "?";
}

/// All GPUs of the host. GPU 0 has the whole sequence of size() * most items, every other one a
/// copy of its part besides.
class gpus {
 public:
  explicit gpus(index most);
  ~gpus();
  gpus(const gpus&) = delete;
  gpus& operator=(const gpus&) = delete;

  int size() const { return team_.size(); }
  crew& team() { return team_; }
  const float* whole() const { return whole_->data(); }
  /// Where GPU r's part begins, of parts of n items.
  const float* part(int r) const { return r == 0 ? whole() : parts_[at(r - 1)]->data(); }
  /// Puts parts of n items in their places. (Those of another n are gone.)
  void divide(index n);

  tilefold::cuda_executor& gpu(int r) { return *executors_[at(r)]; }
  tilefold::cuda_group& group() { return *group_; }
  tilefold::thread_communicator& threads(int r) { return threads_[at(r)]; }
  tilefold::nccl_communicator& nccl(int r) { return nccl_[at(r)]; }
  tilefold::peer_communicator& peers(int r) { return peers_[at(r)]; }
  ncclComm_t raw_nccl(int r) const { return raw_[at(r)]; }

 private:
  static std::size_t at(int r) { return static_cast<std::size_t>(r); }

  crew team_;
  index divided_ = 0;
  std::unique_ptr<array_on<float>> whole_;
  std::vector<std::unique_ptr<array_on<float>>> parts_;
  std::vector<std::unique_ptr<tilefold::cuda_executor>> executors_;
  std::unique_ptr<tilefold::cuda_group> group_;
  std::vector<tilefold::thread_communicator> threads_;
  std::vector<ncclComm_t> raw_;
  std::vector<tilefold::nccl_communicator> nccl_;
  std::vector<tilefold::peer_communicator> peers_;
};

void enter_sums(roster& all, const std::shared_ptr<gpus>& host);
void enter_statistics(roster& all, const std::shared_ptr<gpus>& host);
void enter_logsumexp(roster& all, const std::shared_ptr<gpus>& host);
void enter_maxima(roster& all, const std::shared_ptr<gpus>& host);
void enter_segments(roster& all, const std::shared_ptr<gpus>& host);
void enter_gathers(roster& all, const std::shared_ptr<gpus>& host);
void enter_streams(roster& all, const std::shared_ptr<gpus>& host);

}  // namespace bench
