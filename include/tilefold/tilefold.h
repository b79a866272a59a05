/* SPDX-License-Identifier: Apache-2.0
 *
 * tilefold for C, and for whatever calls C: one fold order for CPU and GPU reductions, so equal
 * input gives equal bits wherever and however it runs. C11; no CUDA header is needed. Link
 * libtilefold. docs/c.md has the whole, with the operations and their results.
 *
 * Arrays and results are aligned for their items: an address is a multiple of the item's size, of
 * complex numbers of half of it, and of all of it on a GPU; other pointers are aligned for the type
 * that they point to. A misaligned one is refused with TILEFOLD_INVALID_ARGUMENT.
 *
 * Every function that can fail returns a tilefold_status. After anything but TILEFOLD_OK
 * tilefold_last_error() has one sentence that names the bad value, nothing has been written through
 * results, and the executor can be used again. If 64 bits do not hold one of several exact sums of
 * integers, the others may have been written. */
#ifndef TILEFOLD_H
#define TILEFOLD_H

#include <stddef.h>
#include <stdint.h>

#define TILEFOLD_C_VERSION_MAJOR 0
#define TILEFOLD_C_VERSION_MINOR 3
#define TILEFOLD_C_VERSION_PATCH 0

#if defined(__GNUC__)
#define TILEFOLD_API __attribute__((visibility("default")))
#else
#define TILEFOLD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. Numbers are never given again. */
typedef int32_t tilefold_status;
enum {
  TILEFOLD_OK = 0,
  TILEFOLD_INVALID_ARGUMENT = 1, /* a negative or too large count, a bad offset */
  TILEFOLD_NULL_POINTER = 2,     /* where there is something to read or write */
  TILEFOLD_UNKNOWN_OP = 3,       /* no operation has that name */
  TILEFOLD_UNSUPPORTED = 4,      /* not for this dtype, or not in this build */
  TILEFOLD_EMPTY = 5,            /* nothing to fold, and the operation has no result for that */
  TILEFOLD_BAD_SHAPE = 6,        /* an axis that is not there, too many axes */
  TILEFOLD_MEMORY_SPACE = 7,     /* memory that the executor cannot reach */
  TILEFOLD_NO_MEMORY = 8,
  TILEFOLD_CAPTURE = 9,     /* not while the stream is being captured into a graph */
  TILEFOLD_FLOAT_MODE = 10, /* not returned any more */
  TILEFOLD_CUDA = 11,       /* the CUDA runtime refused */
  TILEFOLD_INTERNAL = 12,
  TILEFOLD_FORMAT = 13 /* bytes that are not what they were taken for */
};

/* A DLDataType of DLPack: code, bits, lanes (1). */
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} tilefold_dtype;

/* DLPack's codes. */
enum {
  TILEFOLD_INT = 0,     /* 8, 16, 32, 64 bits */
  TILEFOLD_UINT = 1,    /* 8, 16, 32, 64 */
  TILEFOLD_FLOAT = 2,   /* 16, 32, 64 */
  TILEFOLD_BFLOAT = 4,  /* 16 */
  TILEFOLD_COMPLEX = 5, /* 64, 128: two floats, two doubles */
  TILEFOLD_BOOL = 6     /* 8: any byte but 0 is true */
};

/* Where folds run. One executor serves one thread at a time; any number may run at once. */
typedef struct tilefold_executor tilefold_executor;

/* Of the library that is running, 10000 * major + 100 * minor + patch; and as text. */
TILEFOLD_API uint32_t tilefold_version(void);
TILEFOLD_API const char* tilefold_version_text(void);

/* What the calling thread's last failed call said; "" before any. Valid until its next one. */
TILEFOLD_API const char* tilefold_last_error(void);
/* "TILEFOLD_EMPTY"; never null. */
TILEFOLD_API const char* tilefold_status_name(tilefold_status status);

/* An executor of host memory with `threads` threads, 1 to 4096, or all cores for 0. */
TILEFOLD_API tilefold_status tilefold_host_executor(int32_t threads, tilefold_executor** executor);
/* An executor of a GPU, in the order of `stream` (a cudaStream_t of `device`; NULL: its default
 * stream), which must outlive it. `device` -1 is that of `stream`, if one is given.
 * TILEFOLD_UNSUPPORTED where the library was built without CUDA, TILEFOLD_CUDA where there is no
 * GPU, TILEFOLD_INVALID_ARGUMENT for a stream of another device. */
TILEFOLD_API tilefold_status tilefold_cuda_executor(int32_t device, void* stream,
                                                    tilefold_executor** executor);
/* The same of a stream that may end before the executor does: what a call needs is kept by the
 * calling thread, for its last eight streams. It serves any number of threads, and calls can be
 * captured into a graph without tilefold_reserve(). A call costs up to a microsecond more. */
