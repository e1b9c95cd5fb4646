#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# misuse.sh - misuse of the interface ends the job with a line that names the call, with and without a
# launcher.
#
# usage: misuse.sh SKUARUN MISBEHAVE
skuarun=$1
. "$(dirname "$0")/tap.sh"
name_program "$2"
export SKUA_PIN=none
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

misuse()
{
  warned_misuse "$@"
  ok "$1: in one line" one_line "$err"
}

# Likewise, where another PE may warn before.
warned_misuse()
{
  run "$skuarun" -n 2 "$program" "$1"
  ok "$1: ends the job" test "$code" = 134
  ok "$1: reported" has "$err" "skuarun: PE [01] .*aborted: $2"
}
misuse unknown-pe 'skua_send: PE 99 does not exist; this job has PEs 0 to 1'
misuse unknown-handler 'skua_send_copy: handler 1234 was never registered'

# A handle that was declared and never registered is zero: every call reports it, with and without
# shared memory.
forgotten='a handler that was never registered .its id is 0.'
for apart in 1 0; do
  export SKUA_SHARED_MEMORY=$apart
  misuse forgot-send "skua_send: $forgotten"
  misuse forgot-send-copy "skua_send_copy: $forgotten"
  misuse forgot-send-prio "skua_send_copy_prio: $forgotten"
  misuse forgot-enqueue "skua_enqueue: $forgotten"
  misuse forgot-broadcast "skua_broadcast: $forgotten"
  misuse forgot-done "skua_done_send: $forgotten"
  misuse forgot-call 'skua_call: .*never registered'
