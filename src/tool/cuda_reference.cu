// SPDX-License-Identifier: Apache-2.0
//
// Folds with cub::DeviceReduce: the same operator in the same precision (integers modulo 2^64, of
// which every narrower type is the low part), but CUB's order of evaluation. Operator and element
// type are looked up at run time, item by item, which is slow but six instantiations in all.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "cuda_reference.cuh"
#include "cuda_support.cuh"
#include "reference.hpp"

namespace tilefold::tool {

namespace {

template <class Wide>
struct combine {
  op_kind op;

  TILEFOLD_HD Wide operator()(const Wide& a, const Wide& b) const {
    return reference_combine(op, a, b);
  }
};

// Item i, widened.
template <class Wide>
struct item_at {
  const void* items;
  dtype type;

  TILEFOLD_HD Wide operator()(std::int64_t i) const {
    switch (type) {
#define TILEFOLD_TOOL_CASE(id, name, kind, type)                       \
  case dtype::id:                                                      \
    if constexpr (is_reference_complex<Wide> == (kind == 'c')) {       \
      return reference_lift<Wide>(static_cast<const type*>(items)[i]); \
    }                                                                  \
    break;
      TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_CASE)
#undef TILEFOLD_TOOL_CASE
    }
    return Wide{};
  }
};

template <class Wide>
Wide fold_with_cub(const fold_job& job, const void* device_items, cudaStream_t stream) {
  // The first item serves as CUB's initial value, so that no operator needs an identity.
  const Wide first = item_at<Wide>{job.data, job.type}(0);
  const auto others = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(1),
                                                      item_at<Wide>{device_items, job.type});
  const device_buffer out(sizeof(Wide));
  auto* const device_out = static_cast<Wide*>(out.get());
  const auto reduce = [&](void* workspace, std::size_t& bytes) {
    check_cuda(cub::DeviceReduce::Reduce(workspace, bytes, others, device_out, job.count - 1,
                                         combine<Wide>{job.op}, first, stream),
               "cub::DeviceReduce");
  };
  std::size_t workspace_bytes = 0;
  reduce(nullptr, workspace_bytes);
  const device_buffer workspace(workspace_bytes);
  reduce(workspace.get(), workspace_bytes);
  Wide value;
  check_cuda(cudaStreamSynchronize(stream), "cub::DeviceReduce");
  check_cuda(cudaMemcpy(&value, device_out, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return value;
}

// Where CUB computes for items of this type.
template <class Item>
constexpr auto reference_type() {
  if constexpr (std::is_integral_v<Item>) {
    using wide = std::conditional_t<std::is_signed_v<Item>, std::int64_t, std::uint64_t>;
    return std::type_identity<wide>{};
  } else if constexpr (is_complex(dtype_of<Item>::value)) {
    return std::type_identity<reference_complex<typename Item::value_type>>{};
  } else {
    return std::type_identity<std::conditional_t<std::is_same_v<Item, double>, double, float>>{};
  }
}

template <class Wide>
comparison compare_with(const fold_job& job, const scalar& result, const Wide& reference) {
  constexpr bool complex = is_reference_complex<Wide>;
  return visit(result.type(), [&]<class Accumulator>(std::type_identity<Accumulator>) {
    if constexpr (complex == is_complex(dtype_of<Accumulator>::value)) {
      return compare("cub::DeviceReduce", job.op, result, narrowed<Accumulator>(reference));
    } else {
      return comparison{};  // no item type has such an accumulator
    }
  });
}

}  // namespace

comparison check_with_cub(const fold_job& job, const void* device_items, const scalar& result,
                          cudaStream_t stream) {
  return visit(job.type, [&]<class Item>(std::type_identity<Item>) {
    using wide = typename decltype(reference_type<Item>())::type;
    return compare_with(job, result, fold_with_cub<wide>(job, device_items, stream));
  });
}

}  // namespace tilefold::tool
