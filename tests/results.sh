#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# results.sh - every application prints one line that begins with "result", and the same one in equal
# runs.
#
# usage: results.sh SKUARUN APPS
. "$(dirname "$0")/tap.sh"
skuarun=$1
apps=$2
export SKUA_PIN=none SKUA_ARENA_SIZE=256m

# app NAME ARGUMENTS...
app()
{
  [ -x "$apps/$1" ] || return 0 # some need libraries
  name=$1
  shift
  run timeout 120 "$skuarun" -n 3 "$apps/$name" "$@"
  first=$(printf '%s\n' "$out" | grep '^result')
  ok "$name prints one line with its result" test "$code" = 0 -a "$(printf '%s\n' "$first" | grep -c '^result ')" = 1
  run timeout 120 "$skuarun" -n 3 "$apps/$name" "$@"
  ok "$name prints the same one again" test "$(printf '%s\n' "$out" | grep '^result')" = "$first"
}

app barneshut --particles=1000 --steps=3 --balance=2
app fft1d --side=120 --repeat=2
app fillboundary --side=8 --levels=3 --rounds=2 --exchanges=2 --repeat=1
app fmm --particles=3000 --error=1e-3 --leaf=25 --check=50
app gtcshift --particles=200 --domains=20 --steps=3 --repeat=1
app leanmd --size=3,3,3 --atoms=8 --steps=10
app lu --size=300 --block=16
app matmul3d --size=100 --steps=3 --repeat=1
app pairs --states=22 --grain=8 --planes=3 --points=20 --chunks=2 --steps=4 --repeat=1
app pingpong --iterations=5 --repeat=1
app randomaccess --log2=14
app stencil3d --size=12,20,8 --steps=9 --per-pe=2 --repeat=1
tap_end
