#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# hosts.sh - distributed jobs of skuarun: processes that share no memory (SKUA_SHARED_MEMORY=0), and several
# hosts, which are network namespaces.
#
# usage: hosts.sh SKUARUN MISBEHAVE BUILD-FOLDER
skuarun=$1
build=$3
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/launching.sh"
name_program "$2"
export SKUA_PIN=none SKUA_DRIVER=tcp SKUA_DRIVER_PATH="$build/drivers"
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# ---- the command line
bad_hosts()
{
  run "$skuarun" "--hosts=$1" "$program" exit-42
  ok "--hosts=$1 is rejected" has "$code $err" "^2 skuarun: --hosts=$1: .*$2"
}
bad_hosts "" "expected host names"
bad_hosts "a:4,,b:4" "expected host names"
bad_hosts "a:,b:4" "expected a number of PEs from 1 to 65535 after the name of host a"
bad_hosts "a:four" "expected a number of PEs from 1 to 65535 after the name of host a"
bad_hosts "a:0" "no host has a PE"
bad_hosts "a:1,b:0" "only a job with --survive has a use for a host without PEs: b"
bad_hosts "a:2,b:2,a:1" "names a host twice: a"
bad_hosts "localhost:1,$(hostname):1" "names a host twice"
bad_hosts "-oProxyCommand=x:1" "expected host names"
bad_hosts "a:4, b:4" "expected host names without blanks"
bad_hosts "fe80::1" "in place of an IPv6 address"
run "$skuarun" -n 5 --hosts=a:2,b:2 "$program" exit-42
ok "more PEs than the hosts have" has "$code $err" '^2 .*fewer PEs than -n requests'
run "$skuarun" -t 2 --hosts=a:3,b:2 "$program" exit-42
ok "a host with an incomplete process" has "$code $err" '^2 .*not a multiple of -t on host a'

# ---- agents that cannot be started
run "$skuarun" --hosts=localhost:1,b:1 --launcher=true "$program" exit-42
ok "a remote shell that is not given the host is rejected" has "$code $err" '^2 skuarun: --launcher=true: the command would not reach host b: write %h'
run "$skuarun" --hosts=a:1,b:1 --launcher="false %h" "$program" exit-42
ok "a remote shell that fails is reported" has "$code $err" "^1 skuarun: cannot start an agent on host [ab]: .false [ab]. exited with code 1"
ok "once" one_line "$err"
run timeout 60 "$skuarun" --survive=100 --hosts=localhost:2,a:0 --launcher="false %h" "$program" exit-42
ok "also for a spare host" has "$code $err" "^1 skuarun: cannot start an agent on host a: .false a. exited with code 1"
run "$skuarun" --hosts=a:1 --launcher="no-such-command %h" "$program" exit-42
ok "a remote shell that does not exist" has "$err" "cannot start an agent on host a: .no-such-command a. exited with code 127"
run "$skuarun" --hosts=a:1,b:1 --launcher="echo to %h" "$program" exit-42
ok "a remote shell that prints" has "$code $err" '^1 skuarun: host [ab] sent data that is not a frame of an agent'
run "$skuarun" --hosts=a:1,b:1 --launcher="env HOST=%h" --agent-path=/no/skuarun "$program" exit-42
ok "a host without skuarun" has "$err" 'cannot start an agent on host [ab]:'
if command -v ssh >/dev/null; then
  run "$skuarun" --hosts=no-such-host.invalid:1 --launcher=ssh "$program" exit-42
  ok "an unknown host" has "$code $err" '^1 .*'
  ok "is reported" has "$err" '^skuarun: cannot start an agent on host no-such-host.invalid:'
fi

# ---- signals while agents are being started: only those that end a job act
cat >"$work/slow" <<'END'
#!/bin/sh
: >"$1" # it is being started
while [ -e "$1" ]; do sleep 0.05; done
shift 2
exec "$@"
END
chmod +x "$work/slow"

# signal_early SIGNAL...: starts a job with a slow agent, and signals skuarun meanwhile.
signal_early()
{
  rm -f "$work/started"
  env --default-signal=INT,HUP "$skuarun" --hosts=localhost:1,a:1 --launcher="$work/slow $work/started %h" "$program" \
    exit-42 >"$work/wait" 2>"$work/wait.err" &
  pid=$!
  while [ ! -e "$work/started" ]; do sleep 0.05; done
  for signal in "$@"; do
    kill "-$signal" $pid
  done
  sleep 0.2
  kill -CONT $pid
  rm "$work/started"
  ended
}
signal_early WINCH USR1 USR2 TSTP
ok "SIGWINCH, SIGUSR1, SIGUSR2 and SIGTSTP are ignored while agents are being started" test "$code $err" = "42 "
signal_early TERM
ok "SIGTERM ends the job then" test "$code" = 143

