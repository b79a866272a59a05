// SPDX-License-Identifier: Apache-2.0
//
// Items by index on the host: the items of each index are copied one after the other.
#include "by_index.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <tilefold/detail/host/index_order.hpp>
#include <tilefold/host.hpp>

#include "index_checks.hpp"

namespace tilefold::capi {

namespace {

using detail::host::item_bits;
using detail::host::room_for;

/// Calls copy(item_bits<...>{}) for the size of the items.
template <class Copy>
void with_item(dtype type, const Copy& copy) {
  switch (bytes_of(type)) {
    case 1:
      return copy(item_bits<1>{});
    case 2:
      return copy(item_bits<2>{});
    case 4:
      return copy(item_bits<4>{});
    case 8:
      return copy(item_bits<8>{});
    default:
      return copy(item_bits<16>{});
  }
}

/// Calls use(pointer) with the indices as what they are, which are integers.
template <class Use>
void with_indices(const any_items<std::int64_t>& indices, const Use& use) {
  capi::visit_type(indices.type, [&]<class T>(type_is<T>) {
    if constexpr (std::is_integral_v<T>) use(static_cast<const T*>(indices.data));
  });
}

template <class Mode>
class by_index_fold {
 public:
  by_index_fold(const basic_host_executor<Mode>& exec, const by_index_call& call)
      : call_(call), mode_(exec.threads() == Mode().threads() ? Mode() : Mode(exec.threads())) {
    gathered_ = room_for<char>(static_cast<std::uint64_t>(call.n * call.columns) *
                               static_cast<std::uint64_t>(bytes_of(call.items.type)));
    const bool sorts_items = call.columns == 1 && !is_place(call.which);
    capi::with_indices(call.indices, [&](const auto* indices) {
      const detail::index_reader<decltype(indices)> index_of{indices, call.num_results};
      if (sorts_items) {
        with_item(call.items.type, [&]<class Item>(Item) {
          order_.sort_items(call.n, call.num_results, exec.threads(), index_of,
                            static_cast<const Item*>(call.items.items),
                            reinterpret_cast<Item*>(gathered_.get()));
        });
      } else {
        order_.sort(call.n, call.num_results, exec.threads(), index_of);
      }
    });
    if (kept() < call.n) capi::require_indices(exec, call);
    if (!sorts_items) with_item(call.items.type, [&](auto item) { gather(item); });
    if (call.columns == 1) return;
    begins_ = room_for<std::int64_t>(static_cast<std::uint64_t>(call.segments()) + 1);
    for (std::int64_t s = 0; s < call.segments(); ++s) {
      begins_[static_cast<std::size_t>(s)] = begin_of(s);
    }
    begins_[static_cast<std::size_t>(call.segments())] = kept() * call.columns;
  }

  job segments() const {
    job made = call_.items;
    made.items = gathered_.get();
    made.reads_items = kept() > 0;
    made.offsets = {begins_ == nullptr ? order_.offsets() : begins_.get(), 0, 64};
    return made;
  }

  /// Makes positions in the whole input of those in segments.
  void place(std::int64_t* results) const {
    for (std::int64_t s = 0; s < call_.segments(); ++s) {
      if (results[s] >= 0) {
        results[s] = order_.positions()[rows_of(s / call_.columns).begin + results[s]];
      }
    }
  }

 private:
  static constexpr std::int64_t chunk = std::int64_t{1} << 15;  // of items

  /// How many rows are not left out.
  std::int64_t kept() const { return order_.offsets()[call_.num_results]; }

  sorted_rows rows_of(std::int64_t result) const {
    const std::int64_t* const offsets = order_.offsets();
    return {offsets[result], offsets[result + 1] - offsets[result]};
  }

  std::int64_t begin_of(std::int64_t segment) const {
    const sorted_rows rows = rows_of(segment / call_.columns);
    return rows.place(rows.begin, segment % call_.columns, call_.columns);
  }

  // The items of each column of each result stand together.
  template <class Item>
  void gather(Item) {
    const auto* const from = static_cast<const Item*>(call_.items.items);
    auto* const to = reinterpret_cast<Item*>(gathered_.get());
    const std::int64_t columns = call_.columns;
    const std::int64_t rows_of_chunk = std::max(chunk / columns, std::int64_t{1});
    mode_.for_each(tree::num_blocks(kept(), rows_of_chunk), [&](std::int64_t c) {
      const std::int64_t first = c * rows_of_chunk;
      const std::int64_t end = std::min(first + rows_of_chunk, kept());
      const std::int64_t* const offsets = order_.offsets();
      std::int64_t result =
          std::upper_bound(offsets, offsets + call_.num_results, first) - offsets - 1;
      for (std::int64_t k = first; k < end; ++k) {
        while (k >= offsets[result + 1]) ++result;
        const sorted_rows rows = rows_of(result);
        const Item* const row = from + order_.positions()[k] * columns;
        for (std::int64_t i = 0; i < columns; ++i) to[rows.place(k, i, columns)] = row[i];
      }
    });
  }

  const by_index_call& call_;
  const Mode mode_;
  detail::host::index_order<Mode> order_;
  std::unique_ptr<char[]> gathered_;
  std::unique_ptr<std::int64_t[]> begins_;
};

}  // namespace

void fold_by_index(host_executor& exec, const by_index_call& call,
                   const std::function<void(const job&)>& fold) {
  if (call.segments() == 0) return capi::require_indices(exec, call);
  const by_index_fold sorted(exec, call);
  fold(sorted.segments());
  if (is_place(call.which)) sorted.place(static_cast<std::int64_t*>(call.items.results));
}

}  // namespace tilefold::capi
