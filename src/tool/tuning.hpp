// SPDX-License-Identifier: Apache-2.0
//
// What `tilefold tune` measures and makes of it: the table for people and the header for programs.
// Nothing here needs a GPU but the tuner itself, of which only the interface is here.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <tilefold/policy.hpp>

#include "tables.hpp"

namespace tilefold::tool {

struct policy_timing {
  tile_policy policy;
  bool is_default;
  std::vector<double> seconds;  // a fold, one for each size
  bool same_bits;               // as the default policy, at every size
};

/// All policies for one item type and operator. One of them is the default.
struct tuning {
  dtype type;
  op_kind op;
  std::vector<std::int64_t> bytes;  // the sizes
  std::vector<policy_timing> policies;
};

/// The time of the default in units of the policy's: the geometric mean over the sizes, so above 1
/// the policy is faster.
double speed_against_default(const tuning& measured, const policy_timing& timing);

const policy_timing& fastest(const tuning& measured);

/// GB/s of every policy at every size; the fastest and the default are marked.
void print_table(std::ostream& out, const tuning& measured);

/// Where and when it was measured.
struct tuning_place {
  std::string device;
  std::string driver;
  std::string date;  // 2025-01-31
};

/// "tuned_float_sum"
std::string constant_name(dtype type, op_kind op);

/// A header with the fastest policy of each as a constant for with_policy<>.
std::string policy_header(const tuning_place& place, const std::vector<tuning>& all);

/// Whether `tilefold tune` has kernels for them.
bool can_tune(dtype type);
bool can_tune(op_kind op);
std::string tunable_types();  // "int8, int32"
std::string tunable_ops();

class tuner {
 public:
  virtual ~tuner() = default;
  virtual std::string device() const = 0;
  virtual std::string driver() const = 0;
  /// Fewer and smaller sizes if `quick`.
  virtual tuning measure(dtype type, op_kind op, bool quick) = 0;
};

/// Throws no_gpu_error.
std::unique_ptr<tuner> make_cuda_tuner();

}  // namespace tilefold::tool
