// SPDX-License-Identifier: Apache-2.0
//
// Sums: in the accumulator of docs/numerics.md, and in 64 bits, which may not hold them.
#include <tilefold/reducers/checked_sum.hpp>
#include <tilefold/sequential_blocks.hpp>

#include "complex_items.hpp"
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

template <class T>
using accumulated = detail::accumulator_t<void, plus, T, detail::no_init>;

/// The sum, then 1 if it fits and 0 if not.
template <class T>
struct value_and_fits {
  T value;
  T fits;

  value_and_fits() = default;
  TILEFOLD_HD value_and_fits(const r::checked_value<T>& found)
      : value(found.value), fits(found.fits ? 1 : 0) {}
};

/// In the order of PyTorch's sums (docs/order.md).
struct make_torch_sum {
  auto operator()() const { return sequential_blocks<8192>(r::sum{}); }
};

}  // namespace

template <class T>
struct result_traits<value_and_fits<T>> {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int count = 2;
};

void add_sums(table& all) {
  all.add_typed<op::sum, plain<r::sum>, accumulated, std::int64_t, std::uint64_t, half, bfloat16,
                float, double>();
  all.add_typed<op::sum, plain<r::sum>, itself, complex<float>, complex<double>>();
  all.add_typed<op::sum32, plain<r::sum>, accumulated, std::int8_t, std::int16_t, std::int32_t,
                std::uint8_t, std::uint16_t, std::uint32_t>();
  // Bools are counted.
  all.add_any<op::sum64, plain<r::sum>, std::int64_t, std::int64_t>(
      {dtype::int8, dtype::int16, dtype::boolean});
  all.add_wide<op::sum64, plain<r::sum>, std::int64_t, std::int32_t>();
  all.add_any<op::sum64, plain<r::sum>, std::uint64_t, std::uint64_t>(
      {dtype::uint8, dtype::uint16, dtype::uint32});
  using checked = plain<r::checked_sum<>>;
  all.add_any<op::checked_sum, checked, std::int64_t, value_and_fits<std::int64_t>>(
      {dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::boolean});
  all.add_any<op::checked_sum, checked, std::uint64_t, value_and_fits<std::uint64_t>>(
      {dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64});
  all.add_any<op::sum64, plain<r::sum>, double, double>(
      {dtype::float16, dtype::bfloat16, dtype::float32});
  all.add_typed<op::torch_sum, make_torch_sum, accumulated, half, bfloat16, float, double>();
  all.add_alias(op::sum, op::sum64, narrow_integers);
  all.add_alias(op::sum, op::sum64, {dtype::boolean});
  all.add_alias(op::sum64, op::sum, {dtype::int64, dtype::uint64, dtype::float64});
}

}  // namespace tilefold::capi
