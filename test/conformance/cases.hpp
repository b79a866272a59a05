// SPDX-License-Identifier: Apache-2.0
//
// The folds that every backend must agree on, as types: value type, operator, what the operator
// means, and the accumulator that the documentation promises. Plain C++: nothing of CUDA.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

#include "../support/items.hpp"
#include "reference.hpp"

namespace tilefold::test {

template <class Value, class Op, class Reference, class Acc, class Named = void>
struct fold_case {
  using value = Value;
  using op = Op;
  using reference_op = Reference;
  using accumulator = Acc;
  using named_accumulator = Named;  // as in reduce<Named>(...)
};

template <class Value, class Op>
using user_case = fold_case<Value, Op, Op, Value>;

/// Mixes the words of two structs; neither commutative nor associative. Floats are added only, so
/// that there is nothing to fuse.
struct mix_words {
  template <class Word, int N>
  TILEFOLD_HD words<Word, N> operator()(const words<Word, N>& a, const words<Word, N>& b) const {
    words<Word, N> mixed;
    for (int i = 0; i < N; ++i) {
      if constexpr (std::is_floating_point_v<Word>) {
        mixed.word[i] = a.word[i] + b.word[(i + 1) % N];
      } else {
        mixed.word[i] = static_cast<Word>(3u * a.word[i] + b.word[(i + 1) % N] + 1u);
      }
    }
    return mixed;
  }
};

// A prime, so that products of many random factors do not die out as they do modulo 2^32.
inline constexpr std::uint32_t prime = 65521;

/// The product of 2x2 matrices of integers modulo a prime: associative, not commutative.
struct matrix_product {
  using matrix = words<std::uint32_t, 4>;
  TILEFOLD_HD matrix operator()(const matrix& a, const matrix& b) const {
    const std::uint32_t m = prime;
    matrix product;
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 2; ++column) {
        const std::uint32_t x = (a.word[2 * row] % m) * (b.word[column] % m) % m;
        const std::uint32_t y = (a.word[2 * row + 1] % m) * (b.word[2 + column] % m) % m;
        product.word[2 * row + column] = (x + y) % m;
      }
    }
    return product;
  }
};

/// x -> word[0] x + word[1] modulo a prime; first the left map, then the right one.
struct affine_composition {
  using map = words<std::uint32_t, 2>;
  TILEFOLD_HD map operator()(const map& first, const map& second) const {
    const std::uint32_t m = prime;
    const std::uint32_t slope = (second.word[0] % m) * (first.word[0] % m) % m;
    const std::uint32_t shift =
        ((second.word[0] % m) * (first.word[1] % m) % m + second.word[1] % m) % m;
    return {{slope, shift}};
  }
};

namespace r = reference;

using float_cases = ::testing::Types<
    fold_case<float, plus, r::plus, float>,                        //
    fold_case<float, multiplies, r::multiplies, float>,            //
    fold_case<float, minimum, r::minimum, float>,                  //
    fold_case<float, maximum, r::maximum, float>,                  //
    fold_case<float, minimum_number, r::minimum_number, float>,    //
    fold_case<float, maximum_number, r::maximum_number, float>,    //
    fold_case<double, plus, r::plus, double>,                      //
    fold_case<double, multiplies, r::multiplies, double>,          //
    fold_case<double, minimum, r::minimum, double>,                //
    fold_case<double, maximum_number, r::maximum_number, double>,  //
    fold_case<float, plus, r::plus, double, double>,               //
    fold_case<float, std::plus<double>, r::plus, double>,          //
    fold_case<std::complex<float>, plus, r::plus, std::complex<float>>,
    fold_case<std::complex<float>, multiplies, r::multiplies, std::complex<float>>,
    fold_case<std::complex<double>, std::plus<>, r::plus, std::complex<double>>,
    fold_case<std::complex<double>, multiplies, r::multiplies, std::complex<double>>>;

using narrow_cases =
    ::testing::Types<fold_case<half, plus, r::plus, float>,                     //
                     fold_case<half, multiplies, r::multiplies, float>,         //
                     fold_case<half, minimum, r::minimum, half>,                //
                     fold_case<half, maximum_number, r::maximum_number, half>,  //
                     fold_case<half, plus, r::plus, half, half>,                //
                     fold_case<bfloat16, std::plus<>, r::plus, float>,          //
                     fold_case<bfloat16, maximum, r::maximum, bfloat16>,        //
                     fold_case<bfloat16, minimum_number, r::minimum_number, bfloat16>,
                     fold_case<bfloat16, multiplies, r::multiplies, double, double>>;

using integer_cases =
    ::testing::Types<fold_case<std::int8_t, plus, r::plus, std::int32_t>,  //
                     fold_case<std::uint8_t, std::multiplies<>, r::multiplies, std::uint32_t>,
                     fold_case<std::uint8_t, maximum, r::maximum, std::uint8_t>,          //
                     fold_case<std::int16_t, multiplies, r::multiplies, std::int32_t>,    //
                     fold_case<std::uint16_t, bit_xor, r::bit_xor, std::uint16_t>,        //
                     fold_case<std::int16_t, minimum, r::minimum, std::int16_t>,          //
                     fold_case<std::int32_t, std::plus<>, r::plus, std::int32_t>,         //
                     fold_case<std::int32_t, plus, r::plus, std::int64_t, std::int64_t>,  //
                     fold_case<std::int32_t, minimum_number, r::minimum_number, std::int32_t>,
                     fold_case<std::uint32_t, multiplies, r::multiplies, std::uint32_t>,   //
                     fold_case<std::uint32_t, std::bit_and<>, r::bit_and, std::uint32_t>,  //
                     fold_case<std::int64_t, plus, r::plus, std::int64_t>,                 //
                     fold_case<std::int64_t, maximum, r::maximum, std::int64_t>,           //
                     fold_case<std::uint64_t, bit_or, r::bit_or, std::uint64_t>,           //
                     fold_case<std::uint64_t, std::bit_xor<>, r::bit_xor, std::uint64_t>,  //
                     fold_case<bool, plus, r::plus, std::int64_t>,                         //
                     fold_case<bool, std::logical_and<>, r::logical_and, bool>,            //
                     fold_case<bool, logical_or, r::logical_or, bool>,                     //
                     fold_case<std::int32_t, logical_and, r::logical_and, bool>,           //
                     fold_case<bool, bit_xor, r::bit_xor, bool>>;

using struct_cases = ::testing::Types<user_case<words<std::uint8_t, 2>, mix_words>,   //
                                      user_case<words<std::uint8_t, 3>, mix_words>,   //
                                      user_case<words<std::uint16_t, 2>, mix_words>,  //
                                      user_case<words<float, 2>, mix_words>,          //
                                      user_case<words<float, 3>, mix_words>,          //
                                      user_case<words<std::uint64_t, 2>, mix_words>,  //
                                      user_case<words<std::uint32_t, 5>, mix_words>,  //
                                      user_case<words<double, 3>, mix_words>,         //
                                      user_case<words<double, 4>, mix_words>,         //
                                      user_case<words<std::uint64_t, 6>, mix_words>,  //
                                      user_case<words<float, 16>, mix_words>,         //
                                      user_case<words<std::uint32_t, 4>, matrix_product>,
                                      user_case<words<std::uint32_t, 2>, affine_composition>>;

}  // namespace tilefold::test
