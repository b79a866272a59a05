// SPDX-License-Identifier: Apache-2.0
//
// What every kernel uses, whatever it folds:
//
//     type        build                          how the translation unit is compiled
//     begins      wait_for_previous_launch()     or refuse_flush_to_zero(), if no launches overlap
//     lifts       closed_reducer                 the reducer, its steps closed to fusion
//     deals       tile_shares                    which tiles are a block's
//     ends        write()                        to an output iterator, or where a call waits
//
// Includes of kernels: this file brings words, tuning, the tree, sources and reducers.
#pragma once

#include <new>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>

// Answered by the compiler's last stage, as LLVM's guide to its NVPTX back end says; there is no
// such function. (Clang knows the name, and some versions say that it never returns.)
#if defined(__clang__) && defined(__CUDA__)
extern "C" __device__ int tilefold_nvvm_reflect(const char* question) asm("__nvvm_reflect");
#define TILEFOLD_NVVM_REFLECT tilefold_nvvm_reflect
#else
extern "C" __device__ int __nvvm_reflect(const char* question);
#define TILEFOLD_NVVM_REFLECT __nvvm_reflect
#endif

// The architectures of this translation unit. Clang 19 does not tell them, so the user may:
// -DTILEFOLD_CUDA_ARCHS=800,900 (docs/compilers.md).
#if defined(__CUDA_ARCH_LIST__)
#undef TILEFOLD_CUDA_ARCHS
#define TILEFOLD_CUDA_ARCHS __CUDA_ARCH_LIST__
#elif !defined(TILEFOLD_CUDA_ARCHS)
#define TILEFOLD_CUDA_ARCHS 0
#endif

namespace tilefold::detail::cuda {

/// The reducer as kernels use it, its steps closed to fusion (detail/core/closing.hpp).
template <class Reducer>
struct closed_reducer : Reducer {
  using accumulator = typename Reducer::accumulator;
  border closing;

  template <class... Values>
  TILEFOLD_D accumulator lift(const Values&... values) const {
    return steps().lift(values...);
  }
  TILEFOLD_D accumulator combine(const accumulator& a, const accumulator& b) const {
    return steps().combine(a, b);
  }
  TILEFOLD_D accumulator combine_open(const accumulator& a, const accumulator& b) const {
    return steps().combine_open(a, b);
  }
  TILEFOLD_D accumulator closed(const accumulator& combined) const {
    return steps().closed(combined);
  }
  TILEFOLD_D accumulator combine_equals(const accumulator& a, const accumulator& b) const {
    return steps().combine_equals(a, b);
  }
  template <class... Values>
  TILEFOLD_D void absorb(accumulator& value, const Values&... values) const {
    if constexpr (Reducer::absorbs) {
      Reducer::absorb(value, values...);
    } else {
      // Made apart from its operands, which a combine may read after it has begun to write.
      const accumulator both = combine(value, lift(values...));
      ::new (static_cast<void*>(__builtin_addressof(value))) accumulator(both);
    }
  }
  TILEFOLD_D typename Reducer::result project(const accumulator& value) const {
    return steps().project(value);
  }

 private:
  TILEFOLD_D closed_steps<Reducer> steps() const { return {*this, closing}; }
};

/// Whether an accumulator is a count of items and the sum of their values in double: then kernels
/// fold the sums alone where they know the count. mean_sums.cuh, which reducers/moments.hpp
/// includes, defines sums_of_means. Left undefined here, so that a missing include is a compile
/// error.
template <class Reducer>
concept counts_and_sums = requires { requires Reducer::counts_and_sums; };
template <class Reducer>
struct sums_of_means;

/// Bytes of the value that kernels fold in full tiles: a double for means, else the accumulator.
template <class Reducer>
inline constexpr std::size_t folded_bytes =
    counts_and_sums<Reducer> ? sizeof(double) : sizeof(typename Reducer::accumulator);

/// How this translation unit is compiled, as a type: for which architectures, and what the default
/// stream is. Part of every kernel's and executor's type: the linker may merge equal templates of
/// two objects, and must not take a kernel that was compiled for other GPUs.
template <bool PerThreadStream, int... Archs>
struct build {
  static constexpr bool per_thread_stream = PerThreadStream;
};
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
using this_build = build<true, TILEFOLD_CUDA_ARCHS>;
#else
using this_build = build<false, TILEFOLD_CUDA_ARCHS>;
#endif

/// How the tiles are dealt out: block b has `share` of them, the first `extra` blocks one more.
struct tile_shares {
  unsigned share;
  unsigned extra;

