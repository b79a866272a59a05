// SPDX-License-Identifier: Apache-2.0
//
// One range, in graphs: sums of every type and distribution, dot products and norms of floats.
#include <memory>
#include <string>
#include <utility>

#include "../support/contest.hpp"
#include "../support/tilefold.cuh"
#include "contents.cuh"
#include "contests.hpp"
#include "exact_judge.cuh"

namespace bench {

namespace {

namespace r = tilefold::reducers;

/// tilefold's exact fold, `exact` into the result, beside its plain one and the peers of `peers`.
template <class Total, class Content, class Exact, class Plain>
shape exact_shape(const std::string& name, cudaStream_t stream, Exact exact, Plain plain,
                  const std::string& peers) {
  shape result;
  result.name = name;
  result.item_bytes = static_cast<index>(sizeof(typename Total::item)) * Total::arrays;
  result.fill = &fill<Content>;
  result.rules = std::make_shared<exact_judge<Total>>();
  result.contestants.push_back(ours(stream, exact));
  contestant rounded = ours(stream, plain);
  rounded.name = "tilefold-plain";
  rounded.host_bits = false;
  result.contestants.push_back(rounded);
  add_peers(result, peers);
  return result;
}

// 4 GiB, or 2^30 items.
template <class T>
constexpr index large = sizeof(T) == 8 ? index{1} << 29 : index{1} << 30;

template <class T, class Result, class Content>
shape sum(const std::string& type, const std::string& content, cudaStream_t stream) {
  const auto exact = [](auto& executor, const fold_call& c) {
    const T* const x = c.items<T>();
    tilefold::reduce_into(executor, x, x + c.n, c.result<Result>(), r::exact_sum<Result>{});
  };
  const auto plain = [](auto& executor, const fold_call& c) {
    const T* const x = c.items<T>();
    tilefold::reduce_into<Result>(executor, x, x + c.n, c.result<Result>(), tilefold::plus{});
  };
  shape s = exact_shape<exact_total<T, Result>, Content>("exact_sum_" + type + "_" + content,
                                                         stream, exact, plain, "exact_sum_" + type);
  s.sizes = {index{1} << 20, large<T>};
  return s;
}

template <class T, class Result>
void add_sums(shapes& all, const std::string& type, cudaStream_t stream) {
  all.push_back(sum<T, Result, normal_items<T>>(type, "normal", stream));
  all.back().sizes.clear();
  for (int bits = 10; bits <= 28; bits += 2) all.back().sizes.push_back(index{1} << bits);
  all.back().sizes.push_back(large<T>);
  all.push_back(sum<T, Result, uniform_items<T>>(type, "uniform", stream));
  if constexpr (!std::is_same_v<T, tilefold::half>) {
    all.push_back(sum<T, Result, lognormal_items<T>>(type, "lognormal_5", stream));
  }
  all.push_back(sum<T, Result, log_uniform_items<T>>(type, "log_uniform", stream));
}

shape dot(cudaStream_t stream) {
  const auto exact = [](auto& executor, const fold_call& c) {
    const float* const x = c.items<float>();
    tilefold::transform_reduce_into(executor, x, x + c.n, x + c.n, c.result<float>(),
                                    r::exact_dot<>{});
  };
  const auto plain = [](auto& executor, const fold_call& c) {
    const float* const x = c.items<float>();
    tilefold::transform_reduce_into(executor, x, x + c.n, x + c.n, c.result<float>(), 0.0f);
  };
  shape s = exact_shape<exact_product_total<float, float>, normal_items<float>>(
      "exact_dot_float_normal", stream, exact, plain, "exact_dot_float");
  s.sizes = {index{1} << 20, index{1} << 29};
  return s;
}

/// A reducer of squares, in the exact form and the plain one.
template <class Total, class Content, class Exact, class Plain>
shape squares(const std::string& name, cudaStream_t stream, Exact exact, Plain plain) {
  const auto by = [](auto reducer) {
    return [reducer](auto& executor, const fold_call& c) {
      const float* const x = c.items<float>();
      tilefold::reduce_into(executor, x, x + c.n, c.result<float>(), reducer);
    };
  };
  shape s = exact_shape<Total, Content>(name, stream, by(exact), by(plain), name);
  s.sizes = {index{1} << 20, index{1} << 30};
  return s;
}

}  // namespace

void enter_ranges(roster& all) {
  const cudaStream_t stream = all.gpu().stream();
  shapes added;
  add_sums<float, float>(added, "float", stream);
  add_sums<double, double>(added, "double", stream);
  add_sums<tilefold::half, float>(added, "half", stream);
  add_sums<tilefold::bfloat16, float>(added, "bfloat16", stream);
  added.push_back(dot(stream));
  using norm = exact_norm<float, float>;
  const auto l2 = [&]<class Content>(const std::string& content, Content) {
    added.push_back(
        squares<norm, Content>("exact_l2_float_" + content, stream, r::exact_l2<>{}, r::l2{}));
  };
  l2("normal", normal_items<float>{});
  l2("lognormal_5", lognormal_items<float>{});
  l2("log_uniform", root_items{});
  enter_shapes(all, std::move(added));
}

}  // namespace bench
