// SPDX-License-Identifier: Apache-2.0
//
// Every function of the C interface with each of its allocations failing in turn: it says so, has
// written nothing, and can be called again.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>

#include "support/failing_new.hpp"

namespace tilefold::test {
namespace {

constexpr tilefold_dtype f16{TILEFOLD_FLOAT, 16, 1};
constexpr tilefold_dtype f32{TILEFOLD_FLOAT, 32, 1};
constexpr tilefold_dtype f64{TILEFOLD_FLOAT, 64, 1};
constexpr tilefold_dtype i32{TILEFOLD_INT, 32, 1};
constexpr tilefold_dtype i64{TILEFOLD_INT, 64, 1};
constexpr tilefold_dtype bools{TILEFOLD_BOOL, 8, 1};
constexpr tilefold_dtype complex{TILEFOLD_COMPLEX, 64, 1};

// Bytes that a call may write, and what they held before.
class untouched {
 public:
  explicit untouched(std::size_t bytes) : bytes_(bytes, 0x5a) {}
  void* data() { return bytes_.data(); }
  bool is_as_before() const {
    for (const unsigned char byte : bytes_) {
      if (byte != 0x5a) return false;
    }
    return true;
  }
  void reset() { std::memset(bytes_.data(), 0x5a, bytes_.size()); }

 private:
  std::vector<unsigned char> bytes_;
};

class NoMemory : public testing::TestWithParam<int> {
 protected:
  NoMemory() { EXPECT_EQ(tilefold_host_executor(GetParam(), &exec_), TILEFOLD_OK); }
  ~NoMemory() override { tilefold_destroy(exec_); }

  // The items of any type of up to 64 bits.
  const void* items() const { return items_.get(); }

  template <class Call>
  int expect_all_or_nothing(untouched& results, const Call& call) {
    results.reset();
    const int failed = fail_each_allocation(
        [&] {
          const tilefold_status status = call(results.data());
          EXPECT_TRUE(status == TILEFOLD_OK || status == TILEFOLD_NO_MEMORY)
              << tilefold_last_error();
          return status == TILEFOLD_OK;
        },
        [&] { EXPECT_TRUE(results.is_as_before()) << "half written"; });
    EXPECT_FALSE(results.is_as_before());
    return failed;
  }

  template <class Use>
  void for_each_op(const Use& use) {
    for (int i = 0; tilefold_op_name(i) != nullptr; ++i) {
      for (const tilefold_dtype type : {f32, f64, i32, f16, bools, complex}) {
        tilefold_dtype result{};
        std::int32_t count = 0;
        const char* const op = tilefold_op_name(i);
        if (tilefold_result(op, type, &result, &count) != TILEFOLD_OK) continue;
        SCOPED_TRACE(std::string(op) + " of code " + std::to_string(type.code) + ", " +
                     std::to_string(type.bits) + " bits");
        use(op, type, static_cast<std::size_t>(result.bits / 8 * count));
        if (HasFailure()) return;
      }
    }
  }

  static constexpr std::int64_t most = 700000;
  tilefold_executor* exec_ = nullptr;

 private:
  // Small whole numbers, whatever they are read as.
  std::unique_ptr<std::uint64_t[]> items_{new std::uint64_t[most]()};
};

TEST_P(NoMemory, OfARange) {
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t bytes) {
    untouched result(bytes);
    expect_all_or_nothing(
        result, [&](void* out) { return tilefold_reduce(exec_, op, items(), type, most, out); });
  });
}

// Short segments, and two that all threads share.
TEST_P(NoMemory, OfSegments) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= 100; ++i) offsets.push_back(i * 10);
  offsets.push_back(330000);
  offsets.push_back(330000);
  offsets.push_back(most);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t bytes) {
    untouched results(bytes * static_cast<std::size_t>(segments));
    expect_all_or_nothing(results, [&](void* out) {
      return tilefold_segmented_reduce(exec_, op, items(), type, most, offsets.data(), i64,
                                       segments, out);
    });
    untouched equal(2 * bytes);
    expect_all_or_nothing(equal, [&](void* out) {
      return tilefold_segmented_reduce_equal(exec_, op, items(), type, 2, most / 2, out);
    });
  });
}

