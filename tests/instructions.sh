#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# instructions.sh - guards the fast paths: limits on the instructions, counted by callgrind, of one send
# with its handler, one empty scheduler pass, and so on.
#
# usage: instructions.sh BENCH-INSTRUCTIONS SKUARUN BENCH-OPENSHMEM
. "$(dirname "$0")/tap.sh"
program=$1
skuarun=$2
openshmem=$3
if ! command -v valgrind >/dev/null; then
  echo "1..0 # SKIP valgrind is not installed"
  exit 0
fi

total()
{
  run valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2"
  printf '%s\n' "$err" | sed -n 's/.*Collected : //p'
}

at_most()
{
  some=$(total "$1" 6400)
  more=$(total "$1" 12800)
  each=$(( (more - some + 3200) / 6400 )) # an event that happens once in one of the two runs is not counted
  ok "$1: $each instructions, at most $2" test "$each" -gt 0 -a "$each" -le "$2"
}
at_most self 80
at_most pass 25
at_most fresh 180
at_most copy 230
at_most yield 170
at_most channel 250

# Idle channels do not add to the cost of a scheduler pass, whatever their number.
each()
{
  echo $(( ($(total "$1" 25600) - $(total "$1" 12800) + 6400) / 12800 ))
}
code=0
one=$(each pass1)
many=$(each pass10000)
ok "a pass with 1 and with 10000 idle channels: $one and $many instructions" \
  test "$one" -gt 0 -a "$one" = "$many"

# The cost of a message at its receiver does not grow with the number of senders to a ring: no queue for each.  With
# several rings callgrind loses track of skua_poll() on aarch64, and counts a part of it only.
from_senders()
{
  run "$skuarun" -n $(($1 + 1)) -t $(($1 + 1)) --pin=none -s inbox_rings=1 valgrind --tool=callgrind \
    --callgrind-out-file=/dev/null --toggle-collect=skua_poll "$program" many 240
  echo $(( $(printf '%s\n' "$err" | sed -n 's/.*Collected : //p') / 240 ))
}
one=$(from_senders 1)
many=$(from_senders 15)
ok "receiving from 1 and from 15 senders: $one and $many instructions a message, at most a tenth more" \
  test "$one" -gt 0 -a "$many" -gt 0 -a "$many" -le $((one + one / 10))
at_most put 70
at_most notify 180

# A put of OpenSHMEM to memory that is mapped here.
shmem_total()
{
  run valgrind --tool=callgrind --callgrind-out-file=/dev/null "$openshmem" guard put "$1"
  printf '%s\n' "$err" | sed -n 's/.*Collected : //p'
}
each=$(( ($(shmem_total 12800) - $(shmem_total 6400) + 3200) / 6400 ))
ok "shmem_putmem: $each instructions, at most 45" test "$each" -gt 0 -a "$each" -le 45
at_most get 70
at_most add 85
at_most acc 250
at_most row 300
at_most scatter 5440 # 64 elements in one call: each at most the 85 of an atomic operation
# An entry call had 147 instructions before loads were measured; measuring may add 5 % while it is off.
at_most element 154
at_most doubles 220
at_most group 154
at_most message 240
at_most chare 220
at_most cube 225
at_most local 70
at_most branch 40
at_most flow 265
at_most item 40

# Measuring (skua/balance.h) costs nothing while it is off, and less than 40 instructions an entry.
measured()
{
  off=$(( ($(total "$1" 12800) - $(total "$1" 6400) + 6399) / 6400 ))
  on=$(( ($(SKUA_MEASURE=1 total "$1" 12800) - $(SKUA_MEASURE=1 total "$1" 6400) + 6399) / 6400 ))
  ok "$1: $off instructions, $on measured, at most 40 more" \
    test "$on" -gt "$off" -a "$on" -le $((off + 40))
}
export SKUA_MEASURE=0
measured message
measured element
unset SKUA_MEASURE

# Counting messages between elements costs another 40 instructions an entry that sends one.
graph=$(( ($(SKUA_MEASURE_GRAPH=1 total element 12800) - $(SKUA_MEASURE_GRAPH=1 total element 6400) + 6399) / 6400 ))
ok "element: $on instructions measured, $graph with messages counted, at most 40 more" \
  test "$graph" -gt "$on" -a "$graph" -le $((on + 40))

# A message between PEs that share no memory: the instructions of the runtime from the check of a
# received packet to the queue.
net_total()
{
  run "$skuarun" -n 2 --pin=none -s shared_memory=0 valgrind --tool=callgrind \
    --callgrind-out-file=/dev/null --toggle-collect=recv_on_inline "$program" net "$1"
  printf '%s\n' "$err" | sed -n 's/.*Collected : //p' | awk '{ sum += $1 } END { print sum + 0 }'
}

