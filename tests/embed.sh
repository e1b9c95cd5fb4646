#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh - misuse of phases, processes that die during or between phases, and the example
# of a library that uses Skua.
#
# usage: embed.sh SKUARUN EMBED-MISUSE EXAMPLE EMBED
skuarun=$1
program=$2
example=$3
phases=$4
. "$(dirname "$0")/tap.sh"
export SKUA_PIN=none

# ---- calls that are refused; the program continues
run "$program" twice
ok "skua_init in a phase" has "$out" '^second: .*invalid'
ok "is reported" has "$err" 'skua_init: called in a phase'
ok "and the phase continues" has "$code $out" 'end: '
run env SKUA_ERRORS=fatal "$program" twice
ok "SKUA_ERRORS=fatal ends the job" test "$code" = 134
run "$program" after-main
ok "skua_init in skua_main" has "$out" '^within: .*invalid'
ok "skua_init after skua_main" has "$err" 'skua_init: this process cannot join a job again: skua_main'
run "$skuarun" -n 2 "$program" main-after
ok "skua_main after a phase" test "$code" = 0
run "$program" params
ok "parameters of a newer version" has "$err" 'compiled against a newer Skua'
ok "a setting that does not exist" has "$err" '"thread=2" is not a setting'
ok "a value that makes no sense" has "$err" 'SKUA_THREADS=x: expected a number of PEs'
ok "then a phase begins" has "$code $out" 'then: '
run "$program" version
ok "headers of another version" has "$err" 'compiled with headers of Skua [0-9.]+, but runs with library version'
ok "a program whose headers fit" has "$code $out" 'end: '

# ---- misuse that ends the job
misuse()
{
  run "$program" "$1"
  ok "$1: ends the program" test "$code" = 134
  ok "$1: is reported" has "$err" "$2"
}
misuse no-init 'skua_finalize: called without skua_init'
misuse in-handler 'aborted: skua_finalize: called in a handler'
misuse in-thread 'aborted: skua_finalize: called in a user thread'
misuse outside-pe 'skua_pe: called by a thread that is not a PE'
misuse outside-flush 'skua_flush_all: called outside of skua_main'
misuse register-within 'skua_handler_register."within".: handlers and other names are registered before'

# ---- processes that die
for share in 1 0; do
  export SKUA_SHARED_MEMORY=$share
  run timeout 60 "$skuarun" -n 3 "$program" die-in-phase
  ok "a death in the second phase ends the job (shared memory: $share)" test "$code" = 137
  ok "and is reported" has "$err" 'skuarun: PE [12] .process [12]. died of signal 9'
  run timeout 60 "$skuarun" -n 3 "$program" die-between
  ok "a death between phases ends the job" test "$code" = 137
  ok "and is reported" has "$err" 'skuarun: PE [12] .process [12]. died of signal 9'
  run timeout 60 "$skuarun" -n 3 "$program" exit-between
  ok "an exit between phases ends the job" test "$code" = 1
  ok "and is reported" has "$err" 'skuarun: PE [12] .* exited with code 0 between two phases; other processes have called skua_init'
done
unset SKUA_SHARED_MEMORY
run timeout 60 "$skuarun" -n 2 "$program" exit-within
ok "an exit in a phase" has "$code $err" '^1 skuarun: PE [01] .* exited with code 0 in a phase .*before it called skua_finalize'
run timeout 60 "$skuarun" -n 2 -s idle_report=0.5 -s idle_exit=1 "$program" sync-within
ok "a phase that does not end" has "$err" 'waits forever, as skua_exit.. was not called, nor skua_finalize.. by every process'
run env SKUA_EXIT_GRACE=0.2 timeout 60 "$skuarun" -n 2 "$program" long-after
ok "a program has all its time after a phase" has "$code $out" 'end: '
ok "and is not killed" test "$code" = 0

# ---- children of fork(), which are no PEs
for share in 1 0; do
  export SKUA_SHARED_MEMORY=$share
  run timeout 60 "$skuarun" -n 2 "$program" fork-nothing
  ok "a child ends without effect (shared memory: $share)" test "$code $(printf '%s\n' "$out" | grep -c 'end: ')" = "0 2"
  run timeout 60 "$skuarun" -n 2 "$program" fork-init
  ok "a child is in no phase" has "$code $out" 'child initialized: .*invalid'
  ok "and cannot begin one" has "$err" 'skua_init: this process cannot join a job again: it is a child of fork'
  for call in send flush finalize; do
    run timeout 60 "$skuarun" -n 2 "$program" fork-$call
    ok "$call of a child is refused" has "$code $err" 'skua_.*: called .*(child of fork|without skua_init)'
    ok "and the job continues" test "$code $(printf '%s\n' "$out" | grep -c 'end: ')" = "0 2"
  done
  run timeout 60 "$skuarun" -n 2 "$program" fork-crash
  ok "a child that crashes is not reported as a PE" eval '! has "$err" "signal 11"'
  ok "and the end of a PE later is" eval '[ "$code" = 134 ] && has "$err" "aborted: the end of PE"'
done
unset SKUA_SHARED_MEMORY

# ---- lines
run "$program" log-callback
ok "lines go to the callback" test "$(printf '%s\n' "$out" | grep -c '^logged 1: PE 0: skua_put: ')" = 2
ok "without it, to stderr" test "$(printf '%s\n' "$err" | grep -c '^skua: PE 0: error: skua_put: ')" = 1
ok "a fatal line, too" has "$out" '^last 0: PE 0: the end'

# ---- nothing stays behind: descriptors, threads, variables, signal handlers
for threads in 1 2; do
  run env SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp "$skuarun" -n 4 -t $threads "$phases" 3
  ok "phases over tcp, $threads PE(s) a process" test "$code" = 0
  run env SKUA_THREADS=$threads "$phases" 3
  ok "phases without a launcher, $threads PE(s)" test "$code" = 0
done

# ---- the example
run "$example"
ok "a library alone" test "$code $(printf '%s\n' "$out" | grep -cE 'step [123]: mean (499.5|999|1498.5)$')" = "0 3"
run env SKUA_THREADS=3 "$example"
ok "a library with three PEs" test "$code $(printf '%s\n' "$out" | grep -c 'step 2: mean 999$')" = "0 1"
run "$skuarun" -n 4 -t 2 "$example"
ok "a library under skuarun" test "$code $(printf '%s\n' "$out" | grep -c 'step 3: mean 1498.5$')" = "0 2"
tap_end
