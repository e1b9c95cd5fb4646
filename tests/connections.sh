#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# connections.sh - processes that all talk to all others have one connection with each, also if both
# connect at the same time; and a number of descriptors that grows with the number of processes, not
# with that of PEs.  Without shared connections each pair of PEs has one.  It prints the times of start,
# exchange and end, which decide nothing unless SECONDS says how long start and end may take together.
#
# usage: connections.sh SKUARUN CONNECTIONS [PROCESSES [PES [SECONDS]]]
skuarun=$1
. "$(dirname "$0")/tap.sh"
processes=${3:-12} pes=${4:-4} bound=${5:-}
limit=110
if [ $processes -gt 32 ]; then
  limit=600
  export SKUA_EXIT_GRACE=60 # many processes that end on few CPUs
fi
export SKUA_PIN=none SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# One connection with each process, and a second one that may not be closed yet when another PE of the
# process counts; three descriptors for each PE, the progress thread and external threads; those of the
# program and the launcher.
others=$((processes - 1))
most=$((2 * others + 3 * (pes + 2) + 24))

# all_to_all SHARED PROGRAM MOST CONNECTIONS: sets $apart, the seconds of start and end
all_to_all()
{
  from=$(date +%s.%N)
  run timeout $limit "$skuarun" -n $((processes * pes)) -t $pes -s shared_connections=$1 "$2" $3 "$from" "$4"
  to=$(date +%s.%N)
  apart=$(echo "$out" | awk -v all="$to $from" '{ split(all, t); sub(".*exchange ", ""); print t[1] - t[2] - $1 }')
  echo "# $processes processes of $pes PEs, shared_connections=$1: $out; start and end together $apart s"
}

all_to_all 1 "$2" $most $others
ok "processes share connections: $others each, at most $most descriptors" [ "$code" = 0 ]
[ -z "$bound" ] || ok "they start and end in less than $bound s" \
  awk -v apart="$apart" -v bound="$bound" 'BEGIN { exit !(apart < bound) }'
[ $processes -gt 32 ] || {
  all_to_all 0 "$2" 0 0
  ok "PEs have connections of their own" [ "$code" = 0 ]
  all_to_all auto "$2" 0 0
  ok "and by default all reach all" [ "$code" = 0 ]
}
run timeout 110 "$skuarun" -n 6 -s shared_connections=0 "$2" 0 0 5
ok "each pair of PEs has one connection" [ "$code" = 0 ]
tap_end