# between OPERATION FROM TO: the instructions from the beginning of a function to that of another, as many as in
# most of the calls of a run; 0: none.  This is the line "summary" of a dump.  The line "totals" has more: what
# stubs of the linker (--skip-plt) have cost is not zeroed by --zero-before, so it includes those of all polls
# of the network since the previous dump.
between()
{
  run "$skuarun" -n 2 --pin=none -s shared_memory=0 valgrind --tool=callgrind \
    --callgrind-out-file="$work/calls.%p" --zero-before="$2" --dump-before="$3" "$program" "$1" 200
  cat "$work"/calls.*.* | sed -n 's/^summary: //p' | sort -n | uniq -c | sort -n | awk 'END { print $2 + 0 }'
  rm -f "$work"/calls.*
}

run "$skuarun" -n 2 --pin=none -s shared_memory=0 "$program" net 1
if [ "$code" = 0 ]; then # there is a driver
  each=$(( ($(net_total 1600) - $(net_total 800) + 1599) / 1600 ))
  ok "net, receiving: $each instructions, at most 130" test "$each" -gt 0 -a "$each" -le 130

  # A call of 32 bytes of an entry on another host: to the system call, and from the packet to the entry.
  each=$(SKUA_DRIVER=tcp between rally skua_invoke_copy_to send)
  ok "entry call to another host: $each instructions to the system call, at most 350" \
    test "$each" -gt 0 -a "$each" -le 350
  each=$(SKUA_DRIVER=tcp between rally ski_framing_feed on_rally)
  ok "entry call from another host: $each instructions to the entry, at most 400" \
    test "$each" -gt 0 -a "$each" -le 400

  # Messages inside a host cost nearly the same in a job of two.  Periodic network actions
  # occur far too often under callgrind, and more often on a busy machine; they are not counted.  Empty passes
  # make a run longer, and what happens to be in a network action at the start makes one run of several shorter:
  # the medians of up to fifteen runs are used.
  near()
  {
    run "$skuarun" -n 2 --pin=none -s shared_memory="$2" valgrind --tool=callgrind \
      --callgrind-out-file=/dev/null --toggle-collect=ski_scheduler_run --toggle-collect=net_poll \
      --toggle-collect=net_pass "$program" "$1" "$3"
    printf '%s\n' "$err" | sed -n 's/.*Collected : //p' | sort -n | tail -1 >>"$work/near.$2.$3"
  }
  # near_median SHARED TIMES: the median of the runs so far.
  near_median()
  {
    sort -n "$work/near.$1.$2" | awk '{ run[NR] = $1 } END { print run[int((NR + 1) / 2)] + 0 }'
  }
  # near_each SHARED: the instructions of one operation.
  near_each()
  {
    echo $(( ($(near_median "$1" 12800) - $(near_median "$1" 6400)) / 6400 ))
  }
  for what in self element; do
    rm -f "$work"/near.*
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
      for times in 6400 12800; do
        near $what 1 $times
        near $what 0 $times
      done
      one=$(near_each 1)
      two=$(near_each 0)
      [ "$one" -gt 0 ] && [ "$two" -ge $((one - 10)) ] && [ "$two" -le $((one + 30)) ] && break
    done
    ok "$what: $one instructions in a job of one host, $two in a job of two, at most 30 more" \
      test "$one" -gt 0 -a "$two" -le $((one + 30))
  done

  # The cost of one-sided operations between hosts does not depend on the number that is outstanding,
  # nor does the cost of those within a host.  Only the calls are counted, since the number of packets
  # that the network accepts at once, and the final wait of PE 0, vary.
  apart()
  {
    run "$skuarun" -n 2 --pin=none -s shared_memory=0 -s request_window=256m valgrind --tool=callgrind \
      --callgrind-out-file=/dev/null "$@"
    printf '%s\n' "$err" | sed -n 's/.*Collected : //p' | sort -n | tail -1
  }
  for kind in put acc get; do
    few=$(( $(apart --toggle-collect=skua_${kind}_nb "$program" net-$kind 200) / 200 ))
    many=$(( $(apart --toggle-collect=skua_${kind}_nb "$program" net-$kind 10000) / 10000 ))
    ok "net-$kind: $few instructions with up to 200 outstanding, $many with up to 10000" \
      test "$few" -gt 0 -a "$many" -gt 0 -a "$many" -le $((few + few / 2))
  done
  each=$(( ($(apart "$program" net-self 200000) - $(apart "$program" net-self 100000)) / 100000 ))
  ok "put inside a host with 1000 outstanding between hosts: $each instructions, at most 90" \
    test "$each" -gt 0 -a "$each" -le 90
fi
tap_end
