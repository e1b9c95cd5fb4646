#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# headers.sh - each public header can be included alone, in C17 and in C++, without a warning.
#
# usage: headers.sh INCLUDE-FOLDER GENERATED-INCLUDE-FOLDER
. "$(dirname "$0")/tap.sh"
include=$1
generated=$2

compiles()
{
  printf '#include <skua/%s>\nint used;\n' "$1" >"$work/header.$2"
  shift 2
  run "$@" -I"$include" -I"$generated" -fsyntax-only
  [ "$code" = 0 ]
}
for path in "$include"/skua/*.h "$include"/skua/compat/*.h "$generated"/skua/*.h; do
  name=${path##*/include/skua/}
  ok "$name in C" compiles "$name" c cc -std=c17 -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror "$work/header.c"
  if command -v g++ >/dev/null; then
    ok "$name in C++" compiles "$name" cc g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror "$work/header.cc"
  fi
done
tap_end
