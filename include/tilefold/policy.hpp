// SPDX-License-Identifier: Apache-2.0
//
// How work is laid onto the hardware. A policy decides speed and nothing else: a tile of nt * vt
// items is an aligned subtree of the fold order (tree.hpp) for any two powers of two, so no policy
// can move a bit.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilefold/tree.hpp>

namespace tilefold {

/// The shape of a CUDA tile: nt threads per block, vt values per thread, both powers of two;
/// 32 <= nt <= 1024, 1 <= vt <= 256.
struct tile_policy {
  int nt;
  int vt;

  TILEFOLD_HD constexpr int tile() const { return nt * vt; }
  friend constexpr bool operator==(const tile_policy&, const tile_policy&) = default;
};

namespace detail {

constexpr bool valid(tile_policy p) {
  return tree::is_power_of_two(p.nt) && tree::is_power_of_two(p.vt) && p.nt >= 32 && p.nt <= 1024 &&
         p.vt <= 256;
}

}  // namespace detail

/// Marks a type as an executor: `using executor_concept = executor_tag;`.
struct executor_tag {};

template <class T>
concept executor = std::same_as<typename std::remove_cvref_t<T>::executor_concept, executor_tag>;

namespace detail {

/// The executor chooses the policy from value size, n and GPU.
struct default_policy {};

/// The caller chose.
template <tile_policy Policy>
struct chosen_policy {
  static constexpr tile_policy value = Policy;
};

}  // namespace detail

/// An executor together with the policy that its calls shall use; made by with_policy().
template <class Executor, tile_policy Policy>
class tuned_executor {
  static_assert(detail::valid(Policy),
                "tilefold: tile_policy{nt, vt} needs powers of two with 32 <= nt <= 1024 and "
                "1 <= vt <= 256, so that a tile is an aligned subtree of the fold order");

 public:
  using executor_concept = executor_tag;
  using tuned_policy = detail::chosen_policy<Policy>;

  explicit tuned_executor(Executor& base) : base_(&base) {}
  Executor& base() const { return *base_; }

 private:
  Executor* base_;
};

/// Returns a view of `executor` that uses tile policy `Policy` for every call. `executor` must
/// outlive the view. Backends without tiles ignore the policy.
///
///     auto fast = tilefold::with_policy<tilefold::tile_policy{256, 16}>(executor);
///     float sum = tilefold::reduce(fast, first, last);
template <tile_policy Policy, class Executor>
tuned_executor<Executor, Policy> with_policy(Executor& executor) {
  return tuned_executor<Executor, Policy>(executor);
}

namespace detail {

/// An executor whose calls are calls of several ranks (ranks.hpp). It folds values and forests that
/// lie on all of them, so it wants to know of a rank that holds nothing, too.
template <class Executor>
concept spans_ranks = requires { typename std::remove_cvref_t<Executor>::communicator_type; };

/// An executor that folds items part by part, by what the host knows of them
/// (waiting_executor.cuh). It has single values and segments, neither columns nor runs of keys.
template <class Executor>
concept cuts_items = requires { std::remove_cvref_t<Executor>::cuts_items; };

// An executor is itself with its own choice of policy, or a tuned view of one. (checked.hpp has
// another view.)
template <class Executor>
struct executor_parts {
  using policy = default_policy;
  static constexpr bool checks = false;
  template <class MaybeConst>
  static MaybeConst& base(MaybeConst& executor) {
    return executor;
  }
};
// (Not for tuned_executor<Executor, Policy>: nvcc 13.5 overlooks that from the second policy on.)
template <class Tuned>
  requires requires { typename Tuned::tuned_policy; }
struct executor_parts<Tuned> {
  using policy = typename Tuned::tuned_policy;
  static constexpr bool checks = false;
  static auto& base(const Tuned& executor) { return executor.base(); }
};

}  // namespace detail

}  // namespace tilefold
