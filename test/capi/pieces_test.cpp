// SPDX-License-Identifier: Apache-2.0
//
// Pieces and exact accumulators of the C interface, from a program that links libtilefold: however
// a sequence is cut, the value has the bits of one call; bytes come back whole, and others are
// refused.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>
#include <tilefold/exact_accumulator.hpp>

#include "support/forged.hpp"
#include "support/items.hpp"

namespace tilefold::test {
namespace {

using bytes = std::vector<unsigned char>;

const std::vector<tilefold_dtype> types{
    {TILEFOLD_INT, 8, 1},    {TILEFOLD_INT, 16, 1},     {TILEFOLD_INT, 32, 1},
    {TILEFOLD_INT, 64, 1},   {TILEFOLD_UINT, 8, 1},     {TILEFOLD_UINT, 16, 1},
    {TILEFOLD_UINT, 32, 1},  {TILEFOLD_UINT, 64, 1},    {TILEFOLD_FLOAT, 16, 1},
    {TILEFOLD_FLOAT, 32, 1}, {TILEFOLD_FLOAT, 64, 1},   {TILEFOLD_BFLOAT, 16, 1},
    {TILEFOLD_BOOL, 8, 1},   {TILEFOLD_COMPLEX, 64, 1}, {TILEFOLD_COMPLEX, 128, 1}};
constexpr tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
constexpr tilefold_dtype f64{TILEFOLD_FLOAT, 64, 1};

void must(tilefold_status status) { ASSERT_EQ(status, TILEFOLD_OK) << tilefold_last_error(); }

void expect_error(tilefold_status got, tilefold_status expected, const std::string& part) {
  EXPECT_EQ(got, expected) << tilefold_status_name(got);
  EXPECT_NE(std::string(tilefold_last_error()).find(part), std::string::npos)
      << tilefold_last_error();
}

// Numbers of mixed signs and magnitudes, all finite.
bytes items_of(tilefold_dtype type, std::int64_t n) {
  const std::size_t size = type.bits / 8;
  bytes items(static_cast<std::size_t>(n) * size);
  std::mt19937_64 random(type.code * 131u + type.bits);
  const auto put = [&](std::size_t i, auto value) {
    std::memcpy(items.data() + i * sizeof value, &value, sizeof value);
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::uint64_t bits = random();
    const double real = (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) *
                        static_cast<double>(std::uint64_t{1} << (bits % 12));
    switch (type.code) {
      case TILEFOLD_BOOL:
        items[i] = bits % 8 == 0 ? 0 : 1;
        break;
      case TILEFOLD_FLOAT:
        type.bits == 16   ? put(i, half(static_cast<float>(real)))
        : type.bits == 32 ? put(i, static_cast<float>(real))
                          : put(i, real);
        break;
      case TILEFOLD_BFLOAT:
        put(i, bfloat16(static_cast<float>(real)));
        break;
      case TILEFOLD_COMPLEX:
        for (std::size_t part : {2 * i, 2 * i + 1}) {
          type.bits == 64 ? put(part, static_cast<float>(real)) : put(part, real);
        }
        break;
      default: {  // of 64 bits: these hold the sums of all
        const std::int64_t item = static_cast<std::int64_t>(bits) >> 20;
        const std::uint64_t narrow = type.bits < 64              ? bits
                                     : type.code == TILEFOLD_INT ? static_cast<std::uint64_t>(item)
                                                                 : bits >> 20;
        std::memcpy(items.data() + i * size, &narrow, size);
      }
    }
  }
  return items;
}

/// Owns a piece.
class handle {
 public:
  handle() = default;
  handle(const std::string& op, tilefold_dtype type, std::int64_t position) {
    must(tilefold_piece_create(op.c_str(), type, position, &piece_));
  }
  handle(handle&& other) noexcept : piece_(std::exchange(other.piece_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(piece_, other.piece_);
    return *this;
  }
  ~handle() { tilefold_piece_destroy(piece_); }
  tilefold_piece* get() const { return piece_; }
  tilefold_piece** out() { return &piece_; }

  bytes to_bytes() const {
    std::int64_t size = 0;
    must(tilefold_piece_bytes(piece_, nullptr, 0, &size));
    bytes found(static_cast<std::size_t>(size));
    must(tilefold_piece_bytes(piece_, found.data(), size, &size));
    return found;
  }

 private:
  tilefold_piece* piece_ = nullptr;
};

handle piece_from(const bytes& found) {
  handle piece;
  must(tilefold_piece_from_bytes(found.data(), static_cast<std::int64_t>(found.size()),
                                 piece.out()));
  return piece;
}

class CPieces : public ::testing::Test {
 protected:
  CPieces() {
    must(tilefold_host_executor(1, &one_));
    must(tilefold_host_executor(3, &three_));
  }
  ~CPieces() override {
    tilefold_destroy(one_);
    tilefold_destroy(three_);
  }

