// SPDX-License-Identifier: Apache-2.0
//
// The tile policies that `tilefold tune` tries, as folds with their types erased. Each is a kernel
// of its own that nvcc has to compile, so there are few, and each item type has a source file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tilefold/accumulator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/op.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/reduce.hpp>

#include "tables.hpp"

namespace tilefold::tool {

/// One policy. enqueue() folds n items into *out, an accumulator in device memory, in the
/// executor's stream.
struct candidate {
  tile_policy policy;
  bool is_default;
  void (*enqueue)(cuda_executor& executor, const void* items, std::int64_t n, void* out);
};

/// All policies for one item type and operator.
struct candidates {
  std::size_t accumulator_bytes;
  std::vector<candidate> policies;
};

/// Threads of a block, and bytes of a thread. Left out are shapes whose threads would not find
/// enough registers, and the smallest tile.
inline constexpr int tuned_shapes[12][2] = {{128, 32}, {128, 64}, {128, 128}, {256, 16},
                                            {256, 32}, {256, 64}, {256, 128}, {512, 16},
                                            {512, 32}, {512, 64}, {1024, 32}, {1024, 64}};

template <class Item, class Op>
using tuned_accumulator = detail::accumulator_t<void, Op, Item, detail::no_init>;

template <class Item, class Op, int Nt, int Vt>
void enqueue_tuned(cuda_executor& executor, const void* items, std::int64_t n, void* out) {
  const auto* const first = static_cast<const Item*>(items);
  reduce_into(with_policy<tile_policy{Nt, Vt}>(executor), first, first + n,
              static_cast<tuned_accumulator<Item, Op>*>(out), Op{});
}

template <class Item, class Op, int Nt, int Vt>
candidate make_candidate() {
  constexpr tile_policy policy{Nt, Vt};
  return {policy,
          policy == detail::cuda::policy_for(sizeof(Item), sizeof(tuned_accumulator<Item, Op>)),
          &enqueue_tuned<Item, Op, Nt, Vt>};
}

template <class Item, class Op, std::size_t... Shape>
candidates make_candidates(std::index_sequence<Shape...>) {
  constexpr int bytes = sizeof(Item);
  return {sizeof(tuned_accumulator<Item, Op>),
          {make_candidate<Item, Op, tuned_shapes[Shape][0], tuned_shapes[Shape][1] / bytes>()...}};
}

/// Those of one item type; `op` is sum or minimum.
template <class Item>
candidates make_candidates(op_kind op) {
  constexpr auto shapes = std::make_index_sequence<std::size(tuned_shapes)>();
  if (op == op_kind::sum) return make_candidates<Item, plus>(shapes);
  if (op == op_kind::minimum) return make_candidates<Item, minimum>(shapes);
  throw std::logic_error("no candidates for this op");
}

candidates float32_candidates(op_kind op);
candidates float64_candidates(op_kind op);
candidates float16_candidates(op_kind op);
candidates int8_candidates(op_kind op);
candidates int32_candidates(op_kind op);

/// For any type and op that can be tuned.
candidates candidates_for(dtype type, op_kind op);

}  // namespace tilefold::tool
