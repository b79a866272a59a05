// SPDX-License-Identifier: Apache-2.0
//
// ranks: an executor whose calls are one call of several ranks, each of which holds a contiguous
// part of the items. The result has the bits of one call over the whole, wherever the cuts lie.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/communicator.hpp>
#include <tilefold/detail/core/signature.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_axes.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>
#include <tilefold/detail/ranks/rank_merges.hpp>
#include <tilefold/detail/ranks/rank_segments.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/detail/verbs/kept_order.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/host.hpp>
#include <tilefold/policy.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#include <tilefold/detail/cuda/range/launch_join.cuh>
#include <tilefold/detail/cuda/range/launch_piece.cuh>
#include <tilefold/detail/cuda/range/rank_mailbox.cuh>
#endif

namespace tilefold {

namespace detail {

/// The caller's function in a lift.
template <class Lift>
struct bare_lift {
  using type = Lift;
};
template <class F>
struct bare_lift<of_computed<F>> : bare_lift<F> {};
template <class X, class Lift>
struct bare_lift<typed_lift<X, Lift>> : bare_lift<Lift> {};

/// What tells a rank's call from others: the verb, the operator, the items, the function.
template <class Bound, class Op, class... Items>
std::string call_signature(const char* verb) {
  using types = typename Bound::types;
  using function = typename bare_lift<typename types::lift>::type;
  std::string text = std::string(verb) + " of " +
                     detail::fold_signature<Op, typename types::accumulator, Items...>();
  if constexpr (!std::same_as<function, as_is>) {
    text += " through " + detail::name_of_type<function>();
  }
  if constexpr (!std::same_as<typename Bound::start_type, no_init>) text += " from a value";
  return text;
}

template <class Bound>
struct op_of_bound;
template <class Types, class Init, class Op>
struct op_of_bound<bound_fold<Types, Init, Op>> {
  using type = Op;
};

template <class Forest>
inline constexpr bool is_offsets_forest = false;
template <class Source, class Offsets>
inline constexpr bool is_offsets_forest<offsets_forest<Source, Offsets>> = true;

/// All ranks' blocks of one sequence, of which the part of rank r is [begin(r), end(r)): one list.
template <class Reducer, class Call>
block_list<Reducer> gather_blocks(Call& call, const rank_parts& parts, const Reducer& reducer,
                                  const block_list<Reducer>& own) {
  using list = block_list<Reducer>;
  using accumulator = typename list::accumulator;
  const int most = detail::most_blocks<typename list::blocks_type>(parts);
  const std::size_t bytes = detail::sent_bytes<accumulator>(most);
  using comm_type = std::remove_cvref_t<decltype(call.comm())>;
  if constexpr (sends_to_ranks<comm_type>) {
    if (call.size() > 1 &&
        std::int64_t{call.size()} * most >= detail::least_merged_blocks<comm_type>()) {
      return detail::merge_blocks(call, parts, reducer, own);
    }
  }
  const gathered_bytes all = call.gather(bytes, [&](std::byte* place) {
    const auto values = own.values().bytes();
    if (!values.empty()) std::memcpy(place, values.data(), values.size());
  });
  list whole(parts.begin(0));
  for (int r = 0; r < call.size(); ++r) {
    whole.append(reducer, list::from(parts.begin(r), parts.end(r), all.of(r)));
  }
  return whole;
}

/// A communicator that also gathers between memory of GPUs, in the order of a stream.
template <class Comm>
concept gathers_in_stream = requires(Comm& comm) {
  comm.mailbox().messages();
  comm.device();
  comm.abort();
};

}  // namespace detail

/// The number of items of each rank, known to all ranks. Cheap to copy.
class rank_lengths {
 public:
  /// `lengths`: the number of items of each rank, the same list on all ranks. Throws
  /// invalid_range_error if one is negative, or if their sum is above 2^63 - 1.
  explicit rank_lengths(const std::vector<std::int64_t>& lengths)
      : parts_(std::make_shared<const detail::rank_parts>(checked(lengths))),
        hash_(detail::fnv1a(parts_->bytes())) {}

