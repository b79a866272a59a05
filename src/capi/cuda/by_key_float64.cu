// SPDX-License-Identifier: Apache-2.0
#include "by_key_of.cuh"

template bool tilefold::capi::by_key_job::of<double>() const;
