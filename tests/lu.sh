#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lu.sh - lu solves systems with every map, also with memory for one panel only, and reports if
# there is no solution.
#
# usage: lu.sh SKUARUN LU PES THREADS [memory]
#
# With "memory" two PEs also measure that.
. "$(dirname "$0")/tap.sh"
skuarun=$1
lu=$2
pes=$3
threads=$4
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none SKUA_ARENA_SIZE=256m

# solves CASE...: a job checks its solution
solves()
{
  run timeout 60 "$skuarun" -n "$pes" -t "$threads" "$lu" "$@"
  ok "$pes PEs, $threads per process: $*" has "$code: $(printf '%s\n' "$out" | grep '^result')" '^0: result lu: .* residual below 16: passed$'
}

# refuses TEXT CASE...: a job ends with an error that contains TEXT
refuses()
{
  text=$1
  shift
  run timeout 60 "$skuarun" -n "$pes" -t "$threads" "$lu" "$@"
  ok "refused: $*" has "$code $err" "$text"
}

awk -v pes="$pes" 'BEGIN { for (i = 0; i < 9; i++) { for (j = 0; j < 9; j++)
  printf "%d ", (i * i * 7 + i * j * 3 + j * 5) % pes; print "" } }' >"$work/map"
sed 5d "$work/map" >"$work/short"
echo "$pes" >"$work/many"

solves --size=150 --block=16
solves --size=200 --block=24 --map=cyclic --grid="$pes",1 --seed=2 --ahead=2
solves --size=131 --block=10 --map=snake
solves --size=131 --block=10 --map=snake --memory=0
solves --size=144 --block=12 --map=tiling --grid="$pes",1 --memory=0
solves --size=140 --block=16 --map-file="$work/map"
solves --size=1
if [ "$pes" = 1 ]; then
  run "$skuarun" -n 1 "$lu" --size=40 --dgemm
  ok "the rate of matrix products" has "$out" '^matrix products: [0-9.]+ GF/s on all PEs'
fi
solves --size=10 --block=1 --map=snake
if [ "$pes" = 4 ]; then
  solves --size=160 --block=16 --grid=2,2 --memory=0
  solves --size=160 --block=16 --map=tiling --grid=2,2 --rotate=1 --stride=2
fi
solves --size=300 --block=32 --cache=1
run "$skuarun" -n "$pes" -t "$threads" "$lu" --size=100 --times
ok "what the PEs spend their time on" has "$code: $out" '^0: seconds of a PE: products [0-9.]+ .*, solves [0-9.]+, panels'
if [ "$pes" = 2 ] && [ "${5:-}" ]; then # the memory of OpenBLAS does not grow with the cache
  run timeout 60 "$skuarun" -n 2 -t "$threads" "$lu" --size=2048 --cache=8192
  ok "memory within 1.3 of the matrix" has "$out" ' memory 1\.[012][0-9]* of the matrix'
fi
refuses "the matrix is singular: column 77 has no pivot" --size=100 --block=16 --zero-column=77
refuses "line 9, number 1 must be a PE" --size=140 --block=16 --map-file="$work/short"
refuses "line 1, number 1 must be a PE" --size=140 --block=16 --map-file="$work/many"
tap_end
