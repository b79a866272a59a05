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
#include <limits>
#include <ranges>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"

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
  void for_each_case(Body body, pattern items_like = pattern::mixed) {
    for (const std::int64_t n : {1, 2, 3, 5, 8, 17, 256, 1001, 100003}) {
      const auto items = make_items<T>(items_like, n, 3);
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
  scaling_iterator operator+(std::ptrdiff_t i) const { return {at_ + i, factor_}; }
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

// (clang 14 does not understand the views of libstdc++ 12.)
#if !defined(__clang__) || __clang_major__ >= 16
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
#endif

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
  const auto closed_reducer = [](const T& a, const T& b) {
    return a < T{1} ? reference::plus()(a, b) : reference::multiplies()(a, b);
  };
  this->for_each_case([&](const auto& exec, const std::vector<T>& items) {
    ASSERT_TRUE(
        same_bits(tilefold::reduce(exec, items, mixed), reference::fold<T>(closed_reducer, items)));
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
    const auto scale = [factor](const T& x) { return complex(x * factor, x); };
    ASSERT_TRUE(
        same_bits(transform_reduce(exec, items.begin(), items.end(), complex(), plus(), scale),
                  reference::fold<complex>(reference::plus(), products)));
  });
}

// ---- borders inside of a fold with the caller's functions; numbers of one size, so that every
// ---- fused operation is likely to show

template <class T>
T sum(T a, T b) {
  return reference::plus()(a, b);
}
template <class T>
T product(T a, T b) {
  return reference::multiplies()(a, b);
}
template <class T>
inline constexpr T third = static_cast<T>(0.3);
template <class T>
inline constexpr T most = static_cast<T>(0.7);

struct same {
  template <class T>
  T operator()(const T& a) const {
    return a;
  }
};
struct square {
  template <class T>
  T operator()(const T& a) const {
    return a * a;
  }
};
struct add_third {
  template <class T>
  T operator()(const T& a) const {
    return a + third<T>;
  }
};
// The product comes last.
struct scaled_sum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return (a + b) * most<T>;
  }
};
template <class T>
T expected_scaled_sum(const std::vector<T>& leaves) {
  return neighbour_tree([](T a, T b) { return product(sum(a, b), most<T>); }, leaves);
}
template <class T>
std::vector<T> squares(const std::vector<T>& items) {
  std::vector<T> result;
  for (const T& item : items) result.push_back(product(item, item));
  return result;
}
template <class T>
std::vector<T> with_third(std::vector<T> items) {
  for (T& item : items) item = sum(item, third<T>);
  return items;
}

// Adds when it is written through.
template <class T>
class adding_output {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  struct reference {
    T* at;
    const reference& operator=(const T& value) const {
      *at = value + third<T>;
      return *this;
    }
  };

  explicit adding_output(T* at) : at_(at) {}
  reference operator*() const { return {at_}; }
  reference operator[](std::ptrdiff_t i) const { return {at_ + i}; }
  adding_output operator+(std::ptrdiff_t i) const { return adding_output(at_ + i); }

 private:
  T* at_;
};

TYPED_TEST(HostFma, ClosesTheProjectionToTheLastCombine) {
  using T = TypeParam;
  const auto reducer = reducers::make_reducer(same(), scaled_sum(), add_third());
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const T folded = expected_scaled_sum(items);
        const T expected = sum(product(sum(third<T>, folded), most<T>), third<T>);
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, items, third<T>, reducer), expected))
            << "n = " << items.size();
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, items, reducer), sum(folded, third<T>)));
      },
      pattern::near_one);
}

TYPED_TEST(HostFma, ClosesTheResultToTheCaller) {
  using T = TypeParam;
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const T start = product(items[0], items[0]);
        const T folded = expected_scaled_sum(items);
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, items, scaled_sum()) + third<T>,
                              sum(folded, third<T>)))
            << "n = " << items.size();
        const std::vector<T> none;
        const auto reducer = reducers::make_reducer(same(), scaled_sum(), add_third());
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, none, items[0] * items[0], reducer),
                              sum(start, third<T>)));
      },
      pattern::near_one);
}

