// SPDX-License-Identifier: Apache-2.0
//
// moderngpu's segreduce. It counts in int, and allocates within its call, here from the scratch
// memory, so that it can be captured like the rest.
#include <moderngpu/kernel_segreduce.hxx>

#include <limits>
#include <stdexcept>
#include <utility>

#include "peer.hpp"

namespace {

/// Gives out the scratch memory from the front and takes nothing back.
class scratch_context final : public mgpu::standard_context_t {
 public:
  explicit scratch_context(const bench::segments_call& call)
      : standard_context_t(false, call.stream),
        next_(static_cast<char*>(call.scratch)),
        left_(call.scratch_bytes) {}
  void* alloc(std::size_t size, mgpu::memory_space_t space) override {
    const std::size_t taken = (size + 255) / 256 * 256;
    if (space != mgpu::memory_space_device || taken > left_) {
      throw std::runtime_error("moderngpu asks for memory that is not there");
    }
    left_ -= taken;
    return std::exchange(next_, next_ + taken);
  }
  void free(void*, mgpu::memory_space_t) override {}

 private:
  char* next_;
  std::size_t left_;
};

void segreduce(const bench::segments_call& c) {
  if (c.num_items + c.segments > std::numeric_limits<int>::max()) {
    throw std::runtime_error("moderngpu counts in int");
  }
  scratch_context context(c);
  mgpu::segreduce(c.items<float>(), static_cast<int>(c.num_items), c.narrow_offsets,
                  static_cast<int>(c.segments), c.result<float>(), mgpu::plus_t<float>(), 0.0f,
                  context);
}

const bench::entry_of<bench::segments_peer> entry({"moderngpu",
                                                   bench::promise::none,
                                                   {{"float", &segreduce}}});

}  // namespace
