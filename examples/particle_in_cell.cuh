// SPDX-License-Identifier: Apache-2.0
//
// A worked example: particles in a plane give their charge to the four nearest points of a grid
// (cloud in cell), a thread a particle. Many meet at one point, in an order that no one knows. With
// atomicAdd() on floats the grid differs from run to run and from launch to launch; with
// tilefold::deposit() it has the same bits always, however particles are sorted and threads cut
// into blocks, on any GPU.
//
//     +--------+        weight of a corner: (1 - |dx|) (1 - |dy|)
//     |    .   |        width = 3: points 0, 1, 2 in the first row
//     +--------+
#pragma once

#include <cstdint>

#include <tilefold/tilefold.cuh>

namespace particle_in_cell {

/// x and y in cells: 0 <= x < width - 1, 0 <= y < height - 1.
struct particle {
  float x, y, charge;
};

/// Calls add(point, charge) for the four points around a particle.
template <class Add>
__device__ void for_each_corner(const particle& p, int width, Add add) {
  const int column = static_cast<int>(p.x);
  const int row = static_cast<int>(p.y);
  const float right = p.x - static_cast<float>(column);
  const float below = p.y - static_cast<float>(row);
  const int point = row * width + column;
  add(point, p.charge * ((1 - right) * (1 - below)));
  add(point + 1, p.charge * (right * (1 - below)));
  add(point + width, p.charge * ((1 - right) * below));
  add(point + width + 1, p.charge * (right * below));
}

/// The grid of accumulators begins as exact_accumulator<float>{}, which is all bytes 0.
static __global__ void give_charge(const particle* particles, int n, int width,
                                   tilefold::exact_accumulator<float>* grid) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += step) {
    for_each_corner(particles[i], width,
                    [&](int point, float charge) { tilefold::deposit(grid + point, charge); });
  }
}

/// The charge of each point: the real sum of what it was given, rounded once.
static __global__ void read_charge(const tilefold::exact_accumulator<float>* grid, int points,
                                   float* charge) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < points) charge[i] = grid[i].value();
}

/// The same by atomicAdd(): less memory, faster, and never the same twice.
static __global__ void give_charge_in_any_order(const particle* particles, int n, int width,
                                                float* grid) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += step) {
    for_each_corner(particles[i], width,
                    [&](int point, float charge) { atomicAdd(grid + point, charge); });
  }
}

}  // namespace particle_in_cell
