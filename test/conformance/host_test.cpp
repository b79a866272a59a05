// SPDX-License-Identifier: Apache-2.0
//
// The conformance body on the host executor, on one thread and on several.
#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "conformance.hpp"
#include "host_backend.hpp"

namespace tilefold::test {
namespace {

template <class Case>
class Conformance : public ::testing::Test {
 protected:
  void run() {
#if defined(TILEFOLD_HOST_LIBRARY)
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(threads);
      host_backend backend{host_executor(threads)};
      conforms<Case>(backend);
    }
#else
    host_backend backend;
    conforms<Case>(backend);
#endif
  }
};

template <class Case>
class Floats : public Conformance<Case> {};
TYPED_TEST_SUITE(Floats, float_cases);
TYPED_TEST(Floats, HaveTheBitsOfTheOracle) { this->run(); }

template <class Case>
class NarrowFloats : public Conformance<Case> {};
TYPED_TEST_SUITE(NarrowFloats, narrow_cases);
TYPED_TEST(NarrowFloats, HaveTheBitsOfTheOracle) { this->run(); }

template <class Case>
class Integers : public Conformance<Case> {};
TYPED_TEST_SUITE(Integers, integer_cases);
TYPED_TEST(Integers, HaveTheBitsOfTheOracle) { this->run(); }

template <class Case>
class Structs : public Conformance<Case> {};
TYPED_TEST_SUITE(Structs, struct_cases);
TYPED_TEST(Structs, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