// Few rows of many columns, and columns in the middle.
TEST_P(NoMemory, OfColumns) {
  int failures = 0;
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t bytes) {
    const std::int32_t first = 0;
    const std::int64_t wide[] = {3, 80000};
    untouched results(80000 * bytes);
    failures += expect_all_or_nothing(results, [&](void* out) {
      return tilefold_axis_reduce(exec_, op, items(), type, 2, wide, nullptr, 1, &first, out,
                                  nullptr);
    });
    const std::int32_t middle = 1;
    const std::int64_t cube[] = {40, 60, 100};
    untouched planes(4000 * bytes);
    failures += expect_all_or_nothing(planes, [&](void* out) {
      return tilefold_axis_reduce(exec_, op, items(), type, 3, cube, nullptr, 1, &middle, out,
                                  nullptr);
    });
    // Results that lie two apart.
    const std::int64_t high[] = {20000, 33};
    const std::int64_t apart = 2;
    untouched few(2 * 33 * bytes);
    failures += expect_all_or_nothing(few, [&](void* out) {
      return tilefold_axis_reduce(exec_, op, items(), type, 2, high, nullptr, 1, &first, out,
                                  &apart);
    });
  });
  EXPECT_GT(failures, 100);
}

// Doubles that are rounded into the results.
TEST_P(NoMemory, OfRoundedResults) {
  const std::int32_t first = 0;
  const std::int64_t wide[] = {3, 80000};
  const std::int64_t high[] = {20000, 33};
  int failures = 0;
  for (const char* const op :
       {"mean", "variance", "population_standard_deviation", "l1", "l2", "logsumexp"}) {
    for (const tilefold_dtype type : {f32, f64, i32}) {
      for (const tilefold_dtype to : {f16, f32}) {
        SCOPED_TRACE(std::string(op) + " of " + std::to_string(type.bits) + " bits");
        const std::size_t bytes = to.bits / 8;
        untouched result(bytes);
        expect_all_or_nothing(result, [&](void* out) {
          return tilefold_reduce_as(exec_, op, items(), type, most, out, to);
        });
        untouched results(80000 * bytes);
        failures += expect_all_or_nothing(results, [&](void* out) {
          return tilefold_axis_reduce_as(exec_, op, items(), type, 2, wide, nullptr, 1, &first, out,
                                         to, nullptr);
        });
        untouched few(33 * bytes);
        failures += expect_all_or_nothing(few, [&](void* out) {
          return tilefold_axis_reduce_as(exec_, op, items(), type, 2, high, nullptr, 1, &first, out,
                                         to, nullptr);
        });
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(failures, 36);
}

TEST_P(NoMemory, OfRunsOfKeys) {
  std::vector<std::int32_t> keys(most);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i < 1000 ? static_cast<std::int32_t>(i / 7) : 1000 + static_cast<int>(i / 400000);
  }
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t bytes) {
    untouched keys_out(8000);
    untouched num_runs(8);
    untouched results(1000 * bytes);
    int failed = 0;
    failed = expect_all_or_nothing(results, [&](void* out) {
      const tilefold_status status =
          tilefold_reduce_by_key(exec_, op, keys.data(), i32, items(), type, most, keys_out.data(),
                                 out, static_cast<std::int64_t*>(num_runs.data()));
      if (status != TILEFOLD_OK) {
        EXPECT_TRUE(keys_out.is_as_before() && num_runs.is_as_before());
      }
      return status;
    });
    EXPECT_GT(failed, 0);
  });
}

TEST_P(NoMemory, OfItemsByIndex) {
  std::vector<std::int32_t> indices(most);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::int32_t>(i * 7919 % 5000);
  }
  for (const char* op : {"sum", "mean", "arg_max"}) {
    for (const std::int64_t columns : {1, 2}) {
      untouched results(5000 * 8 * 2);
      const int failed = expect_all_or_nothing(results, [&](void* out) {
        return tilefold_reduce_by_index(exec_, op, indices.data(), i32, items(), f32,
                                        most / columns, columns, 5000, 1, out);
      });
      EXPECT_GT(failed, 4) << op;
    }
  }
}

TEST_P(NoMemory, OfTheOthers) {
  untouched rows(most * 8);
  for (const tilefold_dtype type : {f32, f64}) {
    expect_all_or_nothing(rows, [&](void* out) {
      return tilefold_log_softmax(exec_, items(), type, 2, most / 2, out, type);
    });
    untouched result(16);
    expect_all_or_nothing(
        result, [&](void* out) { return tilefold_dot(exec_, items(), items(), type, most, out); });
  }
  untouched statistics(sizeof(tilefold_statistics));
  expect_all_or_nothing(statistics, [&](void* out) {
    return tilefold_stats(exec_, items(), f64, most, static_cast<tilefold_statistics*>(out));
  });
}

using bytes = std::vector<unsigned char>;

