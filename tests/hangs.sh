#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# hangs.sh - a job that hangs reports for what each PE waits, on any number of PEs, on one host and
# between hosts; a job that is only idle for a while does not.
#
# usage: hangs.sh SKUARUN HANGS
. "$(dirname "$0")/tap.sh"
skuarun=$1
hangs=$2
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none SKUA_IDLE_REPORT=0.05 SKUA_IDLE_EXIT=1

# job PES THREADS CASE
job()
{
  title="$3 on $1 PEs, $2 per process${SKUA_SHARED_MEMORY:+, no shared memory}"
  run timeout 60 "$skuarun" -n "$1" -t "$2" "$hangs" "$3"
}

# hang PES THREADS CASE PATTERN...
hang()
{
  job "$1" "$2" "$3"
  ok "$title: ends" test "$code" = 1
  if [ "$1" = 1 ]; then
    ok "$title: reported" has "$err" 'the only PE is idle and nothing is in flight'
  else
    ok "$title: reported" has "$err" "all $1 PEs are idle and nothing is in flight"
  fi
  ok "$title: once" test "$(printf '%s\n' "$err" | grep -c 'nothing is in flight')" = 1
  shift 3
  for pattern; do
    ok "$title: $pattern" has "$err" "$pattern"
  done
}

# ends PES THREADS CASE
ends()
{
  job "$1" "$2" "$3"
  ok "$title: is no hang" test "$code" = 0 -a -z "$err"
}

future='waits in skua_future_wait, called in .*wait_for_future|waits in skua_future_wait, called in .*hangs'
held='5 messages are held for 1 objects that do not exist, such as cell .99.'
hang 1 1 future "PE 0: $future"
run timeout 60 "$hangs" future
ok "without a launcher" has "$code $err" '^1 .*the only PE is idle and nothing is in flight'
hang 2 1 nothing 'PEs 0-1: nothing waits there but the scheduler'
hang 4 1 future 'PE 0: nothing waits there' "PEs 1-3: $future"
hang 4 4 future "PEs 1-3: $future"
hang 4 2 thread 'PE 3: user thread worker waits in skua_counter_wait, called in'
hang 3 1 element "$held"
hang 1 1 quiescence '1 requests for quiescence wait, as messages are held'
hang 3 1 elements 'reduction 0 of cell waits for 1 of its . objects here, such as cell .3.'
hang 2 1 section 'reduction 0 of section 1 of PE 0 waits for 1 of its members here, such as cell .3.'
hang 4 1 pes 'PEs 0-2: waits in skua_future_wait' \
  'some PEs have made 1 calls of reductions and barriers, but PE 3 0'
hang 2 1 sync 'PE 0: waits in skua_sync, called in'
reduce='call 1 of reductions and barriers, skua_reduce of 1 x double by sum to PE'
gather='call 1 of SKUA_TEAM_ALL, skua_team_gather, root'
for threads in 1 2; do
  hang 2 $threads root "PE 0: $reduce 0, waits for other PEs" "PE 1: $reduce 1, waits for other PEs"
  hang 2 $threads team-root "PE 0: $gather 0, waits for other members" "PE 1: $gather 1, waits for other members"
done
hang 3 1 split 'PE 0: call 1 of team 0.[0-9]* .2 members: PEs 0, 2., skua_team_barrier, waits for other members'
hang 2 2 stream 'PE 0: stream items keeps 1 items until skua_stream_flush'
hang 1 1 when '3 objects of Sleeper wait, such as Sleeper .0. in Sleeper.run for note with reference number 7' \
  '.1 others have arrived, the first with reference number 3. and end'
for case in timer handler external callback ping; do
  ends 2 1 "$case"
  ends 2 2 "$case"
done

# Between hosts, and with progress threads.
export SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp
hang 3 1 future "PEs 1-2: $future"
hang 4 2 pes 'PEs 0-2: waits in skua_future_wait'
hang 2 1 element "$held"
for case in timer handler external callback ping; do
  ends 3 1 "$case"
done
job 2 1 send
ok "packets that take long are reported" has "$code $err" '^0 .*PE 0: warn: idle for [0-9.]* s while packets .* are in flight.*; this PE waits in skua_sync, called in'
ok "once" one_line "$err"
export SKUA_PROGRESS_THREAD=1
hang 4 2 future "PEs 1-3: $future"
ends 2 1 timer
tap_end
