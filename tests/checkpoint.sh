#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint.sh - a program that is restarted from a checkpoint, on the same or another number of PEs,
# has the result of an undisturbed run.
#
# usage: checkpoint.sh SKUARUN PROGRAM
. "$(dirname "$0")/tap.sh"
skuarun=$1 program=$2

# job PES THREADS [NAME=VALUE ...] -- ARGUMENTS: runs the program.
job()
{
  pes=$1 threads=$2
  shift 2
  set=
  while [ "$1" != -- ]; do
    set="$set --set=$1"
    shift
  done
  shift
  # shellcheck disable=SC2086
  run timeout 60 "$skuarun" -n "$pes" -t "$threads" --pin=none $set "$program" "$@"
}

# A checkpoint of PES PEs, then a restart on each of the given numbers.
restarts()
{
  from=$1 by=$2
  shift 2
  rm -rf "$work/dir"
  mkdir "$work/dir"
  job "$from" "$by" -- "$work/dir" 8 4 stop
  ok "$from PEs, $by a process, stop after a checkpoint" test "$code" -eq 0
  for to in "$@"; do
    job "${to%.*}" "${to#*.}" restart="$work/dir" --
    ok "they go on as ${to%.*}, ${to#*.} a process" test "$code" -eq 0 -a "$out" = "$result"
  done
}

job 3 1 -- "$work" 8
result=$out
ok "an undisturbed run has a result" test "$code" -eq 0
mkdir "$work/dir"
job 3 1 -- "$work/dir" 8 4
ok "a run that makes a checkpoint has that result" test "$code" -eq 0 -a "$out" = "$result"
restarts 4 1 4.1 1.1 2.1 3.3 7.2 4.4
restarts 4 4 4.4 7.1 3.2
restarts 1 1 4.1 1.1
restarts 7 2 7.2 2.2
tap_end