  /// Gathers the lengths from ranks that each know their own; synchronous. Throws
  /// rank_mismatch_error if a rank makes another call.
  template <communicator Comm>
  static rank_lengths of(Comm& comm, std::int64_t own) {
    return rank_lengths(detail::rank_call<Comm>(comm, "rank_lengths::of").agree(own));
  }

  int ranks() const { return parts_->ranks(); }
  std::int64_t operator[](int rank) const { return parts_->end(rank) - parts_->begin(rank); }
  /// Where a rank's items begin in the whole.
  std::int64_t begin(int rank) const { return parts_->begin(rank); }
  std::int64_t total() const { return parts_->total(); }

  const detail::rank_parts& parts() const { return *parts_; }
  /// Ranks that mean the same lengths have the same.
  std::uint64_t hash() const { return hash_; }

 private:
  static const std::vector<std::int64_t>& checked(const std::vector<std::int64_t>& lengths) {
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      if (lengths[r] >= 0) continue;
      throw invalid_range_error("tilefold::rank_lengths: rank " + std::to_string(r) + " holds " +
                                std::to_string(lengths[r]) + " items");
    }
    return lengths;
  }

  std::shared_ptr<const detail::rank_parts> parts_;  // copies are cheap
  std::uint64_t hash_;
};

/// What ranks() makes. Cheap to make; refers to its communicator and its executor.
template <communicator Comm, class Executor, class Policy>
class ranks_executor {
 public:
  using executor_concept = executor_tag;
  using communicator_type = Comm;
  using local_type = std::remove_const_t<Executor>;

  ranks_executor(Comm& comm, Executor& base, std::int64_t num_items,
                 std::optional<rank_lengths> lengths = {})
      : comm_(&comm), base_(&base), num_items_(num_items), lengths_(std::move(lengths)) {}

