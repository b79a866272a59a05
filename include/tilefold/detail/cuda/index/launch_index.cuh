// SPDX-License-Identifier: Apache-2.0
//
// Items in the order of their indices: a launch that reads the indices, CUB's sort, and a launch
// that finds where each result's items begin. All tables lie in the executor's workspace, behind
// the part that the forest of the following fold needs.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include <cstring>

#include <tilefold/detail/core/permuted.hpp>
#include <tilefold/detail/cuda/forest/forest_sizes.cuh>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>

namespace tilefold::detail::cuda {

// Before and after the sort of items by their index:
//
//     indices     2 0 3 9 0 2            4 results
//     bins        2 0 3 4 0 2            read_bins; 4 stands for an index without a result
//     words       0 1 2 3 4 5            positions, or items of 4 bytes
//
//     bins        0 0 2 2 3 4            the sort, which is stable
//     words       1 4 0 5 2 3
//     offsets     0 2 2 4 5              find_offsets: where each result's items begin
//
// index_kernel calls read_bins for every position, and find_offsets for every result.

inline constexpr int index_nt = 256;

/// The position of item j.
struct position_word {
  TILEFOLD_D std::uint32_t operator()(std::int64_t j) const {
    return static_cast<std::uint32_t>(j);
  }
};

/// The bits of item j, which has 4 bytes.
template <class Values>
struct item_word {
  Values values;

  TILEFOLD_D std::uint32_t operator()(std::int64_t j) const {
    const std::iter_value_t<Values> item = detail::element(values, j);
    std::uint32_t bits;
    static_assert(sizeof item == sizeof bits);
    std::memcpy(&bits, __builtin_addressof(item), sizeof bits);
    return bits;
  }
};

template <class Values>
item_word(Values) -> item_word<Values>;

/// Writes the bin of item j and the word that is sorted with it. An item left out is not read.
template <class IndexOf, class WordOf>
struct read_bins {
  IndexOf index_of;
  WordOf word_of;
  std::uint32_t* bins;
  std::uint32_t* words;

  TILEFOLD_D void operator()(std::int64_t j) const {
    const std::int64_t bin = index_of(j);
    bins[j] = static_cast<std::uint32_t>(bin);
    words[j] = bin < index_of.num_results ? word_of(j) : 0;
  }
};

/// Writes the number of items in bins below b as offsets[b], of n bins in ascending order.
struct find_offsets {
  const std::uint32_t* bins;
  std::int64_t n;
  std::int64_t* offsets;

  TILEFOLD_D void operator()(std::int64_t b) const {
    std::int64_t first = 0;
    std::int64_t count = n;
    while (count > 0) {
      const std::int64_t half = count / 2;
      const bool below = bins[first + half] < b;
      first = below ? first + half + 1 : first;
      count = below ? count - half - 1 : half;
    }
    offsets[b] = first;
  }
};

/// Calls step(j) for j = 0 to n - 1.
template <class Build, class Step>
__global__ void __launch_bounds__(index_nt) index_kernel(Step step, std::int64_t n) {
  cuda::wait_for_previous_launch();
  const std::int64_t threads = std::int64_t{gridDim.x} * index_nt;
  for (std::int64_t j = std::int64_t{blockIdx.x} * index_nt + threadIdx.x; j < n; j += threads) {
    step(j);
  }
}

/// Bins and positions have 32 bits, and there is a bin for what is left out.
inline constexpr std::int64_t most_indexed =
    std::int64_t{(std::numeric_limits<std::uint32_t>::max)()} - 1;

inline void require_indexable(const char* what, std::int64_t count) {
  if (count > most_indexed) {
    throw invalid_range_error(
        "tilefold::reduce_by_index: " + std::to_string(count) + " " + what + " are more than " +
        std::to_string(most_indexed) +
        ", the most that one call can take on a GPU: split the call, or use a host_executor");
  }
}

/// An array, and one of the same size beside it.
using word_buffers = CUB_NS_QUALIFIER::DoubleBuffer<std::uint32_t>;

/// CUB's sort of n pairs by their lower bits. If `temporary` is null, tells the bytes it needs.
/// (A template of the build, as CUB's kernels are, because the linker may merge equal functions.)
template <class Build>
void sort_pairs(void* temporary, std::size_t& bytes, word_buffers& bins, word_buffers& words,
                std::int64_t n, int bits, cudaStream_t stream) {
  (void)cudaGetLastError();  // CUB takes an earlier error for one of its own
  check(CUB_NS_QUALIFIER::DeviceRadixSort::SortPairs(
            temporary, bytes, bins, words, static_cast<std::uint32_t>(n), 0, bits, stream),
        "cub::DeviceRadixSort::SortPairs");
}

/// What CUB needs, for any number of bits.
template <class Build>
std::int64_t sort_bytes(std::int64_t n) {
  std::size_t bytes = 0;
  word_buffers none;
  cuda::sort_pairs<Build>(nullptr, bytes, none, none, n, 32, nullptr);
  return static_cast<std::int64_t>(bytes);
}

/// What else a caller of the sort needs: a forest of more trees than results, and memory.
struct index_room {
  std::int64_t trees = 0;
  std::int64_t bytes = 0;
};

/// Where the tables lie behind the partials of the forest, in bytes.
struct index_tables {
  std::int64_t offsets;
  std::int64_t words[4];  // bins, and what is sorted with them, twice
  std::int64_t temporary;
  std::int64_t room;
  workspace_demand demand;

