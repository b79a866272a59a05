// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a generated operator is folded, on any executor and in any memory, and what the
// oracle makes of each. Host code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/batched_reduce.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/host_memory.hpp"
#include "../support/items.hpp"
#include "../support/oracle.hpp"
#include "../support/views.hpp"
#include "generated.hpp"

namespace tilefold::test::net {

// ---- one member of the family

inline constexpr int family_size = 60;

/// Everything that number `Index` of the family is made of.
template <int Index>
struct member {
  static constexpr int index = Index;
  static constexpr std::uint64_t seed = net::draw(2026, Index);
  using shape = typename shape_at<Index % shapes::size, shapes>::type;
  static constexpr int copy = Index / shapes::size;  // of three that have this struct
  using raw = std::conditional_t<copy == 0, typename shape::real,
                                 std::conditional_t<copy == 1, float, half>>;
  using work = std::conditional_t<Index % 5 == 3, double, typename shape::real>;
  using op = generated_op<seed, shape>;
  using lift = generated_step<net::draw(seed, 2), shape>;
  using project = generated_step<net::draw(seed, 3), shape>;
  template <class Arithmetic>
  using f = generated_f<net::draw(seed, 4), shape, Arithmetic, raw, work>;
  template <class Arithmetic>
  using values = typename shape::template values<Arithmetic>;
  using plain_values = values<as_written>;
};

/// The same numbers in another arithmetic.
template <class To, class From, int... Real, int... Key>
To copied(const From& from, std::integer_sequence<int, Real...>,
          std::integer_sequence<int, Key...>) {
  To to;
  ((to.real[Real] = net::plain(from.real[Real])), ...);
  ((to.key[Key] = from.key[Key]), ...);
  return to;
}
template <class Member, class Arithmetic, class From>
typename Member::template values<Arithmetic> in_arithmetic(const From& from) {
  return net::copied<typename Member::template values<Arithmetic>>(
      from, std::make_integer_sequence<int, Member::shape::reals>(),
      std::make_integer_sequence<int, Member::shape::keys>());
}

/// Items of two ranges, near 1 or -1.
template <class Member>
struct raw_items {
  std::vector<typename Member::raw> first, second;

  explicit raw_items(std::int64_t n) {
    bit_stream bits(Member::seed);
    for (std::int64_t i = 0; i < n; ++i) {
      first.push_back(one(bits));
      second.push_back(one(bits));
    }
  }

 private:
  static typename Member::raw one(bit_stream& bits) {
    const double magnitude = 1.0 + static_cast<double>(bits.below(1 << 21) - (1 << 20)) * 0x1p-26;
    const double x = bits.one_in(2) ? -magnitude : magnitude;
    if constexpr (std::is_same_v<typename Member::raw, double>) {
      return x;
    } else {
      return static_cast<typename Member::raw>(static_cast<float>(x));
    }
  }
};

/// Items that are computed when they are read, by `F` from what `It` leads to.
template <class It, class F>
class computing_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = decltype(F()(*It()));
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  computing_iterator() = default;
  TILEFOLD_HD explicit computing_iterator(It at) : at_(at) {}
  TILEFOLD_HD value_type operator*() const { return F()(*at_); }
  TILEFOLD_HD value_type operator[](std::ptrdiff_t i) const { return F()(at_[i]); }
  TILEFOLD_HD computing_iterator operator+(std::ptrdiff_t i) const {
    return computing_iterator(at_ + i);
  }
  TILEFOLD_HD std::ptrdiff_t operator-(const computing_iterator& other) const {
    return at_ - other.at_;
  }

 private:
  It at_{};
};

// ---- what a fold is asked for

/// Lengths at which something changes.
inline const std::vector<std::int64_t>& lengths() {
  static const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> some;
    for (std::int64_t n = 1; n <= 70; ++n) some.push_back(n);
    for (std::int64_t edge = 128; edge <= 1 << 16; edge *= 2) {
      for (const std::int64_t n : {edge - 1, edge, edge + 1}) some.push_back(n);
    }
    for (const std::int64_t n : {1000, 5000, 100003, 131071}) some.push_back(n);
    return some;
  }();
  return all;
}
inline constexpr std::int64_t longest = 131071;