  Comm& comm() const { return *comm_; }
  /// The executor that folds this rank's part.
  Executor& local() const { return *base_; }

  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    static_assert(!(detail::device_only<Functions> || ...),
                  "tilefold: what ranks send is put together on the host, so the operator must be "
                  "__host__ __device__");
    return detail::keeps_tree_order<Functions...>() &&
           local_type::template takes<Accumulator, Result, Functions...>();
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return local_type::template takes_functions<Functions...>();
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return local_type::template takes_items<Items...>();
  }

  /// The projected fold of all ranks' items, of which this one has n; on every rank.
  template <class Policy_, class Bound, class... Its>
  typename Bound::result fold_value(const char* verb, const Bound& bound, std::int64_t n,
                                    const Its&... its) const {
#if defined(__CUDACC__)
    using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
    if constexpr (in_stream<reducer>) {
      if (lengths_.has_value()) {
        require_waiting();
        using result = typename Bound::result;
        const result value = base_->template awaited<result>(
            [&](const auto& out) {
              this->template fold_in_stream<Policy_>(
                  verb, bound, n, comm_->mailbox().awaited_status(), [&] { return out; }, its...);
            },
            [&](auto stream) { comm_->wait(stream); });
        comm_->throw_found(*comm_->mailbox().awaited_status());
        return value;
      }
    }
#endif
    return this->template agreed_value<Policy_>(verb, bound, n, [] {}, its...);
  }

  /// The same, written through `out` by every rank's own executor.
  template <class Policy_, class Bound, class Out, class... Its>
  void fold_value_to(const char* verb, const Bound& bound, std::int64_t n, const Out& out,
                     const Its&... its) const {
#if defined(__CUDACC__)
    using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
    if constexpr (in_stream<reducer>) {
      if (lengths_.has_value()) {
        return this->template fold_in_stream<Policy_>(
            verb, bound, n, comm_->mailbox().status(),
            [&] { return base_->accessible(out, "out"); }, its...);
      }
    }
#endif
    const auto value = this->template agreed_value<Policy_>(
        verb, bound, n, [&] { (void)base_->accessible(out, "out"); }, its...);
    base_->store(value, out);
  }

  /// The segments of all ranks' items, of which this one holds num_items and passes those that
  /// begin there; their values go through this rank's `out`. Arrays lie on one rank each.
  template <class Policy_, class Bound, class MakeForest, class Out>
  [[gnu::noinline]] void fold_trees(const Bound& bound, std::int64_t num_trees,
                                    const MakeForest& make_forest, const Out& out) const {
    using forest_type = decltype(make_forest(*base_, bound));
    if constexpr (detail::is_offsets_forest<forest_type>) {
      auto call = this->template call<Bound>("segmented_reduce");
      or_finish([&] {
        detail::fold_rank_segments<Policy_>(call, *base_, num_items_, bound, num_trees, make_forest,
                                            out);
      });
    } else if constexpr (requires { typename forest_type::array_type; }) {
      if (num_trees == 0) return;
      base_->template fold_forest<Policy_>(make_forest(*base_, bound), num_trees, bound.reducer,
                                           bound.start, bound.empty(""), out);
    } else {
      static_assert(detail::is_offsets_forest<forest_type>,
                    "tilefold: on ranks segmented_reduce takes offsets: where a segment lies that "
                    "others hold a part of, nothing else tells");
    }
  }

  /// The runs of all ranks' keys, which read(executor) reads; those that begin on this rank go
  /// through its outputs. Returns their number.
  template <class Policy_, class Key, class Value, class Bound, class Read, class Equal,
            class KeysOut, class ValuesOut>
  [[gnu::noinline]] std::int64_t fold_keys(const Bound& bound, std::int64_t n, const Read& read,
                                           const Equal& equal, const KeysOut& keys_out,
                                           const ValuesOut& values_out) const {
    auto call = this->template call<Bound, Key, Value>("reduce_by_key");
    return detail::fold_rank_keys<Policy_>(
        call, *base_, n, bound, [&] { return read(*base_); }, equal, keys_out, values_out);
  }

  /// A view of which this rank has the next elements of the first axis, by the plan that
  /// make_plan(name of the call) returns; it adds to the name what ranks must have in common.
  template <class Policy_, class Bound, class InIt, class OutIt, class MakePlan>
  [[gnu::noinline]] void fold_axes(const Bound& bound, const InIt& in, const OutIt& out,
                                   const MakePlan& make_plan) const {
    std::string verb = "axis_reduce";
    detail::axis_plan plan;
    std::exception_ptr unfit;
    try {
      plan = make_plan(verb);
    } catch (...) {
      unfit = std::current_exception();
    }
    auto call = this->template call<Bound, std::iter_value_t<InIt>>(verb.c_str());
    call.try_to([&] {
      if (unfit != nullptr) std::rethrow_exception(unfit);
    });
    or_finish([&] { detail::fold_rank_axes<Policy_>(call, *base_, bound, in, out, plan); });
  }

  template <class It>
  auto accessible(const It& it, const char* what, bool reads = true) const {
    return base_->accessible(it, what, reads);
  }
  template <class T, class Out>
  void store(const T& value, const Out& out) const {
    base_->store(value, out);
  }
  void require_waiting() const { base_->require_waiting(); }
  void synchronize() const { base_->synchronize(); }

 private:
  template <class Bound, class... Items>
  auto call(const char* verb) const {
    using op = typename detail::op_of_bound<Bound>::type;
    return detail::rank_call<Comm>(*comm_, detail::call_signature<Bound, op, Items...>(verb));
  }

  // The value of a call that the hosts agree on. What require_place() throws is told to all, as
  // what this rank's part throws is.
  template <class Policy_, class Bound, class RequirePlace, class... Its>
  [[gnu::noinline]] typename Bound::result agreed_value(const char* verb, const Bound& bound,
                                                        std::int64_t n,
                                                        const RequirePlace& require_place,
                                                        const Its&... its) const {
    using list = detail::block_list<std::remove_cvref_t<decltype(bound.reducer)>>;
    auto call = this->template call<Bound, std::iter_value_t<Its>...>(verb);
    std::optional<decltype(bound.source(*base_, its...))> source;
    call.try_to([&] {
      detail::require_count(verb, n);
      require_lengths(n);
      if (n > 0) source.emplace(bound.source(*base_, its...));
      require_place();
    });
    const detail::rank_parts parts(call.agree(n));
    const std::int64_t begin = parts.begin(call.rank());
    list own(begin);
    call.try_to([&] {
      if (n == 0) return;
      base_->template fold_blocks<Policy_>(
          detail::in_whole(*source, begin), bound.reducer, begin, n,
          [&](const typename list::accumulator& value, std::int64_t size) {
            own.push(bound.reducer, value, size);
          });
    });
    const list whole = detail::gather_blocks(call, parts, bound.reducer, own);
    const detail::closed_steps steps{bound.reducer};
    if (whole.count() == 0) return detail::result_of_nothing(steps, bound.empty(verb));
    return detail::finish(steps, bound.start, whole.fold(bound.reducer));
  }

  // Does work(). If it throws, what this rank has enqueued may still read its items, whose owner
  // may then give their memory back: so that is waited for first.
  template <class Work>
  void or_finish(const Work& work) const {
    try {
      work();
    } catch (...) {
      finish_own_part();
      throw;
    }
  }
  void finish_own_part() const noexcept {
    try {
      base_->require_waiting();  // nothing is under way in a capture
      base_->synchronize();
    } catch (...) {
      // What was wrong first is what the caller is told.
    }
  }

  void require_lengths(std::int64_t n) const {
    if (!lengths_.has_value()) return;
    if ((*lengths_)[comm_->rank()] == n) return;
    throw invalid_range_error("tilefold::ranks: rank " + std::to_string(comm_->rank()) +
                              " passes " + std::to_string(n) + " items where its length is " +
                              std::to_string((*lengths_)[comm_->rank()]));
  }

