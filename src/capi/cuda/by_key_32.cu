// SPDX-License-Identifier: Apache-2.0
//
// Of items of 32 bits: two types in one unit, whose kernels are compressed together.
#include "by_key_of.cuh"

template bool tilefold::capi::by_key_job::of<std::int32_t>() const;
template bool tilefold::capi::by_key_job::of<float>() const;
