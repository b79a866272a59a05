// SPDX-License-Identifier: Apache-2.0
//
// Operators for the rungs. Each has an identity, with which kernels fill up what is missing, and is
// commutative, for most rungs swap items around. Floats are taken to be numbers: no NaN.
#pragma once

#include <cuda/std/limits>

namespace ladder {

template <class T>
struct sum {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
  __host__ __device__ T identity() const { return T{0}; }
};

template <class T>
struct product {
  __host__ __device__ T operator()(T a, T b) const { return a * b; }
  __host__ __device__ T identity() const { return T{1}; }
};

template <class T>
struct minimum {
  using limits = cuda::std::numeric_limits<T>;
  __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
  __host__ __device__ T identity() const {
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
};

template <class T>
struct maximum {
  using limits = cuda::std::numeric_limits<T>;
  __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
  __host__ __device__ T identity() const {
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
};

template <class T>
struct bit_and {
  __host__ __device__ T operator()(T a, T b) const { return a & b; }
  __host__ __device__ T identity() const { return static_cast<T>(~T{0}); }
};

template <class T>
struct bit_or {
  __host__ __device__ T operator()(T a, T b) const { return a | b; }
  __host__ __device__ T identity() const { return T{0}; }
};

template <class T>
struct bit_xor {
  __host__ __device__ T operator()(T a, T b) const { return a ^ b; }
  __host__ __device__ T identity() const { return T{0}; }
};

// ---- what a user might bring

struct point {
  float x, y, z;
};

/// Of two points the one farther from a viewpoint. Equally far ones are told apart by their
/// coordinates, so that it does not matter which comes first.
struct farthest_point {
  point viewpoint;

  __host__ __device__ point operator()(const point& a, const point& b) const {
    const float to_a = square_distance(a), to_b = square_distance(b);
    if (to_a != to_b) return to_a < to_b ? b : a;
    if (a.x != b.x) return a.x < b.x ? b : a;
    if (a.y != b.y) return a.y < b.y ? b : a;
    return a.z < b.z ? b : a;
  }
  /// Nothing is nearer to the viewpoint than it is itself.
  __host__ __device__ point identity() const { return viewpoint; }

 private:
  __host__ __device__ float square_distance(const point& p) const {
    const float x = p.x - viewpoint.x, y = p.y - viewpoint.y, z = p.z - viewpoint.z;
    return x * x + y * y + z * z;
  }
};

}  // namespace ladder