# ---- processes that share no memory
export SKUA_SHARED_MEMORY=0
for mode in "-n 2" "-n 5" "-n 4 -t 2"; do
  # shellcheck disable=SC2086
  run "$skuarun" $mode "$program" exit-42
  ok "skua_exit(42) with $mode" test "$code" = 42
  ok "prints no error" test -z "$err"
done
run "$skuarun" -n 4 "$build/examples/hello"
ok "hello" test "$(printf '%s\n' "$out" | sort -u | grep -c 'of 4 says hello')" = 4
run "$skuarun" -n 64 -t 32 "$build/examples/hello"
ok "more ports than fit into one value" \
  test "$(printf '%s\n' "$out" | sort -u | grep -c 'of 64 says hello')" = 64
run "$skuarun" -n 3 "$build/tests/test_order"
ok "messages stay in order" test "$code" = 0
run "$skuarun" -n 2 true
ok "a program that does not use Skua" test "$code" = 0
run "$skuarun" -n 2 false
ok "a program that does not use Skua and fails" has "$code $err" '^1 .*exited with code 1 without joining'
run "$skuarun" -n 3 ./no-such-program
ok "a program that does not exist" has "$code $err" '^127 skuarun: cannot run ./no-such-program: No such file'
ok "once" one_line "$err"
run "$skuarun" -n 2 -s exit_grace=0.3 "$program" compute-on
ok "a PE that continues to compute is killed" has "$code $err" '^3 .*did not exit within 0.3 s of skua_exit'
run "$skuarun" -n 2 -v --pin=auto "$program" exit-42
want=$(nproc)
[ "$want" -gt 2 ] && want=2
ok "each PE has its own CPU" test "$(printf '%s\n' "$err" | grep -o 'on CPU.*' | sort -u | wc -l)" \
  = "$want"

# ---- failures: the failed process is reported, not those that lost it
[ "${SANITIZED:-}" ] || died "-n 3" segv 139 '^skuarun: PE 2 \(process 2\) died of signal 11 .* at address 0x8 \(-s backtrace=1 shows where\)$'
died "-n 3" kill 137 '^skuarun: PE 2 \(process 2\) died of signal 9 \(Killed\)$'
died "-n 4 -t 2" kill 137 '^skuarun: PEs 2-3 \(process 1\) died of signal 9'
died "-n 2" give-up 134 '^skuarun: PE 1 \(process 1\) aborted: the answer is not 42$'
died "-n 3" leave-7 7 '^skuarun: PE 2 \(process 2\) exited with code 7 before skua_exit'
for nonsense in short foreign; do
  run env SAY_NONSENSE=$nonsense "$skuarun" -n 2 "$program" exit-42
  ok "a $nonsense request ends the job" has "$code $err" '^1 skuarun: PE [01] .*sent an invalid request'
  ok "in one line" one_line "$err"
done
ok "no process is left" none_left

# ---- input and output
run sh -c "printf 'one\ntwo\n' | '$skuarun' -n 3 '$program' echo"
ok "stdin is forwarded to PE 0" has "$(echo $out)" '^got one got two$'
seq 200000 >"$work/much"
run sh -c "'$skuarun' -n 2 '$program' echo <'$work/much' | tail -n 1"
ok "all of its lines" test "$out" = "got 200000"
run "$skuarun" -n 4 "$program" lines
ok "lines are not broken" test "$(printf '%s\n' "$out" | grep -cE '^line [0-9]+ of PE [0-3]$')" = 800
ok "and no line is lost or added" test "$(printf '%s\n' "$out" | wc -l)" = 800
run "$skuarun" -n 4 -t 2 -l "$program" lines
ok "labels name the PEs" test "$(printf '%s\n' "$out" | grep -cE '^\[(0-1|2-3)\] line')" -ge 400
run sh -c "'$skuarun' -n 2 '$program' flood | (sleep 1; wc -l)"
ok "a slow reader receives all lines" test "$out" -ge 100000
run sh -c "'$skuarun' -n 2 '$program' lines | head -n 1; sleep 0.6"
ok "the job ends when the reader of its output ends" none_left
full_disk
stalled_reader 1

# ---- signals, and agents that are killed
# with_agents OPTIONS...: start a waiting job; sets $agents to the pids of its agents.
with_agents()
{
  start_waiting "$skuarun" "$@" "$program" wait
  agents=$(pgrep -P $pid)
}