TILEFOLD_API tilefold_status tilefold_stream_executor(int32_t device, void* stream,
                                                      tilefold_executor** executor);
/* 1 if the library was built with CUDA. */
TILEFOLD_API int32_t tilefold_has_cuda(void);
/* Null is fine. */
TILEFOLD_API void tilefold_destroy(tilefold_executor* executor);
/* Waits until all that was called is done. A host executor's calls are done when they return. */
TILEFOLD_API tilefold_status tilefold_synchronize(tilefold_executor* executor);

/* Bytes of workspace that a call over n items in `segments` segments, or along axes with as many
 * results, can need; 0 on the host. */
TILEFOLD_API tilefold_status tilefold_workspace(const tilefold_executor* executor, const char* op,
                                                tilefold_dtype dtype, int64_t n, int64_t segments,
                                                int64_t* bytes);
/* Allocates workspace ahead: calls that need no more then allocate nothing, and can be captured. */
TILEFOLD_API tilefold_status tilefold_reserve(tilefold_executor* executor, int64_t bytes);

/* Gives back what is kept for later calls: the executor's workspace; of one from
 * tilefold_stream_executor() what the calling thread keeps for all its streams. Waits for work that
 * uses it. Later calls allocate again; graphs that were captured with the executor must not run. */
TILEFOLD_API tilefold_status tilefold_release(tilefold_executor* executor);

/* Names of operations, index 0 and on; null after the last. */
TILEFOLD_API const char* tilefold_op_name(int32_t index);
/* What `op` makes of items of `dtype`: `count` numbers of type `result` (2 for minmax: the least,
 * then the greatest; 2 for softmax_pair: the maximum, then the sum; 2 for checked_sum: the sum
 * modulo 2^64, then 1 if that is the sum and 0 if not). Null outputs are passed over. */
TILEFOLD_API tilefold_status tilefold_result(const char* op, tilefold_dtype dtype,
                                             tilefold_dtype* result, int32_t* count);

/* Folds n items into *result. */
TILEFOLD_API tilefold_status tilefold_reduce(tilefold_executor* executor, const char* op,
                                             const void* items, tilefold_dtype dtype, int64_t n,
                                             void* result);

/* The same with a result of `result_dtype`: the type that tilefold_result() names. Means,
 * variances, standard deviations, l1, l2 and logsumexp are computed in double, and can also be
 * float32, float16 or bfloat16: the double, rounded once. Else TILEFOLD_UNSUPPORTED. */
TILEFOLD_API tilefold_status tilefold_reduce_as(tilefold_executor* executor, const char* op,
                                                const void* items, tilefold_dtype dtype, int64_t n,
                                                void* result, tilefold_dtype result_dtype);

/* Folds every segment [offsets[i], offsets[i + 1]) into results[i]. `offsets` has segments + 1
 * integers of 32 or 64 bits, signed. With num_items >= 0 a host executor checks them first; -1
 * believes them, and then items are not null unless the host sees that no segment has any. An empty
 * segment gives the operation's result for nothing: see docs/c.md. */
TILEFOLD_API tilefold_status tilefold_segmented_reduce(tilefold_executor* executor, const char* op,
                                                       const void* items, tilefold_dtype dtype,
                                                       int64_t num_items, const void* offsets,
                                                       tilefold_dtype offsets_dtype,
                                                       int64_t segments, void* results);
/* The same of segments of equal length, one after the other. */
TILEFOLD_API tilefold_status tilefold_segmented_reduce_equal(tilefold_executor* executor,
                                                             const char* op, const void* items,
                                                             tilefold_dtype dtype, int64_t segments,
                                                             int64_t length, void* results);

/* Writes x - logsumexp(row) of every item x of `rows` rows of `length` items, one after the other.
 * Items are float16, bfloat16, float32 or float64; results are of their type, or float32 of float16
 * and bfloat16; `results` may be `items`. The row's logsumexp has the bits of tilefold_reduce();
 * the difference is one of doubles, rounded to float32, and from there to what is narrower. On a
 * GPU: one launch, no workspace. */
TILEFOLD_API tilefold_status tilefold_log_softmax(tilefold_executor* executor, const void* items,
                                                  tilefold_dtype dtype, int64_t rows,
                                                  int64_t length, void* results,
                                                  tilefold_dtype results_dtype);

/* Folds every run of equal neighbouring keys: its key to keys_out[r], the value of its items to
 * results[r], the number of runs to *num_runs. keys_out and results take n elements, or as many as
 * there are runs. `num_runs` lies where results do: on a CUDA executor it is memory of the GPU, or
 * what that GPU can write, and is written in the order of the stream. Of no items it becomes 0, and
 * all other pointers may be null. Keys are integers or floats (a NaN is a run of its own). */
