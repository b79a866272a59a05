// SPDX-License-Identifier: Apache-2.0
//
// Shapes with tilefold as the first contestant, at its default policy, and the peers after it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/tilefold.cuh>

#include "items.cuh"
#include "judge.cuh"
#include "shape.hpp"

namespace bench {

// An executor of its own for each contestant; it must outlive the graphs that use its workspace.
inline std::shared_ptr<tilefold::cuda_executor> executor_on(cudaStream_t stream) {
  return std::make_shared<tilefold::cuda_executor>(stream);
}

/// A shape without contestants. `fold_on_host` is the same fold by tilefold's host executor, if its
/// bits are to be compared.
template <class Rule, class Content, class Acc, class FoldOnHost = std::nullptr_t>
shape make_shape(const std::string& name, FoldOnHost fold_on_host = nullptr) {
  using item = typename Content::item;
  shape result;
  result.name = name;
  result.item_bytes = static_cast<index>(sizeof(item)) * Rule::arrays;
  result.fill = &fill<Content>;
  result.rules = std::make_shared<rule_judge<Rule, item, Acc>>(fold_on_host);
  return result;
}

/// The peers of the shape, or of the one named.
inline void add_peers(shape& s, const std::string& of = "") {
  const auto found = peers().find(of.empty() ? s.name : of);
  if (found == peers().end()) return;
  s.contestants.insert(s.contestants.end(), found->second.begin(), found->second.end());
}

/// A tilefold call on *executor, fold(executor, call).
template <class Fold>
contestant ours(cudaStream_t stream, Fold fold) {
  contestant result;
  result.name = "tilefold";
  result.host_bits = true;
  result.enqueue = [fold, executor = executor_on(stream)](const fold_call& c) {
    fold(*executor, c);
  };
  return result;
}

/// reduce() of items T into Acc; `view` makes the iterator of the items' address.
template <class T, class Acc, class Op, class View>
contestant tilefold_reduce(cudaStream_t stream, Op op, View view) {
  contestant result = ours(stream, [=](auto& executor, const fold_call& c) {
    const auto first = view(c.items<T>());
    tilefold::reduce_into<Acc>(executor, first, first + c.n, c.result<Acc>(), op);
  });
  result.blocking = [=, executor = executor_on(stream)](const fold_call& c) {
    const auto first = view(c.items<T>());
    *c.result<Acc>() = tilefold::reduce<Acc>(*executor, first, first + c.n, op);
  };
  return result;
}

struct as_pointer {
  template <class T>
  const T* operator()(const T* items) const {
    return items;
  }
};

/// A shape that reduce() serves: tilefold, then the peers.
template <class Rule, class Content, class Acc, class Op, class View = as_pointer>
shape reduction(const std::string& name, cudaStream_t stream, Op op, View view = {}) {
  using item = typename Content::item;
  shape result = make_shape<Rule, Content, Acc>(name, [op](const item* items, index n) {
    return tilefold::reduce<Acc>(tilefold::host_executor(), items, items + n, op);
  });
  result.contestants.push_back(tilefold_reduce<item, Acc>(stream, op, view));
  add_peers(result);
  return result;
}

/// Of one n alone: 4 GiB, or as much of that as 2^30 items are.
template <class Rule, class Content, class Acc>
shape large_shape(const std::string& name, contestant mine) {
  shape result = make_shape<Rule, Content, Acc>(name);
  index n = index{1} << 30;
  while (result.bytes(n) > index{4} << 30) n /= 2;
  result.sizes = {n};
  result.contestants.push_back(std::move(mine));
  add_peers(result);
  return result;
}

/// The same, served by reduce_into().
template <class Rule, class Content, class Acc, class Op, class View = as_pointer>
shape large_reduction(const std::string& name, cudaStream_t stream, Op op, View view = {}) {
  using item = typename Content::item;
  return large_shape<Rule, Content, Acc>(
      name, ours(stream, [=](auto& executor, const fold_call& c) {
        const auto first = view(c.items<item>());
        tilefold::reduce_into<Acc>(executor, first, first + c.n, c.result<Acc>(), op);
      }));
}

}  // namespace bench