  /// Calls use(op, type, bytes of a result) for every operation of every type.
  template <class Use>
  void for_each_op(const Use& use) {
    int combinations = 0;
    for (int i = 0; tilefold_op_name(i) != nullptr; ++i) {
      for (const tilefold_dtype type : types) {
        tilefold_dtype result{};
        std::int32_t count = 0;
        const std::string op = tilefold_op_name(i);
        if (op == "torch_sum" || op == "torch_product") continue;  // there are no pieces of them
        if (tilefold_result(tilefold_op_name(i), type, &result, &count) != TILEFOLD_OK) continue;
        ++combinations;
        use(tilefold_op_name(i), type, static_cast<std::size_t>(result.bits / 8 * count));
      }
    }
    EXPECT_GE(combinations, 290);
  }

  tilefold_executor* one_ = nullptr;
  tilefold_executor* three_ = nullptr;
};

TEST_F(CPieces, OfAnyCutsHaveTheBitsOfOneCall) {
  std::mt19937_64 random(7);
  for (const std::int64_t n : {1, 2, 37, 1000, 20011}) {
    for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
      const bytes items = items_of(type, n);
      const std::size_t item = type.bits / 8;
      bytes expected(size, 0xee), got(size, 0xee);
      must(tilefold_reduce(one_, op, items.data(), type, n, expected.data()));
      std::vector<std::int64_t> cuts{0, n};
      for (int i = 0; i < 4; ++i) cuts.push_back(static_cast<std::int64_t>(random() % (n + 1)));
      std::sort(cuts.begin(), cuts.end());
      // Parts are made in any order, some of two appends, some through bytes, and merged from the
      // right: so nothing is folded as one call would.
      std::vector<handle> parts;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const std::int64_t begin = cuts[i];
        const std::int64_t middle = (begin + cuts[i + 1]) / 2;
        handle part(op, type, begin);
        must(tilefold_piece_append(part.get(), i % 2 == 0 ? one_ : three_,
                                   items.data() + static_cast<std::size_t>(begin) * item,
                                   middle - begin));
        must(tilefold_piece_append(part.get(), one_,
                                   items.data() + static_cast<std::size_t>(middle) * item,
                                   cuts[i + 1] - middle));
        parts.push_back(i % 2 == 0 ? std::move(part) : piece_from(part.to_bytes()));
      }
      for (std::size_t i = parts.size() - 1; i > 0; --i) {
        must(tilefold_piece_merge(parts[i - 1].get(), parts[i].get()));
      }
      must(tilefold_piece_value(parts[0].get(), got.data()));
      EXPECT_EQ(got, expected) << op << " of " << int{type.code} << ":" << int{type.bits} << ", "
                               << n;
      const char* name = nullptr;
      tilefold_dtype found{};
      std::int64_t begin = -1;
      std::int64_t end = -1;
      must(tilefold_piece_info(parts[0].get(), &name, &found, &begin, &end));
      EXPECT_EQ(std::string(name), op);
      EXPECT_EQ(std::memcmp(&found, &type, sizeof type), 0);
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, n);
    });
  }
}

