// SPDX-License-Identifier: Apache-2.0
//
// Flush-to-zero and denormals-are-zero in the processor's control register: a build without NDEBUG
// refuses to fold floating values, one with NDEBUG does not look. The program debug_tests compiles
// this file without NDEBUG, whatever the build type is.
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#if defined(__SSE__)

namespace tilefold::test {
namespace {

constexpr unsigned flush_to_zero = 1u << 15;
constexpr unsigned denormals_are_zero = 1u << 6;
constexpr unsigned as_started = 0x1f80;

// The register of this thread, put back at the end.
class control_register {
 public:
  explicit control_register(unsigned value) {
    asm volatile("stmxcsr %0" : "=m"(before_));
    set(value);
  }
  ~control_register() { set(before_); }
  control_register(const control_register&) = delete;
  control_register& operator=(const control_register&) = delete;

 private:
  static void set(unsigned value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

  unsigned before_;
};

// What a fold with the register at `value` says; "" if it throws nothing.
template <class Fold>
std::string complaint(unsigned value, Fold fold) {
  const control_register set(value);
  try {
    fold();
  } catch (const float_mode_error& e) {
    return e.what();
  }
  return "";
}

const std::vector<float> floats(1000, std::numeric_limits<float>::denorm_min());

TEST(HostFloatMode, IsNotRefusedAsProcessorsStart) {
  EXPECT_EQ(complaint(as_started,
                      [] {
                        EXPECT_EQ(tilefold::reduce(floats),
                                  1000 * std::numeric_limits<float>::denorm_min());
                      }),
            "");
  // Another rounding mode or trapped exceptions are not this check's business.
  EXPECT_EQ(complaint(as_started | 0x3f, [] { (void)tilefold::reduce(floats); }), "");
}

TEST(HostFloatMode, ThatFlushesSubnormalsIsRefusedInDebugBuildsOnly) {
  for (const unsigned bits :
       {flush_to_zero, denormals_are_zero, flush_to_zero | denormals_are_zero}) {
    float out = -1.0f;
    const std::string texts[] = {
        complaint(as_started | bits, [] { (void)tilefold::reduce(floats); }),
        complaint(as_started | bits, [] { (void)tilefold::reduce(host_executor(2), floats); }),
        complaint(as_started | bits, [] { (void)tilefold::reduce(std::vector<half>(9)); }),
        complaint(as_started | bits,
                  [] { (void)tilefold::reduce(std::vector<std::complex<double>>(9)); }),
        complaint(as_started | bits,
                  [&] { reduce_into(host_executor(), floats.begin(), floats.end(), &out); }),
    };
    for (const std::string& text : texts) {
#if defined(NDEBUG)
      EXPECT_EQ(text, "");
#else
      const std::string value = bits == flush_to_zero        ? "0x9f80"
                                : bits == denormals_are_zero ? "0x1fc0"
                                                             : "0x9fc0";
      EXPECT_NE(text.find("MXCSR of this thread is " + value), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_EQ(out, -1.0f) << "written although the call threw";
#endif
    }
  }
}

TEST(HostFloatMode, DoesNotMatterToIntegers) {
  EXPECT_EQ(complaint(as_started | flush_to_zero | denormals_are_zero,
                      [] { EXPECT_EQ(tilefold::reduce(std::vector<int>(9, 5)), 45); }),
            "");
}

}  // namespace
}  // namespace tilefold::test

#endif
