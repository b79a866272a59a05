// SPDX-License-Identifier: Apache-2.0
//
// What a call throws, as text.
#pragma once

#include <exception>
#include <string>

namespace tilefold::test {

/// What the Error says that `call` throws. Says so if it throws another one, or nothing.
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing was thrown";
}

}  // namespace tilefold::test
