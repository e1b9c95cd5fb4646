#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# namespaces.sh - jobs over several hosts.  Each host is a network namespace with a name and an address
# of its own; a bridge in another namespace joins them, so the network of this machine is not
# touched.
#
#      namespace skuatest-<pid>-1    10.77.0.1 \
#      namespace skuatest-<pid>-2    10.77.0.2  - bridge in skuatest-<pid>-0
#      ...
#
# mpirun runs on the first host and reaches the others through a script in place of ssh.
#
# usage: namespaces.sh EXAMPLES-FOLDER TESTS-FOLDER DRIVER...
examples=$1
tests=$2
shift 2
drivers=$*
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
code=0 out='' err=''

mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
if ! command -v unshare >/dev/null || [ -z "$mpirun" ] ||
   ! "$mpirun" --version 2>/dev/null | grep -qE "Open MPI|OpenRTE"; then
  echo "1..0 # SKIP no unshare or mpirun of Open MPI"
  exit 0
fi
first_namespace "$(namespace 0)"

# ---- hosts ------------------------------------------------------------------------

host()
{
  namespace "$1"
}

processes_of()
{
  ip netns pids "$(host "$1")" 2>/dev/null
}

remove_hosts()
{
  for i in 4 3 2 1 0; do
    remove_namespaces "$(host $i)"
  done
  rm -rf "$work"
}
trap remove_hosts EXIT
trap 'exit 130' INT TERM HUP

make_host()
{
  bridged_namespace "$(host "$1")" "$1" "10.77.0.$1"
}

# The remote shell of mpirun: agent HOST COMMAND...
cat >"$work/agent" <<'END'
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
END
chmod +x "$work/agent"

# over HOSTS EACH COMMAND...: run it with EACH processes on each of HOSTS hosts
over()
{
  list=$(host 1):$2
  for i in $(seq 2 "$1"); do
    list=$list,$(host "$i"):$2
  done
  shift 2
  run on_first timeout -k 5 60 "$mpirun" --oversubscribe --bind-to none \
    --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include 10.77.0.0/24 \
    --mca btl_tcp_if_include 10.77.0.0/24 --host "$list" \
    -x SKUA_DRIVER -x SKUA_THREADS -x SKUA_PEER_TIMEOUT -x SKUA_LOG_LEVEL "$@"
}

on_first()
{
  ip netns exec "$(host 1)" unshare --uts sh -c 'hostname "$0"; exec "$@"' "$(host 1)" "$@"
}

lines()
{
  printf '%s\n' "$out" | grep -cE -- "$1"
}

none_left_on_hosts()
{
  for _ in $(seq 100); do
    [ -z "$(processes_of 1)$(processes_of 2)$(processes_of 3)$(processes_of 4)" ] && return 0
    sleep 0.1
  done
  return 1
}

ip -n "$(host 0)" link add b0 type bridge && ip -n "$(host 0)" link set b0 up
export SKUA_DRIVER='' SKUA_THREADS=1 SKUA_PEER_TIMEOUT=30 SKUA_LOG_LEVEL=error
for i in 1 2 3 4; do
  make_host $i || { echo "1..0 # SKIP no virtual network here"; exit 0; }
done

# ---- which PEs share memory ------------------------------------------------------------------

SKUA_DRIVER=${drivers%% *} SKUA_THREADS=2
over 2 2 "$tests/test_hosts_probe"
ok "two hosts: PEs of the first" test "$(lines "at $(host 1) is near 0 1 2 3\$")" = 4
ok "two hosts: PEs of the second" test "$(lines "at $(host 2) is near 4 5 6 7\$")" = 4
SKUA_THREADS=1
over 2 2 "$examples/tour" 50
ok "the tour" has "$code $out" 'A put: PE 0 writes'
over 4 1 "$tests/test_hosts_probe"
ok "four hosts: no PEs share memory" test "$(lines "PE ([0-3]) at sk.* is near \1\$")" = 4