done
unset SKUA_SHARED_MEMORY
misuse forgot-chare 'skua_chare_create: its class was never registered'
misuse forgot-seed 'skua_chare_create: its class was never registered'
misuse forgot-array 'skua_array_create1: its class was never registered'
misuse forgot-stream 'skua_stream_put: a stream that was never registered'
misuse forgot-data 'skua_pe_data_get: a key that was never registered'
misuse forgot-shared 'skua_process_data_get: a key that was never registered'
misuse forgot-entry 'skua_invoke_copy: thing .3. has no entry 0; skua_entry_register.. makes them'
misuse forgot-entry-all 'skua_invoke_all: there is no entry 0'
misuse forgot-done-entry 'skua_done_invoke: there is no entry 0'
misuse done-call-nothing 'skua_done_call: there is no function'
misuse register-nothing 'skua_handler_register."no function".: there is no function'
misuse register-no-name 'skua_handler_register: there is no name'
misuse class-no-name 'skua_class_register: the class has no name'
misuse method-no-function 'skua_method_register: entry run of class thing.* has no function'
misuse broadcast-nothing 'skua_broadcast: there is no message'
misuse reduce-nothing 'skua_allreduce: there are no data'
misuse reduce-swapped 'skua_allreduce: there is no unknown operator of type unknown type; the operator comes before the type'
misuse join-nothing 'skua_thread_join: there is no thread'
run "$program" forgot-send-copy
ok "a forgotten handler on one PE" has "$code $err" "^134 skua: PE 0 .*aborted: skua_send_copy: $forgotten"
misuse late-register 'skua_handler_register."too late".: handlers and other names are registered before skua_main'
misuse late-readonly 'skua_readonly_register."too late".: variables are registered before skua_program'
misuse consume-too-much 'skua_detector_consume: 5 items were consumed but only 4 produced'
misuse done-too-often 'skua_detector_done: called 2 times for 1 producers'
misuse start-twice 'skua_detector_start: this detector was started before'
misuse no-detector 'skua_detector_produce: .99, 1. is not a detector'
misuse free-stranger 'skua_msg_free: .* is not a message'
misuse unlock 'skua_mutex_unlock: the mutex is not locked'
misuse run-in-thread 'skua_run: called in a user thread'
misuse own-root 'earlier collective calls of SKUA_TEAM_ALL differ between rank [01] and rank [01]'
misuse bad-reduction 'skua_reduce: there is no bitwise and of type double'
misuse different-reduction 'collective call 1 differs between PEs: PE [01] calls skua_allreduce of 1 x (double by max|int32 by sum), PE [01] calls skua_allreduce of 1 x (double by max|int32 by sum); all PEs'
misuse barrier-or-reduce 'collective call 1 differs between PEs: PE [01] calls skua_(barrier|reduce of 1 x double by sum to PE 0), PE [01] calls skua_(barrier|reduce of 1 x double by sum to PE 0);'
misuse msg-immense 'a message of 18446744073709551615 bytes is larger than any memory'
misuse team-none 'skua_team_barrier: PE [01] is not a member of SKUA_TEAM_NONE; only members'
misuse team-root 'skua_team_broadcast: the root, rank 2, does not exist; SKUA_TEAM_ALL has ranks 0 to 1'
misuse team-overlap 'skua_team_allgather of SKUA_TEAM_ALL on PE [01]: input and output overlap'
misuse team-sizes 'skua_team_allgather, call 1 of SKUA_TEAM_ALL: rank [01] sends (8|12) bytes where rank [01] expects (8|12); members'
misuse team-calls 'collective call 1 of SKUA_TEAM_ALL differs between members: rank [01] calls skua_team_all(gather|toall), rank [01] calls skua_team_all(gather|toall); all members'
misuse team-split-calls 'collective call 1 of team 1[.][0-9]+ differs between members: rank [01] calls skua_team_(barrier|allreduce of int64 by sum), rank [01] calls skua_team_(barrier|allreduce of int64 by sum); all members'
misuse team-split-sizes 'skua_team_allgatherv, call 1 of team 1[.][0-9]+: rank [01] sends 8 bytes where rank [01] expects 12; members|earlier collective calls of team 1[.][0-9]+ differ between rank [01] and rank [01]'
misuse team-small-or-large 'skua_team_alltoall, call 1 of SKUA_TEAM_ALL: rank [01] sends [0-9]* bytes where rank [01] expects'
misuse team-large-or-small 'skua_team_broadcast, root 1, call 1 of SKUA_TEAM_ALL: rank 1 sends 65536 bytes where rank 0 expects 64; members'
export SKUA_SHARED_MEMORY=0
misuse team-pairs-or-direct 'skua_team_alltoall, call 1 of SKUA_TEAM_ALL: rank [01] sends 262144 bytes where rank [01] expects none of that size'
misuse team-roots 'collective call 1 of SKUA_TEAM_ALL differs between members: rank [01] calls skua_team_broadcast, root [01]'
unset SKUA_SHARED_MEMORY
misuse team-scan-more 'skua_team_scan of int64 by sum, call 1 of SKUA_TEAM_ALL: rank 0 sends (8|16) bytes where rank 1 expects (8|16); members'
misuse team-scan-less 'skua_team_scan of int64 by sum, call 1 of SKUA_TEAM_ALL: rank 0 sends (8|16) bytes where rank 1 expects (8|16); members'
misuse team-scan-or-gather 'collective call 1 of SKUA_TEAM_ALL differs between members: rank [01] calls skua_team_(scan of int64 by sum|allgather), rank [01] calls skua_team_(scan of int64 by sum|allgather); all members'
misuse team-no-operator 'skua_team_scan: there is no minloc of type double'
misuse unlock-untaken 'skua_unlock: lock 0 of PE 0 is not held'
misuse set-twice 'a future was set twice'
misuse newer-set 'skua_notify_wait_any: the skua_notify_set of the program has 72 bytes and that of this library 64; .*update the library'
misuse unset-set 'skua_notify_test_all: `size` of the skua_notify_set is not initialised'
misuse section-twice 'skua_section_create on PE 1: cell .3. is twice in the section'
misuse section-dims 'skua_section_create: .3, 4. has 2 dimensions, the indices of cell have 1'
misuse section-beyond 'a message from PE [01] to cell .99.: that object does not exist'
misuse section-stranger 'skua_section_contribute: cell .0. on PE 0 is not a member of section 1 of PE 1'
misuse section-unequal 'reduction 0 of section 1 of PE 1: .* contributes . x int32 for .*, but what came first, from PE [01], is . x int32'
misuse section-deleted 'skua_section_invoke of cell::give on PE 1: section 1 of PE 1 was destroyed'
misuse section-rebuilt-late 'skua_section_rebuild on PE 1: section 1 of PE 1 was destroyed'
misuse object-channel-none 'skua_object_channel_put: cell .* has no such end of channel 7'
misuse object-channel-no-kind 'skua_object_channel_create: cell .*: there is no kind of end 9; skua_channel_end_register'
misuse section-given-late 'skua_section_contribute: cell .5. on PE 1: section 1 of PE 1 was destroyed'
misuse section-unknown 'skua_section_destroy: 100000007 is not a section that was ever created'

