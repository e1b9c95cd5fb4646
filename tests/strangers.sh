#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# strangers.sh - a job over the network under unexpected input: foreign connections to its ports, forged
# packets, processes with different settings or programs, floods.
#
# usage: strangers.sh TESTS-FOLDER EXAMPLES-FOLDER DRIVER...
tests=$1
examples=$2
shift 2
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
code=0 out='' err=''
name_program "$tests/test_hosts_probe"

mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
if [ -z "$mpirun" ] || ! "$mpirun" --version 2>/dev/null | grep -qE "Open MPI|OpenRTE"; then
  echo "1..0 # SKIP no mpirun of Open MPI"
  exit 0
fi
export SKUA_SHARED_MEMORY=0 UCX_TLS=tcp SKUA_DRIVER=

# apart N PROGRAM...: run it in processes that share no memory
apart()
{
  n=$1
  shift
  run timeout -k 5 60 "$mpirun" --oversubscribe --bind-to none -n "$n" "$@"
}

# listening N: wait until the job listens on N ports; the limit is that of apart().  Nothing is done
# between this and the caller's next step, so that a flood meets PEs that are connecting to each other.
listening()
{
  end=$(( $(date +%s) + 50 ))
  until [ "$("$tests/test_stranger" list "$name" 0 | grep -c .)" -ge "$1" ] || [ "$(date +%s)" -ge $end ]; do
    sleep 0.02
  done
}

# ---- for each driver ------------------------------------------------

at_the_ports()
{
  (listening 9
   "$tests/test_stranger" list "$name" 0 >"$work/ports"
   "$tests/test_stranger" disturb "$name" 3 7 >"$work/visits"
   : >"$work/over") &
  stranger=$!
  apart 3 "$program" ask 50 "$work/over"
  wait $stranger
  rm -f "$work/over"
  ok "$driver: a job survives foreign connections ($(cat "$work/visits"))" \
    has "$code $out" 'all balls have returned'
  ok "$driver: a job on one host listens on loopback only" \
    test "$(sort -u "$work/ports")" = 127.0.0.1
}

# Far more connections than a process has descriptors, while PEs connect to each other: some of them
# hang up, some stay silent.  Only tcp rejects connections before they use descriptors up; UCX and
# libfabric accept them all, so for these the limit is one that the runtime can raise.
flooded()
{
  (listening 1
   "$tests/test_stranger" flood "$name" 2 >"$work/flood"
   "$tests/test_stranger" list "$name" 0 >"$work/ports"
   : >"$work/over") &
  stranger=$!
  limit=-S
  [ "$driver" = tcp ] && limit=
  # shellcheck disable=SC2086
  apart 3 sh -c "ulimit $limit -n 256"'; exec "$@"' sh "$program" ask 50 "$work/over"
  wait $stranger
  rm -f "$work/over"
  ok "$driver: a job that starts with 256 descriptors survives a flood ($(cat "$work/flood"))" \
    has "$code $out" 'all balls have returned'
  ok "$driver: and its three processes still listen for peers" \
    test "$(grep -c . "$work/ports")" -ge 9
}

# The runtime uses no shared-memory file system, so nothing can remain there.
segments()
{
  ls /dev/shm | grep -E '^(ucx|skua)' # other files may belong to other jobs
}

killed()
{
  shared=$(segments)
  (listening 1
   ls /dev/shm >"$work/during"
   for pid in $(pgrep -x "$name"); do kill -9 "$pid"; done) &
  killer=$!
  (unset UCX_TLS; apart 2 "$program" ask 20)
  wait $killer
  ok "$driver: has no segments of shared memory" test -z "$(grep ucx_ "$work/during")"
  ok "$driver: and leaves none when it is killed" test "$(segments)" = "$shared"
}

# Messages that the receiver does not accept stay in the arena of the sender.  The second and the third
# flood are three times as much as the arena holds.
too_much_at_once()
{
  SKUA_ARENA_SIZE=1g apart 3 "$program" flood 200000 100 "$work/flood.$driver"
  ok "$driver: a computing receiver gets all messages later" has "$code $out" 'the flood is over'
  ok "$driver: and does not delay messages to others" has "$out" '^others are reached'
  ok "$driver: the sender makes no copies" has "$out" '^the sender has grown by [0-9] MiB'
  ok "$driver: the receiver makes no copies" has "$out" '^the receiver has grown by [0-2]?[0-9] MiB'
  SKUA_ARENA_SIZE=64m apart 2 "$program" flood 200000 1000
  ok "$driver: a sender that would fill the arena waits" has "$code $out" 'the flood is over'
  SKUA_BACKPRESSURE=1t SKUA_ARENA_SIZE=64m apart 2 "$program" flood 200000 1000
  ok "$driver: a full arena is reported" has "$err" 'PE 1.*: the arena is full; raise SKUA_ARENA_SIZE'
  ok "$driver: and ends the job" test "$code" != 0
}

