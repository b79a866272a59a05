// SPDX-License-Identifier: Apache-2.0
//
// A program that mpirun starts with any number of ranks: each holds a part of one sequence, and all
// must get the bits of one call. Prints a line for each failure; ends with 1 if there is any.
#include <tilefold/mpi.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/ranks.hpp"
#include "../support/views.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::node_hash;

int failures = 0;

void expect(bool holds, int rank, const char* what, std::int64_t n) {
  if (holds) return;
  ++failures;
  std::printf("rank %d: %s of %lld items\n", rank, what, static_cast<long long>(n));
}

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void test_folds(tilefold::mpi_communicator& comm) {
  const tilefold::host_executor one(1);
  const auto all = tilefold::ranks(comm, one);
  tilefold::test::shape_stream bits(2026);  // all ranks draw the same
  const auto leaves = tilefold::test::leaf_hashes(4000);
  std::vector<float> x(4000);
  for (float& v : x) {
    v = std::ldexp(static_cast<float>(static_cast<int>(bits.below(2001)) - 1000),
                   static_cast<int>(bits.below(40)) - 20);
  }
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = 1 + bits.below(round % 2 == 0 ? 30 : 4000);
    const auto cuts = tilefold::test::random_cuts(bits, n, comm.size());
    const std::int64_t begin = cuts[static_cast<std::size_t>(comm.rank())];
    const std::int64_t end = cuts[static_cast<std::size_t>(comm.rank()) + 1];
    expect(tilefold::reduce(all, leaves.data() + begin, leaves.data() + end, node_hash{}) ==
               tilefold::test::neighbour_tree(node_hash{},
                                              std::vector(leaves.begin(), leaves.begin() + n)),
           comm.rank(), "hashes", n);
    expect(same(tilefold::reduce(all, x.data() + begin, x.data() + end),
                tilefold::reduce(one, x.data(), x.data() + n)),
           comm.rank(), "sum", n);
    const auto op = r::fuse(r::variance{}, r::arg_max{});
    const auto got = tilefold::reduce(all, x.data() + begin, x.data() + end, op);
    const auto expected = tilefold::reduce(one, x.data(), x.data() + n, op);
    expect(same(tilefold::get<0>(got), tilefold::get<0>(expected)) &&
               tilefold::get<1>(got).index == tilefold::get<1>(expected).index,
           comm.rank(), "statistics", n);
    std::vector<int> keys(static_cast<std::size_t>(n));
    for (std::size_t i = 1; i < keys.size(); ++i) keys[i] = keys[i - 1] + (bits.one_in(20) ? 1 : 0);
    std::vector<int> keys_out(keys.size());
    std::vector<float> sums(keys.size());
    const std::int64_t own =
        tilefold::reduce_by_key(all, keys.data() + begin, keys.data() + end, x.data() + begin,
                                keys_out.data(), sums.data());
    std::vector<int> expected_keys(keys.size());
    std::vector<float> expected_sums(keys.size());
    const std::int64_t runs = tilefold::reduce_by_key(one, keys.data(), keys.data() + n, x.data(),
                                                      expected_keys.data(), expected_sums.data());
    std::int64_t behind = 0;  // this rank's last run
    std::int64_t all_runs = 0;
    MPI_Scan(&own, &behind, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &all_runs, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(all_runs == runs, comm.rank(), "runs", n);
    const auto num = static_cast<std::size_t>(own);
    const auto before = static_cast<std::size_t>(behind - own);
    expect(all_runs == runs &&
               std::memcmp(keys_out.data(), expected_keys.data() + before, num * sizeof(int)) == 0,
           comm.rank(), "keys", n);
    expect(all_runs == runs &&
               std::memcmp(sums.data(), expected_sums.data() + before, num * sizeof(float)) == 0,
           comm.rank(), "sums of runs", n);
  }
}

