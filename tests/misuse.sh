#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# misuse.sh - wrong use of the interface ends with a line that names it, with a
# launcher and without.
#
# usage: misuse.sh SKUARUN MISBEHAVE
skuarun=$1
. "$(dirname "$0")/tap.sh"
name_program "$2"
export SKUA_PIN=none
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

misuse()
{
  run "$skuarun" -n 2 "$program" "$1"
  ok "$1: ends the job" test "$code" = 134
  ok "$1: named" has "$err" "skuarun: PE [01] .*gave up: $2"
  ok "$1: in one line" one_line "$err"
}
misuse unknown-pe 'skua_send: PE 99 does not exist; this job has PEs 0 to 1'
misuse unknown-handler 'skua_send_copy: handler 1234 was never registered'
misuse late-register 'skua_register."too late".: handlers are registered before skua_main'
misuse late-readonly 'skua_readonly."too late".: variables are registered before skua_program'
misuse consume-too-much 'skua_detector_consume: 5 items were consumed but only 4 produced'
misuse done-too-often 'skua_detector_done: called 2 times for 1 producers'
misuse start-twice 'skua_detector_start: this detector was started before'
misuse no-detector 'skua_detector_produce: .99, 1. is no detector'
misuse free-stranger 'skua_msg_free: .* is no message'
misuse unlock 'skua_mutex_unlock: the mutex is not locked'
misuse run-in-thread 'skua_run: called in a user thread'
misuse bad-reduction 'skua_reduce: there is no bitwise and of type double'
misuse different-reduction 'collective call 1 differs between PEs'
misuse unlock-untaken 'skua_unlock: lock 0 of PE 0 is not taken'
misuse set-twice 'a future was set twice'
misuse no-element 'a message from PE 1 to box .12.: that object does not exist'
misuse deleted-element 'a message from PE 1 to .*box .3.: that object was deleted'
misuse wrong-dimensions 'skua_invoke_copy: .1, 2. has 2 dimensions, the indices of box have 1'
misuse wrong-class 'skua_invoke_copy: bag::put is no entry of box'
misuse insert-twice 'box .5. exists already'
misuse answer-to-nobody 'skua_done_invoke: box::ask gives an answer'
misuse contribute-at-end 'skua_contribute: bag .7. on PE 1 contributes while it is destroyed'

run "$skuarun" -n 2 "$program" unknown-lock
ok "unknown-lock: named" has "$err" 'gave up: skua_lock: PE 0 has no lock 7'

run "$program" unknown-pe
ok "without a launcher too" has "$code $err" '^134 skua: PE 0 \(process 0\) gave up: skua_send: PE 99'

# A full arena: a status for those who ask, a clear end for those who do not.
run "$skuarun" -n 2 -s arena_size=64m "$program" fill-arena
ok "a full arena is a status" has "$code $out" '^0 out of memory after [0-9]+ messages'
ok "with a line that names the setting" has "$err" 'the arena is full: .* raise SKUA_ARENA_SIZE'
run "$skuarun" -n 2 -s arena_size=64m "$program" fill-arena-fatally
ok "or ends the job" has "$code $err" 'gave up: no memory for a message of 1000000 bytes.*SKUA_ARENA_SIZE'
run "$skuarun" -n 2 -s arena_size=100k "$program" exit-42
ok "an arena that is too small for anything" has "$code $err" '^1 .*too small'

# Nothing to do and no skua_exit(): one PE is told.
"$program" wait >"$work/wait" 2>"$work/err" &
pid=$!
for _ in $(seq 400); do
  grep -q skua_exit "$work/err" && break
  sleep 0.05
done
ok "a lone PE that waits for ever says so" grep -q 'nobody called skua_exit' "$work/err"
kill -TERM $pid
wait $pid 2>/dev/null

# A program that was not started by the launcher it thinks it was.
run env SKUA_JOB=2,77,78,-1,0 "$program" exit-42
ok "a stale SKUA_JOB" has "$code $err" '^1 .*descriptor 77 is no arena'
run env SKUA_JOB=nonsense "$program" exit-42
ok "a senseless one" has "$code $err" '^1 .*is not what a launcher writes'
run env SKUA_JOB=9,3,4,0 "$program" exit-42
ok "one of another version" has "$code $err" '^1 .*another version of Skua'

tap_end
