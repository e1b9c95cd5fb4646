#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# barneshut.sh - the result of barneshut is that of its peer without the runtime, in all bits: on any
# number of PEs, in processes and threads, between processes that share no memory.
#
# usage: barneshut.sh SKUARUN BARNESHUT PLAIN "PES THREADS"...
. "$(dirname "$0")/tap.sh"
skuarun=$1
barneshut=$2
plain=$3
shift 3
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none

# The line of the result in $out.
result()
{
  printf '%s\n' "$out" | grep '^result '
}

# same TITLE PES THREADS: a job has the result $expected
same()
{
  run timeout 100 "$skuarun" -n "$2" -t "$3" "$barneshut" $case
  ok "$1, $2 PEs, $3 per process: $case" test "$code" = 0 -a "$(result)" = "$expected"
}

# A usual one; leaves and pieces of single particles; more particles in a leaf than in a piece of
# others; direct summation; particles that move far.
for case in '--particles=2000 --steps=3 --per-piece=100' \
  '--particles=200 --steps=2 --leaf=1 --per-piece=1' \
  '--particles=2 --steps=1' \
  '--particles=501 --steps=1 --theta=0 --leaf=20 --per-piece=20'; do
  run "$plain" $case
  ok "plain: $case" test "$code" = 0
  expected=$(result)
  for job; do
    same job $job
  done
done
tap_end
