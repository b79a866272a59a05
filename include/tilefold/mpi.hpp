// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are processes of an MPI program. Needs mpi.h: the target tilefold::mpi, or mpicxx.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <tilefold/communicator.hpp>
#include <tilefold/error.hpp>

#include <mpi.h>

namespace tilefold {

/// A communicator over an MPI communicator:
///
///     tilefold::mpi_communicator comm;                      // of MPI_COMM_WORLD
///     float sum = tilefold::reduce(tilefold::ranks(comm, exec), first, last);
///
/// - It duplicates the communicator, so its messages are separate from the program's, and its
///   destructor frees the duplicate, which must happen before MPI_Finalize. Construction and
///   destruction are collective.
/// - Errors of MPI become communicator_error, with MPI's text. What happens to ranks that wait for
///   one that has ended depends on MPI: under mpirun a process that ends without MPI_Finalize ends
///   the others, and so does MPI_Abort.
/// - A rank that throws out of main should call MPI_Abort, as in any MPI program.
/// - Threads: one call at a time; MPI_THREAD_SERIALIZED if calls come from different threads.
class mpi_communicator {
 public:
  /// Throws communicator_error unless MPI is initialized.
  explicit mpi_communicator(MPI_Comm comm = MPI_COMM_WORLD) {
    int ready = 0;
    int over = 0;
    MPI_Initialized(&ready);
    MPI_Finalized(&over);
    if (ready == 0 || over != 0) {
      throw communicator_error(
          "tilefold::mpi_communicator: make it between MPI_Init and MPI_Finalize");
    }
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  mpi_communicator(mpi_communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
  mpi_communicator& operator=(mpi_communicator&&) = delete;  // freeing is collective
  ~mpi_communicator() {
    int over = 0;
    MPI_Finalized(&over);
    if (comm_ != MPI_COMM_NULL && over == 0) MPI_Comm_free(&comm_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The duplicate.
  MPI_Comm comm() const { return comm_; }

  void all_gather(const void* send, void* receive, std::size_t bytes) {
    if (bytes <= most_bytes) {
      gather_some(send, receive, bytes);
      return;
    }
    // MPI counts in int, so more goes in turns. What a rank sends in one is one element, and the
    // next rank's stands `bytes` bytes behind it.
    for_turns(bytes, [&](std::size_t done, int count) {
      const bytes_of_turn part(count, bytes);
      check(MPI_Allgather(static_cast<const std::byte*>(send) + done, count, MPI_BYTE,
                          static_cast<std::byte*>(receive) + done, 1, part.type, comm_),
            "MPI_Allgather");
    });
  }

  void send(int rank, const void* from, std::size_t bytes) {
    for_turns(bytes, [&](std::size_t done, int count) {
      check(MPI_Send(static_cast<const std::byte*>(from) + done, count, MPI_BYTE, rank, 0, comm_),
            "MPI_Send");
    });
  }
  void receive(int rank, void* to, std::size_t bytes) {
    for_turns(bytes, [&](std::size_t done, int count) {
      check(MPI_Recv(static_cast<std::byte*>(to) + done, count, MPI_BYTE, rank, 0, comm_,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
  }

 private:
  // An MPI type of `count` bytes, of which elements stand `distance` bytes apart.
  struct bytes_of_turn {
    bytes_of_turn(int count, std::size_t distance) {
      MPI_Datatype bytes = MPI_DATATYPE_NULL;
      check(MPI_Type_contiguous(count, MPI_BYTE, &bytes), "MPI_Type_contiguous");
      const int made = MPI_Type_create_resized(bytes, 0, static_cast<MPI_Aint>(distance), &type);
      MPI_Type_free(&bytes);
      check(made, "MPI_Type_create_resized");
      const int committed = MPI_Type_commit(&type);
      if (committed != MPI_SUCCESS) MPI_Type_free(&type);
      check(committed, "MPI_Type_commit");
    }
    bytes_of_turn(const bytes_of_turn&) = delete;
    bytes_of_turn& operator=(const bytes_of_turn&) = delete;
    ~bytes_of_turn() { MPI_Type_free(&type); }

    MPI_Datatype type = MPI_DATATYPE_NULL;
  };

  // Calls turn(bytes that are done, bytes of this turn).
  template <class Turn>
  static void for_turns(std::size_t bytes, const Turn& turn) {
    for (std::size_t done = 0; done < bytes; done += most_bytes) {
      turn(done, static_cast<int>((std::min)(most_bytes, bytes - done)));
    }
  }

  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  void gather_some(const void* send, void* receive, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    check(MPI_Allgather(send, count, MPI_BYTE, receive, count, MPI_BYTE, comm_), "MPI_Allgather");
  }

  static void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw communicator_error("tilefold::mpi_communicator: " + std::string(what) + ": " + text);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

static_assert(communicator<mpi_communicator>);

}  // namespace tilefold