TILEFOLD_API tilefold_status tilefold_reduce_by_key(tilefold_executor* executor, const char* op,
                                                    const void* keys, tilefold_dtype keys_dtype,
                                                    const void* items, tilefold_dtype dtype,
                                                    int64_t n, void* keys_out, void* results,
                                                    int64_t* num_runs);

/* Folds all items that have the same index, wherever they stand: results[i] is the fold of those
 * whose index is i, in the order of their positions. `items` has n rows of `columns` items,
 * `indices` an integer of any type for each row, and `results` num_results rows of `columns`
 * results: each column is folded by itself. For a plain array `columns` is 1. The items of a result
 * are taken as a segment: tilefold_segmented_reduce() has the same bits, also of none. arg_min and
 * arg_max give the row among all rows. Results are replaced, and must not overlap with what is
 * read.
 *
 * A row whose index is negative, or num_results or more, is left out. If `checked` is not 0, such
 * an index is TILEFOLD_INVALID_ARGUMENT, which names the first of them; a CUDA executor's call
 * waits for that check, and cannot be captured. Memory: the items are copied in the order of their
 * indices; on the host with 4 bytes a row (8 for places and for several columns; 8 more for more
 * than 2048 results) and 8 a result, of several columns 8 a result of each.
 *
 * On a GPU n and num_results are at most 2^32 - 2. Workspace: what
 * tilefold_reduce_by_index_workspace() answers (0 on the host), for tilefold_reserve(). That of
 * tilefold_workspace() is not enough. */
TILEFOLD_API tilefold_status tilefold_reduce_by_index(
    tilefold_executor* executor, const char* op, const void* indices, tilefold_dtype indices_dtype,
    const void* items, tilefold_dtype dtype, int64_t n, int64_t columns, int64_t num_results,
    int32_t checked, void* results);
TILEFOLD_API tilefold_status tilefold_reduce_by_index_workspace(
    tilefold_executor* executor, const char* op, tilefold_dtype dtype, int64_t n, int64_t columns,
    int64_t num_results, int64_t* bytes);

/* Folds the axes `axes` (num_axes numbers from 0) of an array of `rank` axes, 8 at most, away.
 * Strides count items and may be anything; null is row-major. Results stand in the axes that are
 * left, with result_strides (rank - num_axes of them, counted in results), null for row-major. */
TILEFOLD_API tilefold_status tilefold_axis_reduce(tilefold_executor* executor, const char* op,
                                                  const void* items, tilefold_dtype dtype,
                                                  int32_t rank, const int64_t* extents,
                                                  const int64_t* strides, int32_t num_axes,
                                                  const int32_t* axes, void* results,
                                                  const int64_t* result_strides);
/* The same with results of `results_dtype`, as tilefold_reduce_as(). */
TILEFOLD_API tilefold_status tilefold_axis_reduce_as(tilefold_executor* executor, const char* op,
                                                     const void* items, tilefold_dtype dtype,
                                                     int32_t rank, const int64_t* extents,
                                                     const int64_t* strides, int32_t num_axes,
                                                     const int32_t* axes, void* results,
                                                     tilefold_dtype results_dtype,
                                                     const int64_t* result_strides);

/* Statistics in one read of the data, each with the bits of its own operation, as double. Of
 * nothing: 0, NaN, NaN, infinity, -infinity. */
typedef struct {
  int64_t count;
  double mean;
  double variance; /* of a sample */
  double min;      /* as double: integers beyond 2^53 are rounded */
  double max;
} tilefold_statistics;
TILEFOLD_API tilefold_status tilefold_stats(tilefold_executor* executor, const void* items,
                                            tilefold_dtype dtype, int64_t n,
                                            tilefold_statistics* result);

/* The dot product of two arrays of n items; of complex numbers with the conjugates of x. The result
 * has the type that "sum32" gives of integers narrower than 64 bits, and "sum" of others. */
TILEFOLD_API tilefold_status tilefold_dot(tilefold_executor* executor, const void* x, const void* y,
                                          tilefold_dtype dtype, int64_t n, void* result);

/* What items [begin, end) of a sequence bring to its fold: the values of their aligned blocks, on
 * the host. In whatever parts a sequence is cut, wherever they are folded and in whatever groups
 * they are merged, the value of the whole has the bits of tilefold_reduce(). One piece serves one
 * thread at a time. After a status other than TILEFOLD_OK a piece is as it was. */
typedef struct tilefold_piece tilefold_piece;

/* The piece of no items, at `position` of a sequence of items of `dtype`. There are none of
 * torch_sum and torch_product: TILEFOLD_UNSUPPORTED. */
