// SPDX-License-Identifier: Apache-2.0
//
// A test of the net: faults that are planted must be caught by the code that checks the library, in
// every form. Executors that fold in a wrong order, and numbers that fuse a product with a sum.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "forms.hpp"

namespace tilefold::test::net {
namespace {

enum class fault { none, operands_swapped, odd_joins_early, last_item_lost };

/// Folds as the oracle does, but for one fault; in place of detail::host::serial.
template <fault Fault>
class faulty_mode {
 public:
  faulty_mode() = default;
  explicit faulty_mode(int) {}
  int threads() const { return 1; }

  template <class Source, class Reducer>
  typename Reducer::accumulator fold(const Source& elements, const Reducer& reducer,
                                     std::int64_t n) const {
    std::vector<typename Reducer::accumulator> level;
    const bool loses = Fault == fault::last_item_lost && n > 1;
    for (std::int64_t i = 0; i < n - loses; ++i) level.push_back(elements.lift(reducer, i));
    for (int depth = 0; level.size() > 1; ++depth) {
      if (Fault == fault::odd_joins_early && level.size() % 2 != 0) {
        level[level.size() - 2] = reducer.combine(level[level.size() - 2], level.back());
        level.pop_back();
        if (level.size() == 1) break;
      }
      std::vector<typename Reducer::accumulator> next;
      for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
        const bool swaps = Fault == fault::operands_swapped && depth == 1;
        next.push_back(swaps ? reducer.combine(level[i + 1], level[i])
                             : reducer.combine(level[i], level[i + 1]));
      }
      if (level.size() % 2 != 0) next.push_back(level.back());
      level = next;
    }
    return level[0];
  }

  template <class Forest, class Reducer, class Keep, class None>
  void fold_forest(const Forest& forest, const Reducer& reducer, const Keep& keep,
                   const None& none) const {
    for (std::int64_t i = 0; i < forest.size(); ++i) {
      if (forest.count(i) <= 0) {
        none(i);
      } else {
        keep(i, fold(forest.tree(i), reducer, forest.count(i)));
      }
    }
  }

  template <class Items, class Reducer, class KeepKey, class Keep>
  std::int64_t fold_runs(const Items& items, const Reducer& reducer, const KeepKey& keep_key,
                         const Keep& keep) const {
    return detail::visit_runs(items, [&](std::int64_t run, std::int64_t begin, std::int64_t end) {
      keep_key(run, begin);
      keep(run, fold(items.run(begin), reducer, end - begin));
    });
  }
};

// The host folds columns in a way of its own; here they are trees like others.
template <fault Fault>
struct faulty_executor : basic_host_executor<faulty_mode<Fault>> {
  template <class Policy, class Forest, class Reducer, class Init, class Empty, class Out>
  void fold_columns(const Forest& forest, const Reducer& reducer, const Init& init,
                    const Empty& empty, const Out& out) const {
    this->template fold_forest<Policy>(forest, forest.size(), reducer, init, empty, out);
  }
};

// A carrier, a total, and a key: the hash of the tree.
using with_key = member<1>;

template <class Form>
class OrderNetPlants : public ::testing::Test {
 protected:
  template <fault Fault>
  static std::string seen() {
    const faulty_executor<Fault> exec;
    return differences<Form, with_key, in_host_memory>(exec, raw_items<with_key>(longest));
  }
  template <class Member>
  static bool sees_fusing() {
    const faulty_executor<fault::none> exec;
    return differences<Form, Member, in_host_memory, as_if_fused>(exec,
                                                                  raw_items<Member>(longest)) != "";
  }
};
using forms = ::testing::Types<reduce_form, plain_form, transform_form, reducer_form, equal_form,
                               offsets_form, batched_form, by_key_form, columns_form>;
TYPED_TEST_SUITE(OrderNetPlants, forms);

TYPED_TEST(OrderNetPlants, NoFaultIsNoDifference) {
  EXPECT_EQ(this->template seen<fault::none>(), "");
}

TYPED_TEST(OrderNetPlants, SwappedOperandsAreCaught) {
  EXPECT_NE(this->template seen<fault::operands_swapped>(), "");
}

TYPED_TEST(OrderNetPlants, AnotherAssociationIsCaught) {
  EXPECT_NE(this->template seen<fault::odd_joins_early>(), "");
}

TYPED_TEST(OrderNetPlants, AnItemThatIsLostIsCaught) {
  EXPECT_NE(this->template seen<fault::last_item_lost>(), "");
}

TYPED_TEST(OrderNetPlants, FusedOperationsAreCaught) {
  EXPECT_TRUE(this->template sees_fusing<with_key>());
}

}  // namespace
}  // namespace tilefold::test::net
