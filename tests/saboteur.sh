#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# saboteur.sh - fault injection: jobs that check every message, put, channel and migration run while a
# random fault is injected.
#
#   none      no fault: the job succeeds
#   stop      a process is stopped for a while and continued: the job succeeds
#   crowd     all processes share one CPU: the job succeeds
#   strangers foreign connections to the ports of the job send garbage: the job succeeds
#   link      hosts lose their link for less than the peer time-out: the job succeeds
#   cut       hosts lose their link for good: the job ends and reports why
#   memory    a control group limits memory: the job succeeds, or reports why not
#   kill      SIGKILL to a process of the program: the job ends and reports why
#   launcher  SIGKILL to skuarun: no process remains
#
# After each job no process of it remains.  All random choices come from a seed, which is printed; a
# failed round is printed with the seed that repeats it.
#
# usage: saboteur.sh SKUARUN TESTS-FOLDER SECONDS SEED DRIVER...
skuarun=$1
tests=$2
seconds=$3
seed=$4
shift 4
drivers=
for driver in "$@"; do
  case $driver in mpi*) ;; *) drivers="$drivers $driver" ;; esac
done
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''
log=$work/log
: >"$log"
echo "# seed $seed, for $seconds s"

# ---- hosts: two network namespaces, if possible ------------------------

a=$(namespace a) b=$(namespace b)
remove_lost_namespaces
hosts=
if [ "$(id -u)" = 0 ] && ip netns add $a 2>/dev/null; then
  ip netns add $b && ip -n $a link add e0 type veth peer name e0 netns $b &&
    ip -n $a addr add 10.78.0.1/24 dev e0 && ip -n $b addr add 10.78.0.2/24 dev e0 &&
    ip -n $a link set lo up && ip -n $b link set lo up && ip -n $a link set e0 up &&
    ip -n $b link set e0 up && hosts=yes
fi

make_memory_group 402653184

[ -n "$hosts" ] || echo "# no network namespaces here: links that are lost are not tested"
[ -n "$group" ] || echo "# no control group of memory can be made here: memory limits are not tested"

clean_up()
{
  remove_namespaces $a $b
  [ -n "$group" ] && rmdir "$group"
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# ---- random choices -------------------------------------------------------------------------

# Sets $drawn to a random number below $1 (Lehmer's generator).
state=$(( seed % 2147483646 + 1 ))
draw()
{
  state=$(( state * 48271 % 2147483647 ))
  drawn=$(( state / 7 % $1 ))
}

# Sets $chosen to one of the arguments.
choose()
{
  draw $#
  shift $drawn
  chosen=$1
}

# Sleeps for a random time below $1 milliseconds.
pause()
{
  draw "$1"
  sleep "$(printf '0.%03d' $drawn)"
}

# ---- a job ----------------------------------------------------------------------------

# The programs, with arguments that make them run for about a second.
choose_program()
{
  choose "storm 12" "wander 10" "moving 6" "sections 6" "channels 8" "onesided 400" "notify 60 200" "order" "large 8" "flood 1500 1000" "nocopy_args 40" "create"
  test_name=${chosen%% *}
  arguments=${chosen#"$test_name"}
  program=$work/$name
  cp "$tests/test_$test_name" "$program"
}

choose_transport()
{
  choose shared shared $drivers ${hosts:+hosts hosts}
  transport=$chosen
  draw 6
  pes=$(( drawn + 2 ))
  draw 2
  threads=$(( drawn + 1 ))
  [ $transport = hosts ] && pes=$(( (pes + 2) / 4 * 4 )) # a multiple of the processes of both hosts
  [ $transport = hosts ] && [ $pes = 0 ] && pes=4
  transport_options=
  case $transport in
    shared) ;;
    hosts) transport_options="--hosts=$a:$(( pes / 2 )),$b:$(( pes - pes / 2 ))" ;;
    *) transport_options="--set=shared_memory=0 --set=driver=$transport" ;;
  esac
}

