#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds presets with warnings as errors and runs their tests; `clang` checks with its warnings the files
# of the release build, which comes before it:
#
#   scripts/check.sh [-j JOBS] release|checked|asan|tsan|debug|clang...
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

# Whether programs can be linked with a sanitizer, which needs its library.
sanitizes()
{
  work=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$work/main.c"
  found=0
  "${CC:-cc}" "-fsanitize=$1" -o "$work/main" "$work/main.c" 2>"$work/errors" || found=$?
  rm -rf "$work"
  return $found
}

# Whether a preset can be built and run here.
usable()
{
  case $1 in
    asan) sanitizes address,undefined ;;
    tsan) sanitizes thread ;;
    *)    true ;;
  esac
}

build()
{
  if [ "$1" = clang ]; then
    scripts/check-clang.sh build/release "$jobs"
    return
  fi
  options='-DSKUA_WERROR=ON -DSKUA_ONLY_TESTED=ON'
  # The checked build also tests that Skua needs none of the optional libraries.
  [ "$1" != checked ] || options="$options -DSKUA_OPTIONAL=OFF"
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