template <class Write, class Handle>
bytes written(const Write& write, const Handle* handle) {
  std::int64_t size = 0;
  EXPECT_EQ(write(handle, nullptr, 0, &size), TILEFOLD_OK);
  bytes found(static_cast<std::size_t>(size));
  EXPECT_EQ(write(handle, found.data(), size, &size), TILEFOLD_OK);
  return found;
}

TEST_P(NoMemory, OfPieces) {
  for_each_op([&](const char* op, tilefold_dtype type, std::size_t size) {
    if (std::string(op) == "statistics") return;
    if (std::string(op).starts_with("torch_")) return;  // there are no pieces of them
    tilefold_piece* piece = nullptr;
    fail_each_allocation([&] { return tilefold_piece_create(op, type, 0, &piece) == TILEFOLD_OK; },
                         [&] { EXPECT_EQ(piece, nullptr); });
    ASSERT_NE(piece, nullptr);
    const auto stays = [&](const auto& call) {
      const bytes before = written(tilefold_piece_bytes, piece);
      fail_each_allocation([&] { return call() == TILEFOLD_OK; },
                           [&] { EXPECT_EQ(written(tilefold_piece_bytes, piece), before); });
    };
    stays([&] { return tilefold_piece_append(piece, exec_, items(), most); });
    tilefold_piece* next = nullptr;
    EXPECT_EQ(tilefold_piece_create(op, type, most, &next), TILEFOLD_OK);
    EXPECT_EQ(tilefold_piece_append(next, exec_, items(), 1001), TILEFOLD_OK);
    stays([&] { return tilefold_piece_merge(piece, next); });
    untouched result(size);
    expect_all_or_nothing(result, [&](void* out) { return tilefold_piece_value(piece, out); });
    const bytes sound = written(tilefold_piece_bytes, piece);
    untouched copy(sound.size());
    std::int64_t count = -1;
    fail_each_allocation(
        [&] {
          return tilefold_piece_bytes(piece, copy.data(), static_cast<std::int64_t>(sound.size()),
                                      &count) == TILEFOLD_OK;
        },
        [&] { EXPECT_TRUE(copy.is_as_before() && count == -1); });
    tilefold_piece* read = nullptr;
    fail_each_allocation(
        [&] {
          return tilefold_piece_from_bytes(sound.data(), static_cast<std::int64_t>(sound.size()),
                                           &read) == TILEFOLD_OK;
        },
        [&] { EXPECT_EQ(read, nullptr); });
    EXPECT_EQ(written(tilefold_piece_bytes, read), sound);
    for (tilefold_piece* const one : {piece, next, read}) tilefold_piece_destroy(one);
  });
}

TEST_P(NoMemory, OfAccumulators) {
  for (const tilefold_dtype type : {f16, f32, f64, i32, bools}) {
    tilefold_accumulator* sum = nullptr;
    fail_each_allocation([&] { return tilefold_accumulator_create(type, &sum) == TILEFOLD_OK; },
                         [&] { EXPECT_EQ(sum, nullptr); });
    ASSERT_NE(sum, nullptr);
    const auto stays = [&](const auto& call) {
      const bytes before = written(tilefold_accumulator_bytes, sum);
      fail_each_allocation([&] { return call() == TILEFOLD_OK; },
                           [&] { EXPECT_EQ(written(tilefold_accumulator_bytes, sum), before); });
    };
    stays([&] { return tilefold_accumulator_add(sum, exec_, items(), most); });
    stays([&] { return tilefold_accumulator_merge(sum, sum); });
    const bytes sound = written(tilefold_accumulator_bytes, sum);
    tilefold_accumulator* read = nullptr;
    fail_each_allocation(
        [&] {
          return tilefold_accumulator_from_bytes(type, sound.data(),
                                                 static_cast<std::int64_t>(sound.size()),
                                                 &read) == TILEFOLD_OK;
        },
        [&] { EXPECT_EQ(read, nullptr); });
    untouched result(8);
    expect_all_or_nothing(result, [&](void* out) { return tilefold_accumulator_value(read, out); });
    expect_all_or_nothing(result,
                          [&](void* out) { return tilefold_accumulator_mean(read, 3, out); });
    tilefold_accumulator_destroy(sum);
    tilefold_accumulator_destroy(read);
  }
}

TEST_P(NoMemory, OfAnExecutor) {
  tilefold_executor* made = nullptr;
  fail_each_allocation([&] { return tilefold_host_executor(GetParam(), &made) == TILEFOLD_OK; },
                       [&] { EXPECT_EQ(made, nullptr); });
  tilefold_destroy(made);
}

INSTANTIATE_TEST_SUITE_P(Threads, NoMemory, testing::Values(1, 3));

}  // namespace
}  // namespace tilefold::test
