// SPDX-License-Identifier: Apache-2.0
//
// Whether, and how many, items are not zero.
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

constexpr std::initializer_list<dtype> all_dtypes = {
    dtype::int8,    dtype::int16,   dtype::int32,   dtype::int64,     dtype::uint8,
    dtype::uint16,  dtype::uint32,  dtype::uint64,  dtype::float16,   dtype::bfloat16,
    dtype::float32, dtype::float64, dtype::boolean, dtype::complex64, dtype::complex128};

#if defined(__CUDACC__)

/// The bits of an item of 16 bytes.
struct bits_of_16 {
  std::uint64_t low, high;
};

/// The bits by which an item of a dtype is not zero: all but the signs of floats.
constexpr std::uint64_t value_bits(dtype type) {
  switch (type) {
    case dtype::float16:
    case dtype::bfloat16:
      return 0x7fff;
    case dtype::float32:
      return 0x7fffffff;
    case dtype::complex64:
      return 0x7fffffff7fffffff;
    case dtype::float64:
    case dtype::complex128:
      return 0x7fffffffffffffff;
    default:
      return ~std::uint64_t{0};
  }
}

/// The bits that tell whether an item is not zero, in a word.
struct telling_bits {
  std::uint64_t mask;

  template <class Bits>
  TILEFOLD_HD auto operator()(const Bits& item) const {
    using word = std::conditional_t<sizeof(Bits) <= 4, std::uint32_t, std::uint64_t>;
    return static_cast<word>(item) & static_cast<word>(mask);
  }
  TILEFOLD_HD std::uint64_t operator()(const bits_of_16& item) const {
    return (item.low | item.high) & mask;
  }
};

struct is_nonzero {
  telling_bits bits;

  template <class Bits>
  TILEFOLD_HD bool operator()(const Bits& item) const {
    return bits(item) != 0;
  }
};

/// Whether an item is true or, of all, whether none is false. Which one is known when a program
/// runs, so that they share kernels. Folded as words, which take fewer instructions than truths: 0
/// until the answer is known.
struct question {
  using reducer_concept = tilefold::reducer_tag;

  telling_bits bits;
  bool of_all;

  template <class Bits>
  TILEFOLD_HD auto lift(const Bits& item) const {
    using word = decltype(bits(item));
    const word told = bits(item);
    return of_all ? static_cast<word>(told == 0) : told;
  }
  template <class Word>
  TILEFOLD_HD Word combine(Word a, Word b) const {
    return a | b;
  }
  template <class Word>
  TILEFOLD_HD bool project(Word found) const {
    return (found != 0) != of_all;
  }
  template <class Word>
  TILEFOLD_HD Word identity() const {
    return 0;
  }
};

template <bool OfAll>
struct make {
  auto operator()(dtype type) const { return question{{value_bits(type)}, OfAll}; }
};
using make_any = make<false>;
using make_all = make<true>;

struct make_count {
  auto operator()(dtype type) const { return r::count_if(is_nonzero{{value_bits(type)}}); }
};

#else
using make_any = plain<r::any<>>;
using make_all = plain<r::all<>>;
#endif

}  // namespace

}  // namespace tilefold::capi

#if defined(__CUDACC__)
template <>
struct tilefold::detail::ways<tilefold::capi::question> : order_free_ways {
  template <class Word>
  TILEFOLD_HD static bool settled(const tilefold::capi::question&, Word found) {
    return found != 0;
  }
};
#endif

namespace tilefold::capi {

#if defined(__CUDACC__)

namespace {

template <class Bits>
void add_of(table& all, std::initializer_list<dtype> items) {
  for (const dtype type : items) {
    all.add<op::any, const Bits*, bool, make_any>(type, true);
    all.add<op::all, const Bits*, bool, make_all>(type, true);
    all.add<op::count_nonzero, const Bits*, std::int64_t, make_count>(type, true);
  }
}

}  // namespace

void add_questions(table& all) {
  capi::add_of<std::uint8_t>(all, {dtype::int8, dtype::uint8, dtype::boolean});
  capi::add_of<std::uint16_t>(all, {dtype::int16, dtype::uint16, dtype::float16, dtype::bfloat16});
  capi::add_of<std::uint32_t>(all, {dtype::int32, dtype::uint32, dtype::float32});
  capi::add_of<std::uint64_t>(all, {dtype::int64, dtype::uint64, dtype::float64, dtype::complex64});
  capi::add_of<bits_of_16>(all, {dtype::complex128});
}

#else

void add_questions(table& all) {
  all.add_any<op::any, make_any, bool, bool>(all_dtypes);
  all.add_any<op::all, make_all, bool, bool>(all_dtypes);
  for (const dtype type : all_dtypes) {
    all.add<op::count_nonzero, nonzero_items, std::int64_t, plain<r::sum>>(type, true);
  }
}

#endif

}  // namespace tilefold::capi
