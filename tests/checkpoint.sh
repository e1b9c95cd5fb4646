#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint.sh - a program that is restarted from a checkpoint, on the same or another number of PEs,
# has the result of an undisturbed run.
#
# usage: checkpoint.sh SKUARUN PROGRAM REFUSED
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skuarun=$1 program=$2 refused=$3

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

# Another program, with the same files; a directory without a checkpoint.
run timeout 60 "$skuarun" -n 1 --pin=none --set=restart="$work/dir" "$refused" "$work/refused"
ok "another program is refused, with the first name that differs" \
  has "$err" "restart from .*/dir on PE 0: the image of PE 0, part program: it is of another program: that has "
run timeout 60 "$skuarun" -n 1 --pin=none --set=restart="$work/nothing" "$program"
ok "so is a directory that does not exist" test "$code" -ne 0
ok "with its name" has "$err" "restart: $work/nothing"

for threads in 1 4; do
  run timeout 60 "$skuarun" -n 4 -t $threads --pin=none "$refused" "$work/refused"
  ok "what cannot be saved is refused, and the program continues" test "$code" -eq 0
  ok "an object is named" has "$err" "rock \\(0, 0, 0, 0\\) cannot be saved: its class has no .pup"
  ok "a user thread is named" has "$err" "user thread waiter cannot be saved"
  ok "a reduction is named" has "$err" "reduction 0 of item, which is under way, cannot be saved"
  ok "a section is named" has "$err" "reduction 0 of section 1 of PE 0, which is under way, cannot be saved"
  ok "a directory is named" has "$err" "no checkpoint in /dev/null/there"
done
tap_end
