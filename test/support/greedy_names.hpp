// SPDX-License-Identifier: Apache-2.0
//
// A user's namespace that has function templates of the names that the library uses inside, each
// taking anything: the library must not call them.
#pragma once

#include <tilefold/config.hpp>

namespace greedy {

// clang-format off
template <class... T> void apart(const T&...) = delete;
template <class... T> void canonical(const T&...) = delete;
template <class... T> void combine(const T&...) = delete;
template <class... T> void combine_lanes(const T&...) = delete;
template <class... T> void convert(const T&...) = delete;
template <class... T> void element(const T&...) = delete;
template <class... T> void finish(const T&...) = delete;
template <class... T> void launch(const T&...) = delete;
template <class... T> void leaf(const T&...) = delete;
template <class... T> void lesser(const T&...) = delete;
template <class... T> void normalize(const T&...) = delete;
template <class... T> void closed_on_host(const T&...) = delete;
template <class... T> void closed_on_device(const T&...) = delete;
template <class... T> void reduce(const T&...) = delete;
template <class... T> void select(const T&...) = delete;
template <class... T> void shuffle_xor(const T&...) = delete;
template <class... T> void to_words(const T&...) = delete;
template <class... T> void write(const T&...) = delete;
// clang-format on

struct item {
  int sum;
  int least;
  friend bool operator==(const item&, const item&) = default;
};

struct join {
  TILEFOLD_HD item operator()(const item& a, const item& b) const {
    return {a.sum + b.sum, a.least < b.least ? a.least : b.least};
  }
};

}  // namespace greedy
