#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# crowded.sh - every example ends when all of its PEs share one CPU, as processes and as threads.  Code
# that makes progress only while several PEs run at once hangs here.
#
# usage: crowded.sh SKUARUN EXAMPLES
. "$(dirname "$0")/tap.sh"
skuarun=$1
examples=$2
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
if ! command -v taskset >/dev/null; then
  echo "1..0 # SKIP taskset is not installed"
  exit 0
fi
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')

crowded()
{
  example=$1
  shift
  for job in '2 1' '4 1' '4 4'; do
    # shellcheck disable=SC2086
    set -- "${job% *}" "${job#* }" ${arguments:-}
    pes=$1
    threads=$2
    shift 2
    run timeout 60 taskset -c "$cpu" "$skuarun" -n "$pes" -t "$threads" --pin=none \
      "$examples/$example" "$@"
    ok "$example on $pes PEs, $threads per process, on one CPU" test "$code" = 0
  done
}

arguments=''
for example in hello halo token tour jacobi; do
  crowded "$example"
done
arguments=1000000
crowded pi
arguments=100
crowded ring
crowded ring-plain
arguments=20000
crowded sort
crowded sort-plain

# The first seed of a job is placed on a random PE, so the job is repeated.
arguments=16
for round in 1 2 3 4 5; do
  crowded fib
  crowded fib-plain
done
tap_end