#if defined(__CUDACC__)
  /// \cond
  // Whether calls with lengths work in the order of the executor's stream.
  template <class Reducer>
  static constexpr bool in_stream =
      detail::gathers_in_stream<Comm> && detail::cuda::joins_in_stream<Reducer> &&
      requires(Executor& exec) { exec.stream(); };
  /// \endcond

  // The fold of all ranks' items in the order of the stream, through what make_out() returns. A
  // rank that fails takes part in the gather all the same, so that the others are told.
  template <class Policy_, class Bound, class MakeOut, class... Its>
  void fold_in_stream(const char* verb, const Bound& bound, std::int64_t n,
                      detail::cuda::rank_status* status, const MakeOut& make_out,
                      const Its&... its) const {
    namespace c = detail::cuda;
    using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
    using accumulator = typename reducer::accumulator;
    static_assert(std::is_trivially_copyable_v<accumulator>,
                  "tilefold: ranks send accumulators as bytes, so they must be trivially copyable");
    static_assert(alignof(accumulator) <= c::rank_blocks_at);
    const detail::rank_parts& parts = lengths_->parts();
    const int most = detail::most_blocks<detail::blocks_of<reducer>>(parts);
    const std::int64_t bytes =
        c::rank_message_bytes<Comm>(most, static_cast<std::int64_t>(sizeof(accumulator)));
    // Known on all ranks alike, so all throw, or none.
    const auto empty = detail::empty_of_all(verb, bound, parts.total() == 0);
    make_room(bytes);
    auto& mail = comm_->mailbox();
    auto* const place = reinterpret_cast<c::rank_header*>(mail.message());
    const int rank = comm_->rank();
    c::rank_header header{stream_signature<Bound, Its...>(verb), parts.begin(rank), parts.end(rank),
                          0};
    std::optional<decltype(make_out())> out;
    std::exception_ptr failure;
    bool has_begun = false;
    try {
      detail::require_count(verb, n);
      require_lengths(n);
      require_gpu_of_communicator();
      out.emplace(make_out());
      c::load_join(*base_, bound.reducer, bound.start, empty, *out);
      if (n > 0) {
        auto* const values = reinterpret_cast<accumulator*>(mail.message() + c::rank_blocks_at);
        has_begun = true;
        base_->template fold_blocks_to<Policy_>(
            detail::in_whole(bound.source(*base_, its...), header.begin), bound.reducer,
            header.begin, n, c::rank_blocks<accumulator>{values, place, header});
      } else {
        base_->store(header, place);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure != nullptr) {
      // Before the gather, which waits for others.
      if (has_begun) finish_own_part();
      header.failed = 1;
      send_failure(header, bytes);
      std::rethrow_exception(failure);
    }
    or_abort([&] {
      comm_->all_gather(mail.message(), mail.messages(), static_cast<std::size_t>(bytes),
                        base_->stream());
    });
    c::join_ranks(
        *base_,
        c::rank_messages{mail.messages(), bytes, comm_->size(), most, header.signature, status},
        bound.reducer, bound.start, empty, *out);
  }

  // What a call in stream order is known by. The names of types are put together once.
  template <class Bound, class... Its>
  std::uint64_t stream_signature(const char* verb) const {
    using op = typename detail::op_of_bound<Bound>::type;
    static const std::uint64_t types =
        detail::fnv1a(detail::call_signature<Bound, op, std::iter_value_t<Its>...>(""));
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return (types * odd + detail::fnv1a(std::string_view(verb))) * odd + lengths_->hash();
  }

  // All ranks' messages are as long, so a communicator that takes none of that length throws on all
  // of them. One that has no memory for them cannot take part.
  void make_room(std::int64_t bytes) const {
    if (bytes <= comm_->mailbox().bytes()) return;
    detail::cuda::rank_mailbox::require_growing(bytes, base_->stream());
    try {
      comm_->reserve(bytes);
    } catch (const communicator_error&) {
      throw;
    } catch (...) {
      comm_->abort();
      throw;
    }
  }

  void require_gpu_of_communicator() const {
    if (base_->device() == comm_->device()) return;
    throw invalid_range_error("tilefold::ranks: rank " + std::to_string(comm_->rank()) +
                              " has an executor of GPU " + std::to_string(base_->device()) +
                              ", but its communicator is GPU " + std::to_string(comm_->device()) +
                              "'s");
  }

  // Takes part in the gather with a message of nothing but `header`.
  void send_failure(const detail::cuda::rank_header& header, std::int64_t bytes) const {
    namespace c = detail::cuda;
    const c::device_scope scope(comm_->device());
    auto& mail = comm_->mailbox();
    const bool is_here = base_->device() == comm_->device();
    const cudaStream_t stream = is_here ? base_->stream() : cudaStreamPerThread;
    or_abort([&] {
      if (is_here) {
        base_->store(header, reinterpret_cast<c::rank_header*>(mail.message()));
      } else {
        // What other streams still do with the messages is waited for.
        c::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        c::check(cudaMemcpy(mail.message(), &header, sizeof header, cudaMemcpyHostToDevice),
                 "cudaMemcpy");
      }
      comm_->all_gather(mail.message(), mail.messages(), static_cast<std::size_t>(bytes), stream);
      // The next call works in another stream, with the same messages and turns.
      if (!is_here) comm_->wait(stream);
    });
  }

  // Where a rank cannot take part in the gather, the communicator is of no use any more.
  template <class Send>
  void or_abort(const Send& send) const {
    try {
      send();
    } catch (...) {
      comm_->abort();
      // What has been launched reads the caller's items.
      finish_own_part();
      throw;
    }
  }
#endif

  Comm* comm_;
  Executor* base_;
  std::int64_t num_items_;
  std::optional<rank_lengths> lengths_;
};