/// Lengths of segments one after the other, all of them together at most `longest`.
inline const std::vector<std::int64_t>& segment_lengths() {
  static const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> some;
    for (std::int64_t n = 0; n <= 70; ++n) some.push_back(n);
    bit_stream bits(5);
    for (int i = 0; i < 200; ++i) some.push_back(1 + bits.below(40));
    for (const std::int64_t n : {255, 256, 257, 1023, 1024, 1025, 4097, 20000, 70001}) {
      some.push_back(n);
    }
    return some;
  }();
  return all;
}

template <class Exec>
void wait_for(Exec& exec) {
  detail::executor_parts<std::remove_cvref_t<Exec>>::base(exec).synchronize();
}

/// Folds of a member in an arithmetic: what a form hands to the library, or to the oracle.
template <class Member, class Arithmetic>
struct world {
  using member = Member;
  using values = typename Member::template values<Arithmetic>;
  using item = typename Member::raw;
  using op = typename Member::op;
  using f = typename Member::template f<Arithmetic>;
  using lift = typename Member::lift;
  using project = typename Member::project;

  /// What stands before every fold that has an initial value.
  static values init() { return f()(static_cast<item>(1.0f)); }
};

// ---- the forms: run() by the library, expect() by the oracle

/// Folds of the first n items for every n of lengths(): fold_one(n, to) writes one.
template <class World, class Place, class Exec, class FoldOne>
auto fold_each_length(Exec& exec, const FoldOne& fold_one) {
  typename Place::template array<typename World::values> out(
      static_cast<std::int64_t>(lengths().size()));
  auto* to = out.data();
  for (const std::int64_t n : lengths()) fold_one(n, to++);
  net::wait_for(exec);  // before the items go
  return out.to_host();
}

/// What those are of leaves, after the initial value if there is one.
template <class World>
auto expect_each_length(const std::vector<typename World::values>& leaves, bool has_init) {
  const typename World::op op;
  std::vector<typename World::values> expected;
  for (const std::int64_t n : lengths()) {
    const auto folded = neighbour_tree(op, std::vector(leaves.begin(), leaves.begin() + n));
    expected.push_back(has_init ? op(World::init(), folded) : folded);
  }
  return expected;
}

/// What reduce() makes of items at each of four places; first(at) is the iterator to fold over.
/// There is an initial value for every other member.
template <class World, class Place, class Exec, class Item, class First>
auto reduce_at_four_places(Exec& exec, const std::vector<Item>& items, const First& first) {
  std::vector<typename World::values> all;
  for (int shift = 0; shift < 4; ++shift) {
    typename Place::template array<Item> array(longest + 4);
    array.assign(items.data(), longest, shift);
    const auto begin = first(static_cast<const Item*>(array.data() + shift));
    const auto folds =
        net::fold_each_length<World, Place>(exec, [&](std::int64_t n, typename World::values* to) {
          if constexpr (World::member::index % 2 == 0) {
            reduce_into(exec, begin, begin + n, to, typename World::op());
          } else {
            reduce_into(exec, begin, begin + n, to, World::init(), typename World::op());
          }
        });
    all.insert(all.end(), folds.begin(), folds.end());
  }
  return all;
}

template <class World>
std::vector<typename World::values> leaves_of(const raw_items<typename World::member>& raw) {
  std::vector<typename World::values> leaves;
  for (const auto& item : raw.first) leaves.push_back(typename World::f()(item));
  return leaves;
}

/// reduce(computed items).
struct reduce_form {
  static constexpr const char* name = "reduce over computed items";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    using item = typename World::item;
    return net::reduce_at_four_places<World, Place>(exec, raw.first, [](const item* at) {
      return computing_iterator<const item*, typename World::f>(at);
    });
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    const auto once =
        net::expect_each_length<World>(net::leaves_of<World>(raw), World::member::index % 2 != 0);
    std::vector<typename World::values> expected;
    for (int shift = 0; shift < 4; ++shift) {
      expected.insert(expected.end(), once.begin(), once.end());
    }
    return expected;
  }
};

