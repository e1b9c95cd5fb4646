#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint_sections.sh - a checkpoint contains reductions of sections that are in progress; a restarted job
# completes them.
#
# usage: checkpoint_sections.sh SKUARUN PROGRAM
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skuarun=$1 program=$2

job 3 1 -- "$work/dir" stay
ok "a job that makes a checkpoint continues" test "$code" -eq 0
expected=$out
ok "with a result" has "$expected" '^result [0-9a-f]{16}$'
restarts 4 1 "" "" 4.1 3.1 1.1
restarts 4 2 "" move 4.2 7.1 5.1,shared_memory=0
restarts 2 1 "" rebuild 2.1 4.4
run timeout 60 "$skuarun" --survive=100 -n 4 -t 2 --pin=none "$program" "$work/dir" die move
ok "4 PEs go on when a process is killed" test "$code" -eq 0 -a "$out" = "$expected"
all=$expected
job 3 1 -- "$work/dir" stay leave
ok "a job whose members are deleted has a result" has "$code $out" '^0 result [0-9a-f]{16}$'
expected=$out
restarts 4 1 "" "move leave" 4.1 4.1 4.2 7.1 4.1,shared_memory=0
restarts 7 1 "" "move leave" 7.1 7.1 7.7
expected=$all
job 2 1 -- "$work/dir" stay callback
ok "a reduction whose result goes to a function is refused, and the job continues" \
  test "$code" -eq 0 -a "$out" = "$expected"
ok "with the name of the section" \
  has "$err" "reduction 1 of section 1 of PE 0, which is under way, cannot be saved: its result goes to"
tap_end
