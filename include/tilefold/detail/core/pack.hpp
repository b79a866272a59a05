// SPDX-License-Identifier: Apache-2.0
//
// Several values next to each other, as std::tuple, but trivially copyable when they are and usable
// in device code. Supports structured bindings, get<I>(pack) and apply(f, pack).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>

namespace tilefold::detail {

template <std::size_t Index, class T>
struct pack_leaf {
  T value;
};

/// Takes no room in a pack, nor can it be got out of it.
struct nothing {};

template <std::size_t Index>
struct pack_leaf<Index, nothing> {
  pack_leaf() = default;
  TILEFOLD_HD constexpr pack_leaf(nothing) {}
};

template <class Indices, class... T>
struct pack_of;

template <std::size_t... Index, class... T>
struct pack_of<std::index_sequence<Index...>, T...> : pack_leaf<Index, T>... {
  template <std::size_t I, class X>
  TILEFOLD_HD static constexpr const X& value_of(const pack_leaf<I, X>& leaf) {
    return leaf.value;
  }
  template <std::size_t I, class X>
  TILEFOLD_HD static constexpr X& value_of(pack_leaf<I, X>& leaf) {
    return leaf.value;
  }

  /// The value number I.
  template <std::size_t I>
  TILEFOLD_HD constexpr const auto& get() const {
    return pack_of::template value_of<I>(*this);
  }
  template <std::size_t I>
  TILEFOLD_HD constexpr auto& get() {
    return pack_of::template value_of<I>(*this);
  }
};

template <class... T>
using pack = pack_of<std::index_sequence_for<T...>, T...>;

/// The value number I; found by the type of the pack, as std::get by that of a tuple.
template <std::size_t I, class Indices, class... T>
TILEFOLD_HD constexpr const auto& get(const pack_of<Indices, T...>& values) {
  static_assert(I < sizeof...(T), "tilefold: get<I> of fused results: there are not so many");
  return values.template get<I>();
}
template <std::size_t I, class Indices, class... T>
TILEFOLD_HD constexpr auto& get(pack_of<Indices, T...>& values) {
  static_assert(I < sizeof...(T), "tilefold: get<I> of fused results: there are not so many");
  return values.template get<I>();
}
template <std::size_t I, class Indices, class... T>
TILEFOLD_HD constexpr auto&& get(pack_of<Indices, T...>&& values) {
  static_assert(I < sizeof...(T), "tilefold: get<I> of fused results: there are not so many");
  using value = std::remove_reference_t<decltype(values.template get<I>())>;
  return static_cast<value&&>(values.template get<I>());
}

template <std::size_t I, class First, class... Rest>
struct nth_type : nth_type<I - 1, Rest...> {};
template <class First, class... Rest>
struct nth_type<0, First, Rest...> {
  using type = First;
};

}  // namespace tilefold::detail

template <class Indices, class... T>
struct std::tuple_size<tilefold::detail::pack_of<Indices, T...>>
    : std::integral_constant<std::size_t, sizeof...(T)> {};

template <std::size_t I, class Indices, class... T>
struct std::tuple_element<I, tilefold::detail::pack_of<Indices, T...>>
    : tilefold::detail::nth_type<I, T...> {};

#if defined(__CUDACC_RTC__)
// Some libcu++ give NVRTC no such templates for const types.
template <class Indices, class... T>
struct std::tuple_size<const tilefold::detail::pack_of<Indices, T...>>
    : std::integral_constant<std::size_t, sizeof...(T)> {};

template <std::size_t I, class Indices, class... T>
struct std::tuple_element<I, const tilefold::detail::pack_of<Indices, T...>> {
  using type = const typename tilefold::detail::nth_type<I, T...>::type;
};
#endif

namespace tilefold {

using detail::get;

/// f(values...) of fused results, as std::apply of a tuple; on host and device.
TILEFOLD_NO_EXEC_CHECK
template <class F, std::size_t... Index, class... T>
TILEFOLD_HD constexpr decltype(auto) apply(
    F&& f, const detail::pack_of<std::index_sequence<Index...>, T...>& values) {
  return std::forward<F>(f)(values.template get<Index>()...);
}

}  // namespace tilefold