/// reduce over structs that stand in memory as they are.
struct plain_form {
  static constexpr const char* name = "reduce over structs in memory";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    return net::reduce_at_four_places<World, Place>(
        exec, net::leaves_of<World>(raw), [](const typename World::values* at) { return at; });
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    return reduce_form::expect<World>(raw);
  }
};

/// transform_reduce of one range, or of two for every third member.
struct transform_form {
  static constexpr const char* name = "transform_reduce";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    using item = typename World::item;
    typename Place::template array<item> array(longest + 4), others(longest + 4);
    const int shift = World::member::index % 4;
    array.assign(raw.first.data(), longest, shift);
    others.assign(raw.second.data(), longest, 1);
    const item* const first = array.data() + shift;
    const item* const second = others.data() + 1;
    return net::fold_each_length<World, Place>(
        exec, [&](std::int64_t n, typename World::values* to) {
          if constexpr (World::member::index % 3 == 0) {
            transform_reduce_into(exec, first, first + n, second, to, World::init(),
                                  typename World::op(), typename World::f());
          } else {
            (void)second;
            transform_reduce_into(exec, first, first + n, to, World::init(), typename World::op(),
                                  typename World::f());
          }
        });
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    std::vector<typename World::values> leaves;
    for (std::size_t i = 0; i < raw.first.size(); ++i) {
      leaves.push_back(World::member::index % 3 == 0
                           ? typename World::f()(raw.first[i], raw.second[i])
                           : typename World::f()(raw.first[i]));
    }
    return net::expect_each_length<World>(leaves, true);
  }
};

/// A reducer of three generated functions: over f's results, or after an initial value.
struct reducer_form {
  static constexpr const char* name = "a reducer of the user's";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    using item = typename World::item;
    const int shift = World::member::index % 4;
    typename Place::template array<item> array(longest + 4);
    array.assign(raw.first.data(), longest, shift);
    const auto reducer = reducers::make_reducer(typename World::lift(), typename World::op(),
                                                typename World::project());
    const item* const at = array.data() + shift;
    return net::fold_each_length<World, Place>(
        exec, [&](std::int64_t n, typename World::values* to) {
          if constexpr (World::member::index % 2 == 0) {
            transform_reduce_into(exec, at, at + n, to, reducer, typename World::f());
          } else {
            const computing_iterator<const item*, typename World::f> first(at);
            reduce_into(exec, first, first + n, to, World::init(), reducer);
          }
        });
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    auto leaves = net::leaves_of<World>(raw);
    for (auto& leaf : leaves) leaf = typename World::lift()(leaf);
    auto expected = net::expect_each_length<World>(leaves, World::member::index % 2 != 0);
    for (auto& value : expected) value = typename World::project()(value);
    return expected;
  }
};

// What the forms of many results share: segments of computed items, one after the other.
template <class World>
auto expect_segments(const raw_items<typename World::member>& raw,
                     const std::vector<std::int64_t>& lengths_of_segments) {
  std::vector<typename World::values> expected;
  std::size_t at = 0;
  for (const std::int64_t n : lengths_of_segments) {
    std::vector<typename World::values> leaves;
    for (std::int64_t i = 0; i < n; ++i, ++at) {
      leaves.push_back(typename World::f()(raw.first[at]));
    }
    expected.push_back(
        n == 0 ? World::init()
               : typename World::op()(World::init(), neighbour_tree(typename World::op(), leaves)));
  }
  return expected;
}

template <class World, class Place>
struct device_items {
  using item = typename World::item;
  explicit device_items(const raw_items<typename World::member>& raw) : array(longest + 4) {
    array.assign(raw.first.data(), longest, shift);
  }
  auto first() { return computing_iterator<const item*, typename World::f>(array.data() + shift); }

  static constexpr int shift = World::member::index % 4;
  typename Place::template array<item> array;
};

