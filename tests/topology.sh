#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# topology.sh - the network between hosts: files, information from Slurm, hops of a job, refusals.
#
# usage: topology.sh SKUARUN SKUA TEST_TOPOLOGY LEANMD
. "$(dirname "$0")/tap.sh"
skuarun=$1 skua=$2 program=$3 leanmd=$4
export SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp SKUA_PIN=none

cat >"$work/tree.conf" <<END
SwitchName=leaf0 Nodes=@[0-1]
SwitchName=leaf1 Nodes=@2
SwitchName=top Switches=leaf[0-1]
END
printf 'Torus=4x2\nNodeName=@0 Coordinates=0,0\nNodeName=@1 Coordinates=3,0\nNodeName=@2 Coordinates=2,1\n' >"$work/torus.conf"
printf 'SwitchName=leaf Nodes=@0,@1\nSwitchName=top Switches=leaf,leaf2\n' >"$work/wrong.conf"
printf 'SwitchName=leaf Nodes=@0,@1\n' >"$work/short.conf"

run env SKUA_TOPOLOGY="$work/tree.conf" timeout 60 "$skuarun" -n 3 "$program" 1 133
ok "hops of a tree" test "$code" = 0
run env SKUA_TOPOLOGY="$work/torus.conf" timeout 60 "$skuarun" -n 3 "$program" 2 132
ok "hops of a torus" test "$code" = 0
run timeout 60 "$skuarun" -n 3 sh -c 'p=${SKUA_JOB##*,}; SLURMD_NODENAME=n$p SLURM_TOPOLOGY_ADDR=top.leaf$((p / 2)).n$p exec "$@"' - "$program" 1 133
ok "hops that Slurm tells" test "$code" = 0
run env SKUA_TOPOLOGY=none SLURM_TOPOLOGY_ADDR=top.leaf.n timeout 60 "$skuarun" -n 3 "$program"
ok "SKUA_TOPOLOGY=none" test "$code" = 0

run env SKUA_TOPOLOGY="$work/tree.conf" timeout 60 "$skuarun" -v -n 3 "$skua" info --peers
ok "skua info --peers shows switches" has "$out" '^host 2, node .*: switches leaf1, top$'
ok "and hops" has "$out" '^host 0 +0 +1 +3$'
ok "skuarun -v shows the interconnect" has "$err" '^skuarun: interconnect: 3 switches in 2 levels'
ok "and where processes are" has "$err" '^skuarun: process 2 on host .* \(switches leaf1, top\)'
run env SKUA_TOPOLOGY="$work/torus.conf" "$skua" info
ok "skua info" has "$code $out" 'interconnect a torus of 4x2'

run env SKUA_TOPOLOGY="$work/tree.conf" SKUA_BALANCE=topology SKUA_BALANCE_RECORD="$work/loads.json" timeout 60 \
  "$skuarun" -n 3 "$leanmd" --size=3,3,3 --atoms=4 --steps=4 --migrate=2 --balance=2
ok "a strategy runs with the hops of the job" has "$code $out" '^0 result leanmd: .* good$'
ok "and a record has them" has "$(tr -d '\n' <"$work/loads.json")" '"hops": \[ *\[0, 1, 3\], *\[1, 0, 3\], *\[3, 3, 0\]'

run env SKUA_TOPOLOGY="$work/wrong.conf" timeout 60 "$skuarun" -n 3 "$program"
ok "a wrong file is refused with its line" has "$code $err" '^2 .*SKUA_TOPOLOGY: .*wrong.conf:2: switch leaf2 is not declared'
run env SKUA_TOPOLOGY="$work/wrong.conf" "$program"
ok "without a launcher, too" has "$err" 'wrong.conf:2: switch leaf2 is not declared'
run env SKUA_TOPOLOGY=/no/such/file "$skua" info
ok "a file that does not exist" has "$out$code" '^interconnect /no/such/file: No such file'
run env SKUA_TOPOLOGY="$work/short.conf" timeout 60 "$skuarun" -n 3 "$program"
ok "a host that is not in the file" has "$err" 'short.conf has neither a node .* nor @2, which is this host'
ok "and ends the job" test "$code" != 0

# Placement inside a host, on a synthetic machine of hwloc.
case $("$skua" info --topology) in *Core*)
  made_up='pack:2 numa:2 core:4 pu:2'
  run env SKUA_SHARED_MEMORY=1 SKUA_PIN=auto SKUA_LOG_LEVEL=error HWLOC_SYNTHETIC="$made_up" timeout 60 \
    "$skuarun" -v -n 6 -t 3 "$program"
  ok "a job runs with the map of another machine" test "$code" = 0
  ok "a process stays in a NUMA node" has "$err" '^skuarun: package 0, NUMA node 0: \[0 \.\] \[1 \.\] \[2 \.\] \[\. \.\]$'
  ok "so does the next" has "$err" '^skuarun: package 0, NUMA node 1: \[3 \.\] \[4 \.\] \[5 \.\] \[\. \.\]$'
  ok "NUMA nodes without a PE are counted" has "$err" '^skuarun: 2 NUMA nodes without a PE$'
  for numa in 1 0; do
    run env SKUA_SHARED_MEMORY=1 SKUA_PIN=auto SKUA_NUMA=$numa HWLOC_SYNTHETIC='numa:2 core:1 pu:1' SKUA_LOG_LEVEL=error \
      timeout 60 "$skuarun" -n 4 "$leanmd" --size=3,3,3 --atoms=4 --steps=4 --migrate=2
    ok "a job runs with SKUA_NUMA=$numa on two NUMA nodes" has "$code $out" '^0 result leanmd: .* good$'
  done ;;
esac

# Huge pages for the arena; a host that does not allow them says so.
run env SKUA_SHARED_MEMORY=1 SKUA_HUGE_PAGES=1 timeout 60 \
  "$skuarun" -n 4 "$leanmd" --size=3,3,3 --atoms=4 --steps=4 --migrate=2
ok "a job runs with SKUA_HUGE_PAGES=1" has "$code $out" '^0 result leanmd: .* good$'
case $(cat /sys/kernel/mm/transparent_hugepage/shmem_enabled 2>&1) in
  *'[always]'* | *'[within_size]'* | *'[advise]'* | *'[force]'*)
    ok "and is not told otherwise" sh -c '! printf "%s" "$1" | grep -q "no effect"' sh "$err" ;;
  *)
    ok "and is told that the setting has no effect" has "$err" 'SKUA_HUGE_PAGES=1 has no effect on this host' ;;
esac
tap_end
