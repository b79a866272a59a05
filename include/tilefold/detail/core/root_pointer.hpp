// SPDX-License-Identifier: Apache-2.0
//
// Which memory an iterator leads to. Its root is the raw pointer below all adaptors that show what
// they adapt (base(), and the tuple of a zip iterator). The library only asks in which memory the
// address lies, and never reads there: adaptors may start anywhere in a range.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace tilefold::detail {

template <class It>
concept span_iterator =
    std::contiguous_iterator<It> &&
    std::same_as<It,
                 typename std::span<std::remove_reference_t<std::iter_reference_t<It>>>::iterator>;

// Iterators that can lead anywhere: raw pointers, and a span's, which is one in disguise.
template <class It>
inline constexpr bool wraps_any_pointer = std::is_pointer_v<It> || span_iterator<It>;

// thrust's contiguous iterators (device_vector's, device_ptr) hand out their raw pointer through a
// function found by argument-dependent lookup, so thrust itself need not be included here.
template <class It>
concept unwraps_to_pointer = !std::is_pointer_v<It> && requires(const It& it) {
  requires std::is_pointer_v<decltype(try_unwrap_contiguous_iterator(it))>;
};

template <class It>
concept iterator_adaptor = requires(const It& it) {
  { *it.base() };
};

template <class It>
concept zipped_iterators = requires(const It& it) {
  std::tuple_size<std::remove_cvref_t<decltype(it.get_iterator_tuple())>>::value;
};

// thrust's permutation iterator hides the pointer that it picks items from. Where it picks them by
// a count, the address of its first item is found without reading anything.
template <class It>
inline constexpr bool picks_by_count = false;
template <template <class, class> class Permutation, class T, class Index>
inline constexpr bool picks_by_count<Permutation<T*, Index>> =
    requires(const Permutation<T*, Index>& it) {
      requires std::is_same_v<std::remove_cvref_t<decltype(it.base())>, Index>;
      requires std::is_integral_v<std::remove_cvref_t<decltype(it.base().base())>>;
      requires std::is_same_v<decltype(*it), T&>;
    };

/// Calls visit(pointer) for every root of `it`; for none if none can be seen (a generator, or an
/// adaptor that hides it).
template <class It, class Visit>
void visit_roots(const It& it, const Visit& visit);

template <std::size_t Index = 0, class Tuple, class Visit>
void visit_roots_of_each(const Tuple& iterators, const Visit& visit) {
  if constexpr (Index < std::tuple_size<Tuple>::value) {
    detail::visit_roots(get<Index>(iterators), visit);
    detail::visit_roots_of_each<Index + 1>(iterators, visit);
  }
}

template <class It>
inline constexpr bool is_std_reverse = false;
template <class It>
inline constexpr bool is_std_reverse<std::reverse_iterator<It>> = true;

template <class It, class Visit>
void visit_roots(const It& it, const Visit& visit) {
  if constexpr (std::is_pointer_v<It>) {
    visit(static_cast<const volatile void*>(it));
  } else if constexpr (std::contiguous_iterator<It>) {
    visit(static_cast<const volatile void*>(std::to_address(it)));
  } else if constexpr (requires { requires std::is_pointer_v<decltype(it.get())>; }) {
    visit(static_cast<const volatile void*>(it.get()));  // thrust::device_ptr
  } else if constexpr (is_std_reverse<It>) {
    detail::visit_roots(it.base() - 1, visit);  // base() may be the end of the memory
  } else if constexpr (picks_by_count<It>) {
    visit(static_cast<const volatile void*>(std::addressof(*it)));
  } else if constexpr (iterator_adaptor<It>) {
    detail::visit_roots(it.base(), visit);
  } else if constexpr (zipped_iterators<It>) {
    detail::visit_roots_of_each(it.get_iterator_tuple(), visit);
  }
}

}  // namespace tilefold::detail
