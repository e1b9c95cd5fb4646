#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# barneshut.sh - the result of barneshut is bit-identical to that of its peer without the runtime, on any
# number of PEs, in processes and threads, with and without balancing.
#
# usage: barneshut.sh SKUARUN BARNESHUT PLAIN "PES THREADS"...
. "$(dirname "$0")/tap.sh"
skuarun=$1
barneshut=$2
plain=$3
shift 3
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none

# Prints the result line of $out.
result()
{
  printf '%s\n' "$out" | grep '^result '
}

# same PES THREADS: a job has the result $expected
same()
{
  run timeout 100 "$skuarun" -n "$1" -t "$2" "$barneshut" $case
  ok "$1 PEs, $2 per process${SKUA_BALANCE:+, $SKUA_BALANCE}: $case" \
    test "$code" = 0 -a "$(result)" = "$expected"
}

# compare CASE "PES THREADS"...
compare()
{
  case=$1
  shift
  run "$plain" $case
  ok "plain: $case" test "$code" = 0
  expected=$(result)
  for job; do
    same $job
  done
}

compare '--particles=2000 --steps=3 --per-piece=100' "$@"
compare '--particles=200 --steps=2 --leaf=1 --per-piece=1' "$@"           # single particles
compare '--particles=2 --steps=1' "$@"                                    # fewer than PEs
compare '--particles=501 --steps=1 --theta=0 --leaf=20 --per-piece=20' "$@" # direct summation
for SKUA_BALANCE in rotate orb; do
  export SKUA_BALANCE
  compare '--particles=1500 --steps=4 --balance=1 --per-piece=60 --dt=0.02' "$@"
done
tap_end
