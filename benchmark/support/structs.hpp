// SPDX-License-Identifier: Apache-2.0
//
// A user's structs and their operators, as every contestant gets them. Includes no tilefold, as
// peers compile it against another CCCL.
#pragma once

#include <cstdint>

namespace bench {

/// The strictest alignment, up to 16, at which structs of this many bytes follow each other without
/// gaps: what a user who knows of vector loads writes.
constexpr int dense_alignment(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
}

/// N numbers, added one by one.
template <class T, int N>
struct alignas(dense_alignment(N* static_cast<int>(sizeof(T)))) vec {
  T part[N];
};

struct vec_plus {
  template <class T, int N>
  __host__ __device__ vec<T, N> operator()(const vec<T, N>& a, const vec<T, N>& b) const {
    vec<T, N> sum;
    for (int i = 0; i < N; ++i) sum.part[i] = a.part[i] + b.part[i];
    return sum;
  }
};

/// A 2x2 matrix by rows, and the product, which is not commutative.
template <class Real>
struct alignas(16) matrix {
  Real a, b, c, d;
};

struct matrix_product {
  template <class Real>
  __host__ __device__ matrix<Real> operator()(const matrix<Real>& x, const matrix<Real>& y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
            x.c * y.b + x.d * y.d};
  }
};

/// Three results of one pass, in double.
struct moments {
  std::int64_t count;
  double sum, squares;
};

struct moments_of_item {
  __host__ __device__ moments operator()(float x) const {
    return {1, x, static_cast<double>(x) * x};
  }
};

struct moments_plus {
  __host__ __device__ moments operator()(const moments& a, const moments& b) const {
    return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
  }
};

}  // namespace bench
