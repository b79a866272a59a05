// SPDX-License-Identifier: Apache-2.0
//
// tilefold generate: writes a .npy file of pseudo-random items whose magnitudes and signs are
// mixed, so that a wrong order of additions shows. The same seed gives the same file everywhere.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <random>

#include "commands.hpp"
#include "format.hpp"
#include "input_error.hpp"
#include "npy.hpp"
#include "progress.hpp"
#include "replacement_file.hpp"

namespace tilefold::tool {

namespace {

// Random sign and significand, exponent uniform in [-Spread, Spread]: finite, normal, not zero.
template <class Word, int SignificandBits, int Bias, int Spread>
Word mixed_float_bits(std::uint64_t random) {
  constexpr std::uint64_t choices = 2 * Spread + 1;
  constexpr int used = SignificandBits + 1;
  constexpr int rest = std::min(64 - used, 32);
  const std::uint64_t significand = random & ((std::uint64_t{1} << SignificandBits) - 1);
  const std::uint64_t sign = random >> SignificandBits & 1;
  const std::uint64_t exponent = Bias - Spread + ((random >> (64 - rest)) * choices >> rest);
  return static_cast<Word>(sign << (8 * sizeof(Word) - 1) | exponent << SignificandBits |
                           significand);
}

// Random magnitudes as well as random digits: the high bits are shifted out by a random number.
template <class Integer>
Integer mixed_integer(std::mt19937_64& random) {
  constexpr int digits = std::numeric_limits<Integer>::digits;
  const std::uint64_t choice = random();
  const std::uint64_t source = sizeof(Integer) == 8 ? random() : choice << 32;
  const int shift = static_cast<int>((choice >> 32) * digits >> 32);
  const auto magnitude = static_cast<Integer>(source >> (64 - digits) >> shift);
  const Integer nonzero = magnitude == 0 ? Integer{1} : magnitude;
  const bool negative = std::is_signed_v<Integer> && (choice >> 32 & 1) != 0;
  return negative ? static_cast<Integer>(-nonzero) : nonzero;
}

template <class T>
T mixed_value(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() >> 63 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return mixed_integer<T>(random);
  } else if constexpr (std::is_same_v<T, half>) {
    return __builtin_bit_cast(half, mixed_float_bits<std::uint16_t, 10, 15, 6>(random()));
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return __builtin_bit_cast(bfloat16, mixed_float_bits<std::uint16_t, 7, 127, 20>(random()));
  } else if constexpr (std::is_same_v<T, float>) {
    return __builtin_bit_cast(float, mixed_float_bits<std::uint32_t, 23, 127, 20>(random()));
  } else if constexpr (std::is_same_v<T, double>) {
    return __builtin_bit_cast(double, mixed_float_bits<std::uint64_t, 52, 1023, 40>(random()));
  } else {
    using real = typename T::value_type;
    const real re = mixed_value<real>(random);
    return {re, mixed_value<real>(random)};
  }
}

void throw_if_interrupted() {
  if (caught_signal != 0) throw input_error("interrupted, nothing written");
}

template <class T>
void write_items(replacement_file& out, const generate_options& options, std::int64_t count) {
  constexpr std::int64_t chunk = (std::int64_t{1} << 22) / static_cast<std::int64_t>(sizeof(T));
  std::mt19937_64 random(options.seed);
  const auto items = std::make_unique<T[]>(static_cast<std::size_t>(std::min(chunk, count)));
  progress bar("writing", options.file, options.bytes);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(chunk, count - done);
    std::generate_n(items.get(), now, [&] { return mixed_value<T>(random); });
    throw_if_interrupted();
    out.write(reinterpret_cast<const char*>(items.get()),
              static_cast<std::size_t>(now) * sizeof(T));
    done += now;
    bar.advance_to(done * static_cast<std::int64_t>(sizeof(T)));
  }
}

dtype find_npy_type(const std::string& name) {
  const item_type type = parse_item_type(name);
  if (type.type == dtype::bfloat16) throw input_error(".npy files cannot hold bfloat16");
  if (type.order != std::endian::native && row_of(type.type).bytes > 1) {
    throw input_error("dtype " + in_quotes(name) + " is of the other byte order than this machine");
  }
  return type.type;
}

void write_file(const generate_options& options, dtype type, std::int64_t count) {
  const signals_deferred deferred;
  replacement_file out(options.file);
  const std::string header = make_npy_header(type, count);
  out.write(header.data(), header.size());
  visit(type, [&]<class T>(std::type_identity<T>) { write_items<T>(out, options, count); });
  throw_if_interrupted();
  out.commit();
}

}  // namespace

int run_generate(const generate_options& options) {
  const dtype type = find_npy_type(options.type);
  const int item_bytes = row_of(type).bytes;
  if (options.bytes % item_bytes != 0) {
    throw input_error("--bytes " + std::to_string(options.bytes) +
                      " is not a whole number of items of " + std::to_string(item_bytes) +
                      " bytes (" + std::string(row_of(type).name) + ")");
  }
  const std::int64_t count = options.bytes / item_bytes;
  const auto start = std::chrono::steady_clock::now();
  try {
    write_file(options, type, count);
  } catch (const std::exception& error) {
    std::cerr << "tilefold: " << one_line(options.file) << ": " << one_line(error.what()) << '\n';
    return caught_signal != 0 ? 128 + caught_signal : exit_bad_input;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << one_line(options.file) << ": wrote " << count << " items of " << row_of(type).name
            << ", " << format_bytes(options.bytes) << ", seed " << options.seed << ", in "
            << format_seconds(seconds) << '\n';
  return exit_success;
}

}  // namespace tilefold::tool
