#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds presets with warnings as errors and runs their tests; `clang` checks with its warnings the files
# of the release build, which comes before it:
#
#   scripts/check.sh [-j JOBS] release|checked|asan|tsan|debug|clang...
#
# clang, where it is installed, also compiles the preset `checked`, so that code of both compilers is
# tested; files that it has compiled there it does not check again.
#
# While the tests of a preset run, the next presets are built at low priority, because many tests wait
# more than they compute.  For the same reason, two more tests than CPUs run at a time.  The output of a
# background build is shown before its tests run; the first failure of a build or test ends the script.
# Tests that could not run on this machine are listed after each preset with their reasons.  The last lines
# say how long each preset took.
set -eu
cd "$(dirname "$0")/.."
only_build=no
if [ "${1:-}" = --build ]; then
  only_build=yes
  shift
fi
jobs=$(nproc 2>/dev/null || echo 2)
if [ "${1:-}" = -j ]; then
  jobs=$2
  shift 2
fi
[ $# -gt 0 ] || { echo "usage: scripts/check.sh [-j JOBS] PRESET..." >&2; exit 2; }

# Whether programs can be linked with an option: that of a sanitizer needs its library.
links()
{
  work=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$work/main.c"
  found=0
  "${CC:-cc}" "$1" -o "$work/main" "$work/main.c" 2>"$work/errors" || found=$?
  rm -rf "$work"
  return $found
}

# Whether a preset can be built and run here.
usable()
{
  case $1 in
    asan) links -fsanitize=address,undefined ;;
    tsan) links -fsanitize=thread ;;
    *)    true ;;
  esac
}

# Prints the options with which CMake configures a preset.
options_of()
{
  echo '-DSKUA_WERROR=ON -DSKUA_ONLY_TESTED=ON'
  case $1 in
    checked) # also tests that Skua needs none of the optional libraries
      echo '-DSKUA_OPTIONAL=OFF'
      if command -v clang >/dev/null; then
        echo '-DCMAKE_C_COMPILER=clang'
      fi ;;
    asan | tsan) # gold needs half of the time of the default linker
      if links -fuse-ld=gold; then
        echo '-DCMAKE_EXE_LINKER_FLAGS_DEBUG=-fuse-ld=gold'
      fi ;;
  esac
}

build()
{
  if [ "$1" = clang ]; then
    # shellcheck disable=SC2086 # no argument where it is empty
    scripts/check-clang.sh build/release "$jobs" $compiled_by_clang
    return
  fi
  # A folder that another compiler was used in is configured anew: CMake forgets the other options.
  if [ "$1" = checked ] && command -v clang >/dev/null &&
     ! grep -qs '^CMAKE_C_COMPILER:.*clang$' build/checked/CMakeCache.txt; then
    rm -rf build/checked
  fi
  options=$(options_of "$1")
  # shellcheck disable=SC2086 # options are words
  (set -x && cmake --preset "$1" $options && cmake --build --preset "$1" --parallel "$jobs")
}

# timed FILE COMMAND...: runs a command.  FILE gets its seconds, and the CPU seconds of its processes.
timed()
{
  file=$1
  shift
  began=$(date +%s)
  code=0
  (
    code=0
    "$@" || code=$?
    times >"$file.cpu" # its last line has the user and system time of ended processes, such as 1m2.34s
    exit $code
  ) || code=$?
  tail -n 1 "$file.cpu" | tr 'ms' '  ' | awk -v seconds=$(($(date +%s) - began)) \
    '{ printf "%d %.0f\n", seconds, 60 * $1 + $2 + 60 * $3 + $4 }' >"$file"
  rm -f "$file.cpu"
  return $code
}

# Prints one line for each preset, when all have succeeded.
summary()
{
  echo
  echo "preset       build  CPU time      tests  CPU time  number"
  for preset in $presets; do
    read -r wall cpu <"build/$preset.build_time"
    printf '%-9s %6d s  %6d s ' "$preset" "$wall" "$cpu"
    if [ -f "build/$preset.test_time" ]; then
      read -r wall cpu <"build/$preset.test_time"
      number=$(grep -cE '^[0-9]+/[0-9]+ Testing: ' "build/$preset/Testing/Temporary/LastTest.log" || true)
      printf ' %6d s  %6d s  %6s' "$wall" "$cpu" "$number"
    fi
    echo
  done
  seconds=$(($(date +%s) - started))
  echo "all: $((seconds / 60)) min $((seconds % 60)) s; builds in the background overlap with tests"
}

run_tests()
{
  code=0
  (set -x && ctest --preset "$1" --parallel $((jobs + 2))) || code=$?
  awk '/^[0-9]+\/[0-9]+ Test(ing)?: / { name = $NF }
       /^1\.\.0 # SKIP / { sub(/^1\.\.0 # SKIP /, ""); print "not run: " name ": " $0 }
       /^# .* not tested$/ { sub(/^# /, ""); print "not all run: " name ": " $0 }' \
    "build/$1/Testing/Temporary/LastTest.log"
  return $code
}

# The build folder of what clang compiles before the files of `clang`, if any.
compiled_by_clang=
case " $* " in
  *" checked "*" clang "*) compiled_by_clang=build/checked ;;
esac

presets=
for preset in "$@"; do
  if usable "$preset"; then
    presets="$presets $preset"
  else
    echo "$preset: programs cannot be linked with its sanitizer here: its tests were not run"
  fi
done
# shellcheck disable=SC2086 # names of presets are words
set -- $presets
[ $# -gt 0 ] || exit 0

# --build: builds the presets one after the other, until one fails.  build/PRESET.log has the output of
# each, build/PRESET.built its exit code.
if [ $only_build = yes ]; then
  for preset in "$@"; do
    code=0
    timed "build/$preset.build_time" build "$preset" >"build/$preset.log" 2>&1 || code=$?
    echo $code >"build/$preset.new"
    mv "build/$preset.new" "build/$preset.built"
    [ $code = 0 ] || exit $code
  done
  exit 0
fi

mkdir -p build
started=$(date +%s)
for preset in "$@"; do
  rm -f "build/$preset.built" "build/$preset.build_time" "build/$preset.test_time"
done
first=$1
timed "build/$first.build_time" build "$first"
shift
if [ $# -gt 0 ]; then
  setsid nice -n 10 sh scripts/check.sh --build -j "$jobs" "$@" &
  builder=$! # a session of its own: all of it is ended with this script
  trap 'kill -- "-$builder" 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM HUP
fi
[ "$first" = clang ] || timed "build/$first.test_time" run_tests "$first"

for preset in "$@"; do
  while [ ! -f "build/$preset.built" ] && kill -0 "$builder" 2>/dev/null; do
    sleep 1
  done
  cat "build/$preset.log"
  [ "$(cat "build/$preset.built" 2>/dev/null)" = 0 ]
  [ "$preset" = clang ] || timed "build/$preset.test_time" run_tests "$preset"
done
summary
