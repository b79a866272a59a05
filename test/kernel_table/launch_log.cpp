// SPDX-License-Identifier: Apache-2.0
//
// Notes which kernels a program launches by cudaLaunchKernelExC, as tilefold does. The CUDA driver
// loads this library into a program where CUDA_INJECTION64_PATH names it. Each process appends to a
// file of its own in the folder TILEFOLD_LAUNCHES: a mangled name a line, once.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace {

struct launch_log {
  const std::string path =
      std::string(std::getenv("TILEFOLD_LAUNCHES")) + "/" + std::to_string(getpid());
  std::mutex one_at_a_time{};
  std::set<std::string> known{};
};

void note(void* of, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_EXIT || call.symbolName == nullptr ||
      *static_cast<const cudaError_t*>(call.functionReturnValue) != cudaSuccess) {
    return;
  }
  auto& log = *static_cast<launch_log*>(of);
  const std::lock_guard lock(log.one_at_a_time);
  if (!log.known.insert(call.symbolName).second) return;
  if (std::FILE* const file = std::fopen(log.path.c_str(), "a")) {
    std::fprintf(file, "%s\n", call.symbolName);
    std::fclose(file);  // written whatever becomes of the process
  }
}

void require(CUptiResult result) {
  if (result == CUPTI_SUCCESS) return;
  std::fprintf(stderr, "launch_log: CUPTI gives error %d\n", static_cast<int>(result));
  std::abort();
}

}  // namespace

extern "C" int InitializeInjection() {
  auto* const log = new launch_log;  // stays, for threads that launch while the program ends
  CUpti_SubscriberHandle subscriber;
  require(cuptiSubscribe(&subscriber, note, log));
  for (const CUpti_CallbackId launch : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
                                        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060}) {
    require(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, launch));
  }
  return 1;
}
