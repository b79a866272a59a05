// SPDX-License-Identifier: Apache-2.0
//
// A sum is not compiled with what keys need; who asks for the size of it is told which header has
// it. It may stand after the question.
// expect: by_key_workspace_bytes\(\) needs #include <tilefold/reduce_by_key.hpp>
// errors: 1
#include <tilefold/cuda.cuh>

std::int64_t bytes(std::int64_t n) { return tilefold::cuda_executor::by_key_workspace_bytes(n, 4); }

#if !defined(TILEFOLD_MUST_FAIL)
#include <tilefold/reduce_by_key.hpp>
#endif
