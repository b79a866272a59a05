// SPDX-License-Identifier: Apache-2.0
//
// What the named reducers run, for every backend: what their families share. Each family has a
// header, so that a change of a reducer compiles its family alone: selections.hpp, moments.hpp,
// norms.hpp.
#pragma once

#include <vector>

#include "any_items.hpp"
#include "backend.hpp"
#include "field.hpp"
#include "tables.hpp"

namespace tilefold::tool {

/// A job's reducers run by `Fold`, the way in which a backend folds a range with a reducer:
/// fold(first, count, reducer) gives the reducer's result.
template <class Wide, class Fold>
class reducer_fold {
 public:
  /// `items` are the job's, where `fold` can read them.
  reducer_fold(const fold_job& job, const void* items, Fold& fold)
      : job_(job), items_(items), fold_(fold) {}

 protected:
  template <class Reducer>
  auto folded(const Reducer& reducer) {
    return fold_(any_items<Wide>{items_, job_.type}, job_.count, reducer);
  }

  /// The same of items of another wide type.
  template <class Other, class Reducer>
  auto folded_as(const Reducer& reducer) {
    return fold_(any_items<Other>{items_, job_.type}, job_.count, reducer);
  }

  scalar item(Wide value) const { return narrow_again(job_.type, value); }

  const fold_job& job() const { return job_; }

  template <class T>
  static std::vector<field> one(const T& value) {
    return {one_field("", value)};
  }

 private:
  const fold_job& job_;
  const void* items_;
  Fold& fold_;
};

}  // namespace tilefold::tool
