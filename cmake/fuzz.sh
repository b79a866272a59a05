#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes what tilefold reads (test/fuzz) under AddressSanitizer and UndefinedBehaviorSanitizer:
#
#     sh cmake/fuzz.sh [SECONDS [FORMAT...]]
#
# SECONDS (60) are of each FORMAT: npy, part (and checkpoints), piece, accumulator. Inputs that were found stay in
# build/fuzz/FORMAT.inputs for the next time. An input that shows a fault is kept, and libFuzzer names it; then
# build/fuzz/FORMAT FILE shows the fault again. Only clang has libFuzzer, so this is no target of CMake's.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh

families="reducers_host_selections reducers_host_moments reducers_host_norms"
# sources_of FORMAT: sets the sources that it needs, and their room. The C interface is not linked to tilefold::host: one
# thread, fewer sources.
sources_of() {
  case $1 in
    npy) room=tool sources="input input_error mapped_file npy progress terminal format" ;;
    part) room=tool sources="input_error mapped_file part_file part_merge $families" ;;
    piece) room=capi sources="exact_state means pieces places precise_sums questions" ;;
    accumulator) room=capi sources="exact_state pieces" ;;
    *) give_up "there is no format '$1'; there are npy, part, piece and accumulator" ;;
  esac
}

# Sources that mostly fold: optimised, they compile three times as long, and what is read is read elsewhere.
level_of() {
  case $1 in
    means | places | precise_sums | questions | reducers_host_*) echo -O0 ;;
    *) echo -O1 ;;
  esac
}

flags="-std=c++20 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -ffp-contract=off -Iinclude -Itest"
export flags
# objects FORMAT...: what these need, each once.
objects() {
  for format; do
    sources_of "$format"
    for source in $sources; do
      echo "$room $source $(level_of "$source")"
    done
  done | sort -u | xargs -P "$(nproc)" -L 1 \
    sh -c 'exec clang++ $flags "$2" "-Isrc/$0" -c "src/$0/$1.cpp" -o "build/fuzz/$0.$1.o"'
}

# link_format FORMAT: build/fuzz/FORMAT.
link_format() {
  sources_of "$1"
  # shellcheck disable=SC2046,SC2086 # lists of files
  clang++ $flags -O1 "-Isrc/$room" "test/fuzz/$1.cpp" $(printf "build/fuzz/$room.%s.o " $sources) -o "build/fuzz/$1"
}

# wait_for_all SENTENCE PROCESS...: waits for each, and gives up with that sentence if one has failed.
wait_for_all() {
  sentence=$1 failed=
  shift
  for one; do
    wait "$one" || failed=yes
  done
  [ -z "$failed" ] || give_up "$sentence"
}

seconds=${1:-60}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- npy part piece accumulator
command -v clang++ >/dev/null || need clang
version=$(clang++ -dumpversion)
find "$(clang++ -print-resource-dir)/lib/" -name 'libclang_rt.fuzzer*' 2>/dev/null | grep -q . ||
  need "libclang-rt-${version%%.*}-dev"

echo "tilefold: compiling fuzzers"
for format; do
  sources_of "$format" # there is such a format
  mkdir -p "build/fuzz/$format.inputs"
done
objects "$@" || give_up "a source did not compile: see the first error above"
compiling=
for format; do
  link_format "$format" &
  compiling="$compiling $!"
done
wait_for_all "a fuzzer did not compile: see the first error above" $compiling

# fuzz FORMAT
fuzz() {
  log=build/fuzz/$1.log
  "build/fuzz/$1" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 -timeout=10 \
    -artifact_prefix="build/fuzz/$1.fault." "build/fuzz/$1.inputs" >"$log" 2>&1 || {
    tail -40 "$log"
    give_up "$1 has a fault: $log, and build/fuzz/$1.fault.*"
  }
  sed -n "s/^stat::number_of_executed_units: */  $1, inputs: /p" "$log"
}

# As many at once as there are cores.
echo "tilefold: fuzzing $* for $seconds seconds each"
fuzzing=
for format; do
  fuzz "$format" &
  fuzzing="$fuzzing $!"
  [ $(($(echo "$fuzzing" | wc -w) % $(nproc))) != 0 ] || { wait_for_all "a fuzzer found a fault" $fuzzing && fuzzing=; }
done
wait_for_all "a fuzzer found a fault" $fuzzing