# ---- programs -------------------------------------------------------------

# suite HOSTS EACH PROGRAM ARGUMENTS...
suite()
{
  hosts=$1 each=$2
  shift 2
  over "$hosts" "$each" "$@"
  ok "$SKUA_DRIVER, $hosts hosts of $each with $SKUA_THREADS: $(basename "$1")" test "$code" = 0
}

for driver in $drivers; do
  SKUA_DRIVER=$driver
  SKUA_THREADS=1
  suite 2 1 "$examples/hello"
  suite 2 2 "$tests/test_order"
  suite 4 1 "$tests/test_storm" 6
  suite 2 1 "$tests/test_onesided" 200
  SKUA_LOG_LEVEL=fatal # the tests provoke errors
  suite 2 2 "$tests/test_messages"
  suite 2 1 "$tests/test_regions" 100
  SKUA_LOG_LEVEL=error
  SKUA_THREADS=2
  suite 2 2 "$tests/test_collectives"
  ok "$driver: no process is left" none_left_on_hosts
  [ "$driver" = tcp ] || continue # the far tests run the rest over every driver
  suite 2 2 "$tests/test_embed" 3 library
  suite 2 1 "$tests/test_notify" 10 20
  suite 2 1 "$tests/test_atomics" 2
  suite 2 1 "$tests/test_litmus" 50
  suite 2 2 "$tests/test_storm" 6
  suite 4 1 "$examples/ring"
  suite 2 1 "$examples/halo"
  suite 4 1 "$examples/pi"
done

# ---- a link that is lost -------------------------------------------------------

# mpirun does not survive the loss of a daemon, and output of the other side does not reach it: so the
# processes write to files, and their number is checked.
cat >"$work/wrap" <<END
#!/bin/sh
exec "\$@" 2>>"$work/said.\$(hostname)"
END
chmod +x "$work/wrap"
name_program "$tests/test_hosts_probe"

# Prints the number of processes of the program.
programs()
{
  ps -C "$name" -o stat= | grep -cv '^Z'
}

# await N TENTHS: wait until N processes run, for at most that many tenths of a second.
await()
{
  for _ in $(seq "$2"); do
    [ "$(programs)" = "$1" ] && return 0
    sleep 0.1
  done
  return 1
}

# pull DRIVER: two hosts with two processes each; the second host loses its link
pull()
{
  SKUA_DRIVER=$1 SKUA_THREADS=1 SKUA_PEER_TIMEOUT=3
  rm -f "$work"/said.*
  over 2 2 "$work/wrap" "$program" for-ever &
  job=$!
  await 4 100
  sleep 2
  kill -STOP "$(ps -C "$name" -o pid= | tail -n 1)" # a stopped process is not lost
  sleep 5
  ok "$1: a stopped process is not lost" test "$(programs)" = 4
  kill -CONT "$(ps -C "$name" -o pid= | tail -n 1)"
  sleep 0.5
  ip -n "$(host 0)" link set v2 down
  ok "$1: all processes end after the loss of the link" await 0 90
  out=$(cat "$work/said.$(host 1)") err=$(cat "$work/said.$(host 2)")
  ok "$1: the first host reports the lost PE" has "$out" 'lost PE [23] \(process [23]\): '
  ok "$1: the second host reports the lost PE" has "$err" 'lost PE [01] \(process [01]\): '
  for i in 1 2; do
    for pid in $(processes_of $i); do # mpirun and its daemon
      kill -9 "$pid" 2>/dev/null
    done
  done
  wait $job 2>/dev/null
  plug_in
}

# Restores the link and clears the failed neighbour entries.
plug_in()
{
  ip -n "$(host 0)" link set v2 up
  for i in 1 2; do
    ip -n "$(host $i)" neigh flush dev e0
  done
}

for driver in tcp ucx; do # test_drivers tests all drivers, within one process
  case " $drivers " in *" $driver "*) pull $driver ;; esac
done
tap_end
