// SPDX-License-Identifier: Apache-2.0
//
// Elements of a source between memory and the reducer. Each iterator has a holder for its items:
//
//     source      iterator 0    iterator 1    indices         read in step
//                     |             |            |            load: each holder from its iterator
//     holders     a0 a1 a2 ..   b0 b1 b2 ..   (nothing)       in registers, or in shared memory
//                     |             |            |            get: each holder's item of one place
//     lift        reducer.lift(    a2,           b2,     2)   one element
//
// `Holders` says which holders: packets.cuh, stretches.cuh, staged.cuh, columns.cuh. An adaptor's
// holder has the elements of the source underneath, and makes an item when it is asked for one.
#pragma once

#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/load/shift.cuh>

namespace tilefold::detail::cuda {

// Adaptors: thrust's transform and zip iterators, recognised by their members. An adaptor is a
// source underneath, and a function that makes its item of an element of that:
//
//     transform(f) of p       source<p>            f(a)
//     zip of p, q             source<p, q>         tuple(a, b)
//     transform(f) of zip     source<zip>, of which each element is made of one of source<p, q>
//
// So memory is read as without adaptors, in packets or copies, and items are made in registers.
// Other adaptors, and adaptors over larger items, are read item by item, as any iterator.

template <class It>
concept transforming_iterator = requires(const It& it) {
  typename std::iter_value_t<std::remove_cvref_t<decltype(it.base())>>;
  it.functor();
};
template <class It>
concept transforms_or_zips = transforming_iterator<It> || zipped_iterators<It>;

// ---- the source underneath an adaptor; a contiguous iterator becomes its pointer

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

  TILEFOLD_D explicit adaptor_function(const It& it) : f(it.functor()) {}
  /// Called once for each item that exists, when the item is asked for.
  template <class Item>
  TILEFOLD_D accumulator lift(const Item& item) const {
    return static_cast<accumulator>(function(f)(item));
  }
};
template <zipped_iterators It>
struct adaptor_function<It> {
  using accumulator = std::iter_value_t<It>;

  TILEFOLD_D explicit adaptor_function(const It&) {}
  template <class... Items>
  TILEFOLD_D accumulator lift(const Items&... items) const {
    return accumulator(items...);
  }
};

/// A copy of an adaptor_function, as bytes, so that any holder can be copied as items are; where
/// functions are not kept, nothing.
template <class It, bool Keeps>
struct kept_function {
  using function = adaptor_function<It>;

  alignas(function) unsigned char bytes[sizeof(function)];

  TILEFOLD_D void hold(const It& it) { ::new (static_cast<void*>(bytes)) function(it); }
  TILEFOLD_D const function& held() const { return *reinterpret_cast<const function*>(bytes); }
};
template <class It>
struct kept_function<It, false> {
  TILEFOLD_D void hold(const It&) {}
};

// ---- which adaptors are read so

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

/// Bytes that an item of an iterator brings from memory.
template <class It>
inline constexpr int item_bytes_of = static_cast<int>(sizeof(std::iter_value_t<It>));
template <>
inline constexpr int item_bytes_of<index_iterator> = 0;

template <class Source>
inline constexpr int item_bytes = 0;
template <std::size_t... Index, class... Its>
inline constexpr int item_bytes<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger((item_bytes_of<Its> + ...), 1);

template <transforms_or_zips It>
inline constexpr int item_bytes_of<It> = item_bytes<underneath_t<It>>;

/// The index of element i of a source whose first iterator tells indices.
template <std::size_t... Index, class... Its>
TILEFOLD_D std::int64_t index_of(const source_of<std::index_sequence<Index...>, Its...>& source,
                                 std::int64_t i) {
  return source_of<std::index_sequence<Index...>, Its...>::template iterator<0>(source)[i];
}

// Ranges of memory that an element is read from.
template <class It>
inline constexpr int ranges_of = item_bytes_of<It> > 0 ? 1 : 0;
template <class Source>
inline constexpr int ranges = 0;
template <std::size_t... Index, class... Its>
inline constexpr int ranges<source_of<std::index_sequence<Index...>, Its...>> =
    (ranges_of<Its> + ...);
template <adaptor It>
inline constexpr int ranges_of<It> = ranges<underneath_t<It>>;

// The two kinds of holders: in a lane's registers, where an adaptor's holder keeps its function,
// and in shared memory, where holders are told their iterators again when items are asked for.
struct in_registers {
  static constexpr bool keep_functions = true;
};
struct in_shared_memory {
  static constexpr bool keep_functions = false;
};

template <class It, class Holders>
class adapted_items;

template <class It, class Holders>
struct holder_for {
  using type = typename Holders::template of<It>;
};
template <adaptor It, class Holders>
struct holder_for<It, Holders> {
  using type = adapted_items<It, Holders>;
};

template <std::size_t Index, class Holder>
struct holder_leaf {
  Holder holder;
};

/// A holder for each iterator of a source: `Holders::of<It>`, or that of an adaptor. A place tells
/// holders which item: by a stripe and a number in its packet, or by an offset. Each kind of
/// holders has those of the functions below that its callers need.
template <class Source, class Holders>
class elements_of;