  index_tables(std::int64_t n, std::int64_t num_results, std::int64_t acc_bytes,
               std::int64_t temporary_bytes, const index_room& more) {
    const std::int64_t trees = detail::larger(num_results, more.trees);
    const workspace_demand forest =
        trees == 0 ? workspace_demand{0, 0} : queue_demand(trees, acc_bytes);
    std::int64_t at = align_up(forest.partial_bytes);
    const auto next = [&](std::int64_t bytes) {
      const std::int64_t here = at;
      at += align_up(bytes);
      return here;
    };
    offsets = next((num_results + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
    for (std::int64_t& word : words) {
      word = next(n * static_cast<std::int64_t>(sizeof(std::uint32_t)));
    }
    temporary = next(temporary_bytes);
    room = next(more.bytes);
    demand = {at, forest.arrival_bytes};
  }
};

/// The bits of bins that the sort compares: enough for num_results, the bin of items that are left
/// out, or for num_results - 1 if no index can be left out.
template <class Index>
constexpr int bits_of_bins(std::int64_t num_results) {
  constexpr auto most = (std::numeric_limits<Index>::max)();
  const bool takes_all = !std::signed_integral<Index> &&
                         static_cast<std::uint64_t>(most) < static_cast<std::uint64_t>(num_results);
  const int bits = takes_all ? tree::ceil_log2(num_results) : tree::floor_log2(num_results) + 1;
  return detail::larger(bits, 1);
}

/// The items of one call by index, in the executor's workspace until its next call after the fold.
template <class Build>
class index_order {
 public:
  /// Sorts n words word_of(j), by default positions, by index_of(j), in the order of the stream.
  template <class Executor, class IndexOf, class WordOf = position_word>
  void sort(Executor& exec, std::int64_t acc_bytes, std::int64_t n, const IndexOf& index_of,
            const index_room& more = {}, const WordOf& word_of = {}) {
    cuda::require_indexable("items", n);
    cuda::require_indexable("results", index_of.num_results);
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
      const std::int64_t results = index_of.num_results;
      const auto reads = ready<read_bins<IndexOf, WordOf>>(gpu);
      const auto finds = ready<find_offsets>(gpu);
      const std::int64_t temporary_bytes = n == 0 ? 0 : sort_bytes<Build>(n);
      const index_tables tables(n, results, acc_bytes, temporary_bytes, more);
      char* const memory = workspace_for(tables.demand).template partials<char>();
      const auto room = [&](int i) {
        return reinterpret_cast<std::uint32_t*>(memory + tables.words[i]);
      };
      word_buffers bins(room(0), room(1));
      word_buffers words(room(2), room(3));
      if (n > 0) {
        reads.launch(reads.most(ceil_div(n, index_nt)), stream,
                     {index_of, word_of, bins.Current(), words.Current()}, n);
        auto bytes = static_cast<std::size_t>(temporary_bytes);
        cuda::sort_pairs<Build>(memory + tables.temporary, bytes, bins, words, n,
                                bits_of_bins<typename IndexOf::index_type>(results), stream);
      }
      auto* const offsets = reinterpret_cast<std::int64_t*>(memory + tables.offsets);
      finds.launch(finds.most(ceil_div(results + 1, index_nt)), stream,
                   {bins.Current(), n, offsets}, results + 1);
      bins_ = bins.Current();
      words_ = words.Current();
      offsets_ = offsets;
      room_ = memory + tables.room;
    });
  }

  /// The words in sorted order.
  const std::uint32_t* words() const { return words_; }
  position_array<std::uint32_t> positions() const { return {words_}; }
  const std::int64_t* offsets() const { return offsets_; }
  /// The sorted bins: indices, then num_results for items that are left out.
  const std::uint32_t* bins() const { return bins_; }
  /// The memory that the caller asked for.
  char* room() const { return room_; }

  /// What reduce_by_index_workspace_bytes() answers.
  template <class Executor>
  static std::int64_t workspace_bytes(Executor& exec, std::int64_t n, std::int64_t num_results,
                                      std::int64_t acc_bytes, const index_room& more = {}) {
    const char* const query = "reduce_by_index_workspace_bytes";
    cuda::require_size(query, "n", n, 0);
    cuda::require_size(query, "num_results", num_results, 0);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    cuda::require_indexable("items", n);
    cuda::require_indexable("results", num_results);
    cuda::require_answer(query, max_queued_partials, acc_bytes);
    std::int64_t temporary_bytes = 0;
    exec.in_context([&](const device_info&, cudaStream_t, const auto&) {
      if (n > 0) temporary_bytes = sort_bytes<Build>(n);
    });
    return index_tables(n, num_results, acc_bytes, temporary_bytes, more).demand.bytes();
  }

 private:
  template <class Step>
  static auto ready(const device_info& gpu) {
    static known_kernel known;
    return known.on(gpu, &index_kernel<Build, Step>, "index_kernel", index_nt, starts::early);
  }

  const std::uint32_t* bins_ = nullptr;
  const std::uint32_t* words_ = nullptr;
  const std::int64_t* offsets_ = nullptr;
  char* room_ = nullptr;
};

}  // namespace tilefold::detail::cuda