  __device__ unsigned first(unsigned block) const { return block * share + (min)(block, extra); }
};

/// Called where every kernel that folds begins. nvcc's -use_fast_math and -ftz=true flush subnormal
/// numbers to zero, in the library's operations as well, and define no macro: only the compiler's
/// last stage knows of them. That stage removes this code, or leaves an instruction that does not
/// exist, at whose name the assembler stops.
TILEFOLD_D void refuse_flush_to_zero() {
  if (TILEFOLD_NVVM_REFLECT("__CUDA_FTZ") != 0) {
    asm volatile("tilefold_does_not_go_with_use_fast_math_or_ftz_true;");
  }
}

/// Lets the next launch of the stream begin as soon as there is room for it, and waits for the end
/// of the one before. So the start of one launch overlaps with the end of another. This launch may
/// not touch memory before this call. Has no effect unless the launch allows it (launcher.cuh).
TILEFOLD_D void wait_for_previous_launch() {
  cuda::refuse_flush_to_zero();
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Writes a result through `out`, converted to the type that it holds, if it has one.
template <class Out, class T>
TILEFOLD_D void write(Out out, const T& result) {
  detail::write_through(out, detail::output_value<Out>(result));
}

/// Whether a result is written as one word of eight bytes with its ticket. Then no store has to
/// wait until another one has come to the host's memory.
template <class T>
inline constexpr bool shares_word_with_ticket = sizeof(T) == 4 && std::is_trivially_copyable_v<T>;

/// The place of a result of a launch. For a caller that waits for the result there is also a word
/// of pinned memory, which becomes `ticket` when the result is there. If they share a word of eight
/// bytes, `ticket_at` is its upper half.
template <class T>
struct result_place {
  T* value;
  unsigned* ticket_at;  // null if no call waits
  unsigned ticket;

  /// In `memory`, of bytes_of(1) bytes. The only place of an array, as result_places has several
  /// (range/piece_folds.cuh).
  static result_place in(void* memory, int, unsigned ticket) {
    return {static_cast<T*>(memory), static_cast<unsigned*>(memory) + words<T>::count, ticket};
  }
  static std::size_t bytes_of(int) {
    return static_cast<std::size_t>(words<T>::count + 1) * sizeof(unsigned);
  }
  const result_place& operator[](int) const { return *this; }
};

template <class T, class Result>
TILEFOLD_D void write(result_place<T> out, const Result& result) {
  if (out.ticket_at == nullptr) {
    cuda::write(out.value, result);
  } else if constexpr (shares_word_with_ticket<T>) {
    const T value = detail::output_value<T*>(result);
    const auto word =
        static_cast<unsigned long long>(out.ticket) << 32 | __builtin_bit_cast(unsigned, value);
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(out.value)),
                 "l"(word)
                 : "memory");
  } else {
    cuda::write(out.value, result);
    cuda::store_behind_all(out.ticket_at, out.ticket);
  }
}

/// The place of the last result that a launch writes: `flag`, if any, is set to zero before.
template <class Out>
struct cleared_before {
  Out out;
  unsigned* flag;
};

template <class Out, class Result>
TILEFOLD_D void write(cleared_before<Out> to, const Result& result) {
  if (to.flag != nullptr) *to.flag = 0;
  cuda::write(to.out, result);
}

}  // namespace tilefold::detail::cuda