// Segments of chance lengths, a view of three columns, given lengths, and results that are written.
void test_more_verbs(tilefold::mpi_communicator& comm) {
  const tilefold::host_executor one(1);
  tilefold::test::shape_stream bits(2028);
  std::vector<float> x(3000);
  for (float& v : x) {
    v = std::ldexp(static_cast<float>(static_cast<int>(bits.below(2001)) - 1000),
                   static_cast<int>(bits.below(40)) - 20);
  }
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = 1 + bits.below(round % 2 == 0 ? 30 : 1000);
    const auto cuts = tilefold::test::random_cuts(bits, n, comm.size());
    const std::int64_t begin = cuts[rank];
    const std::int64_t end = cuts[rank + 1];
    const float* const first = x.data() + begin;
    const float* const last = x.data() + end;

    // A segment belongs to the last rank that may have its first item.
    const auto offsets = tilefold::test::random_cuts(bits, n, 9);
    std::vector<float> expected(9);
    tilefold::segmented_reduce(one, x.data(), offsets.data(), 9, expected.data());
    const auto owner_of = [&](std::int64_t item) {
      std::size_t owner = 0;
      while (owner + 2 < cuts.size() && cuts[owner + 1] <= item) ++owner;
      return owner;
    };
    std::size_t from = 0;
    while (from < 9 && owner_of(offsets[from]) < rank) ++from;
    std::size_t to = from;
    while (to < 9 && owner_of(offsets[to]) == rank) ++to;
    std::vector<float> got(9);
    tilefold::segmented_reduce(tilefold::ranks(comm, one, end - begin), first,
                               offsets.data() + from, static_cast<std::int64_t>(to - from),
                               got.data());
    expect(std::memcmp(got.data(), expected.data() + from, (to - from) * sizeof(float)) == 0,
           comm.rank(), "segments", n);

    float columns[3];
    float expected_columns[3];
    const auto rows = [](const float* items, std::int64_t count) {
      return tilefold::test::test_view{
          items, tilefold::test::right_layout(std::vector<std::int64_t>{count, 3})};
    };
    const auto row = [](float* items) {
      return tilefold::test::test_view{items,
                                       tilefold::test::right_layout(std::vector<std::int64_t>{3})};
    };
    tilefold::axis_reduce(one, rows(x.data(), n), row(expected_columns), 0);
    tilefold::axis_reduce(tilefold::ranks(comm, one), rows(x.data() + 3 * begin, end - begin),
                          row(columns), 0);
    expect(same(columns, expected_columns), comm.rank(), "columns", n);

    const auto lengths = tilefold::rank_lengths::of(comm, end - begin);
    const auto all = tilefold::ranks(comm, one, lengths);
    float sum = 0;
    tilefold::reduce_into(all, first, last, &sum);
    expect(same(sum, tilefold::reduce(one, x.data(), x.data() + n)), comm.rank(),
           "a sum of given lengths", n);
    const auto square = [](float v) { return v * v; };
    expect(same(tilefold::transform_reduce(all, first, last, 1.0f, tilefold::plus{}, square),
                tilefold::transform_reduce(one, x.data(), x.data() + n, 1.0f, tilefold::plus{},
                                           square)),
           comm.rank(), "squares", n);
  }
}

// Items are dealt to ranks one by one, at random; their accumulators are gathered as bytes.
void test_exact_accumulators(tilefold::mpi_communicator& comm) {
  using accumulator = tilefold::exact_accumulator<double>;
  tilefold::test::shape_stream bits(2029);
  accumulator own;
  accumulator whole;
  const auto deal = [&](double v) {
    whole.add(v);
    if (bits.below(comm.size()) == comm.rank()) own.add(v);
  };
  for (int i = 0; i < 1000; ++i) {
    const double v = std::ldexp(static_cast<double>(bits.below(1 << 20)),
                                static_cast<int>(bits.below(200)) - 100);
    deal(v);
    deal(-v);
  }
  deal(0x1p-120);
  const auto bytes = own.to_bytes();
  std::vector<std::byte> gathered(bytes.size() * static_cast<std::size_t>(comm.size()));
  comm.all_gather(bytes.data(), gathered.data(), bytes.size());
  accumulator all;
  for (std::size_t at = 0; at < gathered.size(); at += bytes.size()) {
    all.merge(accumulator::from_bytes(std::span(gathered).subspan(at, bytes.size())));
  }
  expect(all.to_bytes() == whole.to_bytes(), comm.rank(), "bytes of exact accumulators", 2001);
  expect(all.value() == 0x1p-120, comm.rank(), "an exact sum", 2001);
}

