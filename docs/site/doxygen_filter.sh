#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints a header as Doxygen should read it. Lines keep their numbers.
case $1 in
  # C comments before a declaration, or behind a name, are docstrings there.
  *.h) exec sed -e '1s#.*#/** @file#' -e 's#^/\* #/** #' -e 's#\([^ ] *\)/\* #\1/**< #' "$1" ;;
  # A deduction guide: Doxygen 1.9 takes it for a function of the class's name.
  *) exec sed -e '/^template <.*>$/{N;s/^.*\n[a-z_]*(.*) -> .*;$/\n/}' \
    -e 's/^[a-z_]*(.*) -> .*;$//' "$1" ;;
esac
