/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call of tilefold.h once, on the host.
 *
 *     cc -std=c11 reduce.c -ltilefold && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <tilefold/tilefold.h>

static void must(tilefold_status status) {
  if (status == TILEFOLD_OK) return;
  fprintf(stderr, "%s: %s\n", tilefold_status_name(status), tilefold_last_error());
  exit(1);
}

int main(void) {
  const tilefold_dtype f32 = {TILEFOLD_FLOAT, 32, 1};
  const tilefold_dtype i32 = {TILEFOLD_INT, 32, 1};
  const float x[6] = {1e8f, 1.0f, -1e8f, 1.0f, 3.0f, -2.0f};
  tilefold_executor* host = NULL;
  must(tilefold_host_executor(0, &host));
  printf("tilefold %s\n", tilefold_version_text());

  float sum = 0;
  must(tilefold_reduce(host, "sum", x, f32, 6, &sum));
  float exact = 0;
  must(tilefold_reduce(host, "exact_sum", x, f32, 6, &exact));
  int64_t place = 0;
  must(tilefold_reduce(host, "arg_min", x, f32, 6, &place));
  printf("sum %g, exact sum %g, least at %d\n", sum, exact, (int)place);

  const int32_t offsets[4] = {0, 2, 2, 6};
  float sums[3];
  must(tilefold_segmented_reduce(host, "sum", x, f32, 6, offsets, i32, 3, sums));
  printf("segments: %g, %g, %g\n", sums[0], sums[1], sums[2]);

  const int32_t keys[6] = {7, 7, 1, 1, 1, 7};
  int32_t keys_out[6];
  float greatest[6];
  int64_t runs = 0;
  must(tilefold_reduce_by_key(host, "max", keys, i32, x, f32, 6, keys_out, greatest, &runs));
  for (int r = 0; r < (int)runs; ++r) printf("key %d: greatest %g\n", keys_out[r], greatest[r]);

  /* 2 rows of 3: the columns' means. */
  const int64_t extents[2] = {2, 3};
  const int32_t rows = 0;
  double means[3];
  must(tilefold_axis_reduce(host, "mean", x, f32, 2, extents, NULL, 1, &rows, means, NULL));
  printf("columns: %g, %g, %g\n", means[0], means[1], means[2]);

  tilefold_statistics found;
  must(tilefold_stats(host, x, f32, 6, &found));
  printf("%d items from %g to %g\n", (int)found.count, found.min, found.max);

  float product = 0;
  must(tilefold_dot(host, x + 3, x + 3, f32, 3, &product));
  printf("dot %g\n", product);

  /* What goes wrong says so, and nothing is written. */
  if (tilefold_reduce(host, "summ", x, f32, 6, &sum) != TILEFOLD_UNKNOWN_OP) return 1;
  if (tilefold_reduce(host, "mean", x, f32, 0, means) != TILEFOLD_EMPTY) return 1;
  printf("%s\n", tilefold_last_error());
  tilefold_destroy(host);
  return sum == 1.0f && exact == 3.0f && place == 2 && sums[1] == 0.0f && runs == 3 &&
                 product == 14.0f
             ? 0
             : 1;
}
