// SPDX-License-Identifier: Apache-2.0
//
// Every reducer of one range by name, for tests that hold for all of them.
#pragma once

#include "extremes.hpp"
#include "moments.hpp"
#include "norms.hpp"
#include "questions.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for those that answer questions or select items.
template <class T, class Visit>
void visit_selections(Visit visit) {
  visit_questions<T>(visit);
  visit_extremes<T>(visit);
}

/// Calls visit(name, reducer) for all.
template <class T, class Visit>
void visit_reducers(Visit visit) {
  visit_selections<T>(visit);
  visit_moments<T>(visit);
  visit_norms<T>(visit);
}

}  // namespace tilefold::test
