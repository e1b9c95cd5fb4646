#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh - the complete programs in README.md and docs/guide/ build and run, and links between pages
# are valid.
#
# Programs that use channels also run between processes that share no memory, over each driver, where
# data is read after the put has returned.
#
# usage: docs.sh SOURCE BUILD CC DRIVERS...
source=$1
build=$2
cc=$3
shift 3
drivers=$*
. "$(dirname "$0")/tap.sh"

# Writes the C blocks of a page that have a main() to $work/NAME-1.c, -2.c ...
programs()
{
  awk -v base="$work/$2" '
    /^```c$/            { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (text ~ /int main\(/) { print text > (base "-" ++n ".c") }; next }
    inside              { text = text $0 "\n" }' "$1"
}

# Writes the interface files of a page that have a mainmodule to $work/MODULE.ci.
interfaces()
{
  awk -v base="$work" '
    /^```ci$/           { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (name) { print text > (base "/" name ".ci"); close(base "/" name ".ci") }
                          name = ""; next }
    inside && /^mainmodule / { name = $2 }
    inside              { text = text $0 "\n" }' "$1"
}

# Writes the C++ files of a page; the first line of each is // NAME.
files()
{
  awk -v base="$work" '
    /^```cpp$/          { inside = 1; name = ""; next }
    /^```$/ && inside   { inside = 0; if (name) close(base "/" name); next }
    inside && !name && /^\/\/ / { name = $2 }
    inside && name      { print > (base "/" name) }' "$1"
}

for page in "$source"/README.md "$source"/docs/guide/*.md; do
  name=$(basename "$page" .md)
  [ "$page" = "$source/README.md" ] && name=front
  programs "$page" "$name"
  interfaces "$page"
  files "$page"
done
for interface in "$work"/*.ci; do
  run "$build/translator/skuac" -o "$work" "$interface"
  ok "$(basename "$interface"): is translated" test "$code" = 0
done

# run_apart PROGRAM DRIVER: run it over a driver with the launcher of that driver; code 127: there is
# none.
run_apart()
{
  case $2 in
  mpi-openmpi) set -- "$1" "$2" mpirun.openmpi --oversubscribe --bind-to none -n 3 ;;
  mpi-mpich) set -- "$1" "$2" mpiexec.mpich -n 3 ;;
  *) set -- "$1" "$2" "$build/tools/skuarun" -n 3 --pin=none ;;
  esac
  program_apart=$1
  driver_apart=$2
  shift 2
  run env SKUA_SHARE=0 "SKUA_DRIVER=$driver_apart" SKUA_DRIVER_PATH="$build/drivers" UCX_TLS=tcp \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@" "$program_apart"
}

count_programs=0
for program in "$work"/*.c; do
  name=$(basename "$program" .c)
  count_programs=$((count_programs + 1))
  compile="$cc -std=gnu17"
  more=
  if [ -e "${program%.ci.c}.cc" ]; then # with methods in C++
    command -v c++ >/dev/null || continue
    compile="c++ -std=c++17 -x c++"
    more=${program%.ci.c}.cc
  fi
  run $compile -Wall -Werror -I"$source/include" -I"$build/include" -I"$work" "$program" $more \
    -L"$build/src" -lskua -Wl,-rpath,"$build/src" -o "$work/$name"
  ok "$name: builds" test "$code" = 0
  run "$build/tools/skuarun" -n 3 --pin=none "$work/$name"
  ok "$name: runs" test "$code" = 0
  ok "$name: prints something" test -n "$out"
  grep -q skua_channel_ "$program" || continue
  for driver in $drivers; do
    run_apart "$work/$name" "$driver"
    ok "$name: runs over $driver" test "$code" = 0 -o "$code" = 127
  done
  case " $drivers " in
  *" tcp "*)
    export SKUA_CHECKED_CHANNELS=1
    run_apart "$work/$name" tcp
    ok "$name: runs over tcp, checked" test "$code" = 0
    unset SKUA_CHECKED_CHANNELS
    ;;
  esac
done
ok "there are at least three programs" test "$count_programs" -ge 3

# Links to files exist.
for page in "$source"/*.md "$source"/docs/*/*.md; do
  for link in $(links_of "$page"); do
    ok "$(basename "$page") -> $link" test -e "$(dirname "$page")/$link"
  done
done

# Every option in the help of a tool is in its manual page.
for tool in skuarun "skua info" "skua bench" skuac; do
  page=${tool%% *}
  path=$build/tools/$page
  [ "$page" = skuac ] && path=$build/translator/skuac
  # shellcheck disable=SC2086 # the second word is an argument
  run "$path" ${tool#"$page"} --help
  for option in $(printf '%s\n' "$out" | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z][-a-z]*' |
                 sed 's/.*--/--/' | grep -v -e '^--help$' -e '^--version$'); do
    ok "$tool $option is in its manual page" \
      sh -c 'sed "s/\\\\//g" "$1" | grep -qF -- "$2"' sh "$source/docs/man/$page.1" "$option"
  done
done

# Commands name programs by a path, since the examples are not in PATH.
out=$(grep -nE 'skuarun( -[a-z]+ [^ ]+)* (hello|token|ring|fib|sort|jacobi|pi|halo|app)( |$)' "$source"/README.md "$source"/docs/guide/*.md || true)
ok "programs in commands have a path" test -z "$out"

tap_end
