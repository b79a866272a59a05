// SPDX-License-Identifier: Apache-2.0
//
// All verbs and reducers for one process. Under nvcc the verbs also take CUDA executors.
//
// Not included: piece.hpp (partial results), ranks.hpp and mpi.hpp (several processes), which need
// many standard headers; thrust_compat.hpp (Thrust's order of arguments); precompiled.hpp
// (libtilefold in place of templates).
#pragma once

#include <tilefold/axis_reduce.hpp>
#include <tilefold/batched_reduce.hpp>
#include <tilefold/checked.hpp>
#include <tilefold/count.hpp>
#include <tilefold/deferred.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/extrema.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/checked_sum.hpp>
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/statistics.hpp>
#include <tilefold/transform_reduce.hpp>
#include <tilefold/transform_rows.hpp>
