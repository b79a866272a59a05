// SPDX-License-Identifier: Apache-2.0
//
// The worked example examples/particle_in_cell.cuh: one grid for every shape of the launch and
// every order of the particles, that of the host; and how far the floats of atomicAdd() are apart.
#include "../examples/particle_in_cell.cuh"

#include <thrust/device_vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.hpp"

namespace {

using particle_in_cell::particle;
using charges = std::vector<float>;

constexpr int width = 96;
constexpr int height = 64;
constexpr int points = width * height;

// Most of them in a few cells, of both signs and many sizes.
std::vector<particle> make_particles(int n, std::mt19937_64& random) {
  std::normal_distribution<float> place(0, 0.1f);
  std::uniform_real_distribution<float> anywhere(0, 1);
  std::lognormal_distribution<float> size(0, 3);
  std::vector<particle> all;
  for (int i = 0; i < n; ++i) {
    const auto in = [&](int cells) {
      const float x = i % 4 == 0 ? anywhere(random) : 0.5f + place(random);
      return std::clamp(x, 0.0f, 0.999f) * static_cast<float>(cells - 1);
    };
    all.push_back({in(width), in(height), (i % 2 == 0 ? 1.0f : -1.0f) * size(random)});
  }
  return all;
}

charges exact_charges(const thrust::device_vector<particle>& particles, int blocks, int threads) {
  thrust::device_vector<tilefold::exact_accumulator<float>> grid(points);
  thrust::device_vector<float> charge(points);
  particle_in_cell::give_charge<<<blocks, threads>>>(
      particles.data().get(), static_cast<int>(particles.size()), width, grid.data().get());
  particle_in_cell::read_charge<<<(points + 255) / 256, 256>>>(grid.data().get(), points,
                                                               charge.data().get());
  charges result(points);
  thrust::copy(charge.begin(), charge.end(), result.begin());
  return result;
}

charges charges_in_any_order(const thrust::device_vector<particle>& particles, int blocks,
                             int threads) {
  thrust::device_vector<float> grid(points);
  particle_in_cell::give_charge_in_any_order<<<blocks, threads>>>(
      particles.data().get(), static_cast<int>(particles.size()), width, grid.data().get());
  charges result(points);
  thrust::copy(grid.begin(), grid.end(), result.begin());
  return result;
}

long long points_that_differ(const charges& a, const charges& b) {
  long long count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    count += std::memcmp(&a[i], &b[i], sizeof(float)) != 0 ? 1 : 0;
  }
  return count;
}

TEST(ParticleInCell, HasTheSameBitsForEveryLaunchAndOrder) {
  std::mt19937_64 random(tilefold::test::seed());
  auto particles = make_particles(300'000, random);
  const thrust::device_vector<particle> on_gpu(particles);
  const charges exact = exact_charges(on_gpu, 1172, 256);
  const charges floats = charges_in_any_order(on_gpu, 1172, 256);
  long long apart = 0;
  for (const int threads : {32, 96, 128, 512, 1000}) {
    for (const int blocks : {1, 7, 132, 1000}) {
      std::shuffle(particles.begin(), particles.end(), random);
      const thrust::device_vector<particle> shuffled(particles);
      EXPECT_EQ(points_that_differ(exact_charges(shuffled, blocks, threads), exact), 0)
          << blocks << " blocks of " << threads;
      apart = std::max(apart,
                       points_that_differ(charges_in_any_order(shuffled, blocks, threads), floats));
    }
  }
  // Nothing says that they must differ, so this is told and not asked.
  std::cout << "atomicAdd(float): up to " << apart << " of " << points << " points differ\n";
}

TEST(ParticleInCell, GivesTheSumOfTheRealNumbers) {
  std::mt19937_64 random(tilefold::test::seed());
  const auto particles = make_particles(100'000, random);
  const charges exact = exact_charges(thrust::device_vector<particle>(particles), 391, 256);
  std::vector<double> sum(points), size(points);
  for (const particle& p : particles) {
    const int column = static_cast<int>(p.x);
    const int row = static_cast<int>(p.y);
    const double dx = p.x - static_cast<float>(column);
    const double dy = p.y - static_cast<float>(row);
    for (int corner = 0; corner < 4; ++corner) {
      const double weight = (corner % 2 ? dx : 1 - dx) * (corner / 2 ? dy : 1 - dy);
      const auto point = static_cast<std::size_t>((row + corner / 2) * width + column + corner % 2);
      sum[point] += weight * p.charge;
      size[point] += std::abs(weight * p.charge);
    }
  }
  for (std::size_t i = 0; i < points; ++i) {
    // Four roundings of each item, and one of the sum.
    ASSERT_NEAR(exact[i], sum[i], 4e-7 * size[i] + 1e-30) << "point " << i;
  }
}

}  // namespace
