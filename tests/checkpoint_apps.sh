#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint_apps.sh - applications that make checkpoints where they may, and are restarted from the
# last one on the same and on another number of PEs, print the result of an undisturbed run.
#
# usage: checkpoint_apps.sh SKUARUN APPLICATIONS EXAMPLES
. "$(dirname "$0")/tap.sh"
skuarun=$1 apps=$2 examples=$3

# app PROGRAM PATTERN ARGUMENTS...: the result is the output that matches the pattern.
app()
{
  program=$1 pattern=$2 name=${1##*/} dir=$work/${1##*/}
  shift 2
  run timeout 100 "$skuarun" -n 3 --pin=none "$program" "$@"
  result=$(printf '%s\n' "$out" | grep -oE "$pattern")
  ok "$name has a result" test "$code" -eq 0 -a -n "$result"
  run timeout 100 "$skuarun" -n 3 --pin=none --set=checkpoint_dir="$dir" \
    --set=checkpoint_every=0.0001 "$program" "$@"
  ok "with checkpoints it is the same" \
    test "$code" -eq 0 -a "$(printf '%s\n' "$out" | grep -oE "$pattern")" = "$result"
  for threads in 1 2; do
    run timeout 100 "$skuarun" -n $((4 - threads)) -t "$threads" --pin=none --set=restart="$dir" "$program"
    ok "restarted on $((4 - threads)) PEs, $threads a process, too" \
      test "$code" -eq 0 -a "$(printf '%s\n' "$out" | grep -oE "$pattern")" = "$result"
  done
}

app "$apps/leanmd" '^result.*' --size=3,3,3 --atoms=4 --steps=16 --balance=5 --migrate=10
app "$apps/barneshut" '^result.*' --particles=300 --steps=6 --balance=2
app "$apps/stencil3d" '^result.*' --size=16,16,16 --blocks=2,2,4 --steps=12 --repeat=1 --pause=5
# fft1d needs FFTW.
[ ! -e "$apps/fft1d" ] || app "$apps/fft1d" '^result.*' --log2=8 --repeat=3
app "$examples/jacobi" '[0-9]+ steps|largest error.*' 3 4
tap_end
