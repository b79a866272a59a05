// SPDX-License-Identifier: Apache-2.0
//
// Where the target has fused multiply-add, a compiler likes to make one rounding of a product and
// the sum that takes it. It must not across the border between the caller's code and the library's.
// The program fma_tests compiles this file for such a target; elsewhere it shows no more than the
// other tests do.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/items.hpp"

namespace tilefold::test {
namespace {

// What the oracle adds and multiplies goes through memory, one operation at a time, and so is not
// fused even here (reference.hpp).
template <class T>
std::vector<T> scaled(const std::vector<T>& items, T factor) {
  std::vector<T> products;
  for (const T& item : items) products.push_back(reference::multiplies()(item, factor));
  return products;
}

template <class T>
class HostFma : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__FMA__) && defined(__x86_64__)
    if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this processor has no FMA";
#endif
  }

  // Short ranges and those that several threads fold.
  template <class Body>
  void for_each_case(Body body) {
    for (const std::int64_t n : {2, 3, 8, 17, 256, 1001, 100003}) {
      const auto items = make_items<T>(pattern::mixed, n, 3);
      body(host_executor(), items);
      body(host_executor(3), items);
      body(basic_host_executor<detail::host::serial>(), items);
      if (this->HasFatalFailure()) return;
    }
  }

  const T factor_ = static_cast<T>(3.3);
};
using floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostFma, floats);

struct add {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

// Multiplies when it is read.
template <class T>
class scaling_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = T;

  scaling_iterator(const T* at, T factor) : at_(at), factor_(factor) {}
  T operator*() const { return *at_ * factor_; }
  T operator[](std::ptrdiff_t i) const { return at_[i] * factor_; }
  std::ptrdiff_t operator-(const scaling_iterator& other) const { return at_ - other.at_; }

 private:
  const T* at_;
  T factor_;
};

TYPED_TEST(HostFma, DoesNotFuseWhatAnIteratorComputes) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    const T expected = reference::fold<T>(reference::plus(), scaled(items, factor));
    const scaling_iterator<T> first(items.data(), factor);
    const scaling_iterator<T> last(items.data() + items.size(), factor);
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, first, last), expected)) << "n = " << items.size();
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, first, last, add()), expected));
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, first, last, std::plus<>()), expected));
    T out{};
    tilefold::reduce_into(exec, first, last, &out);
    ASSERT_TRUE(same_bits(out, expected));
  });
}

TYPED_TEST(HostFma, DoesNotFuseWhatAViewComputes) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    const T expected = reference::fold<T>(reference::plus(), scaled(items, factor));
    const auto products =
        items | std::views::transform([factor](const T& item) { return item * factor; });
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, products), expected));
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, products, add()), expected));
  });
}

TYPED_TEST(HostFma, DoesNotFuseWhatAFunctionReturns) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    const T folded = reference::fold<T>(reference::plus(), scaled(items, factor));
    const T expected = reference::plus()(T{0.7f}, folded);
    const auto scale = [factor](const T& item) { return item * factor; };
    ASSERT_TRUE(same_bits(transform_reduce(exec, items, T{0.7f}, plus(), scale), expected));
    ASSERT_TRUE(same_bits(transform_reduce(exec, items, T{0.7f}, add(), scale), expected));
    const std::vector<T> factors(items.size(), factor);
    ASSERT_TRUE(same_bits(
        transform_reduce(exec, items.begin(), items.end(), factors.begin(), T{0.7f}), expected));
  });
}

// A product that one call returns and a sum in the next: op(op(x, y), z) must not become
// fma(x, y, z).
TYPED_TEST(HostFma, DoesNotFuseCallsOfAnOperator) {
  using T = TypeParam;
  // Sums where the left operand is small, multiplies where it is large: both in one tree.
  const auto mixed = [](const T& a, const T& b) { return a < T{1} ? a + b : a * b; };
  const auto unfused = [](const T& a, const T& b) {
    return a < T{1} ? reference::plus()(a, b) : reference::multiplies()(a, b);
  };
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    ASSERT_TRUE(
        same_bits(tilefold::reduce(exec, items, mixed), reference::fold<T>(unfused, items)));
  });
}

TYPED_TEST(HostFma, DoesNotFuseAnInitialValueComputedOnTheSpot) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    const T folded = reference::fold<T>(reference::plus(), items);
    const T start = reference::multiplies()(items[0], factor);
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, items, items[0] * factor),
                          reference::plus()(start, folded)));
  });
}

TYPED_TEST(HostFma, DoesNotFuseComplexItems) {
  using T = TypeParam;
  using complex = std::complex<T>;
  const T factor = this->factor_;
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    std::vector<complex> products;
    for (const T& item : items) {
      products.emplace_back(reference::multiplies()(item, factor), item);
    }
    const auto computed =
        items | std::views::transform([factor](const T& x) { return complex(x * factor, x); });
    ASSERT_TRUE(same_bits(tilefold::reduce(exec, computed),
                          reference::fold<complex>(reference::plus(), products)));
  });
}

}  // namespace
}  // namespace tilefold::test