# Channels in checked mode: the report names both PEs, the channel and the put.
export SKUA_CHECKED_CHANNELS=1
misuse channel-early 'channel ghost from PE 1 to PE 0: put 2 before the receiver was ready'
misuse channel-second 'channel ghost from PE 1 to PE 0: put 2 while put 1 is in flight'
misuse channel-size 'skua_channel_open: channel ghost from PE 1 to PE 0: the sender has 64 bytes, the channel 100'
misuse channel-freed 'channel ghost from PE 1 to PE 0: put 1 into memory that was freed'
misuse channel-deleted 'a channel from PE 1 to PE 0: put 1 after the receiver destroyed the channel'
misuse channel-source-freed 'channel ghost from PE 1 to PE 0: put 1 from memory that was freed'
misuse channel-changed 'channel ghost from PE 1 to PE 0: the data of zcopy put 1 were changed before the receiver released them'
misuse channel-no-view 'skua_channel_view: the channel was not created by skua_channel_create_view'
misuse channel-not-ours 'skua_channel_ready: the channel was not created on PE 1, which calls, or has been destroyed'
unset SKUA_CHECKED_CHANNELS

# Objects: the report names class, index and PE.
misuse poke-closed 'a message from PE 1 to thing::poke of thing .2.: that object does not exist'
misuse poke-deleted-open 'a message from PE 1 to thing::poke of thing .3.: that object was destroyed'
misuse poke-deleted 'a message from PE 1 to thing::poke of thing .19.: that object was destroyed'
misuse poke-deleted-chare 'a message from PE 1 to thing::poke of thing .0, 1, 0, 0.: that object was destroyed'
misuse poke-nobody 'a message from PE 1 to thing::poke of thing .20.: that object does not exist'
misuse poke-wrong-dims 'skua_invoke_copy: .3, 4. has 2 dimensions, the indices of thing have 1'
misuse poke-no-member 'skua_invoke_copy: there is no thing .7.; this job has 2 PEs in 2 processes'
misuse poke-no-entry 'skua_invoke_copy: thing .3. has no entry 4321; skua_entry_register.. makes them'
misuse poke-wrong-entry 'skua_invoke_copy: other::poke is not an entry of thing .3.'
misuse poke-no-array 'skua_invoke_copy: 4d00000000 is not a collection that was ever created'
misuse poke-deleted-array 'skua_invoke_all: a collection of thing that was destroyed'
misuse local-deleted 'skua_group_local: a collection of thing that was destroyed'
misuse contribute-twice 'thing .19. on PE 1 contributes to reduction 10000 of its collection while'
misuse contribute-sizes 'reduction 0 of thing: .* on PE [01] contributes [12] x double for sum, but what came first, from PE [01], is [12] x'
misuse contribute-ops 'reduction 0 of thing: .* on PE [01] contributes 1 x double for (sum|max), but what came first, from PE [01], is 1 x'
misuse array-negative 'skua_array_create1: dimension 1 of the array of thing has -5 elements'
misuse array-negative3 'skua_array_create3: dimension 2 of the array of thing has -1 elements'
newer='_def of the program has [0-9]* bytes and that of this library [0-9]*; the program was compiled against a newer Skua'
misuse array-newer "skua_array_create: the skua_array$newer"
misuse class-newer "skua_class_register: the skua_class$newer"
misuse stream-newer "skua_stream_register: the skua_stream$newer"
misuse insert-closed 'skua_array_insert: thing .20. is in no array that is open .SKUA_ARRAY_OPEN'
misuse insert-twice 'skua_array_insert: thing .5. exists already, and PE 1 inserts it once more'
misuse ask-nobody-waits 'skua_invoke: thing::ask of thing .19. returns a reply; skua_invoke_reply'
misuse wait-for-none 'skua_invoke_reply: thing::poke of thing .19. is not SKUA_ENTRY_SYNC'
misuse reply-to-nobody 'skua_reply: no entry that is SKUA_ENTRY_SYNC is running here'
misuse migrate-member 'skua_migrate: thing .1. is a member of a group, which does not move'
misuse delete-member 'skua_object_destroy: thing .1. is a member of a group, which is destroyed as a whole'
misuse write-late 'skua_program: read-only variable late was written after .begin. had waited'
misuse move-fixed 'skua_migrate: fixed .* cannot move: its class does not say how to pack it'
misuse sync-twice 'skua_at_sync: waiter .3. on PE [01] waits at sync point 1 already'
misuse sync-group 'skua_at_sync: waiter .1. on PE 1 is not an element of an array'
misuse sync-class 'skua_at_sync: fixed .2. on PE [01]: its class does not wait at sync points'
misuse strategy-unknown "skua_balance_set_strategy: there is no strategy 'gredy'; there are none, rotate"
misuse move-partly 'skua_pup_plain: it packs all of an object, not parts of partly'
export SKUA_CHECKED_PUP=0 # what follows would differ from what was packed already
misuse flow-frames 'pup of flowing .19.: the number of frames is invalid'
misuse flow-frame 'pup of flowing .19.: a frame is invalid'
misuse flow-waits 'pup of flowing .19.: a frame is invalid'
misuse flow-parent 'pup of flowing .19.: a frame is invalid'
misuse flow-message 'pup of flowing .19.: the length of a message is invalid'
misuse flow-none 'pup of flowing .19.: an absent message is invalid'
unset SKUA_CHECKED_PUP
misuse insert-elsewhere 'skua_array_insert: box .5. exists already'
misuse answer-to-nobody 'skua_done_invoke: box::ask returns a reply'
misuse create-mayfly 'a message from PE [01] to mayfly::here of mayfly .7.: that object was destroyed'
misuse create-nothing 'a message from PE 1 to mayfly::plain of mayfly .7.: that object does not exist'
misuse done-too-long 'skua_done_invoke: an index has 49 bytes, at most 48 are possible'
misuse contribute-at-end 'skua_contribute: bag .7. on PE 1 contributes while it is destroyed'
misuse contribute-deleted 'skua_contribute: sack .7. on PE 1 contributes while it is destroyed'
misuse contribute-moving 'skua_contribute: sack .7. on PE 1 contributes while it is destroyed'
warned_misuse contribute-ending 'skua_contribute: sack .5. on PE 1 contributes while it is destroyed'
misuse contribute-section 'skua_section_contribute: sack .7. on PE 1 contributes while it is destroyed'

