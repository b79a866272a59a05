// SPDX-License-Identifier: Apache-2.0
//
// What nvcc 13.0 makes wrong code of for sm_90 and sm_100: it also writes -1 where 0 <= x < high.
__global__ void clamped(int* x, int high) {
  const int at_most = *x < high ? *x : high;
  const int clamped = 0 < at_most ? at_most : 0;
  *x = clamped == high ? -1 : clamped;
}
