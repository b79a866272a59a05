// SPDX-License-Identifier: Apache-2.0
//
// Shapes with tilefold as the first contestant, at its default policy, and the peers after it.
#pragma once

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

/// A shape without contestants. `fold_on_host` is the same fold by tilefold's host executor.
template <class Rule, class Content, class Acc, class FoldOnHost>
shape make_shape(const std::string& name, FoldOnHost fold_on_host) {
  using item = typename Content::item;
  shape result;
  result.name = name;
  result.item_bytes = static_cast<index>(sizeof(item)) * Rule::arrays;
  result.fill = &fill<Content>;
  result.rules = std::make_shared<rule_judge<Rule, item, Acc>>(fold_on_host);
  return result;
}

inline void add_peers(shape& s) {
  const auto found = peers().find(s.name);
  if (found == peers().end()) return;
  s.contestants.insert(s.contestants.end(), found->second.begin(), found->second.end());
}

/// reduce() of items T into Acc; `view` makes the iterator of the items' address.
template <class T, class Acc, class Op, class View>
contestant tilefold_reduce(cudaStream_t stream, Op op, View view) {
  const auto executor = executor_on(stream);
  contestant result;
  result.name = "tilefold";
  result.host_bits = true;
  result.enqueue = [=](const fold_call& c) {
    const auto first = view(c.items<T>());
    tilefold::reduce_into<Acc>(*executor, first, first + c.n, c.result<Acc>(), op);
  };
  result.blocking = [=](const fold_call& c) {
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

}  // namespace bench
