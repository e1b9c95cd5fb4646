#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# killed.sh - jobs whose processes are killed in every phase of a run, many times in each job: start,
# compute, reduction, migration, balancing, checkpoint, recovery and exit (killer.c); sometimes two at
# once.  Applications and a test have the result of an undisturbed run.
#
# usage: killed.sh SKUARUN KILLER APPLICATIONS EXAMPLES TEST SEEDS KILLS [FIRST-SEED]
. "$(dirname "$0")/tap.sh"
skuarun=$1 killer=$2 apps=$3 examples=$4 test=$5 seeds=$6 kills=$7
first=${8:-1}
export SKUA_PIN=none

# phases COUNTS: how often each phase was hit, in one line.
phases()
{
  fold -w 1 "$work/killed" | sort | uniq -c | awk '{ printf "%s%s %d", n++ ? ", " : "", $2, $1 }'
}

# one SEED PES LETTERS PATTERN PROGRAM ARGUMENTS...: runs the job of a seed.  The result is the output
# that matches the pattern.
one()
{
  seed=$1 pes=$2 letters=$3 pattern=$4
  shift 4
  : >"$work/killed"
  run env KILLER="$seed $kills $pes $letters $work/killed" LD_PRELOAD="$killer" \
    timeout 100 "$skuarun" --survive=0.0001 -n "$pes" "$@"
  ok "${1##*/}, seed $seed: killed in $(phases)" \
    test "$code" -eq 0 -a "$(wc -c <"$work/killed")" -ge "$kills" -a "$(printf '%s\n' "$out" | grep -oE "$pattern" | sort -u)" = "$result"
}

# each LETTERS PATTERN PROGRAM ARGUMENTS...: runs the program undisturbed, and then with kills.
each()
{
  letters=$1 pattern=$2
  shift 2
  run timeout 100 "$skuarun" -n 3 "$@"
  result=$(printf '%s\n' "$out" | grep -oE "$pattern" | sort -u)
  ok "${1##*/} has a result" test "$code" -eq 0 -a -n "$result"
  for seed in $(seq "$first" $((first + seeds - 1))); do
    one "$seed" 3 "$letters" "$pattern" "$@"
  done
}

each SCRPKVX '^(result|step).*' "$test" none 40 due
each SCRPBKVX '^result.*' "$apps/leanmd" --size=3,3,3 --atoms=4 --steps=16 --balance=5 --migrate=10
each SRPBKVX '^result.*' "$apps/barneshut" --particles=300 --steps=6 --balance=2
each SRPKVX 'largest error.*' "$apps/stencil3d" --size=16,16,16 --blocks=2,2,4 --steps=12 --repeat=1 --pause=5
each SCKVX '.*below.*' "$apps/fft1d" --log2=8 --repeat=3
each SRPKVX '[0-9]+ steps|largest error.*' "$examples/jacobi" 3 4
tap_end
