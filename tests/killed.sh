#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# killed.sh - jobs whose processes are killed in every phase of a run, many times in each job: start,
# compute, reduction, migration, balancing, checkpoint, recovery and exit (killer.c); sometimes two at
# once, with replacements and without, and agents.  Applications and a test have the result of an
# undisturbed run, and nothing is left.
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

# one SEED LETTERS PATTERN PROGRAM ARGUMENTS...: runs the job of a seed, on $pes PEs, in the way that $mode
# says (killer.c).  What matches the pattern is the result; each process was killed that is to be.
mode=replace pes=3 options=
one()
{
  seed=$1 letters=$2 pattern=$3
  shift 3
  : >"$work/killed"
  run env KILLER="$seed $kills $pes $letters $mode $work/killed" LD_PRELOAD="$killer" \
    timeout 100 "$skuarun" --survive=0.0001 -n "$pes" $options "$@"
  hit=$(($(wc -c <"$work/killed") - kills))
  case $letters in
  [=+]*) hit=$(($(tr -d + <"$work/killed" | wc -c) - ${#letters} + 1)) ;; # a second one may be none
  esac
  ok "${1##*/}, $mode $letters, seed $seed: killed in $(phases)" \
    test "$code" -eq 0 -a "$hit" -ge 0 -a "$(printf '%s\n' "$out" | grep -oE "$pattern" | sort -u)" = "$result"
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
    one "$seed" "$letters" "$pattern" "$@"
  done
}

each SCRPKVX '^(result|step).*' "$test" none 40 due
each SCRPBMKVX '^result.*' "$apps/leanmd" --size=3,3,3 --atoms=4 --steps=16 --balance=5 --migrate=10
each SRPBKVX '^result.*' "$apps/barneshut" --particles=300 --steps=6 --balance=2
each SRPKVX '^result.*' "$apps/stencil3d" --size=16,16,16 --blocks=2,2,4 --steps=12 --repeat=1 --pause=5
# fft1d needs FFTW.
[ ! -e "$apps/fft1d" ] || each SCKVX '^result.*' "$apps/fft1d" --log2=8 --repeat=3
each SRPKVX '[0-9]+ steps|largest error.*' "$examples/jacobi" 3 4

# Each phase in turn: a process, two at once, without replacements, and agents, whose losses leave a host
# (killer.c).  Objects migrate at each balancing.
export SKUA_DRIVER=tcp SKUA_DRIVER_PATH="$(dirname "$skuarun")/../drivers" SKUA_BALANCE=rotate
in_turn()
{
  mode=$1 pes=$2 options=$3 sequences=$4
  shift 4
  for letters in $sequences; do
    for seed in $(seq "$first" $((first + (seeds + 2) / 3 - 1))); do
      one "$seed" "$letters" "$pattern" "$@"
    done
  done
}

set -- "$apps/leanmd" --size=3,3,3 --atoms=4 --steps=32 --balance=3 --migrate=10
run timeout 100 "$skuarun" -n 3 "$@"
pattern='^result.*' result=$(printf '%s\n' "$out" | grep '^result')
in_turn replace 3 "" "=SCRPBMKVX +SCRPBMKVX" "$@"
in_turn fewer 7 --spare=0 "=SCRPB =MKVX +SCR +PBM +KVX" "$@"
in_turn agents 4 --set=shared_memory=0 "=CKSKR =PKBKM =KKVKX" "$@"

# Without --survive a process that is killed at a sync point, or while its elements migrate, ends the job.
for shared in 1 0; do
  for letter in B M; do
    : >"$work/killed"
    run env KILLER="$first 1 3 =$letter replace $work/killed" LD_PRELOAD="$killer" SKUA_SHARED_MEMORY=$shared \
      timeout 100 "$skuarun" -n 3 "$@"
    ok "shared_memory=$shared, killed in $(phases): the job ends, with the reason" \
      has "$code $(cat "$work/killed") $err" "^137 $letter skuarun: PE ([0-2]) .process \\1. died of signal 9"
  done
done

# none_lives: no process of these jobs is left, which all know the file of the killer.
none_lives()
{
  for _ in $(seq 100); do
    grep -lF "$work/killed" /proc/[0-9]*/environ 2>/dev/null | grep -q . || return 0
    sleep 0.1
  done
  return 1
}
ok "no process is left" none_lives
tap_end
