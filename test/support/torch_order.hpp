// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch pins of its ordered sums and products: the hashes of results over rows that are made
// from a formula. Facts of test/python_native/test_inner_tree_order.py in pytorch/pytorch, commit
// 20c6900f2d2811858c61e22a509e94870325f73a: the table _GOLDEN and the formula of _golden_input.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tilefold/half.hpp>

namespace tilefold::test {

enum class torch_type { float16, bfloat16, float32, float64 };

struct torch_case {
  bool product;
  torch_type type;
  std::int64_t rows, columns;
  const char* hash;  // the first 16 digits of the SHA-256 of the results' bytes
};

inline constexpr torch_case torch_cases[] = {
    {false, torch_type::float16, 8, 27, "57a3f67d5fd8f69d"},
    {false, torch_type::float16, 8, 1024, "78a863f321707ebf"},
    {false, torch_type::float16, 8, 4097, "0532ce6becb24fef"},
    {false, torch_type::float16, 8, 100003, "7ca7afe152551d32"},
    {false, torch_type::bfloat16, 8, 27, "6b35fadfb1131edf"},
    {false, torch_type::bfloat16, 8, 1024, "e8368cc6128dc8ea"},
    {false, torch_type::bfloat16, 8, 4097, "d82d5a0eec1a9342"},
    {false, torch_type::bfloat16, 8, 100003, "dd0d994c351ef3d0"},
    {false, torch_type::float32, 8, 4, "73ad01782c9262c4"},
    {false, torch_type::float32, 8, 16, "88f7e0f77961255e"},
    {false, torch_type::float32, 8, 27, "56b42ce6ec0dd5a2"},
    {false, torch_type::float32, 8, 33, "2a38ee077ed8f5eb"},
    {false, torch_type::float32, 8, 128, "1008f735a4f08798"},
    {false, torch_type::float32, 8, 1024, "a648cd0f3c75779a"},
    {false, torch_type::float32, 8, 4096, "c21308629158fe30"},
    {false, torch_type::float32, 8, 4097, "61219bb1c29abdf9"},
    {false, torch_type::float32, 8, 8192, "8928a0edee31a8e6"},
    {false, torch_type::float32, 8, 20000, "dd3c69b9b0dd6d1e"},
    {false, torch_type::float32, 8, 40000, "00f118660d7a6ecf"},
    {false, torch_type::float32, 8, 100003, "7c81ed5e86748261"},
    {false, torch_type::float32, 3, 262144, "43932e982470bb77"},
    {false, torch_type::float64, 8, 27, "684f413c34ebd347"},
    {false, torch_type::float64, 8, 1024, "f6d308aea49a3796"},
    {false, torch_type::float64, 8, 4097, "986dedef9c2f194b"},
    {false, torch_type::float64, 8, 100003, "93bc7250f8575381"},
    {true, torch_type::float16, 8, 4097, "68d56137046f20c2"},
    {true, torch_type::float16, 8, 100003, "2d52e87b8e56a9c5"},
    {true, torch_type::bfloat16, 8, 4097, "e5fc6516cb12b36e"},
    {true, torch_type::bfloat16, 8, 100003, "926c2606d521edb0"},
    {true, torch_type::float32, 8, 16, "6890938d89593965"},
    {true, torch_type::float32, 8, 1024, "77f1b0239bc269fb"},
    {true, torch_type::float32, 8, 4097, "a323b3f23861149f"},
    {true, torch_type::float32, 8, 20000, "d04a833d3ef3875b"},
    {true, torch_type::float32, 8, 100003, "4cef96575c26539a"},
    {true, torch_type::float64, 8, 4097, "35f8e0d3a5f71bdc"},
    {true, torch_type::float64, 8, 100003, "de84b76fd6125a71"},
};

/// The rows of a case, one after the other. CUDA divides a tensor by a number c as a product with
/// 1 / c, and makes narrow floats of doubles by way of float.
template <class T>
std::vector<T> torch_rows(const torch_case& one) {
  const auto part = [](std::int64_t v, std::int64_t period, double middle, double c) {
    return (static_cast<double>(v % period) - middle) * (1.0 / c);
  };
  std::vector<T> x;
  x.reserve(static_cast<std::size_t>(one.rows * one.columns));
  for (std::int64_t v = 0; v < one.rows * one.columns; ++v) {
    double value = part(v, 29, 14, 29) + part(v, 7, 3, 13);
    value += part(v, 4093, 2046, 4093) * 0.25;
    if (one.product) {
      const double root = std::sqrt(static_cast<double>(one.columns));
      value = 1.0 + value * (1.0 / (root > 8 ? root : 8.0));
    }
    if constexpr (sizeof(T) == 8) {
      x.push_back(value);
    } else {
      x.push_back(T(static_cast<float>(value)));
    }
  }
  return x;
}

/// SHA-256 (FIPS 180-4) of `bytes`, as its first 16 hexadecimal digits.
inline std::string sha256_of(const unsigned char* bytes, std::size_t size) {
  // The fractional parts of roots of the first primes; long double holds their 32 bits.
  std::array<std::uint32_t, 64> constants{};
  std::array<std::uint32_t, 8> state{};
  const auto fraction = [](long double root) {
    return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
  };
  std::size_t found = 0;
  for (unsigned candidate = 2; found < 64; ++candidate) {
    bool prime = true;
    for (unsigned d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
    if (!prime) continue;
    if (found < 8) state[found] = fraction(std::sqrt(static_cast<long double>(candidate)));
    constants[found++] = fraction(std::cbrt(static_cast<long double>(candidate)));
  }
  std::vector<unsigned char> message(bytes, bytes + size);
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) {
    message.push_back(static_cast<unsigned char>(std::uint64_t{size} * 8 >> shift));
  }
  for (std::size_t at = 0; at < message.size(); at += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) {
      if (i < 16) {
        for (std::size_t k = 0; k < 4; ++k) w[i] = w[i] << 8 | message[at + 4 * i + k];
        continue;
      }
      const std::uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const std::uint32_t second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> more{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += more[i];
  }
  std::string text;
  for (int i = 0; i < 16; ++i) {
    text += "0123456789abcdef"[state[static_cast<std::size_t>(i / 8)] >> (28 - i % 8 * 4) & 15];
  }
  return text;
}

template <class T>
std::string hash_of(const std::vector<T>& results) {
  std::vector<unsigned char> bytes(results.size() * sizeof(T));
  std::memcpy(bytes.data(), results.data(), bytes.size());
  return sha256_of(bytes.data(), bytes.size());
}

/// Calls check(case, a value of its item type) for every case.
template <class Check>
void for_every_torch_case(const Check& check) {
  for (const torch_case& one : torch_cases) {
    switch (one.type) {
      case torch_type::float16:
        check(one, half{});
        break;
      case torch_type::bfloat16:
        check(one, bfloat16{});
        break;
      case torch_type::float32:
        check(one, float{});
        break;
      case torch_type::float64:
        check(one, double{});
        break;
    }
  }
}

}  // namespace tilefold::test
