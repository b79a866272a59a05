#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Doxygen's filter for tilefold.h: prints it with its plain comments marked as docstrings.
exec sed -e '1s#.*#/** @file#' -e 's#^/\* #/** #' -e 's#\([^ ] *\)/\* #\1/**< #' "$1"