run env CREATE_TWICE=1 "$program" exit-42
ok "an entry that creates both at home and here" has "$err" 'skua_method_register."both".: .* not at both'

run "$skuarun" -n 2 "$program" unknown-lock
ok "unknown-lock: reported" has "$err" 'aborted: skua_lock: PE 0 has no lock 7'

run "$program" unknown-pe
ok "also without a launcher" has "$code $err" '^134 skua: PE 0 \(process 0\) aborted: skua_send: PE 99'

# Calls that return a status: a line is logged, or the job ends with a backtrace.
beyond='skua_put: bytes 64 to 65 are outside of the 64 bytes'
run "$skuarun" -n 2 "$program" put-beyond
ok "put-beyond: the program continues" has "$code $out" '^0 got outside of the region'
ok "put-beyond: with a line" has "$err" "^skua: PE 1: error: $beyond"
run "$skuarun" -n 2 -s errors=fatal "$program" put-beyond
ok "errors=fatal: ends the job" has "$code $err" "^134 skuarun: PE 1 .*aborted: $beyond"
if [ "${SANITIZED:-}" = "" ]; then
  ok "errors=fatal: with a backtrace" has "$err" 'called from put_beyond'
fi
run env ON_ERROR=some "$skuarun" -n 2 "$program" put-beyond
ok "a callback is called" has "$out" '^told some: outside of the region in skua_put on PE 1$'
ok "before the line is logged" has "$code $err" "^0 skua: PE 1: error: $beyond"
run env ON_ERROR=all "$skuarun" -n 2 "$program" put-beyond
ok "a callback handles the error" test "$code$err" = 0
run env ON_ERROR=all "$skuarun" -n 2 -s errors=fatal "$program" put-beyond
ok "errors=fatal: a callback is called" has "$out" '^told all: .* in skua_put on PE 1, fatal'
ok "errors=fatal: the job ends nevertheless" has "$code $err" "^134 skuarun: PE 1 .*aborted: $beyond"
run env ON_ERROR=all "$skuarun" -n 2 "$program" unknown-pe
ok "a callback is called for calls without a status" has "$out" '^told all: invalid argument in skua_send on PE 1, fatal'
ok "and the job ends" has "$code $err" '^134 .*aborted: skua_send: PE 99'
run "$skuarun" -n 2 -s errors=maybe "$program" exit-42
ok "errors=maybe is rejected" has "$err" 'SKUA_ERRORS=maybe: expected status or fatal'

