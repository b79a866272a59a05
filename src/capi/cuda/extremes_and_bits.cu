// SPDX-License-Identifier: Apache-2.0
//
// Operations of two numbers whose kernels differ in an instruction or two, in one unit: kernels are
// compressed with those of their unit, so the library is smaller.
#include "../bits.cpp"
#include "../maxima.cpp"
#include "../minima.cpp"
