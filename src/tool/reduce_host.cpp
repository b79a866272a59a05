// SPDX-License-Identifier: Apache-2.0
//
// The reductions of the tool on the host: one instantiation of tilefold::reduce for every operator
// and element type that fit, and a serial loop in the widest type to check them with. Reducers are
// elsewhere.
#include <stdexcept>
#include <string>
#include <type_traits>

#include "backend_host.hpp"
#include "host_fold.hpp"

namespace tilefold::tool {

namespace {

// Where the serial reference computes: integers modulo 2^64, of which every narrower type is the
// low part, and floating values with more bits than any result has.
template <class Item>
constexpr auto reference_type() {
  if constexpr (std::is_integral_v<Item>) {
    using wide = std::conditional_t<std::is_signed_v<Item>, std::int64_t, std::uint64_t>;
    return std::type_identity<wide>{};
  } else if constexpr (is_complex(dtype_of<Item>::value)) {
    return std::type_identity<reference_complex<long double>>{};
  } else {
    return std::type_identity<long double>{};
  }
}

template <class Wide, class Item>
Wide fold_serially(op_kind op, const Item* items, std::int64_t count) {
  Wide value = reference_lift<Wide>(items[0]);
  for (std::int64_t i = 1; i < count; ++i) {
    value = reference_combine(op, value, reference_lift<Wide>(items[i]));
  }
  return value;
}

template <class Accumulator, class Item>
comparison check(op_kind op, const scalar& result, const Item* items, std::int64_t count) {
  using wide = typename decltype(reference_type<Item>())::type;
  const wide reference = fold_serially<wide>(op, items, count);
  if constexpr (std::is_integral_v<wide>) {
    return compare("serial 64-bit integer loop", op, result, narrowed<Accumulator>(reference));
  } else if (is_exact(op, result.type())) {
    return compare("serial loop", op, result, narrowed<Accumulator>(reference));
  } else if constexpr (is_reference_complex<wide>) {
    return compare("serial complex long double loop", result, reference);
  } else {
    return compare("serial long double loop", result, {reference, 0});
  }
}

template <class Functor, class Item>
fold_result fold_items(const host_executor& executor, const fold_job& job, Functor functor,
                       const Item* items) {
  host_fold fold(executor, job);
  const auto value = fold(items, job.count, functor);
  fold_result result = fold.result({one_field("", value)});
  if (job.check && job.count > 0 && job.pieces == nullptr) {
    result.check =
        check<std::remove_const_t<decltype(value)>>(job.op, scalar::of(value), items, job.count);
  }
  return result;
}

class host_backend final : public backend {
 public:
  explicit host_backend(const host_executor& executor) : executor_(executor) {}

  std::string name() const override {
    const int threads = executor_.threads();
    return "host, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }

  bool is_host() const override { return true; }

  fold_result run(const fold_job& job) override {
    return row_of(job.op).is_operator ? run_operator(job) : reduce_on_host(executor_, job);
  }

  summary summarize(const summary_job& job) override { return summarize_on_host(executor_, job); }

 private:
  fold_result run_operator(const fold_job& job) const {
    return visit(job.op, [&](auto op, auto functor) {
      return visit(job.type, [&]<class Item>(std::type_identity<Item>) -> fold_result {
        if constexpr (fits(op, dtype_of<Item>::value)) {
          return fold_items(executor_, job, functor, reinterpret_cast<const Item*>(job.data));
        } else {
          throw std::logic_error("operator does not fit the type");
        }
      });
    });
  }

  host_executor executor_;
};

}  // namespace

std::unique_ptr<backend> make_host_backend(int threads) {
  return std::make_unique<host_backend>(threads == 0 ? host_executor() : host_executor(threads));
}

}  // namespace tilefold::tool
