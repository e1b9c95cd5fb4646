#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds a preset with warnings as errors and runs its tests:
#
#   scripts/check.sh release|checked|asan|tsan|debug [JOBS]
#
# There are two tests more at a time than CPUs, since some tests wait more than they compute.  Those
# that could not run here are listed at the end with their reasons.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=${2:-$(nproc 2>/dev/null || echo 2)}
options=-DSKUA_WERROR=ON

# Whether programs can be linked with a sanitizer: not where its library is not installed.
sanitizes()
{
  work=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$work/main.c"
  "${CC:-cc}" "-fsanitize=$1" -o "$work/main" "$work/main.c" 2>"$work/errors"
  found=$?
  rm -rf "$work"
  return $found
}

case "$preset" in
  asan) sanitizer=address,undefined ;;
  tsan) sanitizer=thread ;;
  *)    sanitizer= ;;
esac
if [ -n "$sanitizer" ] && ! sanitizes $sanitizer; then
  echo "$preset: programs cannot be linked with -fsanitize=$sanitizer here: its tests were not run"
  exit 0
fi

# The checked build is also the one that shows that Skua needs none of the optional libraries.
[ "$preset" != checked ] || options="$options -DSKUA_OPTIONAL=OFF"

set -x
# shellcheck disable=SC2086 # options are words
cmake --preset "$preset" $options
cmake --build --preset "$preset" --parallel "$jobs"
{ set +x; } 2>/dev/null
code=0
(set -x && ctest --preset "$preset" --parallel $((jobs + 2))) || code=$?
awk '/^[0-9]+\/[0-9]+ Test(ing)?: / { name = $NF }
     /^1\.\.0 # SKIP / { sub(/^1\.\.0 # SKIP /, ""); print "not run: " name ": " $0 }
     /^# .* not tested$/ { sub(/^# /, ""); print "not all run: " name ": " $0 }' \
  "build/$preset/Testing/Temporary/LastTest.log"
exit $code
