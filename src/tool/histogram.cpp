// SPDX-License-Identifier: Apache-2.0
//
// Counts with tilefold::reduce over blocks of items, each of which is lifted to its counts.
#include "histogram.hpp"

#include <tilefold/reduce.hpp>
#include <tilefold/reducers/custom.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "any_items.hpp"

namespace tilefold::tool {

namespace {

template <class Wide>
struct interval {
  Wide least;
  Wide greatest;
};

/// Where each bin begins, in ascending order.
std::vector<double> starts_of(interval<double> range, int bins) {
  if (range.least == range.greatest) return {range.least};
  std::vector<double> starts{range.least};
  for (int i = 1; i < bins; ++i) {
    const double share = static_cast<double>(i) / bins;
    // The difference of the ends may overflow.
    const double start =
        std::min(range.least * (1 - share) + range.greatest * share, range.greatest);
    // Between ends that are near each other there are not that many numbers.
    if (start > starts.back()) starts.push_back(start);
  }
  return starts;
}

template <class Integer>
std::vector<Integer> starts_of(interval<Integer> range, int bins) {
  const auto origin = static_cast<std::uint64_t>(range.least);
  const std::uint64_t last = static_cast<std::uint64_t>(range.greatest) - origin;
  const std::uint64_t count =
      last < static_cast<std::uint64_t>(bins) ? last + 1 : static_cast<std::uint64_t>(bins);
  // (last + 1) / count without last + 1, which may be 2^64.
  const std::uint64_t width = last / count + (last % count + 1) / count;
  const std::uint64_t wider = (last % count + 1) % count;  // bins that hold one more
  std::vector<Integer> starts;
  for (std::uint64_t i = 0; i < count; ++i) {
    starts.push_back(static_cast<Integer>(origin + i * width + std::min(i, wider)));
  }
  return starts;
}

/// Finds bins: a guess by proportion, put right by the starts themselves.
template <class Wide>
class bin_finder {
 public:
  bin_finder(const std::vector<Wide>& starts, interval<Wide> range)
      : starts_(starts),
        origin_(range.least),
        scale_(static_cast<double>(starts.size()) / distance(range.greatest)) {}

  /// Of x between the range's ends.
  std::size_t operator()(Wide x) const {
    const double guess = distance(x) * scale_;
    const auto last = static_cast<double>(starts_.size() - 1);
    // A NaN, from a range of subnormal width, is no guess.
    std::size_t bin = guess > 0 ? static_cast<std::size_t>(std::min(guess, last)) : 0;
    while (starts_[bin] > x) --bin;
    while (bin + 1 < starts_.size() && starts_[bin + 1] <= x) ++bin;
    return bin;
  }

 private:
  double distance(Wide x) const {
    if constexpr (std::is_integral_v<Wide>) {
      return static_cast<double>(static_cast<std::uint64_t>(x) -
                                 static_cast<std::uint64_t>(origin_));
    } else {
      return x / 2 - origin_ / 2;  // of halves, which cannot overflow
    }
  }

  const std::vector<Wide>& starts_;
  Wide origin_;
  double scale_;
};

using counts = std::vector<std::int64_t>;  // of the bins, then of both infinities

constexpr std::size_t block_bytes = std::size_t{1} << 16;

/// What lies in memory one after the other; its size makes the executor give each block to a
/// thread.
struct item_block {
  std::byte bytes[block_bytes];
};

template <class Wide>
class counter {
 public:
  counter(const summary_job& job, const std::vector<Wide>& starts, interval<Wide> range)
      : job_(job), bins_(starts.size()), find_(starts, range) {}

  counts run(const host_executor& executor) const {
    const std::size_t item_bytes = static_cast<std::size_t>(row_of(job_.type).bytes);
    const auto per_block = static_cast<std::int64_t>(block_bytes / item_bytes);
    const std::int64_t full = job_.count / per_block;
    const std::int64_t rest = job_.count % per_block;
    const auto* const blocks = reinterpret_cast<const item_block*>(job_.data);
    counts total = count(blocks + full, rest);
    if (full == 0) return total;
    const auto reducer =
        reducers::make_reducer([&](const item_block& block) { return count(&block, per_block); },
                               sum, [](const counts& found) { return found; });
    return sum(total, tilefold::reduce(executor, blocks, blocks + full, reducer));
  }

 private:
  static counts sum(counts a, const counts& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }

  counts count(const item_block* block, std::int64_t n) const {
    const any_items<Wide> items{block, job_.type};
    counts found(bins_ + 2);
    for (std::int64_t i = 0; i < n; ++i) {
      const Wide x = items[i];
      if constexpr (std::is_floating_point_v<Wide>) {
        if (!std::isfinite(x)) {
          if (std::isinf(x)) ++found[bins_ + (x > 0 ? 1 : 0)];
          continue;
        }
      }
      ++found[find_(x)];
    }
    return found;
  }

  const summary_job& job_;
  std::size_t bins_;
  bin_finder<Wide> find_;
};

/// The ends of the finite items.
interval<double> finite_range(const host_executor& executor, const summary_job& job) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto reducer = reducers::make_reducer(
      [](double x) {
        return std::isfinite(x) ? interval<double>{x, x} : interval<double>{infinity, -infinity};
      },
      [](const interval<double>& a, const interval<double>& b) {
        return interval<double>{std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
      },
      [](const interval<double>& range) { return range; });
  const any_items<double> items{job.data, job.type};
  return tilefold::reduce(executor, items, items + job.count, reducer);
}

template <class Wide>
interval<Wide> range_of(const host_executor& executor, const summary_job& job,
                        const number_summary& numbers) {
  const auto wide = [](const scalar& value) {
    return visit(value.type(), [&]<class T>(std::type_identity<T>) {
      if constexpr (reads_as<T, Wide>) return detail::convert<Wide>(value.as<T>());
      return Wide{};
    });
  };
  const interval<Wide> range{wide(numbers.min.value), wide(numbers.max.value)};
  if constexpr (std::is_floating_point_v<Wide>) {
    if (std::isinf(range.least) || std::isinf(range.greatest)) return finite_range(executor, job);
  }
  return range;
}

template <class Wide>
histogram count_bins_as(const host_executor& executor, const summary_job& job,
                        const number_summary& numbers, int bins) {
  const auto range = range_of<Wide>(executor, job, numbers);
  const bool any_finite = range.least <= range.greatest;
  // With no finite item there is a bin that nothing falls into.
  const auto starts = any_finite ? starts_of(range, bins) : std::vector<Wide>{Wide{}};
  const counts found = counter<Wide>(job, starts, range).run(executor);
  histogram result;
  for (std::size_t i = 0; any_finite && i < starts.size(); ++i) {
    const bool is_last = i + 1 == starts.size();
    const Wide step_back = std::is_integral_v<Wide> ? 1 : 0;
    const Wide to = is_last ? range.greatest : static_cast<Wide>(starts[i + 1] - step_back);
    result.bins.push_back({scalar::of(starts[i]), scalar::of(to), found[i]});
  }
  result.minus_infinity = found[starts.size()];
  result.plus_infinity = found[starts.size() + 1];
  return result;
}

}  // namespace

histogram count_bins(const host_executor& executor, const summary_job& job,
                     const number_summary& numbers, int bins) {
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    return count_bins_as<Wide>(executor, job, numbers, bins);
  });
}

}  // namespace tilefold::tool
