// SPDX-License-Identifier: Apache-2.0
//
// The reductions of the tool on a GPU: copies the items there, all or a chunk at a time, and folds
// them. Reducers and summaries are elsewhere. Kernels are what takes nvcc's time,
// so there is one tile policy, and operators and types whose results have the same bits share a
// kernel.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/op.hpp>

#include "backend_cuda.cuh"
#include "chunk_feed.cuh"
#include "cuda_chunks.cuh"
#include "cuda_fold.cuh"
#include "cuda_reference.cuh"
#include "cuda_support.cuh"
#include "field.hpp"
#include "progress.hpp"
#include "timing.hpp"

namespace tilefold::tool {

namespace {

void copy_to_gpu(const fold_job& job, std::size_t bytes, void* to) {
  const auto all = static_cast<std::int64_t>(bytes);
  progress bar("copying to the GPU", job.name, all);
  tool::copy_to_gpu(job.data, all, to, [&](std::int64_t done) { bar.advance_to(done); });
}

// The type to read items of type Item as. Wrapping sums and products do not depend on the sign at
// the accumulator's width, bitwise operators not at any, and bools compare as bytes do.
template <op_kind Op, class Item>
constexpr auto item_of_kernel() {
  constexpr domain needs = row_of(Op).needs;
  if constexpr (std::is_same_v<Item, bool> && needs == domain::real) {
    return std::type_identity<std::uint8_t>{};
  } else if constexpr (!std::is_integral_v<Item> || std::is_same_v<Item, bool>) {
    return std::type_identity<Item>{};
  } else if constexpr (needs == domain::integral || (needs == domain::any && sizeof(Item) >= 4)) {
    return std::type_identity<std::make_unsigned_t<Item>>{};
  } else {
    return std::type_identity<Item>{};
  }
}

// The operator to fold them with: integers have no NaN to be treated in two ways.
template <op_kind Op, class Item, class Functor>
constexpr auto functor_of_kernel(Functor functor) {
  if constexpr (std::is_integral_v<Item> && Op == op_kind::minimum_number) {
    return minimum{};
  } else if constexpr (std::is_integral_v<Item> && Op == op_kind::maximum_number) {
    return maximum{};
  } else {
    return functor;
  }
}

class cuda_backend final : public backend {
 public:
  cuda_backend() : name_(require_gpu()) {}

  std::string name() const override { return name_; }

  std::int64_t most_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return std::min(backend::most_bytes(), static_cast<std::int64_t>(free / 10 * 9));
  }

  fold_result run(const fold_job& job) override {
    if (job.pieces != nullptr) return run_in_chunks(job);
    const std::size_t bytes =
        static_cast<std::size_t>(job.count) * static_cast<std::size_t>(row_of(job.type).bytes);
    const device_buffer items(bytes);
    const double copy_seconds = wall_seconds([&] { copy_to_gpu(job, bytes, items.get()); });
    fold_result result = fold(job, items.get());
    result.copy_seconds = copy_seconds;
    if (job.check && job.count > 0) {
      result.check = check_with_cub(job, items.get(), result.fields.front().values.front(),
                                    executor_.stream());
    }
    return result;
  }

  summary summarize(const summary_job& job) override {
    const std::lock_guard lock(mutex_);
    return summarize_on_gpu(executor_, job);
  }

 private:
  fold_result reduce(const fold_job& job, const void* items) {
    return of_family(job.op, selections_on_gpu, moments_on_gpu, norms_on_gpu)(executor_, job,
                                                                              items);
  }

  fold_result fold(const fold_job& job, const void* items) {
    if (!row_of(job.op).is_operator) return reduce(job, items);
    return visit(job.op, [&](auto op, auto functor) {
      return visit(job.type, [&]<class Item>(std::type_identity<Item>) -> fold_result {
        if constexpr (fits(op, dtype_of<Item>::value)) {
          using item = typename decltype(item_of_kernel<op, Item>())::type;
          using result = typename result_of_reduce<decltype(functor), Item>::type;
          return fold<result>(job, functor_of_kernel<op, Item>(functor),
                              static_cast<const item*>(items));
        } else {
          throw std::logic_error("operator does not fit the type");
        }
      });
    });
  }

  fold_result run_in_chunks(const fold_job& job) {
    if (!row_of(job.op).is_operator) return reduce(job, nullptr);
    return visit(job.op, [&](auto op, auto functor) {
      return visit(job.type, [&]<class Item>(std::type_identity<Item>) -> fold_result {
        if constexpr (fits(op, dtype_of<Item>::value)) {
          using item = typename decltype(item_of_kernel<op, Item>())::type;
          return fold_chunks<Item>(job, functor,
                                   as_of_kernel<item>(functor_of_kernel<op, Item>(functor)));
        } else {
          throw std::logic_error("operator does not fit the type");
        }
      });
    });
  }

  template <class Item, class Functor, class FoldBlock>
  fold_result fold_chunks(const fold_job& job, Functor functor, FoldBlock fold_block) {
    return timed_in_chunks([&] {
      const auto* const items = reinterpret_cast<const Item*>(job.data);
      return std::vector<field>{
          one_field("", run_on_gpu(executor_, job, items, functor, fold_block))};
    });
  }

  template <class Result, class Functor, class Item>
  fold_result fold(const fold_job& job, Functor functor, const Item* items) {
    cuda_fold fold(executor_, job.repeats);
    const auto value = __builtin_bit_cast(Result, fold(items, job.count, functor));
    return fold.result({one_field("", value)});
  }

  std::string name_;  // first, since it throws where there is no GPU
  std::mutex mutex_;
  cuda_executor executor_;
};

}  // namespace

std::unique_ptr<backend> make_cuda_backend() { return std::make_unique<cuda_backend>(); }

}  // namespace tilefold::tool
