#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# connections.sh - processes that all talk to all others have one connection with each, also if both
# connect at the same time; and a number of descriptors that grows with the number of processes, not
# with that of PEs.  Without shared connections each pair of PEs has one.  It prints the times of start,
# exchange and end, which decide nothing.
#
# usage: connections.sh SKUARUN CONNECTIONS [PROCESSES [PES]]
skuarun=$1
. "$(dirname "$0")/tap.sh"
processes=${3:-12} pes=${4:-4}
export SKUA_PIN=none SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# One connection with each process, and a second one that may not be closed yet when another PE of the
# process counts; three descriptors for each PE, the progress thread and external threads; those of the
# program and the launcher.
others=$((processes - 1))
most=$((2 * others + 3 * (pes + 2) + 24))

# all_to_all SHARED PROGRAM MOST CONNECTIONS
all_to_all()
{
  run timeout 110 "$skuarun" -n $((processes * pes)) -t $pes -s shared_connections=$1 "$2" $3 \
    "$(date +%s.%N)" "$4"
  echo "# $processes processes of $pes PEs, shared_connections=$1: $out, $seconds s in all"
}

all_to_all 1 "$2" $most $others
ok "processes share connections: $others each, at most $most descriptors" [ "$code" = 0 ]
[ $processes -gt 32 ] || {
  all_to_all 0 "$2" 0 0
  ok "PEs have connections of their own" [ "$code" = 0 ]
  all_to_all auto "$2" 0 0
  ok "and by default all reach all" [ "$code" = 0 ]
}
run timeout 110 "$skuarun" -n 6 -s shared_connections=0 "$2" 0 0 5
ok "each pair of PEs has one connection" [ "$code" = 0 ]
tap_end
