// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators by dtype. Sums of integers have one form for all widths, so narrow ones are
// added as those of 64 bits.
#include "exact_state.hpp"

#include <cstring>
#include <type_traits>

#include <tilefold/detail/host/many_folds.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>

#include "job.hpp"

namespace tilefold::capi {

namespace {

/// Of items that It reads as T.
template <class It, class T>
class exact_of final : public exact_state {
  using sum_type = exact_accumulator<T>;
  static_assert(std::is_trivially_copyable_v<sum_type>);

 public:
  void add(host_executor& exec, const void* items, dtype type, std::int64_t n) override {
    const auto fold = detail::bind<void, It>(
        detail::init_and_op{detail::no_init{}, reducers::exact_sum<>{}}, detail::as_is{});
    sum_type sum = sum_;
    exec.template fold_blocks<detail::default_policy>(
        fold.source(exec, capi::items_of<It>(items, type)), fold.reducer, 0, n,
        [&](const sum_type& block, std::int64_t) { sum.merge(block); });
    sum_ = sum;
  }
  void add_accumulator(const void* sum) override {
    sum_type other;
    std::memcpy(static_cast<void*>(&other), sum, sizeof other);
    sum_.merge(other);
  }
  void merge(const exact_state& other) override {
    sum_.merge(static_cast<const exact_of&>(other).sum_);
  }

  dtype value_type() const override { return dtype_of<decltype(sum_.value())>; }
  dtype mean_type() const override { return dtype_of<decltype(sum_.mean(1))>; }
  void write_value(void* result) const override {
    exact_of::write(capi::exact_value(sum_), result);
  }
  void write_mean(std::int64_t n, void* result) const override {
    exact_of::write(sum_.mean(n), result);
  }

  std::vector<std::byte> to_bytes() const override {
    const auto bytes = sum_.to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  void assign(std::span<const std::byte> bytes) override { sum_ = sum_type::from_bytes(bytes); }

 private:
  template <class Result>
  static void write(const Result& value, void* result) {
    std::memcpy(result, &value, sizeof value);
  }

  sum_type sum_;
};

template <class T>
using exact_floats = exact_of<const T*, T>;
template <class Wide>
using exact_integers = exact_of<any_items<Wide>, Wide>;

}  // namespace

std::unique_ptr<exact_state> new_exact_state(dtype items) {
  switch (items) {
    case dtype::float16:
      return std::make_unique<exact_floats<half>>();
    case dtype::bfloat16:
      return std::make_unique<exact_floats<bfloat16>>();
    case dtype::float32:
      return std::make_unique<exact_floats<float>>();
    case dtype::float64:
      return std::make_unique<exact_floats<double>>();
    case dtype::int8:
    case dtype::int16:
    case dtype::int32:
    case dtype::int64:
    case dtype::boolean:
      return std::make_unique<exact_integers<std::int64_t>>();
    case dtype::uint8:
    case dtype::uint16:
    case dtype::uint32:
    case dtype::uint64:
      return std::make_unique<exact_integers<std::uint64_t>>();
    default:
      return nullptr;
  }
}

}  // namespace tilefold::capi
