// SPDX-License-Identifier: Apache-2.0
#include "chunk_feed.cuh"

#include <algorithm>
#include <cstring>

#include <tilefold/host.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::tool {

const std::byte* chunk_feed::copy(std::int64_t first, std::int64_t count) {
  slot& from = slots_[next_];
  next_ = 1 - next_;
  if (from.first != first || from.count != count) read(from, first, count);
  check_cuda(cudaMemcpyAsync(from.device.get(), from.pinned.get(),
                             static_cast<std::size_t>(count * item_bytes_), cudaMemcpyHostToDevice,
                             stream_),
             "copying to the GPU");
  from.copied.record(stream_);
  return static_cast<const std::byte*>(from.device.get());
}

void chunk_feed::read_ahead(std::int64_t first, std::int64_t count) {
  read(slots_[next_], first, count);
}

void chunk_feed::read(slot& to, std::int64_t first, std::int64_t count) const {
  constexpr std::int64_t part = std::int64_t{1} << 20;
  to.copied.wait();  // what it held is on the GPU
  to.count = 0;
  const std::byte* const from = data_ + first * item_bytes_;
  const std::int64_t bytes = count * item_bytes_;
  detail::host::mode().for_each(tree::num_blocks(bytes, part), [&](std::int64_t i) {
    const std::int64_t begin = i * part;
    std::memcpy(to.pinned.get() + begin, from + begin,
                static_cast<std::size_t>(std::min(part, bytes - begin)));
  });
  to.first = first;
  to.count = count;
}

}  // namespace tilefold::tool
