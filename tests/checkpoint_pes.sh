#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# checkpoint_pes.sh - teams, and channels of the members of a group, are in a checkpoint; a collective
# under way is refused; what belongs to the PEs of the former job is refused by name.
#
# usage: checkpoint_pes.sh SKUARUN PROGRAM
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skuarun=$1 program=$2

restarts 4 1 "" "" 4.1 4.4 4.2
restarts 4 2 shared_memory=0 "" 4.2,shared_memory=0
restarts 1 1 "" "" 1.1
restarts 7 1 "" "" 7.1
run timeout 60 "$skuarun" --survive=100 -n 4 --pin=none "$program" "$work/dir" die
ok "4 PEs go on when a process is killed" test "$code" -eq 0 -a "$out" = "result 4"

restarts 4 1 "" reduce 4.1
job 4 1 -- "$work/reduce" reduce
ok "a collective of a team under way is refused, with the team" \
  has "$err" "team 2.[0-9]+ cannot be saved: 1 of its collectives have been called by some"
ok "one of all PEs, too" has "$err" "another number of collectives of SKUA_TEAM_ALL than PE 0"
ok "and a barrier" has "$err" "another number of reductions and barriers of all PEs"

rm -rf "$work/dir"
job 4 1 -- "$work/dir"
job 3 1 restart="$work/dir" --
ok "channels of a group are refused on another number of PEs, with its class" \
  has "$code $err" "^[1-9].*a group of class peer has a member with ends"
rm -rf "$work/dir"
job 4 1 -- "$work/dir" team
job 4 1 restart="$work/dir" --
ok "teams alone are restored" test "$code" -eq 0 -a "$out" = "result 4"
job 3 1 restart="$work/dir" --
ok "a team is gone on another number of PEs, and the error says so" \
  has "$code $err" "^[1-9].*not a member of team [0-9.]+; its job was restarted on another number of PEs"
rm -rf "$work/dir"
job 2 1 -- "$work/dir" channel
job 2 1 restart="$work/dir" --
ok "a channel of a PE is not taken for another after a restart" \
  has "$err" "skua_channel_ready: the channel was not created on PE 0.*before the restart is created anew"
tap_end