settings()
{
  SKUA_NET_INTERFACES=nosuch0 apart 2 "$examples/token"
  ok "$driver: an interface that does not exist" has "$code $err" 'can reach other hosts \(.* nosuch0'
  SKUA_PORTS=45000-45001 apart 2 "$examples/token"
  ok "$driver: too few ports" has "$code $err" '45000-45001'
  ok "$driver: which ends the job ($seconds s)" test "$code $((seconds < 25))" = "1 1"
  SKUA_PORTS=many apart 2 "$examples/token"
  ok "$driver: an invalid range of ports" has "$err" 'SKUA_PORTS=many: expected any or a range of ports'
}

# ---- for drivers with one-sided operations ----------------------

unregistered()
{
  export SKUA_DRIVER_PATH="$tests/faulty" SKUA_RMA=1 SKUA_RMA_THRESHOLD=1 SKUA_TEST_FAULT
  for SKUA_TEST_FAULT in register some keys; do
    apart 2 "$tests/test_onesided" 50
    ok "$driver: the program succeeds with the fault: $SKUA_TEST_FAULT" test "$code" = 0
    [ $SKUA_TEST_FAULT = keys ] && continue
    ok "$driver: region and PE are reported" has "$err" \
      'of region 0x[0-9a-f]+( [^ ].*)? on PE [01].*the adapter has no more entries.*use active messages'
    ok "$driver: once by each process" test "$(printf '%s\n' "$err" | grep -c 'use active messages')" -le 2
  done
  unset SKUA_DRIVER_PATH SKUA_RMA SKUA_RMA_THRESHOLD SKUA_TEST_FAULT
}

# A host with memory for fewer regions.
uneven()
{
  SKUA_LOG_LEVEL=fatal apart 1 -x SKUA_ARENA_SIZE=256m "$tests/test_uneven" 300 600000 : \
    -n 1 -x SKUA_ARENA_SIZE=64m "$tests/test_uneven" 300 600000
  ok "$driver: regions that one PE cannot create" has "$code $out" '^0 nothing remains of 300 regions'
}

# ---- independent of the driver: tested with tcp, which is always there -------

forged()
{
  apart 2 "$tests/test_forger" packets
  ok "$driver: forged packets are counted and dropped" has "$code $out" '13 of 13 wrong packets'
  ok "$driver: and reported" has "$err" 'was dropped: its sender does not know the secret'
  apart 2 "$tests/test_forger" addresses
  ok "$driver: addresses that PE 0 never gave are not used" \
    has "$code $out" '^0 ([0-9]+) of \1 wrong packets'
  ok "$driver: and reported" has "$err" 'a completion that came from PE 1 was dropped'
  SKUA_LOG_LEVEL=fatal apart 2 "$tests/test_forger" requests
  ok "$driver: invalid requests do no harm" test "$code" = 0
}

two_programs()
{
  apart 1 "$examples/token" : -n 1 "$examples/hello"
  ok "$driver: two programs" has "$err" 'process [01] runs another program, or another build of it: its handler [0-9]+ is "[a-z.]+", that of this process is "[a-z.]+"'
}

for driver in "$@"; do
  case $driver in tcp | ucx | ofi) ;; *) continue ;; esac
  SKUA_DRIVER=$driver
  at_the_ports
  if [ "$driver" = tcp ]; then
    ok "$driver: a rejected connection is reported" has "$err" \
      'a connection from 127.0.0.1 was refused: it does not know the secret of the job'
    forged
    two_programs
  else
    unregistered
  fi
  flooded
  [ "$driver" = ucx ] && killed
  too_much_at_once
  uneven
  settings
done

SKUA_DRIVER=nosuch apart 2 "$examples/token"
ok "a driver that does not exist" has "$err" 'SKUA_DRIVER=nosuch: expected auto, tcp'
SKUA_DRIVER=auto SKUA_DRIVER_PATH=/nonexistent apart 2 "$examples/token"
ok "a path without drivers" has "$err" 'no driver can reach other hosts \([a-z]+: .* was not found in the folder that SKUA_DRIVER_PATH names'
if has "$*" ucx; then
  apart 1 -x SKUA_DRIVER=tcp "$examples/token" : -n 1 -x SKUA_DRIVER=ucx "$examples/token"
  ok "two drivers" has "$err" 'process [01] uses the driver (tcp|ucx), this one (tcp|ucx)'
fi
ok "no process is left" none_left
tap_end
