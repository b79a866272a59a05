// SPDX-License-Identifier: Apache-2.0
//
// Which types are memory resources of cuda::mr or RMM, of any version, references or pointers to
// them. They are recognised by their functions, so that none of their headers is included.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

#include <tilefold/detail/cuda/base/workspace.cuh>

namespace tilefold::detail::cuda {

// cuda::mr since CCCL 3.1, RMM since 25.12.
template <class R>
concept allocates_in_stream = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate(stream, n, n) } -> std::same_as<void*>;
  r.deallocate(stream, p, n, n);
};
// cuda::mr before.
template <class R>
concept allocates_async = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate_async(n, n, stream) } -> std::same_as<void*>;
  r.deallocate_async(p, n, n, stream);
};
// rmm::mr::device_memory_resource.
template <class R>
concept allocates_as_rmm = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate(n, stream) } -> std::same_as<void*>;
  r.deallocate(p, n, stream);
};
// Resources that know no stream.
template <class R>
concept allocates_sync = requires(R& r, std::size_t n, void* p) {
  { r.allocate_sync(n, n) } -> std::same_as<void*>;
  r.deallocate_sync(p, n, n);
};
template <class R>
concept allocates_plainly = requires(R& r, std::size_t n, void* p) {
  { r.allocate(n, n) } -> std::same_as<void*>;
  r.deallocate(p, n, n);
};
template <class R>
concept allocates = std::is_class_v<R> &&
                    (allocates_in_stream<R> || allocates_async<R> || allocates_as_rmm<R> ||
                     allocates_sync<R> || allocates_plainly<R>) &&
                    !std::derived_from<R, device_memory_resource>;

/// A resource of cuda::mr or RMM, or a pointer to one.
template <class R>
concept foreign_resource =
    allocates<std::remove_cvref_t<R>> || (std::is_pointer_v<std::remove_cvref_t<R>> &&
                                          allocates<std::remove_pointer_t<std::remove_cvref_t<R>>>);

// In memory_resource.cuh, which a program with such a resource includes.
template <class R>
struct resource_adapter;

/// The resource, which must outlive the result, unless it is a reference or a temporary.
template <foreign_resource R>
std::unique_ptr<device_memory_resource> adapt(R&& resource) {
  constexpr bool included = requires { sizeof(resource_adapter<R>); };
  static_assert(included,
                "tilefold: a memory resource of cuda::mr or RMM needs "
                "#include <tilefold/memory_resource.cuh>");
  if constexpr (included) return resource_adapter<R>::adapt(static_cast<R&&>(resource));
}

}  // namespace tilefold::detail::cuda
