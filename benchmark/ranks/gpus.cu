// SPDX-License-Identifier: Apache-2.0
#include "gpus.cuh"

namespace bench {

namespace {

int count_gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

}  // namespace

gpus::gpus(index most) : team_(count_gpus()) {
  whole_ = std::make_unique<array_on<float>>(0, size() * most);
  fill<mixed<float>>(whole_->data(), size() * most * static_cast<index>(sizeof(float)), nullptr);
  std::vector<int> devices;
  for (int r = 0; r < size(); ++r) {
    if (r > 0) parts_.push_back(std::make_unique<array_on<float>>(r, most));
    check(cudaSetDevice(r), "cudaSetDevice");
    executors_.push_back(std::make_unique<tilefold::cuda_executor>());
    devices.push_back(r);
  }
  check(cudaSetDevice(0), "cudaSetDevice");
  group_ = std::make_unique<tilefold::cuda_group>(devices);
  threads_ = tilefold::thread_communicator::make(size());
  raw_.resize(devices.size());
  if (const ncclResult_t code = ncclCommInitAll(raw_.data(), size(), devices.data());
      code != ncclSuccess) {
    throw std::runtime_error(std::string("ncclCommInitAll: ") + ncclGetErrorString(code));
  }
  for (const ncclComm_t comm : raw_) nccl_.emplace_back(comm);
  peers_ = tilefold::peer_communicator::make(devices);
}

gpus::~gpus() {
  nccl_.clear();
  for (const ncclComm_t comm : raw_) (void)ncclCommDestroy(comm);
}

void gpus::divide(index n) {
  if (n == divided_) return;
  for (int r = 1; r < size(); ++r) {
    check(cudaMemcpyPeer(parts_[at(r - 1)]->data(), r, whole() + r * n, 0,
                         static_cast<std::size_t>(n) * sizeof(float)),
          "cudaMemcpyPeer");
  }
  for (int r = 0; r < size(); ++r) {
    check(cudaSetDevice(r), "cudaSetDevice");
    check(cudaDeviceSynchronize(), "the parts");
  }
  check(cudaSetDevice(0), "cudaSetDevice");
  divided_ = n;
}

}  // namespace bench
