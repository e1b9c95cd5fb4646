#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shmem_misuse.sh - misuse of OpenSHMEM ends the job with an error that names the call, and a job that
# waits forever reports where, on one host and between processes that share no memory.
#
# usage: shmem_misuse.sh SKUARUN PROGRAM [tcp]
skuarun=$1
program=$2
. "$(dirname "$0")/../../../tests/tap.sh"
export SHMEM_SYMMETRIC_SIZE=1m
code=0 out='' err=''
spread=''
[ "${3-}" = tcp ] && spread='--set=shared_memory=0 --set=driver=tcp'

# misuse CASE SET ERROR: the job fails with this error
misuse()
{
  # shellcheck disable=SC2086
  run timeout 60 "$skuarun" -n 2 -t 1 --pin=none $2 "$program" "$1" </dev/null
  ok "misuse: $1" has "$([ "$code" != 0 ] && echo "$err$out")" "$3"
}

# shellcheck disable=SC2086
run timeout 60 "$skuarun" -n 2 -t 1 --pin=none $spread "$program" codes
ok "error codes of the standard" has "$code $out" '^0 the codes hold'
while IFS='|' read -r name error; do
  misuse "$name" "$spread" "$error"
done <<END
pe|shmem_long_p: PE 2 does not exist; the PEs are 0 to 1
beyond|shmem_putmem: 67108864 bytes at 0x[0-9a-f]+ on PE 0 reach beyond the end of symmetric memory
outside|shmem_putmem: 0x[0-9a-f]+ on PE 0 is not a symmetric address
END

# ---- both PEs wait forever: hangs CASE PE-0 PE-1, the routines in which they wait
all='all PEs wait in calls of OpenSHMEM and nothing is in flight: the job waits forever'
at='called by test_shmem_misuse\+0x[0-9a-f]+$'
while read -r name first second; do
  misuse "$name" "--set=idle_report=0.1 --set=idle_exit=1 $spread" "skua: PE 0: warn: $all"
  ok "$name: PE 0" has "$err" "skua: PE 0: warn:   PE 0: waits in $first, $at"
  ok "$name: PE 1" has "$err" "skua: PE 0: warn:   PE 1: waits in $second, $at"
done <<END
hang-wait shmem_long_wait_until shmem_barrier_all
hang-lock shmem_barrier_all shmem_set_lock
hang-end shmem_finalize shmem_long_sum_reduce
END
# shellcheck disable=SC2086
run timeout 60 "$skuarun" -n 2 -t 1 --pin=none --set=idle_report=0.1 --set=idle_exit=1 $spread "$program" no-hang
ok "a wait that is only long" test "$code$err" = 0
[ -n "$spread" ] && { tap_end; exit; }
while IFS='|' read -r name error; do
  misuse "$name" "" "$error"
done <<END
early|shmem_barrier_all: OpenSHMEM is not running
late|shmem_quiet: OpenSHMEM is not running
negative-pe|shmem_getmem: PE -1 does not exist
atomic-pe|shmem_long_atomic_inc: PE 7 does not exist
null|shmem_long_put: \(nil\) on PE 0 is not a symmetric address
overflow|shmem_long_put: [0-9]+ bytes at 0x[0-9a-f]+ on PE 0 reach beyond
stride|shmem_long_iput: [0-9]+ bytes at 0x[0-9a-f]+ on PE 0 reach beyond
backwards|shmem_long_iget: a stride of the remote side is -1 elements
aligned|shmem_long_atomic_add: 0x[0-9a-f]+ on PE 0 is not aligned to its 8 bytes
context|shmem_ctx_long_put: the context is SHMEM_CTX_INVALID
destroyed-context|shmem_ctx_destroy: the context has been destroyed
context-of-team|shmem_ctx_long_put: the context has been destroyed, or its team has
signal|shmem_putmem_signal: 99 is not a signal operation
comparison|shmem_long_wait_until: 99 is not a comparison
lock|shmem_clear_lock: the lock 0x[0-9a-f]+ is not held
free|shmem_free: 0x[0-9a-f]+ on PE 0 is not an allocation of the symmetric heap
double-free|shmem_free: 0x[0-9a-f]+ on PE [01] is not an allocation of the symmetric heap
team|shmem_team_destroy: a predefined team cannot be destroyed
root|shmem_long_broadcast: the root 2 does not exist; the PEs of the call are 0 to 1
active-set|shmem_barrier: 3 PEs from 0 on with a stride of 2 to the power of 0 are not an active set
END
export SHMEM_DEBUG=1
misuse allocation "" 'shmem_putmem: 520 bytes at 0x[0-9a-f]+ on PE 0 reach beyond the allocation of 512 bytes'
misuse freed "" 'shmem_long_p: 0x[0-9a-f]+ on PE [01] is in the symmetric heap, but in no allocation'
tap_end