struct equal_form {
  static constexpr const char* name = "segments of equal lengths";
  static std::vector<std::int64_t> sizes() { return {1, 2, 3, 16, 31, 64, 100, 1000, 5000, 40000}; }
  static std::int64_t segments_of(std::int64_t size) {
    return std::min<std::int64_t>(longest / size, 50);
  }

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    device_items<World, Place> items(raw);
    std::vector<typename World::values> all;
    for (const std::int64_t size : sizes()) {
      typename Place::template array<typename World::values> out(segments_of(size));
      segmented_reduce(exec, items.first(), segments_of(size), size, out.data(), World::init(),
                       typename World::op());
      for (const auto& value : out.to_host()) all.push_back(value);
    }
    return all;
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    std::vector<typename World::values> all;
    for (const std::int64_t size : sizes()) {
      const std::vector<std::int64_t> lengths(static_cast<std::size_t>(segments_of(size)), size);
      for (const auto& value : net::expect_segments<World>(raw, lengths)) all.push_back(value);
    }
    return all;
  }
};

struct offsets_form {
  static constexpr const char* name = "segments by offsets";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    device_items<World, Place> items(raw);
    std::vector<int> ends{0};
    for (const std::int64_t n : segment_lengths())
      ends.push_back(ends.back() + static_cast<int>(n));
    typename Place::template array<int> offsets(ends);
    const auto count = static_cast<std::int64_t>(segment_lengths().size());
    typename Place::template array<typename World::values> out(count);
    segmented_reduce(exec, items.first(), offsets.data(), count, out.data(), World::init(),
                     typename World::op());
    return out.to_host();
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    return net::expect_segments<World>(raw, segment_lengths());
  }
};

struct batched_form {
  static constexpr const char* name = "arrays by pointers";

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    device_items<World, Place> items(raw);
    std::vector<decltype(items.first())> begins;
    std::int64_t at = 0;
    for (const std::int64_t n : segment_lengths()) {
      begins.push_back(items.first() + at);
      at += n;
    }
    typename Place::template array<decltype(items.first())> arrays(begins);
    typename Place::template array<std::int64_t> counts(segment_lengths());
    const auto count = static_cast<std::int64_t>(segment_lengths().size());
    typename Place::template array<typename World::values> out(count);
    batched_reduce(exec, arrays.data(), counts.data(), count, out.data(), World::init(),
                   typename World::op());
    return out.to_host();
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    return net::expect_segments<World>(raw, segment_lengths());
  }
};

struct by_key_form {
  static constexpr const char* name = "runs of keys";
  static std::vector<std::int64_t> run_lengths() {
    std::vector<std::int64_t> lengths;
    for (const std::int64_t n : segment_lengths()) {
      if (n > 0) lengths.push_back(n);
    }
    return lengths;
  }

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    device_items<World, Place> items(raw);
    std::vector<int> all_keys;
    for (const std::int64_t n : run_lengths()) {
      const int key = all_keys.empty() ? 0 : all_keys.back() + 1;
      all_keys.insert(all_keys.end(), static_cast<std::size_t>(n), key);
    }
    typename Place::template array<int> keys(all_keys);
    const auto count = static_cast<std::int64_t>(run_lengths().size());
    typename Place::template array<int> keys_out(count);
    typename Place::template array<typename World::values> out(count);
    const int* first_key = keys.data();
    reduce_by_key(exec, first_key, first_key + all_keys.size(), items.first(), keys_out.data(),
                  out.data(), World::init(), typename World::op());
    return out.to_host();
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    return net::expect_segments<World>(raw, run_lengths());
  }
};

/// The columns of a matrix, and those of a few rows.
struct columns_form {
  static constexpr const char* name = "columns";
  static constexpr std::int64_t columns = 37;
  static std::vector<std::int64_t> rows() { return {1, 2, 3, 17, 64, 100, 1000, 3000}; }

  template <class World, class Place, class Exec>
  static auto run(Exec& exec, const raw_items<typename World::member>& raw) {
    device_items<World, Place> items(raw);
    std::vector<typename World::values> all;
    for (const std::int64_t n : rows()) {
      typename Place::template array<typename World::values> out(columns);
      const test_view in{items.first(), right_layout({n, columns})};
      axis_reduce(exec, in, test_view{out.data(), right_layout({columns})}, axes{0}, World::init(),
                  typename World::op());
      for (const auto& value : out.to_host()) all.push_back(value);
    }
    return all;
  }

