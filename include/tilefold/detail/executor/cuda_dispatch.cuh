// SPDX-License-Identifier: Apache-2.0
//
// Which executor serves a call under nvcc that names none, or something that stands for one. Where
// the data of a call lies that names none, the types of its iterators tell at compile time, and
// their root pointers at run time. Host code.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/detail/executor/kept_executors.cuh>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>

namespace tilefold::detail::cuda {

/// What a type tells of where its items are.
enum class home {
  unknown,  // generators, and whatever is no iterator
  host,     // a container's of the host, or an adaptor that only the host can call
  pointer,  // where the pointers lead that it starts from
  gpu
};

// thrust marks iterators over device memory by their category, a template of three arguments whose
// first is not the standard tag. Iterators of any system (counting, constant) are not marked.
template <class Category>
inline constexpr bool device_category = false;
template <template <class, class, class> class Combined, class First, class System, class Traversal>
inline constexpr bool device_category<Combined<First, System, Traversal>> =
    !std::is_same_v<First, std::random_access_iterator_tag>;
template <class It>
concept device_iterator =
    !std::is_pointer_v<It> && device_category<typename std::iterator_traits<It>::iterator_category>;

// Kernels can call adaptors of thrust and libcu++. Other adaptors count as the host's, for nothing
// tells what they can do: a kernel with them might not even compile.
template <class It>
constexpr bool is_of_cccl() {
  const std::string_view name = detail::type_name<It>();
  const std::string_view space = name.substr(0, name.find('<'));
  return space.starts_with("thrust::") || space.starts_with("cuda::") ||
         space.find("::thrust::") != space.npos;
}

// A lambda that is not extended cannot stand in a kernel's type, which no trait tells. (It is
// called <lambda(int)>, (lambda at file:line) or lambda [](int)->int.)
template <class F>
constexpr bool is_plain_lambda() {
#if defined(__CUDACC_EXTENDED_LAMBDA__)
  if (__nv_is_extended_device_lambda_closure_type(F) ||
      __nv_is_extended_host_device_lambda_closure_type(F)) {
    return false;
  }
#endif
  const std::string_view name = detail::type_name<F>();
  int depth = 0;  // a class that only names a lambda is not one
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (depth == 0 && (rest.starts_with("<lambda(") || rest.starts_with("(lambda at ") ||
                       rest.starts_with("lambda ["))) {
      return true;
    }
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
  }
  return false;
}

template <class It>
constexpr bool has_plain_lambda() {
  if constexpr (requires(const It& it) { it.functor(); }) {
    return is_plain_lambda<std::remove_cvref_t<decltype(std::declval<const It&>().functor())>>();
  } else {
    return false;
  }
}

/// The home of an iterator that needs both.
constexpr home together(home a, home b) {
  if (a == home::gpu || b == home::gpu) return home::gpu;
  if (a == home::host || b == home::host) return home::host;
  return a == home::unknown ? b : a;
}

template <class It>
constexpr home home_of();

template <class Tuple, std::size_t... Index>
constexpr home home_of_tuple(std::index_sequence<Index...>) {
  home all = home::unknown;
  ((all = together(
        all, home_of<std::remove_cvref_t<typename std::tuple_element<Index, Tuple>::type>>())),
   ...);
  return all;
}

template <class It>
constexpr home home_of() {
  if constexpr (device_iterator<It>) {
    return home::gpu;
  } else if constexpr (wraps_any_pointer<It> || unwraps_to_pointer<It>) {
    return home::pointer;
  } else if constexpr (std::contiguous_iterator<It>) {
    return home::host;
  } else if constexpr (!is_of_cccl<It>()) {
    return iterator_adaptor<It> ? home::host : home::unknown;
  } else if constexpr (has_plain_lambda<It>()) {
    return home::host;
  } else if constexpr (zipped_iterators<It>) {
    using tuple = std::remove_cvref_t<decltype(std::declval<const It&>().get_iterator_tuple())>;
    return cuda::home_of_tuple<tuple>(std::make_index_sequence<std::tuple_size<tuple>::value>{});
  } else if constexpr (picks_by_count<It>) {
    return home::pointer;
  } else if constexpr (iterator_adaptor<It>) {
    return home_of<std::remove_cvref_t<decltype(std::declval<const It&>().base())>>();
  } else {
    return home::unknown;
  }
}

/// The home of a call with these arguments: the GPU if one can only be there; else that of the
/// first argument of which anything is known.
template <class... Args>
constexpr home home_of_call() {
  home all = home::unknown;
  ((all = all == home::unknown || home_of<Args>() == home::gpu ? home_of<Args>() : all), ...);
  return all;
}