TYPED_TEST(HostFma, ClosesWhatAnOutputIsGiven) {
  using T = TypeParam;
  const auto reducer = reducers::make_reducer(same(), add(), square());
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const T folded = neighbour_tree([](T a, T b) { return sum(a, b); }, items);
        const T expected = sum(product(folded, folded), third<T>);
        T out{};
        tilefold::reduce_into(exec, items, adding_output<T>(&out), reducer);
        ASSERT_TRUE(same_bits(out, expected)) << "n = " << items.size();
        const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(items.size())};
        tilefold::segmented_reduce_into(exec, items.begin(), offsets.begin(), offsets.begin() + 1,
                                        1, adding_output<T>(&out), T{}, reducer);
        const T from_zero = sum(T{}, folded);
        ASSERT_TRUE(same_bits(out, sum(product(from_zero, from_zero), third<T>)));
        const std::vector<int> keys(items.size(), 1);
        int key = 0;
        tilefold::reduce_by_key(exec, keys.begin(), keys.end(), items.begin(), &key,
                                adding_output<T>(&out), reducer);
        ASSERT_TRUE(same_bits(out, expected));
      },
      pattern::near_one);
}

template <class T>
struct two {
  T u, v;
};
struct first_and_third {
  template <class T>
  T operator()(const two<T>& a) const {
    return a.u + third<T>;
  }
};
struct square_and_itself {
  template <class T>
  two<T> operator()(const T& a) const {
    return {a * a, a};
  }
};

// Computes pairs when it is read.
template <class T>
class pairing_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = two<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = two<T>;

  explicit pairing_iterator(const T* at) : at_(at) {}
  two<T> operator*() const { return (*this)[0]; }
  two<T> operator[](std::ptrdiff_t i) const { return {at_[i] * at_[i], at_[i]}; }
  std::ptrdiff_t operator-(const pairing_iterator& other) const { return at_ - other.at_; }

 private:
  const T* at_;
};

TYPED_TEST(HostFma, ClosesClassesToALift) {
  using T = TypeParam;
  const auto reducer = reducers::make_reducer(first_and_third(), add(), same());
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const T expected =
            neighbour_tree([](T a, T b) { return sum(a, b); }, with_third(squares(items)));
        ASSERT_TRUE(same_bits(
            transform_reduce(exec, items.begin(), items.end(), reducer, square_and_itself()),
            expected))
            << "n = " << items.size();
        const pairing_iterator<T> first(items.data());
        const pairing_iterator<T> last(items.data() + items.size());
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, first, last, reducer), expected));
      },
      pattern::near_one);
}

TYPED_TEST(HostFma, ClosesComputedItemsToAFunction) {
  using T = TypeParam;
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const T factor = this->factor_;
        const T expected = sum(T{1}, neighbour_tree([](T a, T b) { return sum(a, b); },
                                                    with_third(scaled(items, factor))));
        const scaling_iterator<T> first(items.data(), factor);
        const scaling_iterator<T> last(items.data() + items.size(), factor);
        ASSERT_TRUE(
            same_bits(transform_reduce(exec, first, last, T{1}, plus(), add_third()), expected))
            << "n = " << items.size();
      },
      pattern::near_one);
}

// Copied in a way of its own.
template <class T>
struct own_copy {
  T u, v;
  own_copy(T u_, T v_) : u(u_), v(v_) {}
  own_copy(const own_copy& other) : u(other.u), v(other.v) {}
  own_copy& operator=(const own_copy&) = default;
};

// What is on the left is added once it is there; what is on the right is passed through.
template <class Pair>
struct pass_through {
  Pair operator()(const Pair& a, const Pair& b) const { return {b.u, (a.v + b.v) + a.u}; }
};
template <class T>
two<T> expected_pass_through(const std::vector<T>& items, T factor) {
  std::vector<two<T>> leaves;
  for (const T& item : items) leaves.push_back({product(item, factor), T{}});
  return neighbour_tree(
      [](const two<T>& a, const two<T>& b) { return two<T>{b.u, sum(sum(a.v, b.v), a.u)}; },
      leaves);
}

template <class Pair, class Executor, class T>
void expect_passed_through(const Executor& exec, const std::vector<T>& items, T factor) {
  const two<T> folded = expected_pass_through(items, factor);
  const auto scale = [factor](const T& item) { return Pair{item * factor, T{}}; };
  // The initial value is a product as well.
  const Pair result =
      transform_reduce(exec, items, Pair{items[0] * factor, T{}}, pass_through<Pair>(), scale);
  ASSERT_TRUE(same_bits(result.u, folded.u)) << "n = " << items.size();
  ASSERT_TRUE(same_bits(result.v, sum(sum(T{}, folded.v), product(items[0], factor))))
      << "n = " << items.size();
}

