// SPDX-License-Identifier: Apache-2.0
//
// Parses the header of a .npy file: magic, version, length, then a Python dict literal with the
// keys 'descr', 'fortran_order' and 'shape' in any order.
#include "npy.hpp"

#include <limits>
#include <optional>

#include "input_error.hpp"

namespace tilefold::tool {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

// The Python literals that a header may hold, read from left to right.
class literal_reader {
 public:
  explicit literal_reader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return text_.empty();
  }

  char peek() {
    skip_space();
    return text_.empty() ? '\0' : text_.front();
  }

  bool accept(char c) {
    if (at_end() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c, std::string_view where) {
    if (!accept(c)) fail(std::string("expected '") + c + "' " + std::string(where));
  }

  std::string string() {
    if (peek() == 'u') text_.remove_prefix(1);
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') fail("expected a string");
    const std::size_t end = text_.find(quote, 1);
    if (end == text_.npos) fail("a string does not end");
    const std::string value(text_.substr(1, end - 1));
    if (value.find('\\') != value.npos) fail("unexpected escape in a string");
    text_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (peek() == word.front() && text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    fail("'fortran_order' is neither True nor False");
  }

  // A tuple of counts. Python 2 wrote a long as 3L; files with it are still about.
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> extents;
    expect('(', "at the start of 'shape', which is a tuple");
    bool more = true;
    while (!accept(')')) {
      if (!more) fail("expected ',' or ')' in 'shape'");
      extents.push_back(extent());
      more = accept(',');
      if (!more && extents.size() == 1) fail("'shape' is not a tuple");
    }
    return extents;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw input_error("malformed .npy header: " + what +
                      (text_.empty() ? std::string(" at its end") : " before " + in_quotes(text_)));
  }

 private:
  static constexpr std::string_view space = " \t\n\r\f";

  void skip_space() {
    const std::size_t first = text_.find_first_not_of(space);
    text_.remove_prefix(first == text_.npos ? text_.size() : first);
  }

  std::int64_t extent() {
    const char first = peek();
    if (first == '-') fail("negative extent in 'shape'");
    const std::string_view start = text_;
    std::int64_t value = 0;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      const int digit = text_.front() - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        text_ = start;
        fail("an extent in 'shape' does not fit 63 bits");
      }
      value = value * 10 + digit;
      text_.remove_prefix(1);
    }
    const std::size_t digits = start.size() - text_.size();
    if (digits == 0) fail("expected a number in 'shape'");
    if (digits > 1 && start.front() == '0') {
      text_ = start;
      fail("a number in 'shape' starts with 0");
    }
    if (!text_.empty() && text_.front() == 'L') text_.remove_prefix(1);
    return value;
  }

  std::string_view text_;
};

[[noreturn]] void fail_unsupported(std::string_view text, const std::string& why) {
  throw input_error("dtype " + in_quotes(text) + " " + why + "; known: " + list_names(dtype_rows));
}

[[noreturn]] void fail_code(std::string_view text, char kind) {
  switch (kind) {
    case 'O':
      fail_unsupported(text, "holds Python objects, not numbers");
    case 'V':
      fail_unsupported(text, "holds raw records, not numbers");
    case 'S':
    case 'a':
    case 'U':
      fail_unsupported(text, "holds text, not numbers");
    case 'M':
    case 'm':
      fail_unsupported(text, "holds dates or times, not numbers");
    default:
      fail_unsupported(text, "is not supported");
  }
}

// What NumPy calls its types, beside float32 and f4. Not `int`, `uint`, `float` and `complex`,
// which have other sizes there than in C.
struct numpy_name {
  char letter;
  std::string_view word;
  char kind;
  std::size_t bytes;
};
constexpr numpy_name numpy_names[] = {
    {'?', "bool_", 'b', 1},
    {'b', "byte", 'i', 1},
    {'h', "short", 'i', 2},
    {'i', "intc", 'i', 4},
    {'l', "long", 'i', sizeof(long)},
    {'q', "longlong", 'i', 8},
    {'p', "intp", 'i', sizeof(void*)},
    {'B', "ubyte", 'u', 1},
    {'H', "ushort", 'u', 2},
    {'I', "uintc", 'u', 4},
    {'L', "ulong", 'u', sizeof(long)},
    {'Q', "ulonglong", 'u', 8},
    {'P', "uintp", 'u', sizeof(void*)},
    {'e', "half", 'f', 2},
    {'f', "single", 'f', 4},
    {'d', "double", 'f', 8},
    {'F', "csingle", 'c', 8},
    {'D', "cdouble", 'c', 16},
};

item_type parse_code(std::string_view text) {
  for (const numpy_name& name : numpy_names) {
    if (text == name.word) return parse_code({&name.letter, 1});
  }
  std::string_view code = text;
  std::endian order = std::endian::native;
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) {
    if (code.front() == '<') order = std::endian::little;
    if (code.front() == '>') order = std::endian::big;
    code.remove_prefix(1);
  }
  std::string sized(code);
  for (const numpy_name& name : numpy_names) {
    if (code == std::string_view(&name.letter, 1)) sized = name.kind + std::to_string(name.bytes);
  }
  for (const dtype_row& row : dtype_rows) {
    if (sized == row.kind + std::to_string(row.bytes)) return {row.id, order};
  }
  fail_code(text, code.empty() ? '\0' : code.front());
}

