// SPDX-License-Identifier: Apache-2.0
//
// Operations of two numbers whose kernels differ in an instruction or two, in one unit: kernels are
// compressed with those of their unit, and so take 705 kB in place of 1114 (sm_90, nvcc 13.0).
#include "../bits.cpp"
#include "../maxima.cpp"
#include "../minima.cpp"