TEST_F(CPieces, OfNothingGiveWhatACallGives) {
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
    bytes expected(size, 0xee), got(size, 0xee);
    const tilefold_status whole = tilefold_reduce(one_, op, nullptr, type, 0, expected.data());
    const handle nothing(op, type, 0);
    EXPECT_EQ(tilefold_piece_value(nothing.get(), got.data()), whole) << op;
    EXPECT_EQ(got, expected) << op;
    const handle again = piece_from(nothing.to_bytes());
    EXPECT_EQ(tilefold_piece_value(again.get(), got.data()), whole) << op;
  });
}

TEST_F(CPieces, ErrorsNameTheBadValueAndLeaveThePieceAsItWas) {
  const std::vector<float> x{1, 2, 3.5f};
  handle piece("sum", f32, 0);
  const handle later("sum", f32, 5);
  const handle other("max", f32, 3);
  const handle wide("sum", f64, 3);
  must(tilefold_piece_append(piece.get(), one_, x.data(), 3));
  expect_error(tilefold_piece_merge(piece.get(), later.get()), TILEFOLD_INVALID_ARGUMENT,
               "ends at 3 cannot be merged with one that begins at 5");
  expect_error(tilefold_piece_merge(piece.get(), other.get()), TILEFOLD_INVALID_ARGUMENT,
               "sum of float32 cannot be merged with one of max of float32");
  expect_error(tilefold_piece_merge(piece.get(), wide.get()), TILEFOLD_INVALID_ARGUMENT,
               "one of sum of float64");
  float out = 42;
  expect_error(tilefold_piece_value(later.get(), &out), TILEFOLD_INVALID_ARGUMENT,
               "begins at 5 has no value");
  expect_error(tilefold_piece_append(piece.get(), one_, x.data(), -1), TILEFOLD_INVALID_ARGUMENT,
               "n is -1");
  expect_error(tilefold_piece_append(piece.get(), one_, nullptr, 1), TILEFOLD_NULL_POINTER,
               "items is null");
  expect_error(tilefold_piece_append(piece.get(), nullptr, x.data(), 1), TILEFOLD_NULL_POINTER,
               "executor is null");
  const handle last("sum", f32, std::numeric_limits<std::int64_t>::max());
  expect_error(tilefold_piece_append(last.get(), one_, x.data(), 1), TILEFOLD_INVALID_ARGUMENT,
               "would pass 2^63 - 1");
  expect_error(tilefold_piece_value(nullptr, &out), TILEFOLD_NULL_POINTER, "piece is null");
  expect_error(tilefold_piece_value(piece.get(), nullptr), TILEFOLD_NULL_POINTER, "result is null");
  tilefold_piece* none = nullptr;
  expect_error(tilefold_piece_create("sum", f32, -1, &none), TILEFOLD_INVALID_ARGUMENT,
               "position is -1");
  expect_error(tilefold_piece_create("some", f32, 0, &none), TILEFOLD_UNKNOWN_OP, "'some'");
  expect_error(tilefold_piece_create("linf", {TILEFOLD_COMPLEX, 64, 1}, 0, &none),
               TILEFOLD_UNSUPPORTED, "no linf of complex64");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(out, 42);
  must(tilefold_piece_value(piece.get(), &out));
  EXPECT_EQ(out, 6.5f);
}

