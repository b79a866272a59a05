// SPDX-License-Identifier: Apache-2.0
//
// Which memory an iterator leads to: its root is the raw pointer at the bottom of it, through
// adaptors that show what they adapt (base(), and the tuple of a zip iterator). The address is only
// asked where it lies, never followed: adaptors may start anywhere in a range.
#pragma once

#include <concepts>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

namespace tilefold::detail {

template <class It>
concept span_iterator = std::contiguous_iterator<It> &&
    std::same_as<It,
                 typename std::span<std::remove_reference_t<std::iter_reference_t<It>>>::iterator>;

// Iterators that can lead anywhere: raw pointers, and a span's, which is one in disguise.
template <class It>
inline constexpr bool wraps_any_pointer = std::is_pointer_v<It> || span_iterator<It>;

template <class It>
concept iterator_adaptor = requires(const It& it) {
  {*it.base()};
};

template <class It>
concept zipped_iterators = requires(const It& it) {
  get<0>(it.get_iterator_tuple());
};

/// The root of `it`, or null if none can be seen (a generator, or an adaptor that hides it).
template <class It>
const volatile void* root_pointer(const It& it) {
  if constexpr (std::is_pointer_v<It>) {
    return it;
  } else if constexpr (std::contiguous_iterator<It>) {
    return std::to_address(it);
  } else if constexpr (requires { requires std::is_pointer_v<decltype(it.get())>; }) {
    return it.get();  // thrust::device_ptr
  } else if constexpr (iterator_adaptor<It>) {
    return root_pointer(it.base());
  } else if constexpr (zipped_iterators<It>) {
    return root_pointer(get<0>(it.get_iterator_tuple()));
  } else {
    return nullptr;
  }
}

}  // namespace tilefold::detail
