// SPDX-License-Identifier: Apache-2.0
#include "chunk_feed.cuh"

#include <algorithm>

#include <tilefold/host.hpp>

#include "mapped_file.hpp"

namespace tilefold::tool {

namespace {

void fill(char* to, const char* from, std::size_t bytes) {
  copy_mapped(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), bytes);
}

const char* chars(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }

// Calls work() on the current device, which copies by way of the ring to `stream`.
template <class Work>
void run_ring(detail::cuda::pinned_ring& ring, std::int64_t bytes, cudaStream_t stream,
              const Work& work) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  ring.reserve(bytes);
  ring.run(detail::host::mode(), [&] {
    const detail::cuda::device_scope scope(device);  // this may be another thread
    try {
      work();
    } catch (...) {
      (void)cudaStreamSynchronize(stream);
      throw;
    }
  });
}

}  // namespace

chunk_feed::chunk_feed(const std::byte* data, std::int64_t item_bytes, std::int64_t end,
                       std::int64_t chunk, cudaStream_t stream)
    : data_(data),
      item_bytes_(item_bytes),
      end_(end),
      chunk_(chunk),
      stream_(stream),
      ring_(&fill),
      slots_{slot(chunk * item_bytes), slot(chunk * item_bytes)} {}

chunk_feed::~chunk_feed() {
  (void)cudaStreamSynchronize(copies_.stream);
  (void)cudaStreamSynchronize(stream_);
}

void chunk_feed::run(const std::function<void()>& work) {
  run_ring(ring_, std::max<std::int64_t>(end_ * item_bytes_, 1), copies_.stream, work);
}

const std::byte* chunk_feed::copy(std::int64_t first, std::int64_t count) {
  slot& from = slots_[next_];
  next_ = 1 - next_;
  if (from.first != first || from.count != count) begin_copy(from, first, count);
  check_cuda(cudaStreamWaitEvent(stream_, from.copied.event, 0), "cudaStreamWaitEvent");
  return static_cast<const std::byte*>(from.device.get());
}

void chunk_feed::copy_ahead(std::int64_t first) {
  if (first < end_) begin_copy(slots_[next_], first, std::min(chunk_, end_ - first));
}

void chunk_feed::begin_copy(slot& to, std::int64_t first, std::int64_t count) {
  if (announced_ < first) announced_ = first;
  while (announced_ < end_ && ring_.ahead() < chunk_ * item_bytes_ + ring_.bytes()) {
    const std::int64_t now = std::min(chunk_, end_ - announced_);
    ring_.announce(chars(data_ + announced_ * item_bytes_), now * item_bytes_);
    announced_ += now;
  }
  to.count = 0;
  ring_.copy(static_cast<char*>(to.device.get()), count * item_bytes_, copies_.stream);
  check_cuda(cudaEventRecord(to.copied.event, copies_.stream), "cudaEventRecord");
  to.first = first;
  to.count = count;
}

void* chunk_feed::results(std::size_t bytes) {
  if (bytes > results_bytes_) {
    results_ = nullptr;
    results_bytes_ = 0;
    results_ = std::make_unique<pinned_buffer>(bytes);
    results_bytes_ = bytes;
  }
  return results_->get();
}

void copy_to_gpu(const std::byte* from, std::int64_t bytes, void* to,
                 const std::function<void(std::int64_t)>& advance) {
  constexpr std::int64_t step = std::int64_t{64} << 20;
  if (bytes == 0) return;
  const detail::cuda::stream_owner copies;
  detail::cuda::pinned_ring ring(&fill);
  run_ring(ring, bytes, copies.stream, [&] {
    const auto size_at = [&](std::int64_t at) { return std::min(step, bytes - at); };
    std::int64_t announced = 0;
    for (std::int64_t done = 0; done < bytes;) {
      while (announced < bytes && ring.ahead() < step + ring.bytes()) {
        ring.announce(chars(from + announced), size_at(announced));
        announced += size_at(announced);
      }
      const std::int64_t now = size_at(done);
      ring.copy(static_cast<char*>(to) + done, now, copies.stream);
      done += now;
      advance(done);
    }
    check_cuda(cudaStreamSynchronize(copies.stream), "copying to the GPU");
  });
}

}  // namespace tilefold::tool
