# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Sourced by setup.sh. The version belongs to the digests of test/compiled_code.csv.

# The disassembler that tests of machine code read with: nvcc's toolkit may come without. NVIDIA's
# wheel holds the one program, which needs nothing.
need_disassembler() {
  nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || return 0
  if [ -x "$(dirname "$(readlink -f "$nvcc")")/nvdisasm" ] || command -v nvdisasm >/dev/null ||
    [ -f build/nvdisasm/nvidia/cu13/bin/nvdisasm ]; then
    return 0
  fi
  echo "tilefold: fetching nvdisasm"
  mkdir -p build
  python3 -m pip --version >/dev/null 2>&1 || need python3-pip
  python3 -m pip install --quiet --no-deps --target build/nvdisasm nvidia-cuda-nvdisasm==13.5.37 \
    >build/nvdisasm.log 2>&1 ||
    give_up "pip could not fetch nvdisasm: see build/nvdisasm.log, or put your toolkit's on PATH"
}