TILEFOLD_API tilefold_status tilefold_piece_create(const char* op, tilefold_dtype dtype,
                                                   int64_t position, tilefold_piece** piece);
/* Adds n items that follow; returns when they are folded. On a GPU: operations of which the values
 * of blocks follow from results (sums, products, min, max, minmax, bit_and and its kin, any, all,
 * count_nonzero, l1, linf; mean, exact_sum and exact_mean of floats; logsumexp and softmax_pair of
 * integers and doubles); others are TILEFOLD_UNSUPPORTED there. */
TILEFOLD_API tilefold_status tilefold_piece_append(tilefold_piece* piece,
                                                   tilefold_executor* executor, const void* items,
                                                   int64_t n);
/* Adds the items of `next`, a piece of the same operation and dtype that begins where `piece` ends.
 */
TILEFOLD_API tilefold_status tilefold_piece_merge(tilefold_piece* piece,
                                                  const tilefold_piece* next);
/* What it is of. `op` lives as long as the library. Null outputs are passed over. */
TILEFOLD_API tilefold_status tilefold_piece_info(const tilefold_piece* piece, const char** op,
                                                 tilefold_dtype* dtype, int64_t* begin,
                                                 int64_t* end);
/* The fold of the whole, as tilefold_reduce() writes it. The piece has to begin at 0. */
TILEFOLD_API tilefold_status tilefold_piece_value(const tilefold_piece* piece, void* result);
/* Writes the piece to `bytes`, and how many they are to *size; null `bytes` asks for the size.
 * Accumulators stand in them as they lie in memory, the least byte first. Bytes between a value and
 * its index are zeros in a library that GCC compiled, so there equal pieces have equal bytes;
 * another compiler may leave anything in them. */
TILEFOLD_API tilefold_status tilefold_piece_bytes(const tilefold_piece* piece, void* bytes,
                                                  int64_t capacity, int64_t* size);
/* The piece that gave these bytes. TILEFOLD_FORMAT says what is wrong with others. */
TILEFOLD_API tilefold_status tilefold_piece_from_bytes(const void* bytes, int64_t size,
                                                       tilefold_piece** piece);
/* Null is fine. */
TILEFOLD_API void tilefold_piece_destroy(tilefold_piece* piece);

/* A sum without rounding, of items in any order (tilefold/exact_accumulator.hpp), on the host. One
 * accumulator serves one thread at a time. */
typedef struct tilefold_accumulator tilefold_accumulator;

/* The sum of nothing, for items of `dtype`: floats, integers or bool. */
TILEFOLD_API tilefold_status tilefold_accumulator_create(tilefold_dtype dtype,
                                                         tilefold_accumulator** sum);
/* Adds n items; returns when they are added. On a GPU: floats. */
TILEFOLD_API tilefold_status tilefold_accumulator_add(tilefold_accumulator* sum,
                                                      tilefold_executor* executor,
                                                      const void* items, int64_t n);
/* Adds all that `other`, of the same dtype, was given. */
TILEFOLD_API tilefold_status tilefold_accumulator_merge(tilefold_accumulator* sum,
                                                        const tilefold_accumulator* other);
/* The sum, as "exact_sum" gives it: rounded once to the dtype; of integers in int64 or uint64, of
 * bool in int64, and TILEFOLD_INVALID_ARGUMENT if that does not hold it. */
TILEFOLD_API tilefold_status tilefold_accumulator_value(const tilefold_accumulator* sum,
                                                        void* result);
/* The sum divided by n > 0, as "exact_mean" gives it: rounded once to the dtype; of integers and
 * bool to float64. */
TILEFOLD_API tilefold_status tilefold_accumulator_mean(const tilefold_accumulator* sum, int64_t n,
                                                       void* result);
/* Those of exact_accumulator::to_bytes(): accumulators that were given equal items have equal
 * bytes. Null `bytes` asks for the size. */
TILEFOLD_API tilefold_status tilefold_accumulator_bytes(const tilefold_accumulator* sum,
                                                        void* bytes, int64_t capacity,
                                                        int64_t* size);
/* The accumulator for items of `dtype` that gave these bytes; else TILEFOLD_FORMAT. Types whose
 * sums have one form are of one kind here: float and bfloat16; signed integers and bool; the
 * unsigned. */
TILEFOLD_API tilefold_status tilefold_accumulator_from_bytes(tilefold_dtype dtype,
                                                             const void* bytes, int64_t size,
                                                             tilefold_accumulator** sum);
/* Null is fine. */
TILEFOLD_API void tilefold_accumulator_destroy(tilefold_accumulator* sum);

#ifdef __cplusplus
}
#endif

#endif