item_type read_descr(literal_reader& reader) {
  if (reader.peek() == '[' || reader.peek() == '(') {
    throw input_error("structured dtype: every item is a record, not a number; known: " +
                      list_names(dtype_rows));
  }
  return parse_code(reader.string());
}

template <class T>
void store_once(literal_reader& reader, std::optional<T>& field, std::string_view key, T value) {
  if (field) reader.fail("the key " + in_quotes(key) + " stands twice");
  field = std::move(value);
}

std::int64_t count_items(const std::vector<std::int64_t>& shape, int item_bytes) {
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  std::int64_t bytes = item_bytes;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw input_error("malformed .npy header: 'shape' announces 2^63 bytes or more");
    }
  }
  return bytes / item_bytes;
}

npy_header parse_dict(std::string_view text) {
  std::optional<item_type> items;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
  literal_reader reader(text);
  reader.expect('{', "at the start");
  bool more = true;
  while (!reader.accept('}')) {
    if (!more) reader.fail("expected ',' or '}'");
    const std::string key = reader.string();
    reader.expect(':', "after a key");
    if (key == "descr") {
      store_once(reader, items, key, read_descr(reader));
    } else if (key == "fortran_order") {
      store_once(reader, fortran_order, key, reader.boolean());
    } else if (key == "shape") {
      store_once(reader, shape, key, reader.shape());
    } else {
      reader.fail("unknown key " + in_quotes(key));
    }
    more = reader.accept(',');
  }
  if (!reader.at_end()) reader.fail("something follows the dict");
  if (!items) reader.fail("the key 'descr' is missing");
  if (!fortran_order) reader.fail("the key 'fortran_order' is missing");
  if (!shape) reader.fail("the key 'shape' is missing");
  const std::int64_t count = count_items(*shape, row_of(items->type).bytes);
  return {*items, *fortran_order, std::move(*shape), count, 0};
}

[[noreturn]] void fail_magic(std::string_view file) {
  if (file.empty()) throw input_error("is empty; a .npy file starts with '\\x93NUMPY'");
  if (file.starts_with("PK\x03\x04")) {
    throw input_error("is a zip archive (.npz?); unpack it and name the .npy files inside");
  }
  throw input_error("is not a .npy file: it starts with " + in_quotes(file.substr(0, 6)) +
                    ", not with '\\x93NUMPY'; for raw binary name the type with --raw");
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

item_type parse_item_type(std::string_view text) {
  if (const auto type = find_by_name(dtype_rows, text)) return {*type, std::endian::native};
  return parse_code(text);
}

npy_header parse_npy(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!file.starts_with(npy_magic)) fail_magic(file);
  const std::size_t version_at = npy_magic.size();
  if (file.size() < version_at + 2) throw input_error("truncated: the .npy version is missing");
  const int major = static_cast<unsigned char>(file[version_at]);
  const int minor = static_cast<unsigned char>(file[version_at + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw input_error(".npy format version " + std::to_string(major) + "." + std::to_string(minor) +
                      " is unknown; known: 1.0, 2.0, 3.0");
  }
  const std::size_t length_at = version_at + 2;
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < length_at + length_bytes) {
    throw input_error("truncated: the length of the .npy header is missing");
  }
  const std::size_t header_at = length_at + length_bytes;
  const std::size_t length = little_endian(file.substr(length_at, length_bytes));
  if (length > file.size() - header_at) {
    throw input_error("truncated: the .npy header has " + std::to_string(length) +
                      " bytes, the file only " + std::to_string(file.size() - header_at) +
                      " after its length");
  }
  npy_header header = parse_dict(file.substr(header_at, length));
  header.data_offset = static_cast<std::int64_t>(header_at + length);
  const auto there = static_cast<std::int64_t>(file.size()) - header.data_offset;
  const std::int64_t needed = header.count * row_of(header.items.type).bytes;
  if (needed > there) {
    throw input_error("truncated: " + std::to_string(header.count) + " items of " +
                      std::string(row_of(header.items.type).name) + " need " +
                      std::to_string(needed) + " bytes, the file has " + std::to_string(there) +
                      " after its header");
  }
  return header;
}

std::string make_npy_header(dtype type, std::int64_t count) {
  const dtype_row& row = row_of(type);
  const char order = row.bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string dict = std::string("{'descr': '") + order + row.kind + std::to_string(row.bytes) +
                     "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  constexpr std::size_t alignment = 64;
  const std::size_t before = npy_magic.size() + 4;
  const std::size_t unpadded = before + dict.size() + 1;
  const std::size_t total = (unpadded + alignment - 1) / alignment * alignment;
  dict.append(total - unpadded, ' ');
  dict += '\n';
  const std::size_t length = dict.size();
  std::string header(npy_magic);
  header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return header + dict;
}

}  // namespace tilefold::tool