TEST_F(CPieces, OtherBytesAreRefused) {
  handle piece("mean", f64, 3);
  const std::vector<double> x(1001, 0.5);
  must(tilefold_piece_append(piece.get(), one_, x.data(), 1001));
  const bytes good = piece.to_bytes();
  const auto refused = [](const bytes& bad, const std::string& part) {
    tilefold_piece* none = nullptr;
    expect_error(
        tilefold_piece_from_bytes(bad.data(), static_cast<std::int64_t>(bad.size()), &none),
        TILEFOLD_FORMAT, part);
    EXPECT_EQ(none, nullptr);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    bytes bad = good;
    bad[i] ^= 1;
    refused(bad, "tilefold");
    bad.assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i));
    if (i > 0) refused(bad, "tilefold");
  }
  bytes longer = good;
  longer.push_back(0);
  refused(longer, "altered");
  bytes letters = good;
  letters[0] = 'X';
  refused(letters, "these bytes are no piece");
  bytes newer = good;
  newer[4] = 2;
  refused(newer, "version 2; this library knows version 1");
  std::int64_t size = 0;
  unsigned char few[8];
  expect_error(tilefold_piece_bytes(piece.get(), few, 8, &size), TILEFOLD_INVALID_ARGUMENT,
               "capacity is 8");
  EXPECT_EQ(size, 0);
}

TEST_F(CPieces, WellFormedLiesAreRefused) {
  // Four items from 8 on are one block, whose value stands before the checksum.
  const auto refuses = [&](const std::string& op, tilefold_dtype type, std::ptrdiff_t place,
                           const auto& value, const std::string& part) {
    handle piece(op, type, 8);
    const bytes items = items_of(type, 4);
    must(tilefold_piece_append(piece.get(), one_, items.data(), 4));
    const bytes lie = forged(piece.to_bytes(), place, value);
    tilefold_piece* none = nullptr;
    expect_error(
        tilefold_piece_from_bytes(lie.data(), static_cast<std::int64_t>(lie.size()), &none),
        TILEFOLD_FORMAT, part);
    EXPECT_EQ(none, nullptr) << op;
  };
  const std::string claim = "has an accumulator that items 8 to 12 cannot leave";
  for (const std::int64_t count : {-4, 0, 3}) {
    for (const tilefold_dtype type : {f32, f64, tilefold_dtype{TILEFOLD_INT, 32, 1}}) {
      refuses("exact_mean", type, -16, count, claim);
      refuses("mean", type, -24, static_cast<double>(count), claim);
    }
  }
  refuses("arg_max", f64, -16, std::int64_t{12}, claim);
  refuses("any", f32, -9, static_cast<unsigned char>(2), claim);
  refuses("sum", f64, -24, std::int64_t{7}, "cannot hold items 8 to 7");
  refuses("sum", f64, -24, std::int64_t{13}, "2 accumulators of 8 bytes; these bytes hold 8");
}

// ---- exact accumulators

class sum_of {
 public:
  explicit sum_of(tilefold_dtype type) { must(tilefold_accumulator_create(type, &sum_)); }
  sum_of(const sum_of&) = delete;  // owns a handle
  sum_of& operator=(const sum_of&) = delete;
  ~sum_of() { tilefold_accumulator_destroy(sum_); }
  tilefold_accumulator* get() const { return sum_; }

  bytes to_bytes() const {
    std::int64_t size = 0;
    must(tilefold_accumulator_bytes(sum_, nullptr, 0, &size));
    bytes found(static_cast<std::size_t>(size));
    must(tilefold_accumulator_bytes(sum_, found.data(), size, &size));
    return found;
  }

 private:
  tilefold_accumulator* sum_ = nullptr;
};

