#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# saboteur.sh - jobs that check every message, put, channel and migration, and trouble at
# random: what holds, how often and for how long.
#
#   none      nothing happens to the job: it ends well
#   stop      a process is stopped for a while, and goes on
#   crowd     all processes share one CPU
#   strangers connect to the ports of the job and send garbage
#   link      hosts lose each other for less than the peer time-out
#   cut       hosts lose each other for good: the job ends, and says so
#   memory    a control group allows little memory: it ends well, or says why not
#   kill      SIGKILL to a process of the program: the job ends, and says so
#   launcher  SIGKILL to skuarun: nothing is left behind
#
# After each job nothing of it is left.  All is drawn from a seed, which is told; a round that
# does not hold is told with what repeats it.
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

# ---- hosts: two network namespaces, where they can be made ------------------------

a=sb$$-a b=sb$$-b
hosts=
if [ "$(id -u)" = 0 ] && ip netns add $a 2>/dev/null; then
  ip netns add $b && ip -n $a link add e0 type veth peer name e0 netns $b &&
    ip -n $a addr add 10.78.0.1/24 dev e0 && ip -n $b addr add 10.78.0.2/24 dev e0 &&
    ip -n $a link set lo up && ip -n $b link set lo up && ip -n $a link set e0 up &&
    ip -n $b link set e0 up && hosts=yes
fi

# A control group of memory, of version 1 or 2, where one can be made.
group=
for path in /sys/fs/cgroup/memory/sb$$ /sys/fs/cgroup/sb$$; do
  limit=memory.max
  [ "${path%/memory/*}" = "$path" ] || limit=memory.limit_in_bytes
  if [ -z "$group" ] && mkdir $path 2>/dev/null; then
    if echo 402653184 2>/dev/null >$path/$limit; then group=$path; else rmdir $path; fi
  fi
done

clean_up()
{
  for host in $a $b; do
    for pid in $(ip netns pids $host 2>/dev/null); do # of this test alone
      kill -9 "$pid" 2>/dev/null
    done
    ip netns del $host 2>/dev/null
  done
  [ -n "$group" ] && rmdir "$group"
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# ---- chance -------------------------------------------------------------------------

# A number below $1 into $drawn; the generator is Lehmer's.
state=$(( seed % 2147483646 + 1 ))
draw()
{
  state=$(( state * 48271 % 2147483647 ))
  drawn=$(( state / 7 % $1 ))
}

# One of the arguments into $chosen.
choose()
{
  draw $#
  shift $drawn
  chosen=$1
}

# Sleeps for less than $1 milliseconds, by chance.
pause()
{
  draw "$1"
  sleep "$(printf '0.%03d' $drawn)"
}

# ---- a job ----------------------------------------------------------------------------

# The programs, and arguments with which they take a second or so.
choose_program()
{
  choose "storm 12" "wander 10" "channels 8" "onesided 400" "notify 60 200" "order" "large 8" "flood 1500 1000" "parts 40" "create"
  test_name=${chosen%% *}
  arguments=${chosen#"$test_name"}
  program=$work/$name
  cp "$tests/test_$test_name" "$program"
}

choose_way()
{
  choose shared shared $drivers ${hosts:+hosts hosts}
  way=$chosen
  draw 6
  pes=$(( drawn + 2 ))
  draw 2
  threads=$(( drawn + 1 ))
  [ $way = hosts ] && pes=$(( (pes + 2) / 4 * 4 )) # both hosts have whole processes
  [ $way = hosts ] && [ $pes = 0 ] && pes=4
  set_way=
  case $way in
    shared) ;;
    hosts) set_way="--hosts=$a:$(( pes / 2 )),$b:$(( pes - pes / 2 ))" ;;
    *) set_way="--set=shared_memory=0 --set=driver=$way" ;;
  esac
}

choose_trouble()
{
  set -- none stop crowd kill kill launcher
  [ "$way" = shared ] || set -- "$@" strangers
  [ "$way" = hosts ] && set -- "$@" link cut
  [ -n "$group" ] && [ "$way" = shared ] && set -- "$@" memory
  choose "$@"
  trouble=$chosen
}

# Begins it in the background: $job is a watchdog, $launcher its skuarun.
begin()
{
  before="timeout --foreground -k 1 100"
  [ $trouble = crowd ] && before="$before taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')"
  export SKUA_PEER_TIMEOUT=5 SKUA_LAUNCHER="ip netns exec %h" SKUA_LOG_LEVEL=fatal
  (
    [ $trouble = memory ] && echo 0 >"$group/cgroup.procs"
    # shellcheck disable=SC2086 # words
    exec $before "$skuarun" -n $pes -t $threads --pin=none $set_way "$program" $arguments
  ) >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  began=$(date +%s)
}

# The processes of the program, and the launcher.
processes()
{
  pgrep -x "$name"
}
launcher()
{
  for child in $(pgrep -P $job); do # below taskset(1), which becomes it
    echo "$child"
  done | head -n 1
}

# A process of the program into $victim, or nothing.
choose_victim()
{
  victim=$(processes | tr '\n' ' ')
  # shellcheck disable=SC2086 # words
  [ -n "$victim" ] && choose $victim && victim=$chosen
}

# ---- trouble ----------------------------------------------------------------------------

disturb()
{
  pause 700
  case $trouble in
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
      [ $way = hosts ] && where="ip netns exec $a"
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
  [ $trouble = cut ] && ip -n $a link set e0 up
}

# ---- what must hold ---------------------------------------------------------------------

explained()
{
  has "$err" 'died of signal|was killed|lost |gave up|exited with code|did not end|arena is full|no memory'
}

judge()
{
  case $trouble in
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
  choose_way
  choose_trouble
  begin
  disturb
  code=0
  wait $job 2>/dev/null || code=$?
  repair
  out=$(cat "$work/out") err=$(cat "$work/err")
  verdict=held
  if ! judge; then
    verdict=failed
    ok "$trouble: $test_name$arguments on $pes PEs, $threads a process, $way: code $code after $(( $(date +%s) - began )) s; repeat with seed $(( at - 1 ))" false
  fi
  echo "$trouble $verdict $(( $(date +%s) - began ))" >>"$log"
  rm -f "$program"
}

rounds=0
end=$(( $(date +%s) + seconds ))
while [ "$(date +%s)" -lt $end ] && [ $bad -lt 5 ]; do
  round
  rounds=$(( rounds + 1 ))
done

awk '{ n[$1]++; held[$1] += $2 == "held"; s[$1] += $3 }
     END { printf "# %-10s %6s %6s %8s\n", "trouble", "jobs", "held", "seconds"
           for (t in n) printf "# %-10s %6d %6d %8d\n", t, n[t], held[t], s[t] }' "$log"
ok "$rounds jobs, $(grep -c held "$log") of which held" test "$bad" = 0
tap_end
