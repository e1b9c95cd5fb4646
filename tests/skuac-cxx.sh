#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skuac-cxx.sh - generated code is also valid C++17: g++ and clang++ compile every feature of the
# language without a warning, the result links with C and runs; entry methods can be written in C++.
#
# usage: skuac-cxx.sh SKUAC CC SKUARUN LIBRARIES INCLUDE...
skuac=$1
cc=$2
skuarun=$3
libraries=$4
shift 4
. "$(dirname "$0")/tap.sh"
tests=$(dirname "$0")/interface
export SKUA_PIN=none

includes="-I$work -I$tests"
for folder in "$@"; do
  includes="$includes -I$folder"
done
strict="-Wall -Wextra -Wpedantic -Werror"

# Programs: the name of the C file, followed by its interface files.
programs="everything:everything,second inplace:inplace nocopy:nocopy owner:owner packed:packed"
for program in $programs; do
  name=${program%%:*}
  for interface in $(echo "${program#*:}" | tr , ' '); do
    run "$skuac" -o "$work" "$tests/$interface.ci"
    ok "$interface: is translated" test "$code" = 0
  done
  run "$cc" -std=gnu17 $includes -c -o "$work/$name.o" "$tests/$name.c"
  ok "$name.c: compiles as C" test "$code" = 0
done
run "$skuac" -o "$work" "$tests/methods.ci"
ok "methods: is translated" test "$code" = 0

for cxx in g++ clang++; do
  command -v $cxx >/dev/null || continue
  link="-L$libraries -lskua -Wl,-rpath,$libraries -o"
  for program in $programs; do
    name=${program%%:*}
    objects="$work/$name.o"
    for interface in $(echo "${program#*:}" | tr , ' '); do
      printf '#include "%s.ci.h"\n' $interface >"$work/alone.cc"
      run $cxx -std=c++17 $strict $includes -fsyntax-only "$work/alone.cc"
      ok "$cxx: $interface.ci.h" test "$code" = 0
      run $cxx -std=c++17 $strict $includes -x c++ -c -o "$work/$interface.ci.o" "$work/$interface.ci.c"
      ok "$cxx: $interface.ci.c" test "$code" = 0
      objects="$objects $work/$interface.ci.o"
    done
    run $cxx $objects $link "$work/$name"
    ok "$cxx: $name is linked" test "$code" = 0
    run timeout 60 "$skuarun" -n 2 "$work/$name"
    ok "$cxx: $name runs ($seconds s)" test "$code" = 0
  done
  run $cxx -std=c++17 $strict $includes -x c++ "$work/methods.ci.c" "$tests/methods.cc" $link "$work/methods"
  ok "$cxx: methods compiles" test "$code" = 0
  run timeout 60 "$skuarun" -n 3 "$work/methods"
  ok "$cxx: methods runs" test "$code $out" = '0 hello: 12 words'

  # A type that cannot be copied byte by byte, and is not declared as packed.
  printf '#include <string>\nstruct line { std::string text; };\n' >"$work/line.h"
  printf 'module lines { include "line.h"; chare Page { state {} entry void add(int n, struct line l[n]); }; }\n' \
    >"$work/lines.ci"
  run "$skuac" -o "$work" "$work/lines.ci"
  run $cxx -std=c++17 $includes -fsyntax-only -x c++ "$work/lines.ci.c"
  ok "$cxx: a type with a copy constructor is refused" has "$err" \
    "error: static.assert.*Page.add: argument .l' cannot be copied byte by byte"
  cat >"$work/lines.ci" <<'END'
module lines {
    include "line.h";
    readonly struct line first;
    struct two { struct line second; };
    message Tile { struct line third; };
    group Page {
        state { struct line fourth; transient struct line *pointer; }
        entry void run() { struct line fifth; serial { (void)fifth; } }
        entry [sync] struct line sixth();
        entry [local] struct line local();
    };
    chare Book { state { transient struct line kept; } };
}
END
  run "$skuac" -o "$work" "$work/lines.ci"
  run $cxx -std=c++17 $includes -fsyntax-only -x c++ "$work/lines.ci.c"
  for line in "3:.*.first'" "4:.*.second'" "5:.*.third'" "7:.*.fourth'" "8:.*.fifth'" "9:.*the result of .sixth'"; do
    ok "$cxx: a type with a copy constructor is refused: $line" has "$err" \
      "lines\.ci:$line cannot be copied byte by byte"
  done
  ok "$cxx: a transient field, or a local result, may have any type" test \
    "$(echo "$err" | grep -c 'error: static.assert')" = 6
done

tap_end