template <class Error, class Call>
bool throws(const Call& call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  } catch (...) {
  }
  return false;
}

struct throws_on_last {
  bool last;
  float operator()(float a, float b) const {
    if (last) throw std::runtime_error("the operator's own");
    return a + b;
  }
};

void test_errors(tilefold::mpi_communicator& comm) {
  const tilefold::host_executor one(1);
  const auto all = tilefold::ranks(comm, one);
  const std::vector<float> x(8, 1.0f);
  const bool last = comm.rank() == comm.size() - 1;
  if (comm.size() > 1) {
    expect(throws<tilefold::rank_mismatch_error>([&] {
             if (last) {
               (void)tilefold::reduce(all, x, tilefold::maximum{});
             } else {
               (void)tilefold::reduce(all, x);
             }
           }),
           comm.rank(), "another operator", 8);
    const auto broken = [&] { (void)tilefold::reduce(all, x, throws_on_last{last}); };
    expect(last ? throws<std::runtime_error>(broken) : throws<tilefold::rank_error>(broken),
           comm.rank(), "a rank that throws", 8);
  }
  expect(tilefold::reduce(all, x) == 8.0f * static_cast<float>(comm.size()), comm.rank(),
         "a sum after errors", 8);
}

// Ranks that merge as very many do, of which there are few here.
class merging_ranks : public tilefold::mpi_communicator {
 public:
  static constexpr std::int64_t least_merged_blocks = 0;
};

void test_merges() {
  merging_ranks comm;
  const tilefold::host_executor one(1);
  const auto all = tilefold::ranks(comm, one);
  tilefold::test::shape_stream bits(2027);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = 1 + bits.below(5000);
    const auto leaves = tilefold::test::leaf_hashes(n);
    const std::int64_t begin = n * comm.rank() / comm.size();
    const std::int64_t end = n * (comm.rank() + 1) / comm.size();
    expect(tilefold::reduce(all, leaves.data() + begin, leaves.data() + end, node_hash{}) ==
               tilefold::reduce(one, leaves, node_hash{}),
           comm.rank(), "merges", n);
  }
  const bool last = comm.rank() == comm.size() - 1;
  const std::vector<int> x(4, 1);
  const auto broken = [&] {
    (void)tilefold::reduce(all, x, [&](int a, int b) {
      if (last) throw std::runtime_error("the operator's own");
      return a + b;
    });
  };
  expect(last ? throws<std::runtime_error>(broken) : throws<tilefold::rank_error>(broken),
         comm.rank(), "an error among merges", 0);
  expect(tilefold::reduce(all, x) == 4 * comm.size(), comm.rank(), "merges after an error", 0);
}

// More than a turn of the transport.
void test_long_messages(tilefold::mpi_communicator& comm) {
  const std::size_t bytes = (std::size_t{1} << 24) + 5;
  std::vector<char> own(bytes, static_cast<char>('a' + comm.rank()));
  own.back() = '!';
  std::vector<char> all(bytes * static_cast<std::size_t>(comm.size()));
  comm.all_gather(own.data(), all.data(), bytes);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const char* const part = all.data() + static_cast<std::size_t>(rank) * bytes;
    expect(part[0] == 'a' + rank && part[bytes - 2] == 'a' + rank && part[bytes - 1] == '!',
           comm.rank(), "a long message", static_cast<std::int64_t>(bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!throws<tilefold::communicator_error>([] { tilefold::mpi_communicator(MPI_COMM_WORLD); })) {
    std::printf("made before MPI_Init\n");
    return 1;
  }
  MPI_Init(&argc, &argv);
  {
    tilefold::mpi_communicator comm;
    test_folds(comm);
    test_more_verbs(comm);
    test_exact_accumulators(comm);
    test_errors(comm);
    test_merges();
    test_long_messages(comm);
    int worst = failures;
    MPI_Allreduce(&failures, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    failures = worst;
    if (comm.rank() == 0) std::printf("%d ranks: %d failures\n", comm.size(), failures);
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