namespace detail {

template <class Comm, class Executor, class Policy>
struct executor_parts<ranks_executor<Comm, Executor, Policy>> : executor_parts<void> {
  using policy = Policy;
};

}  // namespace detail

/// An executor for calls that all ranks of a communicator make together. Each passes its own part
/// of the items, in the order of the ranks, folded there by `executor`:
///
///     float sum = tilefold::reduce(tilefold::ranks(comm, exec), first, last);
///
/// - Result: on every rank the bits of one call over all parts, concatenated in the order of the
///   ranks. Parts may have any sizes, also 0.
/// - segmented_reduce with offsets: a rank passes the segments that begin in its part, with offsets
///   that count in the whole, and its own number of items: ranks(comm, exec, num_items). It gets
///   their values, also of a segment that ends on another rank. So the ranks' offsets and outputs,
///   concatenated, are those of one call.
/// - reduce_by_key: a rank gets the runs that begin in its part, and their number; a run may end on
///   another rank. The ranks' outputs, concatenated, are those of one call.
/// - axis_reduce: the first axis of `in` is distributed over the ranks, in any layouts; the others
///   have the same extents on all ranks. If the first axis is reduced, every rank gets all results;
///   else each rank gets its own, without communication. batched_reduce: each array is on one rank,
///   and there is no communication either.
/// - Every verb whose result is one value: reduce, transform_reduce, all reducers, count, mean...,
///   and their _into forms, which write on every rank. Indices (arg_min, top_k) count in the whole.
///   Verbs that return iterators do not compile, because the iterator could belong to another rank.
/// - All ranks make the same calls in the same order. If a rank makes a call of another verb,
///   operator, item type or function, all ranks throw rank_mismatch_error, which names two of the
///   calls. (Two lambdas of one function may have the same name, and values that an operator holds
///   are not compared.)
/// - If a rank throws while it reads its items, allocates or calls its operator, that rank throws
///   its exception and the others throw rank_error. Verbs that write may have written results by
///   then, on any rank. The communicator can be used again. What happens if a rank throws before
///   its call has begun, or leaves, depends on the communicator: with thread_communicator the
///   others throw communicator_error, MPI ends the program by default.
/// - Cost: two gathers a call, of 56 bytes a rank, and of at most 2 log2 n + 1 accumulators a rank
///   (one if the order does not matter). Each rank merges all of them: size() * 2 log2 n combines.
///   The call is synchronous, on a GPU too.
/// - ranks(comm, exec, lengths), with the rank_lengths of all, saves the first gather. If the
///   communicator works in stream order (nccl_communicator) and `executor` is a CUDA executor,
///   calls with one value then take one gather between GPUs, without the host: _into forms are
///   asynchronous in the executor's stream, and can be captured. If another rank makes a mistake,
///   such a call does not write `out`, and comm.throw_errors() throws later. Calls that return a
///   value throw themselves. Ranks in calls whose messages differ in length (docs/ranks.md) may
///   wait forever with NCCL. A rank without memory for messages aborts the communicator.
/// - Accumulators are trivially copyable, and all ranks run the same program on machines of one
///   byte order.
/// - `executor` may have a policy. The result refers to both arguments.
template <communicator Comm, executor Exec>
auto ranks(Comm& comm, Exec& exec, std::int64_t num_items = -1) {
  using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
  using base = std::remove_reference_t<decltype(parts::base(exec))>;
  static_assert(!detail::spans_ranks<base>, "tilefold: ranks of ranks: give them one communicator");
  static_assert(!parts::checks, "tilefold: checked() goes around ranks(), not into it");
  return ranks_executor<Comm, base, typename parts::policy>(comm, parts::base(exec), num_items);
}
/// The same if all ranks know how many items each rank holds. Throws invalid_range_error unless
/// there is one length for each rank.
template <communicator Comm, executor Exec>
auto ranks(Comm& comm, Exec& exec, const rank_lengths& lengths) {
  if (lengths.ranks() != comm.size()) {
    throw invalid_range_error("tilefold::ranks: " + std::to_string(lengths.ranks()) +
                              " lengths for " + std::to_string(comm.size()) + " ranks");
  }
  auto all = tilefold::ranks(comm, exec);
  return decltype(all)(comm, all.local(), lengths[comm.rank()], lengths);
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
