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

# counts N OPERATION...: prints, for each operation, the instructions of one, from processes that do N and 2 N of
# them.  All are started by one process, because callgrind takes longer to load a program than to run this one.
# An event that happens once in one of the two processes is not counted.
counts()
{
  run valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" each "$@"
  printf '%s\n' "$err" | sed -n 's/.*Collected : //p' | awk -v n="$1" -v last=$((2 * ($# - 1))) \
    'NR > last { exit } NR % 2 { some = $1 } NR % 2 == 0 { print int(($1 - some) / n + 0.5) }'
}

# x86-64 saves registers one by one, and has fewer that need not be saved: a twelfth more instructions.
more=0
[ "$(uname -m)" != x86_64 ] || more=8

# An entry call had 147 instructions before loads were measured (162 on x86-64); measuring may add 5 % while it is
# off.  scatter: 64 elements in one call, each at most the 85 of an atomic operation.  acc-nb, acc-row, acc-row-nb,
# atomic-nb and fence had 364, 553, 557, 214 and 49 on x86-64.
set -- self 80 pass 25 fresh 180 copy 230 yield 170 channel 250 put 70 notify 180 signal 285 get 70 add 85 acc 250 row 300 \
  acc-nb 400 acc-row 600 acc-row-nb 600 atomic-nb 240 fence 60 scatter 5440 element 154 doubles 220 group 154 \
  message 240 chare 220 cube 225 local 70 branch 28 flow 265 item 34
# shellcheck disable=SC2046 # names are words
counts 6400 $(printf '%s\n' "$@" | grep '[a-z]') >"$work/counts"
while [ $# -gt 0 ]; do
  read -r each || each=0
  limit=$(($2 + $2 * more / 100))
  ok "$1: $each instructions, at most $limit" test "$each" -gt 0 -a "$each" -le "$limit"
  shift 2
done <"$work/counts"

# Idle channels do not add to the cost of a scheduler pass, whatever their number.
code=0
# shellcheck disable=SC2046 # two numbers
set -- $(counts 12800 pass1 pass10000) 0 0
ok "a pass with 1 and with 10000 idle channels: $1 and $2 instructions" test "$1" -gt 0 -a "$1" = "$2"

# The cost of a message at its receiver does not grow with the number of senders to a ring: no queue for each.  The
# instructions of the thread of PE 0 are counted from the first message to the last one.  The check of idle PEs is
# off: while its message of the last priority waits, each message before it takes 60 instructions more.
from_senders()
{
  run "$skuarun" -n $(($1 + 1)) -t $(($1 + 1)) --pin=none -s inbox_rings=1 -s idle_report=0 valgrind \
    --tool=callgrind --callgrind-out-file="$work/calls.%p" --separate-threads=yes --dump-before=on_many \
    "$program" many 240
  seq 2 240 | while read -r dump; do cat "$work"/calls.*."$dump"-01; done |
    sed -n 's/^summary: //p' | awk '{ sum += $1 } END { print int(sum / 239) }'
  rm -f "$work"/calls.*
}
one=$(from_senders 1)
many=$(from_senders 15)
ok "receiving from 1 and from 15 senders: $one and $many instructions a message, at most a tenth more" \
  test "$one" -gt 0 -a "$many" -gt 0 -a "$many" -le $((one + one / 10))

# A put of OpenSHMEM to memory that is mapped here.
shmem_total()
{
  run valgrind --tool=callgrind --callgrind-out-file=/dev/null "$openshmem" guard put "$1"
  printf '%s\n' "$err" | sed -n 's/.*Collected : //p'
}
each=$(( ($(shmem_total 12800) - $(shmem_total 6400) + 3200) / 6400 ))
ok "shmem_putmem: $each instructions, at most 45" test "$each" -gt 0 -a "$each" -le 45

# Measuring (skua/balance.h) costs nothing while it is off, and less than 40 instructions an entry.
off=$(SKUA_MEASURE=0 counts 6400 message element)
on=$(SKUA_MEASURE=1 counts 6400 message element)
# shellcheck disable=SC2086 # two numbers each
set -- $off 0 0 && off_message=$1 off_element=$2
# shellcheck disable=SC2086
set -- $on 0 0 && on_message=$1 on_element=$2
ok "message: $off_message instructions, $on_message measured, at most 40 more" \
  test "$off_message" -gt 0 -a "$on_message" -gt "$off_message" -a "$on_message" -le $((off_message + 40))
ok "element: $off_element instructions, $on_element measured, at most 40 more" \
  test "$off_element" -gt 0 -a "$on_element" -gt "$off_element" -a "$on_element" -le $((off_element + 40))

# Counting messages between elements costs another 40 instructions an entry that sends one.
graph=$(SKUA_MEASURE_GRAPH=1 counts 6400 element)
ok "element: $on_element instructions measured, $graph with messages counted, at most 40 more" \
  test "${graph:-0}" -gt "$on_element" -a "${graph:-0}" -le $((on_element + 40))

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

  # Messages inside a host cost nearly the same in a job of two, except for network actions, which are due by the
  # clock and occur far too often under callgrind; they are not counted.
  #
  # near OPERATION FUNCTION SHARED: the instructions of PERIOD operations in a row, as many as in most of such rows;
  # the operation calls the function, before which there is a dump.  The PE considers the network once in PERIOD
  # messages (SKI_PROGRESS_MESSAGES), so each row includes that once.  The first dump, with the start of the
  # job, and what follows the last one are left out, as is PE 1, which waits.
  PERIOD=16
  near()
  {
    run "$skuarun" -n 2 --pin=none -s shared_memory="$3" valgrind --tool=callgrind \
      --callgrind-out-file="$work/calls.%p" --dump-before="$2" --toggle-collect=ski_scheduler_run \
      --toggle-collect=net_poll --toggle-collect=net_pass "$program" "$1" 200
    seq 2 200 | while read -r dump; do cat "$work"/calls.*."$dump"; done | sed -n 's/^summary: //p' |
      awk -v n=$PERIOD '{ sum += $1 - row[NR % n]; row[NR % n] = $1 } NR >= n { print sum }' |
      sort -n | uniq -c | sort -n | awk 'END { print $2 + 0 }'
    rm -f "$work"/calls.*
  }
  for what in self element; do
    function=$([ $what = self ] && echo on_self || echo on_copied)
    one=$(near "$what" "$function" 1)
    two=$(near "$what" "$function" 0)
    ok "$what: $one instructions for $PERIOD in a job of one host, $two in a job of two, at most 30 more for each" \
      test "$one" -gt 0 -a "$two" -gt 0 -a "$two" -le $((one + 30 * PERIOD))
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
