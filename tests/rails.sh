#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# rails.sh - two hosts with two networks between them: large data uses both.  Each host is a network
# namespace; two pairs of virtual interfaces join them.
#
#      namespace skuatest-<pid>-1    e0 10.78.0.1 --- e0 10.78.0.2    namespace skuatest-<pid>-2
#                                    e1 10.78.1.1 --- e1 10.78.1.2
#
# usage: rails.sh SKUARUN LARGE
skuarun=$1
large=$2
. "$(dirname "$0")/tap.sh"
one=$(namespace 1) two=$(namespace 2)

first_namespace "$one"

remove_hosts()
{
  remove_namespaces $one $two
  rm -rf "$work"
}
trap remove_hosts EXIT
trap 'exit 130' INT TERM HUP

# join NUMBER: the network 10.78.NUMBER.0 between both hosts
join()
{
  ip -n $one link add "e$1" type veth peer name "e$1" netns $two &&
    ip -n $one addr add "10.78.$1.1/24" dev "e$1" && ip -n $one link set "e$1" up &&
    ip -n $two addr add "10.78.$1.2/24" dev "e$1" && ip -n $two link set "e$1" up
}

ip netns add $two && ip -n $one link set lo up && ip -n $two link set lo up && join 0 && join 1 ||
  { echo "1..0 # SKIP no virtual network here"; exit 0; }

# states: the states of all interfaces.  They have no carrier for up to a second, or longer while other tests
# make and remove networks, and would be left out.
states()
{
  for host in $one $two; do
    ip netns exec $host cat /sys/class/net/e0/operstate /sys/class/net/e1/operstate
  done | sort -u
}

for _ in $(seq 300); do
  [ "$(states)" != up ] || break
  sleep 0.1
done

# sent INTERFACE: bytes that the first host has sent on it
sent()
{
  ip netns exec $one cat "/sys/class/net/$1/statistics/tx_bytes"
}

# spread SETTING...: runs the program on both hosts; sets e0 and e1 to the bytes sent
spread()
{
  before0=$(sent e0) before1=$(sent e1)
  run timeout 60 ip netns exec $one "$skuarun" --hosts=localhost:1,$two:1 -x SEED \
    --launcher='ip netns exec %h' --agent-path="$skuarun" -s driver=tcp "$@" "$large" 4
  e0=$(($(sent e0) - before0)) e1=$(($(sent e1) - before1))
  echo "# $*: $e0 bytes on e0, $e1 on e1"
}

export SEED=7 # whose data is large enough
spread -s rails=1
ok "one rail: the data is right" [ "$code" = 0 ]
ok "one network has all of it" [ $((e0 < e1 ? e0 : e1)) -lt 100000 ]
for setting in auto 2; do
  spread -s rails=$setting -s log_level=info
  ok "rails=$setting: the data is right" [ "$code" = 0 ]
  ok "both networks have a part of it" [ $((e0 < e1 ? e0 : e1)) -gt 1000000 ]
  ok "the log tells which" has "$err" 'rail 1 to PE [01] is open, on e[01]'
done

# A rail that breaks while data flows.
# on_both SETTING...: runs the program on both hosts, for a minute at most
on_both()
{
  exec timeout 60 ip netns exec $one "$skuarun" --hosts=localhost:1,$two:1 --launcher='ip netns exec %h' \
    --agent-path="$skuarun" -s driver=tcp -s log_level=info "$@" "$large" 1000000
}

# rail_interface: the interface of rail 1, when it is open
rail_interface()
{
  for _ in $(seq 300); do
    sed -n 's/.*rail 1 to PE [01] is open, on //p' "$work/log" | head -n 1 | grep . && return
    sleep 0.1
  done
}

: >"$work/log"
on_both -s rails=2 -s peer_timeout=1 >"$work/log" 2>&1 &
job=$!
interface=$(rail_interface)
ip -n $one link set "${interface:-e1}" down
code=0
wait $job || code=$?
err=$(cat "$work/log")
ok "a rail that breaks ends the job" test "$code" -ne 0 -a "$code" -ne 124
# A host that ends because of that breaks the other connection, and skuarun prints the first report.
ok "with an error that names its interface, or follows from it" \
  has "$err" "lost PE [01] .*(rail 1, on $interface|the connection broke)"
ip -n $one link set e0 up && ip -n $one link set e1 down
spread -s rails=2 -s net_interfaces=e0,e1
ok "a network that is down is left out" [ "$code" = 0 ]
tap_end
