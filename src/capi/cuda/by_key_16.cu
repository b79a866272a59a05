// SPDX-License-Identifier: Apache-2.0
//
// Of items of 16 bits: two types in one unit, whose kernels are compressed together.
#include "by_key_of.cuh"

template bool tilefold::capi::by_key_job::of<tilefold::half>() const;
template bool tilefold::capi::by_key_job::of<tilefold::bfloat16>() const;