template <std::size_t... Index, class... Its, class Holders>
class elements_of<source_of<std::index_sequence<Index...>, Its...>, Holders>
    : holder_leaf<Index, typename holder_for<Its, Holders>::type>... {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;

  template <std::size_t I, class Holder>
  TILEFOLD_D static Holder& holder(holder_leaf<I, Holder>& leaf) {
    return leaf.holder;
  }
  template <std::size_t I, class Holder>
  TILEFOLD_D static const Holder& holder(const holder_leaf<I, Holder>& leaf) {
    return leaf.holder;
  }
  template <std::size_t I>
  TILEFOLD_D static const auto& iterator(const source_type& source) {
    return source_type::template iterator<I>(source);
  }

 public:
  /// Whether loads touch memory behind the items that they are asked for.
  __device__ static bool overreads(const source_type& source) {
    return (holder_for<Its, Holders>::type::overreads(iterator<Index>(source)) || ...);
  }

  // ---- loads: the holders' own, each with its iterator

  template <class... Place>
  TILEFOLD_D void load(const source_type& source, Place... place) {
    (holder<Index>(*this).load(iterator<Index>(source), place...), ...);
  }
  template <class... Place>
  TILEFOLD_D void load_all(const source_type& source, Place... place) {
    (holder<Index>(*this).load_all(iterator<Index>(source), place...), ...);
  }
  template <class... Place>
  TILEFOLD_D void load_one(const source_type& source, Place... place) {
    (holder<Index>(*this).load_one(iterator<Index>(source), place...), ...);
  }
  template <class... Place>
  TILEFOLD_D void load_ring(const Place&... place) {
    (holder<Index>(*this).load_ring(place...), ...);
  }
  TILEFOLD_D void settle() { (holder<Index>(*this).settle(), ...); }
  template <int N>
  TILEFOLD_D void drop(int count) {
    (holder<Index>(*this).template drop<N>(count), ...);
  }

  // ---- the items and elements that were loaded

  /// The item of iterator I at a place.
  template <std::size_t I, class... Place>
  TILEFOLD_D auto item(Place... place) const {
    return holder<I>(*this).get(place...);
  }
  /// The element at a place.
  template <class Reducer, class... Place>
  TILEFOLD_D typename Reducer::accumulator lift(const Reducer& reducer, Place... place) const {
    return reducer.lift(holder<Index>(*this).get(place...)...);
  }
  /// Adds the element at a place to an accumulator of the elements before it.
  template <class Reducer, class... Place>
  TILEFOLD_D void absorb(const Reducer& reducer, typename Reducer::accumulator& value,
                         Place... place) const {
    reducer.absorb(value, holder<Index>(*this).get(place...)...);
  }

  // ---- elements of holders in shared memory, which are told their iterators again

  template <class Reducer, class... Place>
  TILEFOLD_D typename Reducer::accumulator lift_from(const Reducer& reducer,
                                                     const source_type& source,
                                                     Place... place) const {
    return reducer.lift(holder<Index>(*this).get_from(iterator<Index>(source), place...)...);
  }
  /// Returns visit(packets...) of N neighbouring items of each iterator.
  template <int N, class Visit, class... Place>
  TILEFOLD_D auto visit_packets(const Visit& visit, const source_type& source,
                                Place... place) const {
    return visit(holder<Index>(*this).template get_packet<N>(iterator<Index>(source), place...)...);
  }
};

/// The holder of an adaptor's items. In registers the function is kept, for the source that is
/// loaded from may be gone when items are asked for.
template <class It, class Holders>
class adapted_items : elements_of<underneath_t<It>, Holders>,
                      kept_function<It, Holders::keep_functions> {
  using elements = elements_of<underneath_t<It>, Holders>;
  using value = std::iter_value_t<It>;

 public:
  using elements::drop, elements::settle;

  __device__ static bool overreads(const It& it) {
    return elements::overreads(cuda::underneath(it));
  }
  template <class... Place>
  TILEFOLD_D void load(const It& it, Place... place) {
    this->hold(it);
    elements::load(cuda::underneath(it), place...);
  }
  template <class... Place>
  TILEFOLD_D void load_all(const It& it, Place... place) {
    this->hold(it);
    elements::load_all(cuda::underneath(it), place...);
  }
  template <class... Place>
  TILEFOLD_D void load_one(const It& it, Place... place) {
    this->hold(it);
    elements::load_one(cuda::underneath(it), place...);
  }
  template <class... Place>
  TILEFOLD_D value get(Place... place) const {
    return elements::lift(this->held(), place...);
  }
  template <class... Place>
  TILEFOLD_D value get_from(const It& it, Place... place) const {
    return elements::lift_from(adaptor_function<It>(it), cuda::underneath(it), place...);
  }
  template <int N, class... Place>
  TILEFOLD_D registers<value, N> get_packet(const It& it, Place... place) const {
    const adaptor_function<It> function(it);
    return elements::template visit_packets<N>(
        [&](const auto&... packets) {
          registers<value, N> items;
#pragma unroll
          for (int j = 0; j < N; ++j) items.put(j, function.lift(packets[j]...));
          return items;
        },
        cuda::underneath(it), place...);
  }
};

}  // namespace tilefold::detail::cuda
