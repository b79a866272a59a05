// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: refused, or an array all of whose items can be read.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "fuzz.hpp"
#include "input.hpp"
#include "input_error.hpp"
#include "npy.hpp"

namespace tilefold::fuzz {

namespace {

bytes file_of(const std::string& dict, std::size_t item_bytes) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += {static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  text += dict + std::string(item_bytes, '\1');
  bytes file(text.size());
  std::memcpy(file.data(), text.data(), text.size());
  return file;
}

class memory_file {
 public:
  explicit memory_file(std::span<const std::uint8_t> contents) : fd_(memfd_create("npy", 0)) {
    if (fd_ < 0 || write(fd_, contents.data(), contents.size()) < 0) fail("no memory file");
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { close(fd_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

std::vector<bytes> seeds() {
  std::vector<bytes> all;
  for (const tool::dtype_row& row : tool::dtype_rows) {
    if (row.id == tool::dtype::bfloat16) continue;
    const std::string code = row.kind + std::to_string(row.bytes);
    for (const char* const order : {"<", ">", "|"}) {
      for (const char* const rest : {"'fortran_order': False, 'shape': (3, 4), }\n",
                                     "'fortran_order': True, 'shape': (3, 4), }\n"}) {
        all.push_back(file_of(std::string("{'descr': '") + order + code + "', " + rest,
                              12 * static_cast<std::size_t>(row.bytes)));
      }
    }
  }
  all.push_back(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4));
  all.push_back(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0));
  return all;
}

}  // namespace tilefold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilefold;
  const bool refused = fuzz::refuses<tool::input_error>(
      [&] { (void)tool::parse_npy(std::as_bytes(std::span(data, size))); });
  if (refused) return 0;  // a file for each of these would be slow
  const fuzz::memory_file file({data, size});
  const tool::array input = tool::load_array(file.path(), {}, tool::read_ahead::no);
  const auto bytes = static_cast<std::size_t>(input.count) *
                     static_cast<std::size_t>(tool::row_of(input.type).bytes);
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += std::to_integer<unsigned>(input.data[i]);
  static volatile unsigned read;
  read = sum;
  return 0;
}
