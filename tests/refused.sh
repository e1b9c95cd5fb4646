#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# refused.sh - invalid one-sided calls are rejected with a line that names the call, the region and the
# PEs: at the origin, and at the target where only the target can detect the error.
#
# usage: refused.sh SKUARUN REFUSED DRIVERS...
skuarun=$1
program=$2
shift 2
. "$(dirname "$0")/tap.sh"
export SKUA_PIN=none UCX_TLS=tcp
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

says()
{
  ok "$what: $1" has "$err" "error: $1"
}

# Reports of the origin, wherever the target is.
calls()
{
  run "$skuarun" -n 2 "$@" "$program" calls
  ok "$what: the calls return" test "$code" = 0
  says 'skua_put_nb: there is no region 0'
  says 'skua_put: bytes 60 to 68 are outside of the 64 bytes that region 0x[0-9a-f]+ ."matrix", created by .*. has on PE 1'
  says 'skua_get: bytes 4000 to 4008 are outside of the 4000 bytes that region 0x[0-9a-f]+ .created by .*. has on PE 1'
  says 'skua_put_nb: a signal of 18446744073709551615 bytes at .* is not a message'
  says 'skua_region_create_from: 100 bytes at .* are not valid memory'
  says 'skua_region_create_from: 18446744073709551615 bytes at .* are not valid memory'
  says 'skua_region_set_name: there is no region 0'
  run "$skuarun" -n 2 "$@" "$program" call
  ok "$what: skua_call to a PE that does not exist" has "$code $err" '^134 .*aborted: skua_call: PE 99 does not exist; this job has PEs 0 to 1'
}

# Reports of a target that is accessed by active messages.
target()
{
  for verb in accumulate put; do
    says "a one-sided $verb of PE 0, at offset 0 of region 0x[0-9a-f]+ .\"vector\".*. on PE 1, refused: there is no such region"
  done
  for call in skua_acc skua_put_nb; do
    says "$call: PE 1 refused it, at offset 0 of region 0x[0-9a-f]+.*: there is no such region"
  done
}

what=near
calls
run "$skuarun" -n 2 "$program" calls
says 'skua_channel_open: the channel of PE 1 was destroyed'
says 'skua_channel_open: channel wide from PE 0 to PE 1: the sender has 8 bytes, the channel 16'
says 'skua_acc: there is no region 0x[0-9a-f]+ ."vector", created by .*. .freed already'
run "$skuarun" -n 2 -s backtrace=1 "$program" calls
if command -v addr2line >/dev/null; then
  ok "the source line that created a region" has "$err" 'region 0x[0-9a-f]+ ."matrix", created by make_calls at refused.c:'
fi

for driver in "$@"; do
  case $driver in mpi*) continue ;; esac # needs its own launcher
  what=$driver
  calls -s shared_memory=0 -s "driver=$driver"
  run "$skuarun" -n 2 -s shared_memory=0 -s "driver=$driver" "$program" calls
  target
  says 'skua_channel_open of PE 0 refused: PE 1 has no such channel'
  says 'skua_channel_open: PE 1 has no such channel: it was destroyed, or never created'
  says 'skua_channel_put: PE 1 has no such channel: it was destroyed, or never created'
  says 'skua_channel_open of PE 0 refused: the sender has 8 bytes, channel wide has 16'
  says 'skua_channel_open: the channel of PE 1 has 16 bytes, and was opened for another number of them'
  says 'skua_channel_put of PE 0 dropped: it has 8 bytes, channel wide has 16'
  says 'skua_channel_put: the channel of PE 1 has 16 bytes, and was opened for another number of them'
done

# Data that the network still reads.  A driver may have sent all data when the put returns; the driver
# tcp has not.
early='^134 .*PE 1 .*aborted: channel ghost from PE 0 to PE 1: the data of put 1 changed after skua_channel_put.. and before the put was locally complete'
twice='^134 .*aborted: skua_channel_put_then: the sender, of a channel to PE 1, has a completion that has not been performed yet'
for driver in "$@"; do
  case $driver in
  mpi*) continue ;;
  tcp) else=never ;;
  *) else='^[01] ' ;;
  esac
  run "$skuarun" -n 2 -s shared_memory=0 -s "driver=$driver" -s checked_channels=1 "$program" changed
  ok "$driver: data that changes too early" has "$code $err" "$early|$else"
  run "$skuarun" -n 2 -s shared_memory=0 -s "driver=$driver" "$program" then
  ok "$driver: two completions of a put" has "$code $err" "$twice|$else"
done
tap_end
