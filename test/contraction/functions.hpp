// SPDX-License-Identifier: Apache-2.0
//
// What a user of the library might write, and no function of it adds what it has itself multiplied:
// operators, lifts, iterators and outputs. A fused multiply-add in what a compiler makes of them
// was made across a border between two of them, which must not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/config.hpp>

namespace tilefold::test::closed_reducer {

// A factor with many bits, so that products are rounded.
template <class T>
TILEFOLD_HD T times(const T& x, float factor) {
  return x * static_cast<T>(factor);
}

/// N numbers: structs of 4 N or 8 N bytes.
template <class T, int N>
struct pack {
  T v[N];
};

template <class>
inline constexpr int size_of_pack = 1;
template <class T, int N>
inline constexpr int size_of_pack<pack<T, N>> = N;

// Functions of one item.

struct scale {
  template <class T>
  TILEFOLD_HD T operator()(const T& x) const {
    return closed_reducer::times(x, 3.3f);
  }
};
struct square {
  template <class T>
  TILEFOLD_HD T operator()(const T& x) const {
    return x * x;
  }
};
struct shift {
  template <class T>
  TILEFOLD_HD T operator()(const T& x) const {
    return x + static_cast<T>(0.3f);
  }
};
struct keep {
  template <class T>
  TILEFOLD_HD T operator()(const T& x) const {
    return x;
  }
};
/// Scales, with a factor that only the launch knows.
template <class T>
struct scale_by {
  T factor;
  TILEFOLD_HD T operator()(const T& x) const { return x * factor; }
};

/// An item as a struct of products.
template <class Pack>
struct scaled_pack {
  template <class T>
  TILEFOLD_HD Pack operator()(const T& x) const {
    Pack result;
    for (int i = 0; i < size_of_pack<Pack>; ++i) {
      result.v[i] = closed_reducer::times(x, 3.3f + static_cast<float>(i));
    }
    return result;
  }
};
/// A struct with each of its numbers scaled.
struct scale_each {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& x) const {
    pack<T, N> result;
    for (int i = 0; i < N; ++i)
      result.v[i] = closed_reducer::times(x.v[i], 3.3f + static_cast<float>(i));
    return result;
  }
};
/// A struct with something added to each of its numbers.
struct shift_each {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& x) const {
    pack<T, N> result;
    for (int i = 0; i < N; ++i) result.v[i] = x.v[i] + static_cast<T>(0.3f);
    return result;
  }
};
/// The sum of a struct's numbers.
struct total {
  template <class T, int N>
  TILEFOLD_HD T operator()(const pack<T, N>& x) const {
    T sum = x.v[0];
    for (int i = 1; i < N; ++i) sum = sum + x.v[i];
    return sum;
  }
};
struct first_of_pack {
  template <class T, int N>
  TILEFOLD_HD T operator()(const pack<T, N>& x) const {
    return x.v[0];
  }
};

// Predicates.

struct above_when_shifted {
  template <class T>
  TILEFOLD_HD bool operator()(const T& x) const {
    return x + static_cast<T>(0.3f) > static_cast<T>(1.0f);
  }
};
/// Neighbouring keys that lie close together.
struct close_by {
  template <class T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    return a - b < static_cast<T>(0.5f);
  }
};
/// The greater one, by the sign of a difference.
struct less_by_difference {
  template <class T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    return a - b < static_cast<T>(0.0f);
  }
};

// Functions of two items.

struct product {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return a * b;
  }
};
struct sum {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct difference {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return a - b;
  }
};
/// Adds where the left operand is small and multiplies where it is large: products of one call
/// are operands of the next one's addition.
struct sum_or_product {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    if (a < static_cast<T>(1.0f)) return a + b;
    return a * b;
  }
};

// Operators on structs. Where one passes a number through or multiplies it, the next call adds it.