# A full arena: a status where the call returns one, else the end of the job.
run "$skuarun" -n 2 -s arena_size=64m "$program" fill-arena
ok "a full arena is a status" has "$code $out" '^0 out of memory after [0-9]+ messages'
ok "with a line that names the setting" has "$err" 'the arena is full: .* raise SKUA_ARENA_SIZE'
run "$skuarun" -n 2 -s arena_size=64m "$program" fill-arena-fatally
ok "or ends the job" has "$code $err" 'aborted: no memory for a message of 1000000 bytes.*SKUA_ARENA_SIZE'
run "$skuarun" -n 2 -s arena_size=100k "$program" exit-42
ok "an arena that is too small for anything" has "$code $err" '^2 .*SKUA_ARENA_SIZE=100k: expected auto or a size from 1m'

# Invalid settings: skuarun reports them and exits with 2.
wrong_setting()
{
  run "$skuarun" -n 2 -s "$1" "$program" exit-42
  ok "$1 is rejected" has "$code $err" "^2 skua: error: SKUA_[A-Z_]*=.*: expected $2"
}
wrong_setting arena_size=18446744073709551615 'auto or a size from 1m to 128t'
wrong_setting arena_size=99999999999999999999999 'auto or a size'
wrong_setting arena_size=0 'auto or a size'
wrong_setting pin=zz 'auto, none or a list of CPUs'
wrong_setting pin=3-1 'auto, none or a list of CPUs'
wrong_setting driver=pigeon 'auto, tcp, ucx, ofi or mpi'
wrong_setting ports=9-1 'any or a range of ports'
wrong_setting log_level=loud 'fatal, error, warn'
wrong_setting inbox_cells=3 'a power of two'
run env SKUA_PORTS=none "$program" exit-42
ok "a program without a launcher" has "$code $err" '^1 skua: error: SKUA_PORTS=none: expected any'

# Invalid values of SKUA_JOB.
run env SKUA_JOB=3,77,78,-1,0 "$program" exit-42
ok "a stale SKUA_JOB" has "$code $err" '^1 .*descriptor 77 is not an arena'
run env SKUA_JOB=nonsense "$program" exit-42
ok "an invalid SKUA_JOB" has "$code $err" '^1 .*is not what a launcher writes'
run env SKUA_JOB=9,3,4,0 "$program" exit-42
ok "a SKUA_JOB of another version" has "$code $err" '^1 .*another version of Skua'

tap_end
