// SPDX-License-Identifier: Apache-2.0
//
// The module tilefold-mpi.so: the processes of an MPI program. program_ranks.cpp loads it where a
// launcher started the tool.
#include "program_ranks.hpp"

#include <algorithm>
#include <cstdint>

#include <tilefold/mpi.hpp>

namespace tilefold::tool {

namespace {

class mpi_program {
 public:
  mpi_program() { MPI_Init(nullptr, nullptr); }
  ~mpi_program() { MPI_Finalize(); }
};

class mpi_ranks final : public program_ranks {
 public:
  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }

  std::vector<std::vector<std::byte>> gather(const std::vector<std::byte>& own) override {
    const auto ranks = static_cast<std::size_t>(size());
    const std::uint64_t bytes = own.size();
    std::vector<std::uint64_t> sizes(ranks);
    comm_.all_gather(&bytes, sizes.data(), sizeof bytes);
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    std::vector<std::byte> padded(own);
    padded.resize(most);
    std::vector<std::byte> all(most * ranks);
    comm_.all_gather(padded.data(), all.data(), most);
    std::vector<std::vector<std::byte>> said;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::byte* const begin = all.data() + r * most;
      said.emplace_back(begin, begin + sizes[r]);
    }
    return said;
  }

 private:
  mpi_program program_;  // before what it makes possible
  mpi_communicator comm_;
};

}  // namespace

}  // namespace tilefold::tool

extern "C" tilefold::tool::program_ranks* tilefold_make_program_ranks() {
  return new tilefold::tool::mpi_ranks;
}
