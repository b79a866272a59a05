// SPDX-License-Identifier: Apache-2.0
//
// Items that come one after the other, as through a filter view.
// expect: tilefold: items must be random-access
// errors: 1
#include <cstddef>
#include <vector>

#include <tilefold/tilefold.hpp>

struct positive_items {
  struct iterator {
    using value_type = float;
    using difference_type = std::ptrdiff_t;
    const float* at;
    const float* end;
    float operator*() const { return *at; }
    iterator& operator++() {
      do ++at;
      while (at != end && *at < 0);
      return *this;
    }
    bool operator==(const iterator&) const = default;
  };
  const std::vector<float>& items;
  iterator begin() const { return {items.data(), items.data() + items.size()}; }
  iterator end() const { return {items.data() + items.size(), items.data() + items.size()}; }
};

#if defined(TILEFOLD_MUST_FAIL)
auto threes(const std::vector<float>& x) { return tilefold::count(positive_items{x}, 3.0f); }
#else
auto threes(const std::vector<float>& x) { return tilefold::count(x, 3.0f); }
#endif
