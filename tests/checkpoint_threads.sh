#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint_threads.sh - a checkpoint contains user threads of elements; a restarted job continues them,
# on any number of PEs.  A checkpoint that could not be restored is refused.
#
# usage: checkpoint_threads.sh SKUARUN PROGRAM [fewer]
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skuarun=$1 program=$2
settings=--set=aslr=0

job 3 1 -- "$work/dir" stay
ok "a job whose threads are saved continues" test "$code" -eq 0
expected=$out
ok "with a result" has "$expected" '^result [0-9a-f]{16}$'
if [ "${3:-}" = fewer ]; then
  restarts 4 1 "" "" 4.1 3.1 5.1,shared_memory=0
else
  restarts 4 1 "" "" 4.1 4.4 4.2 1.1 3.1 7.7 40.20 4.1,shared_memory=0 5.1,shared_memory=0
  restarts 4 2 shared_memory=0 "" 4.2,shared_memory=0 6.2
  restarts 1 1 "" "" 1.1 2.1
fi
for threads in 1 2; do
  run timeout 60 "$skuarun" $settings --survive=100 -n 4 -t $threads --pin=none "$program" "$work/dir" die
  ok "4 PEs, $threads a process, go on when a process is killed" \
    test "$code" -eq 0 -a "$out" = "$expected"
done
run timeout 60 "$skuarun" $settings --survive=100 -n 4 --pin=none --set=shared_memory=0 "$program" "$work/dir" host
ok "4 hosts go on when one is lost" test "$code" -eq 0 -a "$out" = "$expected"

job 2 1 -- "$work/dir" stay stuck
ok "a thread that holds a mutex is refused, and the job continues" \
  test "$code" -eq 0 -a "$out" = "$expected"
ok "with the names of the thread and its object" \
  has "$err" "no checkpoint in .*: user thread stick of walker .6., in skua_future_wait.., cannot be saved: it holds a mutex"
restarts 2 1 "" "" 2.1
job 2 1 stack_size=256k restart="$work/dir" --
ok "a restart with other stacks is refused" test "$code" -ne 0
ok "which says what to set" \
  has "$err" "part program: a completion names a future .*needs the address range of stacks.*stack_size"
if [ "$(cat /proc/sys/kernel/randomize_va_space 2>/dev/null)" = 2 ]; then
  settings=
  job 2 1 restart="$work/dir" --
  ok "a restart at other addresses is refused" test "$code" -ne 0
  ok "which says what to do" has "$err" "its user threads need .*, which is loaded at another address here .*SKUA_ASLR=0"
  job 2 2 -- "$work/dir" stay stuck
  ok "a checkpoint of a process with random addresses is refused" \
    has "$err" "user thread .* cannot be saved: .*SKUA_ASLR=0"
fi
tap_end
