// SPDX-License-Identifier: Apache-2.0
//
// Of items of 64 bits: two types in one unit, whose kernels are compressed together.
#include "by_key_of.cuh"

template bool tilefold::capi::by_key_job::of<std::int64_t>() const;
template bool tilefold::capi::by_key_job::of<double>() const;
