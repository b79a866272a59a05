// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an exact accumulator, in C++ and in the C interface, most with a checksum that fits.
#include <tilefold/tilefold.h>
#include <tilefold/exact_accumulator.hpp>

#include "c_interface.hpp"
#include "fuzz.hpp"

namespace tilefold::capi {

const basic_table<host_executor>& kernels() {
  static const basic_table<host_executor> none;
  return none;
}

}  // namespace tilefold::capi

namespace tilefold::fuzz {

namespace {

template <class Use>
void for_each_item(const Use& use) {
  use(float{});
  use(double{});
  use(half{});
  use(std::int32_t{});
  use(std::uint64_t{});
}

}  // namespace

std::vector<bytes> seeds() {
  std::vector<bytes> all;
  for_each_item([&](auto zero) {
    using item = decltype(zero);
    for (int n = 0; n < 4; ++n) {
      exact_accumulator<item> sum;
      for (int i = 0; i < n; ++i) sum.add(static_cast<item>(static_cast<float>(3 * i + 1)));
      const auto written = sum.to_bytes();
      all.emplace_back(written.begin(), written.end());
    }
  });
  return all;
}

}  // namespace tilefold::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  std::span<std::uint8_t> all(data, size);
  if (seed % 16 != 0) tilefold::test::mend_checksum(all);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilefold;
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::for_each_item([&](auto zero) {
    using sum_type = exact_accumulator<decltype(zero)>;
    fuzz::refuses<format_error>([&] {
      sum_type sum = sum_type::from_bytes(bytes);
      // What is taken is what is written.
      const auto written = sum.to_bytes();
      if (!std::equal(written.begin(), written.end(), bytes.begin(), bytes.end())) {
        fuzz::fail("other bytes");
      }
      sum.merge(sum);
      sum.add(zero);
      (void)sum.value();
      (void)sum.mean(7);
      (void)sum.to_bytes();
    });
  });
  for (const tilefold_dtype type :
       {tilefold_dtype{TILEFOLD_FLOAT, 32, 1}, tilefold_dtype{TILEFOLD_FLOAT, 64, 1},
        tilefold_dtype{TILEFOLD_INT, 8, 1}}) {
    tilefold_accumulator* sum = nullptr;
    const auto status =
        tilefold_accumulator_from_bytes(type, data, static_cast<std::int64_t>(size), &sum);
    if (status != TILEFOLD_OK) {
      if (status != TILEFOLD_FORMAT || sum != nullptr) fuzz::fail("another status");
      continue;
    }
    double value = 0;
    (void)tilefold_accumulator_merge(sum, sum);
    (void)tilefold_accumulator_value(sum, &value);  // refused if 64 bits do not hold it
    if (tilefold_accumulator_mean(sum, 3, &value) != TILEFOLD_OK) fuzz::fail("mean");
    tilefold_accumulator_destroy(sum);
  }
  return 0;
}