TYPED_TEST(HostFma, ClosesWhatAnOperatorPassesThrough) {
  using T = TypeParam;
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        expect_passed_through<two<T>>(exec, items, this->factor_);
        expect_passed_through<own_copy<T>>(exec, items, this->factor_);
      },
      pattern::near_one);
}

TYPED_TEST(HostFma, ClosesComputedItemsToPredicatesAndComparators) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        const auto products = scaled(items, factor);
        const auto scale = [factor](const T& item) { return item * factor; };
        // For a few items the threshold that only the rounded product reaches.
        for (std::size_t i = 0; i < products.size() && i < 40; ++i) {
          const T least = products[i];
          std::int64_t expected = 0;
          for (const T& p : products) expected += p >= least ? 1 : 0;
          const auto reaches = [least](const T& item) { return item - least >= 0; };
          ASSERT_EQ(transform_reduce(exec, items.begin(), items.end(), reducers::count_if{reaches},
                                     scale),
                    expected)
              << "n = " << items.size();
          if (products.size() > 1001) break;
        }
        const auto before = [](const T& a, const T& b) { return b - a > 0; };
        std::size_t place = 0;
        for (std::size_t i = 1; i < products.size(); ++i) {
          if (products[place] > products[i]) place = i;
        }
        const auto found = tilefold::reduce(exec, items, reducers::arg_min_by{scale, before});
        ASSERT_EQ(found.index, static_cast<std::int64_t>(place));
        ASSERT_TRUE(same_bits(found.value, products[place]));
      },
      pattern::near_one);
}

TYPED_TEST(HostFma, ClosesComputedKeys) {
  using T = TypeParam;
  const T factor = this->factor_;
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        // Neighbours that are the same: their difference is 0 if both are rounded.
        std::vector<T> twice;
        for (const T& item : items) twice.insert(twice.end(), {item, item});
        std::vector<T> keys(twice.size());
        std::vector<T> values(twice.size());
        const scaling_iterator<T> first(twice.data(), factor);
        const scaling_iterator<T> last(twice.data() + twice.size(), factor);
        const auto equal = [](const T& a, const T& b) {
          const T gap = a - b;
          return gap < third<T> / 1000 && -gap < std::numeric_limits<T>::min();
        };
        const auto num = tilefold::reduce_by_key(exec, first, last, twice.begin(), keys.begin(),
                                                 values.begin(), equal, plus());
        const auto products = scaled(twice, factor);
        std::size_t expected = 1;
        for (std::size_t i = 1; i < products.size(); ++i) {
          if (!equal(products[i - 1], products[i])) ++expected;
        }
        ASSERT_EQ(num, static_cast<std::int64_t>(expected)) << "n = " << items.size();
        T key{};
        tilefold::reduce_by_key(exec, first, first + 1, twice.begin(), adding_output<T>(&key),
                                values.begin());
        ASSERT_TRUE(same_bits(key, sum(products[0], third<T>)));
      },
      pattern::near_one);
}

// A number whose constructor adds, and an operator that returns a bare product of two: the product
// is rounded before the constructor has it.
template <class T>
struct adding_number {
  T value;
  adding_number() = default;
  adding_number(T x) : value(x + third<T>) {}
};

TYPED_TEST(HostFma, DoesNotFuseWhatAnOperatorReturnsWithItsConversion) {
  using T = TypeParam;
  using number = adding_number<T>;
  const auto multiply = [](const number& a, const number& b) { return a.value * b.value; };
  const auto closed_reducer = [](const T& a, const T& b) { return sum(product(a, b), third<T>); };
  const auto reducer = reducers::make_reducer([](const T& x) { return number(x); }, multiply,
                                              [](const number& x) { return x.value; });
  this->for_each_case(
      [&](const auto& exec, const std::vector<T>& items) {
        std::vector<T> lifted;
        for (const T& item : items) lifted.push_back(sum(item, third<T>));
        const T folded = reference::fold<T>(closed_reducer, lifted);
        const number start(T{0.5f});
        ASSERT_TRUE(same_bits(tilefold::reduce<number>(exec, items, start, multiply).value,
                              closed_reducer(start.value, folded)))
            << "n = " << items.size();
        ASSERT_TRUE(same_bits(tilefold::reduce(exec, items, reducer), folded));
        const auto fused =
            tilefold::reduce(exec, items, reducers::fuse(reducers::count{}, reducer));
        ASSERT_TRUE(same_bits(get<1>(fused), folded)) << "n = " << items.size();
      },
      pattern::near_one);
}

}  // namespace
}  // namespace tilefold::test
