// SPDX-License-Identifier: Apache-2.0
//
// The reductions of the tool on the host: one instantiation of tilefold::reduce for every operator
// and element type that fit, and a serial loop in the widest type to check them with.
#include <tilefold/tilefold.hpp>

#include <string>
#include <utility>

#include "backend.hpp"
#include "timing.hpp"

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
fold_result fold(const host_executor& executor, const fold_job& job, Functor functor,
                 const Item* items) {
  const auto call = [&] { return reduce(executor, items, items + job.count, functor); };
  using accumulator = decltype(call());
  accumulator value{};
  const timing time =
      fastest_of(job.repeats, [&] { return wall_seconds([&] { value = call(); }); });
  fold_result result{scalar::of(value), time.seconds, time.calls, "wall clock", 0, {}};
  if (job.check && job.count > 0) {
    result.check = check<accumulator>(job.op, result.value, items, job.count);
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

  fold_result run(const fold_job& job) override {
    return visit(job.op, [&](auto op, auto functor) {
      return visit(job.type, [&]<class Item>(std::type_identity<Item>) -> fold_result {
        if constexpr (fits(op, dtype_of<Item>::value)) {
          return fold(executor_, job, functor, reinterpret_cast<const Item*>(job.data));
        } else {
          throw std::logic_error("operator does not fit the type");
        }
      });
    });
  }

 private:
  host_executor executor_;
};

}  // namespace

std::unique_ptr<backend> make_host_backend(int threads) {
  return std::make_unique<host_backend>(threads == 0 ? host_executor() : host_executor(threads));
}

}  // namespace tilefold::tool
