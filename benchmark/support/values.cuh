// SPDX-License-Identifier: Apache-2.0
//
// The items of contests with many results: what types there are, and memory full of them.
#pragma once

#include <optional>

#include "device_array.hpp"
#include "items.cuh"
#include "structs.hpp"

namespace bench {

template <class T>
struct content_of {
  using type = mixed<T>;
};
template <class T, int N>
struct content_of<vec<T, N>> {
  using type = mixed_vecs<T, N>;
};

/// Calls use(T{}, name) with every struct that peers add up by segment and by key.
template <class Use>
void with_structs(const Use& use) {
  use(vec<float, 4>{}, "struct16");
  use(vec<double, 3>{}, "struct24");
  use(vec<double, 4>{}, "struct32");
  use(vec<double, 8>{}, "struct64");
  use(vec<double, 16>{}, "struct128");
}

/// Items of both signs, made when they are first asked for, and bytes after them that the ceiling
/// reads in place of offsets, keys and results.
template <class T>
class shared_values {
 public:
  shared_values(cudaStream_t stream, index bytes) : stream_(stream), bytes_(bytes) {}

  const T* data() {
    if (!memory_) {
      memory_.emplace(bytes_ / static_cast<index>(sizeof(T)));
      fill<typename content_of<T>::type>(memory_->data(), bytes_, stream_);
    }
    return memory_->data();
  }

 private:
  cudaStream_t stream_;
  index bytes_;
  std::optional<device_array<T>> memory_;
};

}  // namespace bench