TEST_F(CPieces, AccumulatorsNeedNoOrder) {
  const std::int64_t n = 5003;
  for (const tilefold_dtype type : types) {
    if (type.code == TILEFOLD_COMPLEX) continue;
    const bytes items = items_of(type, n);
    const auto size = static_cast<std::ptrdiff_t>(type.bits / 8);
    bytes backwards;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      backwards.insert(backwards.end(), items.begin() + i * size, items.begin() + (i + 1) * size);
    }
    const sum_of all(type), parts(type), rest(type);
    must(tilefold_accumulator_add(all.get(), three_, items.data(), n));
    must(tilefold_accumulator_add(rest.get(), one_, backwards.data() + 1000 * size, n - 1000));
    must(tilefold_accumulator_add(parts.get(), one_, backwards.data(), 1000));
    EXPECT_NE(parts.to_bytes(), all.to_bytes());
    must(tilefold_accumulator_merge(parts.get(), rest.get()));
    EXPECT_EQ(parts.to_bytes(), all.to_bytes()) << int{type.code} << ":" << int{type.bits};
    for (const char* op : {"exact_sum", "exact_mean"}) {
      bytes expected(8, 0xee), got(8, 0xee);
      must(tilefold_reduce(one_, op, items.data(), type, n, expected.data()));
      must(op == std::string("exact_sum") ? tilefold_accumulator_value(parts.get(), got.data())
                                          : tilefold_accumulator_mean(parts.get(), n, got.data()));
      EXPECT_EQ(got, expected) << op << " of " << int{type.code} << ":" << int{type.bits};
    }
    const bytes good = all.to_bytes();
    tilefold_accumulator* again = nullptr;
    must(tilefold_accumulator_from_bytes(type, good.data(), static_cast<std::int64_t>(good.size()),
                                         &again));
    bytes from_again(8, 0xee), from_all(8, 0xee);
    must(tilefold_accumulator_value(again, from_again.data()));
    must(tilefold_accumulator_value(all.get(), from_all.data()));
    EXPECT_EQ(from_again, from_all);
    tilefold_accumulator_destroy(again);
    bytes bad = good;
    bad.back() ^= 1;
    tilefold_accumulator* none = nullptr;
    expect_error(tilefold_accumulator_from_bytes(type, bad.data(),
                                                 static_cast<std::int64_t>(bad.size()), &none),
                 TILEFOLD_FORMAT, "altered");
    EXPECT_EQ(none, nullptr);
  }
}

TEST_F(CPieces, AccumulatorsHaveTheBytesOfCpp) {
  const std::vector<float> x = make_items<float>(pattern::mixed, 1000);
  exact_accumulator<float> expected;
  expected.add(x.begin(), x.end());
  const sum_of got(f32);
  must(tilefold_accumulator_add(got.get(), one_, x.data(), 1000));
  const auto written = expected.to_bytes();
  bytes as_bytes(written.size());
  std::memcpy(as_bytes.data(), written.data(), written.size());
  EXPECT_EQ(got.to_bytes(), as_bytes);
}

TEST_F(CPieces, AccumulatorsNameTheBadValue) {
  const sum_of narrow(f32), wide(f64);
  const float x = 1;
  double out = 42;
  expect_error(tilefold_accumulator_merge(narrow.get(), wide.get()), TILEFOLD_INVALID_ARGUMENT,
               "float32 cannot be merged with one of float64");
  expect_error(tilefold_accumulator_mean(narrow.get(), 0, &out), TILEFOLD_INVALID_ARGUMENT,
               "n is 0");
  expect_error(tilefold_accumulator_add(narrow.get(), one_, &x, -1), TILEFOLD_INVALID_ARGUMENT,
               "n is -1");
  expect_error(tilefold_accumulator_add(narrow.get(), one_, nullptr, 1), TILEFOLD_NULL_POINTER,
               "items is null");
  expect_error(tilefold_accumulator_value(nullptr, &out), TILEFOLD_NULL_POINTER, "sum is null");
  tilefold_accumulator* none = nullptr;
  expect_error(tilefold_accumulator_create({TILEFOLD_COMPLEX, 64, 1}, &none), TILEFOLD_UNSUPPORTED,
               "no exact accumulator of complex64");
  const bytes good = narrow.to_bytes();
  expect_error(tilefold_accumulator_from_bytes(f64, good.data(),
                                               static_cast<std::int64_t>(good.size()), &none),
               TILEFOLD_FORMAT, "bytes");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(out, 42);
}

TEST_F(CPieces, NothingIsKeptOnTheHost) {
  must(tilefold_release(one_));
  expect_error(tilefold_release(nullptr), TILEFOLD_NULL_POINTER, "executor is null");
  EXPECT_STREQ(tilefold_status_name(TILEFOLD_FORMAT), "TILEFOLD_FORMAT");
}

}  // namespace
}  // namespace tilefold::test
