#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# faults.sh - error reports of a job over several hosts when the network is faulty: interfaces that are
# missing or down, addresses without a route, foreign connections, occupied ports.  The hosts are
# network namespaces:
#
#      skuatest-<pid>-a  10.79.0.1  \
#      skuatest-<pid>-b  10.79.0.2   - bridge in skuatest-<pid>-0;   x0 at a and b: separate networks,
#      skuatest-<pid>-c  10.79.0.3  /                                d0: down
#
# usage: faults.sh SKUARUN TESTS-FOLDER DRIVER...
skuarun=$1
tests=$2
shift 2
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''

first_namespace "$(namespace 0)"

# ---- hosts ------------------------------------------------------------------------

host()
{
  namespace "$1"
}

remove_hosts()
{
  for i in c b a 0; do
    remove_namespaces "$(host $i)"
  done
  rm -rf "$work"
}
trap remove_hosts EXIT
trap 'exit 130' INT TERM HUP

# make_host NAME NUMBER
make_host()
{
  ns=$(host "$1")
  bridged_namespace "$ns" "$1" "10.79.0.$2" &&
    ip -n "$ns" link add x0 type veth peer name x1 &&
    ip -n "$ns" link set x1 up &&
    ip -n "$ns" addr add "10.79.$2.1/24" dev x0 &&
    ip -n "$ns" link set x0 up &&
    ip -n "$ns" link add d0 type veth peer name d1 &&
    ip -n "$ns" addr add "10.79.9.$2/24" dev d0
}

are_up()
{
  for _ in $(seq 100); do
    [ "$(for i in a b c; do ip -n "$(host $i)" -br link | grep -E '^[ex]0@.* UP '; done | wc -l)" \
      = 6 ] && return 0
    sleep 0.05
  done
  return 1
}

ip -n "$(host 0)" link add b0 type bridge && ip -n "$(host 0)" link set b0 up
if ! make_host a 1 || ! make_host b 2 || ! make_host c 3 || ! are_up; then
  echo "1..0 # SKIP no virtual network here"
  exit 0
fi
name_program "$tests/test_hosts_probe"
export SKUA_PIN=none SKUA_LAUNCHER="ip netns exec %h" SKUA_PEER_TIMEOUT=2 SKUA_DRIVER=
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"

# spread PROGRAM...: run it with a PE on each of two hosts
spread()
{
  run timeout -k 5 40 "$skuarun" "--hosts=$(host a):1,$(host b):1" "$@"
}

# ends NAME CODE PATTERN: check the exit code and the error of the job, and that no process remains
ends()
{
  ok "$SKUA_DRIVER: $1" has "$code $err" "^$2 "
  ok "$SKUA_DRIVER: $1: is reported" has "$err" "$3"
  ok "$SKUA_DRIVER: $1: no process is left" none_left
}

# ---- interfaces -------------------------------------------------------------------

interfaces()
{
  SKUA_NET_INTERFACES=e0 spread "$program"
  ok "$SKUA_DRIVER: the right interface" test "$code" = 0
  SKUA_NET_INTERFACES=nosuch0 spread "$program"
  ends "an interface that does not exist" 1 'can reach other hosts \(.*there is no interface nosuch0 \(there are: .*e0'
  SKUA_NET_INTERFACES=d0 spread "$program"
  ends "an interface that is down" 1 'can reach other hosts \(.*interface d0 is down\)'
  ip -n "$(host a)" link set e0 down
  ip -n "$(host a)" link set e0 up # it has no carrier for up to a second
  SKUA_NET_INTERFACES=e0 spread "$program"
  ok "$SKUA_DRIVER: an interface that was just set up" test "$code" = 0
  SKUA_NET_INTERFACES=x0 spread "$program"
  ends "an address without a route" 134 \
    'lost PE [01] \(process [01]\): no route leads to 10.79.[12].1 from x0: .*SKUA_NET_INTERFACES'
}

# misdirect replace|del: packets between a and b are sent to a wrong address, or no longer
misdirect()
{
  ip -n "$(host a)" neigh "$1" 10.79.0.2 lladdr 02:00:00:00:00:99 dev e0 nud permanent
  ip -n "$(host b)" neigh "$1" 10.79.0.1 lladdr 02:00:00:00:00:99 dev e0 nud permanent
}

silent()
{
  misdirect replace
  SKUA_NET_INTERFACES=e0 spread "$program"
  misdirect del
  ends "a host that does not answer" 134 'lost PE [01] \(process [01]\): '
}

# ---- foreign connections --------------------------------------------------------------------

# Waits until the job listens on host a; sets $ports to its addresses and port numbers.
await_ports()
{
  for _ in $(seq 100); do
    ports=$(ip netns exec "$(host a)" "$tests/test_stranger" ports "$name" 0) && return
    sleep 0.05
  done
}

strangers()
{
  (await_ports
   echo "$ports" >"$work/ports"
   # shellcheck disable=SC2086
   exec ip netns exec "$(host c)" "$tests/test_stranger" visit 1 "$1" $ports >"$work/visits") &
  stranger=$!
  SKUA_NET_INTERFACES=e0 spread "$program" ask 2
  wait $stranger
  ok "$SKUA_DRIVER: a job survives foreign connections from another host ($(cat "$work/visits"))" \
    has "$code $out" 'all balls have returned'
  ok "$SKUA_DRIVER: which reached its ports" has "$(cat "$work/visits")" '^[1-9][0-9]+ visits'
}

# ---- ports ------------------------------------------------------------------------

# occupied FIRST LAST COMMAND...: run it while all these ports of host b are in use
occupied()
{
  mkfifo "$work/hold" "$work/said"
  ip netns exec "$(host b)" "$tests/test_stranger" occupy "$1" "$2" <"$work/hold" >"$work/said" &
  occupier=$!
  exec 8>"$work/hold"
  read -r _ <"$work/said"
  shift 2
  "$@"
  exec 8>&-
  wait $occupier
  rm "$work/hold" "$work/said"
}

ports()
{
  SKUA_NET_INTERFACES=e0 SKUA_PORTS=46000-46009 spread "$program"
  ok "$SKUA_DRIVER: a range of ports" test "$code" = 0
  SKUA_NET_INTERFACES=e0 SKUA_PORTS=46000-46009 occupied 46000 46009 spread "$program"
  ends "a range of ports that are in use" 1 '0 ports of 46000-46009 are free, and [34] are needed'
}

for driver in "$@"; do
  case $driver in tcp | ucx | ofi) ;; *) continue ;; esac
  SKUA_DRIVER=$driver
  interfaces
  silent
  [ "$driver" = tcp ] && strangers 7 # strangers.sh tests all drivers, on one host
  ports
done
tap_end
