// SPDX-License-Identifier: Apache-2.0
//
// Adaptors: thrust's transform and zip iterators, recognised by their members. An adaptor is a
// source underneath, and a function that makes its item of an element of that:
//
//     transform(f) of p       source<p>            f(a)
//     zip of p, q             source<p, q>         tuple(a, b)
//     transform(f) of zip     source<zip>, of which each element is made of one of source<p, q>
//
// So memory is read as without them, in packets or copies, and items are made in registers
// (elements.cuh). Others, and those over items that are too large for that, are iterators like any.
#pragma once

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>

namespace tilefold::detail::cuda {

template <class It>
concept transforming_iterator = requires(const It& it) {
  typename std::iter_value_t<std::remove_cvref_t<decltype(it.base())>>;
  it.functor();
};
template <class It>
concept transforms_or_zips = transforming_iterator<It> || zipped_iterators<It>;

// ---- what lies underneath, as the pointer that it is if it is one

template <class It>
TILEFOLD_HD auto as_pointer_if_one(const It& it) {
  if constexpr (unwraps_to_pointer<It>) {
    return try_unwrap_contiguous_iterator(it);
  } else {
    return it;
  }
}

template <class... Its>
TILEFOLD_HD source<Its...> source_from(const Its&... its) {
  return {{its}...};
}
template <class It, std::size_t... Index>
TILEFOLD_HD auto zipped_source(const It& it, std::index_sequence<Index...>) {
  return cuda::source_from(cuda::as_pointer_if_one(get<Index>(it.get_iterator_tuple()))...);
}

/// The source underneath an adaptor.
template <transforms_or_zips It>
TILEFOLD_HD auto underneath(const It& it) {
  if constexpr (transforming_iterator<It>) {
    return cuda::source_from(cuda::as_pointer_if_one(it.base()));
  } else {
    using tuple = std::remove_cvref_t<decltype(it.get_iterator_tuple())>;
    return cuda::zipped_source(it, std::make_index_sequence<std::tuple_size<tuple>::value>());
  }
}
template <class It>
using underneath_t = decltype(cuda::underneath(std::declval<const It&>()));

// ---- the function, called as a reducer's lift

template <class It>
struct adaptor_function;
template <transforming_iterator It>
struct adaptor_function<It> {
  using accumulator = std::iter_value_t<It>;
  using function = std::remove_cvref_t<decltype(std::declval<const It&>().functor())>;

  function f;

  __device__ __forceinline__ explicit adaptor_function(const It& it) : f(it.functor()) {}
  /// Once for each item that exists, when it is asked for.
  template <class Item>
  __device__ __forceinline__ accumulator lift(const Item& item) const {
    return static_cast<accumulator>(function(f)(item));
  }
};
template <zipped_iterators It>
struct adaptor_function<It> {
  using accumulator = std::iter_value_t<It>;

  __device__ __forceinline__ explicit adaptor_function(const It&) {}
  template <class... Items>
  __device__ __forceinline__ accumulator lift(const Items&... items) const {
    return accumulator(items...);
  }
};

/// A copy of it, as bytes, so that holders may be copied as items are, whatever the function is.
template <class It>
class kept_function {
  using function = adaptor_function<It>;

 public:
  __device__ __forceinline__ void hold(const It& it) {
    ::new (static_cast<void*>(bytes_)) function(it);
  }
  __device__ __forceinline__ const function& get() const {
    return *reinterpret_cast<const function*>(bytes_);
  }

 private:
  alignas(function) unsigned char bytes_[sizeof(function)];
};

// ---- which are read so

template <class It>
constexpr bool may_be_held();
template <std::size_t... Index, class... Its>
constexpr bool may_all_be_held(const source_of<std::index_sequence<Index...>, Its...>*) {
  return (cuda::may_be_held<Its>() && ...);
}
template <class It>
constexpr bool may_be_held() {
  if constexpr (transforms_or_zips<It>) {
    return cuda::may_all_be_held(static_cast<const underneath_t<It>*>(nullptr));
  } else {
    using item = std::iter_value_t<It>;
    return std::is_trivially_copyable_v<item> && sizeof(item) <= most_adapted_bytes;
  }
}

/// Adaptors that holders read through.
template <class It>
concept adaptor = transforms_or_zips<It> && cuda::may_be_held<It>();

/// Calls visit(iterator) for each iterator that items are held of; visit returns whether to go on.
/// Host code.
template <class It, class Visit>
bool visit_held(const It& it, const Visit& visit);
template <std::size_t... Index, class... Its, class Visit>
bool visit_held(const source_of<std::index_sequence<Index...>, Its...>& from, const Visit& visit) {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;
  return (cuda::visit_held(source_type::template iterator<Index>(from), visit) && ...);
}
template <class It, class Visit>
bool visit_held(const It& it, const Visit& visit) {
  if constexpr (adaptor<It>) {
    return cuda::visit_held(cuda::underneath(it), visit);
  } else {
    return visit(it);
  }
}

}  // namespace tilefold::detail::cuda