# none_of PIDS: succeed when none of the processes remains.
none_of()
{
  for _ in $(seq 100); do
    alive=
    for agent in $1; do
      [ -d "/proc/$agent" ] && ! grep -q '^State:.Z' "/proc/$agent/status" 2>/dev/null && alive=yes
    done
    [ "$alive" ] || return 0
    sleep 0.1
  done
  return 1
}
for signal in TERM-143 INT-130 HUP-129; do
  with_agents -n 3
  kill "-${signal%-*}" $pid
  ended
  ok "SIG${signal%-*} ends the job" test "$code" = "${signal#*-}"
  ok "and no process is left" none_left
done
"$skuarun" -n 2 sh -c "trap '' TERM; echo waiting; exec sleep 60" >"$work/wait" 2>&1 &
pid=$!
await_waiting 2
agents=$(pgrep -P $pid)
kill -TERM $pid
sleep 0.2
kill -TERM $pid
ended
ok "a second signal kills processes that ignore the first" test "$code" = 143
ok "and no agent is left" none_of "$agents"
with_agents -n 3
kill -KILL $pid
ended
ok "SIGKILL of skuarun leaves no process" none_left
ok "and no agent" none_of "$agents"
with_agents -n 3
kill -KILL "$(echo "$agents" | tail -n 1)"
ended
ok "SIGKILL of an agent ends the job" has "$code $err" '^1 skuarun: lost the agent of process [0-2]$'
ok "and no process is left" none_left
ok "and no agent" none_of "$agents"
with_agents -n 3
kill -KILL "$(pgrep -P "$(echo "$agents" | tail -n 1)")"
ended
ok "SIGKILL of a process ends the job" has "$code $err" '^137 skuarun: PE [0-2] .*died of signal 9'
ok "and no process is left" none_left
unset SKUA_SHARED_MEMORY

# ---- hosts: network namespaces, joined by a virtual Ethernet link
a=$(namespace a) b=$(namespace b)
remove_lost_namespaces
if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null || ! ip netns add $a 2>/dev/null; then
  echo "# no network namespaces here: hosts are not tested"
  tap_end
fi
trap 'remove_namespaces $a $b; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
ip netns add $b
ip -n $a link add veth0 type veth peer name veth0 netns $b
ip -n $a addr add 10.99.77.1/24 dev veth0
ip -n $b addr add 10.99.77.2/24 dev veth0
for host in $a $b; do
  ip -n $host link set lo up
  ip -n $host link set veth0 up
done
is_up()
{
  ip -n "$1" -br link show veth0 | grep -q ' UP '
}
for _ in $(seq 50); do
  is_up $a && is_up $b && break
  sleep 0.1
done
export SKUA_LAUNCHER="ip netns exec %h"

run "$skuarun" --hosts=$a:2,$b:2 "$build/examples/hello"
ok "hello on two hosts" test "$(printf '%s\n' "$out" | sort -u | grep -c 'of 4 says hello')" = 4
run "$skuarun" --hosts=$a,$b -n 4 -v "$build/examples/ring"
ok "a ring, with PEs distributed by -n" test "$code" = 0
ok "-v prints the host of each process" has "$err" "^skuarun: process 2 to 3 on host $b"
for share in 1 0; do
  run "$skuarun" --hosts=$a:1,$b:1 --pin=auto -s shared_memory=$share -v "$build/examples/hello"
  cpus=$(printf '%s\n' "$err" | grep -oE 'on CPU [0-9]+' | sort -u | grep -c .)
  ok "hosts on one machine use different CPUs (shared_memory=$share)" \
    test "$cpus" = 2 -o "$(nproc)" = 1
done
for test in order storm; do
  run "$skuarun" --hosts=$a:2,$b:1 "$build/tests/test_$test"
  ok "test_$test" test "$code" = 0
done
run "$skuarun" --hosts=$a:2,$b:2 -s shared_memory=0 "$build/tests/test_order"
ok "hosts whose processes share no memory" test "$code" = 0
run "$skuarun" --hosts=$a:2,$b:2 sh -c "ip -br addr show veth0; exec '$program' exit-42"
ok "each process is on its host" has "$code $(echo $out | grep -o '10.99.77.[12]' | sort | uniq -c | tr -s '\n ' ' ')" \
  '^42 *2 10.99.77.1 2 10.99.77.2'
run env SECRET_OF_MINE=told "$skuarun" --hosts=$a:1,$b:1 -x 'SECRET_*' sh -c 'echo "$SECRET_OF_MINE $PWD"'
ok "variables and the working directory are passed on" test "$(echo $out)" = "told $PWD told $PWD"
died "--hosts=$a:2,$b:2" kill 137 "^skuarun: $b: PE 3 \(process 3\) died of signal 9"
with_agents --hosts=$a:1,$b:2
kill -KILL "$(echo "$agents" | tail -n 1)"
ended
ok "the loss of a host is reported" has "$code $err" "^1 skuarun: lost the agent on host ($a|$b)$"
ok "and no process is left" none_left
ok "and no agent" none_of "$agents"
tap_end
