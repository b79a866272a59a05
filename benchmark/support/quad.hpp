// SPDX-License-Identifier: Apache-2.0
//
// A user's struct of 16 bytes and its operator, as every contestant gets them.
#pragma once

namespace bench {

struct alignas(16) quad {
  float x, y, z, w;
};

struct quad_plus {
  __host__ __device__ quad operator()(const quad& a, const quad& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
  }
};

}  // namespace bench