  template <class World>
  static auto expect(const raw_items<typename World::member>& raw) {
    std::vector<typename World::values> all;
    for (const std::int64_t n : rows()) {
      for (std::int64_t column = 0; column < columns; ++column) {
        std::vector<typename World::values> leaves;
        for (std::int64_t row = 0; row < n; ++row) {
          const auto& item = raw.first[static_cast<std::size_t>(row * columns + column)];
          leaves.push_back(typename World::f()(item));
        }
        all.push_back(
            typename World::op()(World::init(), neighbour_tree(typename World::op(), leaves)));
      }
    }
    return all;
  }
};

// ---- the check

template <class Member>
bool all_finite(const typename Member::plain_values& x) {
  if constexpr (Member::shape::reals > 0) {
    for (const auto& real : x.real) {
      if (!(real - real == 0)) return false;
    }
  }
  return true;
}

/// How many of a form's results have other bits than the oracle's, as a line of text; empty if
/// none. The library computes in `Arithmetic`.
template <class Form, class Member, class Place, class Arithmetic = as_written, class Exec>
std::string differences(Exec& exec, const raw_items<Member>& raw) {
  const auto got = Form::template run<world<Member, Arithmetic>, Place>(exec, raw);
  const auto expected = Form::template expect<world<Member, through_memory>>(raw);
  if (got.size() != expected.size()) return "another number of results";
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    const auto x = net::in_arithmetic<Member, as_written>(got[i]);
    const auto y = net::in_arithmetic<Member, as_written>(expected[i]);
    if (!net::all_finite<Member>(y)) return "the oracle's value is not finite";
    if (std::memcmp(&x, &y, sizeof(x)) == 0) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return "";
  return std::string(Form::name) + ", operator " + std::to_string(Member::index) + ": " +
         std::to_string(wrong) + " of " + std::to_string(got.size()) +
         " results have other bits than the oracle's, the first is result " + std::to_string(first);
}

// ---- which members

// The number that decides it, and how many: CMake says both (test/CMakeLists.txt).
#if !defined(TILEFOLD_NET_SEED)
#define TILEFOLD_NET_SEED 0
#endif
#if !defined(TILEFOLD_NET_MEMBERS)
#define TILEFOLD_NET_MEMBERS 4
#endif
#if !defined(TILEFOLD_NET_FIRST)
#define TILEFOLD_NET_FIRST 0
#endif

/// Member j of the sample; 60 of them are the family. Any 12 of them in a row from a multiple of 12
/// on have each of the three copies with each hand (cuda_test.cu), in 12 different structs. Five
/// members have copy c and hand h: 20 c + 4 k + (h - c) % 4. Each 12 take another one of the five.
constexpr int sampled(int j) {
  const int cell = (j + net::draw_below(12, TILEFOLD_NET_SEED, 1)) % 12;
  const int copy = cell % 3, rest = (cell % 4 - copy + 4) % 4;
  const int start = net::draw_below(5, TILEFOLD_NET_SEED, 2 + static_cast<unsigned>(rest));
  return 20 * copy + 4 * ((start + copy + j / 12) % 5) + rest;
}
static_assert([] {
  for (int first = 0; first < family_size; first += 12) {
    std::uint64_t structs = 0, cells = 0;
    for (int j = first; j < first + 12; ++j) {
      const int index = net::sampled(j), copy = index / 20, hand = (index + copy) % 4;
      structs |= std::uint64_t{1} << index % 20;
      cells |= std::uint64_t{1} << (4 * copy + hand);
    }
    if (std::popcount(structs) != 12 || std::popcount(cells) != 12) return false;
  }
  return true;
}());

template <class Sequence>
struct sample_of;
template <int... J>
struct sample_of<std::integer_sequence<int, J...>> {
  using types = ::testing::Types<member<net::sampled(TILEFOLD_NET_FIRST + J)>...>;
};
using sample = typename sample_of<std::make_integer_sequence<int, TILEFOLD_NET_MEMBERS>>::types;

/// Test names say which member of the family they are about.
struct member_names {
  template <class Member>
  static std::string GetName(int) {
    return "operator_" + std::to_string(Member::index);
  }
};

}  // namespace tilefold::test::net
