#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint_state.sh - a checkpoint contains regions with their contents and object channels; a restarted
# job continues with them.
#
# usage: checkpoint_state.sh SKUARUN PROGRAM
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skuarun=$1 program=$2

job 3 1 -- "$work/dir" stay
ok "a job that makes a checkpoint continues" test "$code" -eq 0 -a "$out" = "result 3"
restarts 4 1 "" "" 4.1 4.4 4.2
restarts 4 2 shared_memory=0 "" 4.2,shared_memory=0
restarts 1 1 "" "" 1.1
restarts 4 1 "" other 4.1 3.1 7.1 1.1 4.1,shared_memory=0 5.1,shared_memory=0
for threads in 1 2; do
  run timeout 60 "$skuarun" --survive=100 -n 4 -t $threads --pin=none "$program" "$work/dir" die
  ok "4 PEs, $threads a process, go on when a process is killed" \
    test "$code" -eq 0 -a "$out" = "result 4"
done
run timeout 60 "$skuarun" --survive=100 -n 4 --pin=none --set=shared_memory=0 "$program" "$work/dir" host
ok "4 hosts go on when one is lost, whose pieces another has read" \
  test "$code" -eq 0 -a "$out" = "result 4"
rm -rf "$work/dir"
job 4 1 -- "$work/dir"
job 3 1 restart="$work/dir" --
ok "another number of PEs is refused" test "$code" -ne 0
ok "with the name of a region, and what to do" \
  has "$err" "region 0x[0-9a-f]+ .whole.: its pieces are those of another number of PEs; restart on that number"
tap_end
