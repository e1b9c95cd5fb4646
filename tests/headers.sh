#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# headers.sh - each public header can be included alone, in C17 and in C++17, without a warning, with
# the installed compilers; operators are constant expressions in both languages.
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
c_flags="-std=c17 -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror"
cxx_flags="-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  -Wzero-as-null-pointer-constant -Werror"
for path in "$include"/skua/*.h "$include"/skua/compat/*.h "$generated"/skua/*.h; do
  name=${path##*/include/skua/}
  ok "$name in C" compiles "$name" c cc $c_flags "$work/header.c"
  for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    ok "$name in C++ ($cxx)" compiles "$name" cc $cxx $cxx_flags "$work/header.cc"
  done
done

# In a static initialiser, a case label and the size of an array.
cat >"$work/constant.c" <<'END'
#include <skua/skua.h>
static const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};
static const skua_op     ops[] = {SKUA_MIN, SKUA_BIT_XOR, SKUA_STATISTICS, SKUA_CONCAT, SKUA_SET};
int kind(skua_op op);
int kind(skua_op op)
{
    int sizes[SKUA_MAX] = {0};
    switch (op) {
    case SKUA_SUM: return sizes[0] + (int)sum.op;
    case SKUA_SET: return (int)ops[0];
    default: return 0;
    }
}
END
for compiler in gcc clang g++ clang++; do
  command -v $compiler >/dev/null || continue
  case $compiler in
    *++) run $compiler -std=c++17 -Wall -Wextra -Wpedantic -Werror -x c++ -I"$include" -I"$generated" -fsyntax-only "$work/constant.c" ;;
    *)   run $compiler $c_flags -I"$include" -I"$generated" -fsyntax-only "$work/constant.c" ;;
  esac
  ok "operators are constant expressions ($compiler)" test "$code" = 0
done
tap_end