/// Where the pointers lead that a call starts from: one pointer into each kind of memory.
class data_places {
 public:
  template <class Arg>
  void look_at(const Arg& arg) {
    if constexpr (wraps_any_pointer<Arg> || unwraps_to_pointer<Arg>) {
      const void* pointer = nullptr;
      detail::visit_roots(
          arg, [&](const volatile void* root) { pointer = const_cast<const void*>(root); });
      note(pointer, pointer == nullptr ? nowhere : cuda::place_of(pointer));
    } else {
      detail::visit_roots(arg, [&](const volatile void* root) {
        const auto* const pointer = const_cast<const void*>(root);
        if (root != nullptr) note(pointer, cuda::nearest_place(pointer));
      });
    }
  }

  /// Throws if some is memory of a GPU and some is the host's, which that GPU cannot read.
  void require_one_reader() const {
    if (device_ == nullptr || pageable_ == nullptr) return;
    if (attribute_of(gpu_, cudaDevAttrPageableMemoryAccess) != 0) return;
    throw memory_space_error("tilefold: " + hex(device_) + " is memory of GPU " +
                             std::to_string(gpu_) + " and " + hex(pageable_) +
                             " is host memory, which that GPU cannot read: no executor can reach "
                             "both");
  }

  bool on_gpu() const {
    return device_ != nullptr || (managed_ != nullptr && pageable_ == nullptr);
  }
  /// Memory that only the host reads, if nothing is memory that a GPU reads.
  const void* only_host() const { return seen_by_gpu_ ? nullptr : pageable_; }

 private:
  static constexpr pointer_place nowhere{memory_space::pinned, -1};

  void note(const void* pointer, pointer_place place) {
    switch (place.space) {
      case memory_space::device:
        device_ = pointer;
        gpu_ = place.device;
        break;
      case memory_space::managed:
        managed_ = pointer;
        break;
      case memory_space::pinned:
        break;
      case memory_space::host:
        pageable_ = pointer;
        return;
    }
    seen_by_gpu_ = true;
  }

  const void* device_ = nullptr;
  const void* managed_ = nullptr;
  const void* pageable_ = nullptr;
  int gpu_ = -1;
  bool seen_by_gpu_ = false;
};

}  // namespace tilefold::detail::cuda

namespace tilefold::detail {

/// Under nvcc a call goes where its data is: to the GPU if a root pointer of its iterators leads to
/// memory of a GPU or to managed memory, or thrust marks them so; else to the host (which refuses
/// device memory).
template <class Build, class HostMode>
struct cuda_dispatch {
  /// `first` and `more`: what the call reads and writes; what is no iterator is passed over.
  template <class... Functors, class It, class Use, class... More>
  static auto with_executor(const It& first, Use use, const More&... more) {
    constexpr bool is_lambdas = !wraps_any_pointer<It> && !unwraps_to_pointer<It> &&
                                (cuda::is_plain_lambda<Functors>() || ...);
    constexpr cuda::home told = cuda::home_of_call<It, More...>();
    constexpr cuda::home home = told == cuda::home::pointer && is_lambdas ? cuda::home::host : told;
    cuda::data_places places;
    if constexpr (!detail::copies<Functors...>()) {
      return no_result{};
    } else if constexpr ((device_only<Functors> || ...)) {
      look(places, first, more...);
      if (const void* const pointer = places.only_host()) {
        throw memory_space_error("tilefold: " + cuda::hex(pointer) +
                                 " is host memory, but the operator is a __device__ lambda");
      }
      return on_gpu(default_stream, use);
    } else if constexpr (home == cuda::home::gpu) {
      look(places, first, more...);
      return on_gpu(default_stream, use);
    } else if constexpr (home == cuda::home::pointer) {
      look(places, first, more...);
      if (places.on_gpu()) return on_gpu(default_stream, use);
      return use(basic_host_executor<HostMode>{});
    } else {
      if constexpr (sizeof...(More) > 0) look(places, first, more...);
      return use(basic_host_executor<HostMode>{});
    }
  }

  /// Calls use(executor) with the executor that `handle` stands for.
  template <stand_in Handle, class Use>
  static auto with_stand_in(const Handle& handle, Use use) {
    if constexpr (names_stream<Handle>) {
      return on_gpu(detail::stream_of(handle), use);
    } else {
      return use(detail::host_executor_for<Handle, HostMode>());
    }
  }

 private:
  template <class... Args>
  static void look(cuda::data_places& places, const Args&... args) {
    (places.look_at(args), ...);
    places.require_one_reader();
  }

  template <class Use>
  static auto on_gpu(cudaStream_t stream, const Use& use) {
    lent_executor<Build> lent(stream);
    return use(lent.executor());
  }

  static constexpr cudaStream_t default_stream = nullptr;
};

}  // namespace tilefold::detail
