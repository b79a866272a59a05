// SPDX-License-Identifier: Apache-2.0
//
// Which executor serves a call that names none. A plain C++ translation unit has the host; under
// nvcc the memory that the iterator leads to decides. The choice is a type, and a template argument
// of every verb, so that .cpp and .cu files of one program do not share one template with two
// meanings.
#pragma once

#include <tilefold/host.hpp>

#if defined(__CUDACC__)
#include <tilefold/cuda.cuh>
#endif

namespace tilefold::detail {

template <class HostMode>
struct host_dispatch {
  /// Calls use(executor) with the executor that can read `first`, and read or write `more`.
  template <class... Functors, class It, class Use, class... More>
  static auto with_executor(const It&, Use use, const More&...) {
    return use(basic_host_executor<HostMode>{});
  }
};

#if defined(__CUDACC__)
using default_dispatch = cuda_dispatch<cuda::this_build, host::mode>;
#else
using default_dispatch = host_dispatch<host::mode>;
#endif

}  // namespace tilefold::detail