/// The first number is the right operand's; the last one collects.
struct pass_through {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& a, const pack<T, N>& b) const {
    pack<T, N> result = b;
    for (int i = 1; i < N; ++i) result.v[i] = (a.v[i] + b.v[i]) + a.v[i - 1];
    return result;
  }
};
/// Numbers change their places, and every other one collects.
struct swap_places {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& a, const pack<T, N>& b) const {
    pack<T, N> result;
    for (int i = 0; i < N; ++i) {
      result.v[i] = i % 2 == 0 ? b.v[N - 1 - i] : a.v[N - 1 - i] + b.v[N - 1 - i];
    }
    return result;
  }
};
/// Products in even places, sums of what stood there in odd ones.
struct product_last {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& a, const pack<T, N>& b) const {
    pack<T, N> result;
    for (int i = 0; i < N; ++i) {
      result.v[i] = i % 2 == 0 ? a.v[(i + 1) % N] * b.v[(i + 1) % N] : a.v[i - 1] + b.v[i - 1];
    }
    return result;
  }
};
/// All numbers move on by one place; what comes round is added.
struct sum_last {
  template <class T, int N>
  TILEFOLD_HD pack<T, N> operator()(const pack<T, N>& a, const pack<T, N>& b) const {
    pack<T, N> result;
    for (int i = 1; i < N; ++i) result.v[i] = a.v[i] < b.v[i] ? a.v[i - 1] : b.v[i - 1];
    result.v[0] = a.v[N - 1] + b.v[N - 1];
    return result;
  }
};

// Iterators.

/// A number whose constructor adds, and an operator on two of them that returns the bare product.
struct adding_number {
  float v;
  adding_number() = default;
  TILEFOLD_HD adding_number(float x) : v(x + 0.3f) {}
};
struct to_adding_number {
  TILEFOLD_HD adding_number operator()(float x) const { return x; }
};
struct bare_product {
  TILEFOLD_HD float operator()(const adding_number& a, const adding_number& b) const {
    return a.v * b.v;
  }
};

/// Items that are computed when they are read.
template <class It, class F>
class computing_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cvref_t<decltype(F{}(*It{}))>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  computing_iterator() = default;
  TILEFOLD_HD explicit computing_iterator(It at) : at_(at) {}
  TILEFOLD_HD value_type operator*() const { return F{}(*at_); }
  TILEFOLD_HD value_type operator[](std::ptrdiff_t i) const { return F{}(at_[i]); }
  TILEFOLD_HD computing_iterator operator+(std::ptrdiff_t i) const {
    return computing_iterator(at_ + i);
  }
  TILEFOLD_HD computing_iterator& operator+=(std::ptrdiff_t i) {
    at_ += i;
    return *this;
  }
  TILEFOLD_HD std::ptrdiff_t operator-(const computing_iterator& other) const {
    return at_ - other.at_;
  }
  TILEFOLD_HD bool operator==(const computing_iterator& other) const { return at_ == other.at_; }
  TILEFOLD_HD bool operator!=(const computing_iterator& other) const { return at_ != other.at_; }

 private:
  It at_{};
};
template <class F, class It>
computing_iterator<It, F> computed(It first) {
  return computing_iterator<It, F>(first);
}

/// An output that adds something to what is assigned.
template <class T>
class shifting_output {
 public:
  struct reference {
    T* to;
    TILEFOLD_HD const reference& operator=(const T& value) const {
      *to = value + static_cast<T>(0.3f);
      return *this;
    }
  };
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;

  shifting_output() = default;
  TILEFOLD_HD explicit shifting_output(T* at) : at_(at) {}
  TILEFOLD_HD reference operator*() const { return {at_}; }
  TILEFOLD_HD reference operator[](std::ptrdiff_t i) const { return {at_ + i}; }
  TILEFOLD_HD shifting_output operator+(std::ptrdiff_t i) const { return shifting_output(at_ + i); }
  TILEFOLD_HD shifting_output& operator+=(std::ptrdiff_t i) {
    at_ += i;
    return *this;
  }
  TILEFOLD_HD std::ptrdiff_t operator-(const shifting_output& other) const {
    return at_ - other.at_;
  }

 private:
  T* at_ = nullptr;
};

}  // namespace tilefold::test::closed_reducer