choose_fault()
{
  set -- none stop crowd kill kill launcher
  [ "$transport" = shared ] || set -- "$@" strangers
  [ "$transport" = hosts ] && set -- "$@" link cut
  [ -n "$group" ] && [ "$transport" = shared ] && set -- "$@" memory
  choose "$@"
  fault=$chosen
}

# Starts the job in the background; $job is the pid of its watchdog, timeout(1).
begin()
{
  before="timeout --foreground -k 1 100"
  [ $fault = crowd ] && before="$before taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')"
  export SKUA_PEER_TIMEOUT=5 SKUA_LAUNCHER="ip netns exec %h" SKUA_LOG_LEVEL=fatal
  (
    [ $fault = memory ] && echo 0 >"$group/cgroup.procs"
    # shellcheck disable=SC2086 # words
    exec $before "$skuarun" -n $pes -t $threads --pin=none $transport_options "$program" $arguments
  ) >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  began=$(date +%s)
}

# Prints the processes of the program.
processes()
{
  pgrep -x "$name"
}

# Prints the pid of skuarun.
launcher()
{
  for child in $(pgrep -P $job); do # taskset(1) becomes skuarun by exec
    echo "$child"
  done | head -n 1
}

# Sets $victim to a process of the program, or to nothing.
choose_victim()
{
  victim=$(processes | tr '\n' ' ')
  # shellcheck disable=SC2086 # words
  [ -n "$victim" ] && choose $victim && victim=$chosen
}

# ---- faults ----------------------------------------------------------------------------

inject()
{
  pause 700
  case $fault in
    stop)
      choose_victim
      if [ -n "$victim" ] && kill -STOP "$victim" 2>/dev/null; then
        pause 900
        kill -CONT "$victim" 2>/dev/null
      fi ;;
    kill)
      choose_victim
      [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null ;;
    launcher)
      victim=$(launcher)
      [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null ;;
    strangers)
      where=
      [ $transport = hosts ] && where="ip netns exec $a"
      $where timeout 5 "$tests/test_stranger" disturb "$name" 1 "$state" >/dev/null 2>&1 ;;
    link)
      ip -n $a link set e0 down
      pause 999
      ip -n $a link set e0 up ;;
    cut)
      ip -n $a link set e0 down ;;
  esac
}

repair()
{
  [ $fault = cut ] && ip -n $a link set e0 up
}

# ---- checks ---------------------------------------------------------------------

explained()
{
  has "$err" 'died of signal|was killed|lost |aborted|exited with code|did not exit|arena is full|no memory'
}

check()
{
  case $fault in
    none | stop | crowd | strangers | link) test $code = 0 ;;
    kill | cut | memory) test $code = 0 || { test $code != 124 && explained; } ;;
    launcher) test $code != 124 ;;
  esac && none_left
}

round()
{
  name=sb$$x$rounds
  name=$(printf '%.15s' "$name")
  at=$state
  choose_program
  choose_transport
  choose_fault
  begin
  inject
  code=0
  wait $job 2>/dev/null || code=$?
  repair
  out=$(cat "$work/out") err=$(cat "$work/err")
  verdict=passed
  if ! check; then
    verdict=failed
    ok "$fault: $test_name$arguments on $pes PEs, $threads per process, $transport: code $code after $(( $(date +%s) - began )) s; repeat with seed $(( at - 1 ))" false
  fi
  echo "$fault $verdict $(( $(date +%s) - began ))" >>"$log"
  rm -f "$program"
}

rounds=0
end=$(( $(date +%s) + seconds ))
while [ "$(date +%s)" -lt $end ] && [ $bad -lt 5 ]; do
  round
  rounds=$(( rounds + 1 ))
done

awk '{ n[$1]++; passed[$1] += $2 == "passed"; s[$1] += $3 }
     END { printf "# %-10s %6s %6s %8s\n", "fault", "jobs", "passed", "seconds"
           for (t in n) printf "# %-10s %6d %6d %8d\n", t, n[t], passed[t], s[t] }' "$log"
ok "$rounds jobs, $(grep -c passed "$log") of which passed" test "$bad" = 0
tap_end
