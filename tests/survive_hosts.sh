#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# survive_hosts.sh - jobs on several hosts that lose some of them, change their size, or are restarted on
# another number of hosts.  The hosts are network namespaces on a bridge in another one.
#
# usage: survive_hosts.sh SKUARUN PROGRAM
. "$(dirname "$0")/tap.sh"
skuarun=$1
skua=${skuarun%run}
name_program "$2"
steps=${STEPS:-60}
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none SKUA_DRIVER=tcp SKUA_DRIVER_PATH="$(dirname "$skuarun")/../drivers"
export SKUA_LAUNCHER="ip netns exec %h"

launcher=
remove_hosts()
{
  trap '' INT TERM HUP
  [ "$launcher" ] && kill -9 "$launcher" 2>/dev/null
  for i in a b c d 0; do
    remove_namespaces "$(namespace $i)"
  done
  rm -rf "$work"
}
trap remove_hosts EXIT
trap 'exit 130' INT TERM HUP
first_namespace "$(namespace 0)"

# ---- hosts a to d
ip -n "$(namespace 0)" link add b0 type bridge && ip -n "$(namespace 0)" link set b0 up
address=1
for i in a b c d; do
  bridged_namespace "$(namespace $i)" $i "10.77.3.$address" ||
    { echo "1..0 # SKIP no virtual network here"; exit 0; }
  address=$((address + 1))
done
a=$(namespace a) b=$(namespace b) c=$(namespace c) d=$(namespace d)

# launch OPTIONS...: starts skuarun in the background: a shell that waits for another command does not
# handle signals.
launch()
{
  : >"$work/err" # without the output of the previous job
  "$skuarun" "$@" >"$work/out" 2>"$work/err" &
  launcher=$!
}

# begin SECONDS OPTIONS...: starts the job with checkpoints in this interval, and waits until it has made
# one.  It does not end before it is released.
export HOLD="$work/hold" STAY="$work/stay"
wrapper=
begin()
{
  : >"$HOLD"
  seconds=$1
  shift
  launch -v -x HOLD -x STAY --survive="$seconds" "$@" $wrapper "$program" none "$steps" due
  await 'a checkpoint is complete' 1
}

is_running()
{
  [ -d "/proc/$launcher" ] && ! grep -q '^State:.Z' "/proc/$launcher/status" 2>/dev/null
}

# await TEXT COUNT: waits until the launcher has printed the text so many times.  Otherwise the
# test ends, since the remaining checks would apply to another job.
await()
{
  for _ in $(seq 1200); do
    [ "$(grep -c -- "$1" "$work/err")" -ge "$2" ] && return
    is_running || break
    sleep 0.05
  done
  [ "$(grep -c -- "$1" "$work/err")" -ge "$2" ] && return
  out=$(cat "$work/out")
  err=$(cat "$work/err")
  ok "the launcher prints '$1' ($2)" false
  tap_end
}

# release: the job may end.
release()
{
  rm -f "$HOLD" "$STAY"
}

# finish: waits until the job has ended, or kills its launcher.  Sets $code, $out and $err.
finish()
{
  for _ in $(seq 2000); do
    is_running || break
    sleep 0.05
  done
  is_running && kill -9 "$launcher"
  code=0
  wait "$launcher" || code=$?
  launcher=
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}

# job OPTIONS...: an undisturbed job.
job()
{
  launch "$@"
  finish
}

# end NAME: the job has ended, with the result of an undisturbed one.
end()
{
  release
  finish
  out=$(printf '%s\n' "$out" | grep '^result' | sort -u)
  ok "$1: the same result" test "$code" -eq 0 -a "$out" = "$expected"
}

# vanish SIGNAL HOST: the host loses its link, and its agent and processes get the signal.
vanish()
{
  ip -n "$(namespace 0)" link set "v${2##*-}" down
  for pid in $(ip netns pids "$2"); do
    kill "-$1" "$pid" 2>/dev/null
  done
}

# back HOST: restores the host for the next job.
back()
{
  for pid in $(ip netns pids "$1"); do
    kill -9 "$pid" 2>/dev/null
  done
  ip -n "$(namespace 0)" link set "v${1##*-}" up
  for i in $a $b $c $d; do
    ip -n "$i" neigh flush dev e0
  done
}

job -n 2 "$program" none "$steps" due
expected=$(printf '%s\n' "$out" | grep '^result')
ok "an undisturbed run" test "$code" -eq 0 -a -n "$expected"

# ---- a host that is lost
begin 0.05 --hosts=$a:1,$b:1,$c:1
vanish KILL $b
end "a host is lost"
ok "its process goes to another one" has "$err" 'epoch 2, with 3 PE\(s\), resumed after .* in memory'
back $b
begin 0.05 --hosts=$a:1,$b:1,$c:0 -s peer_timeout=10
vanish STOP $b
end "a host is silent, and there is a spare one"
ok "it is lost after the time-out of peers" has "$err" "lost the agent on host $b with 1 process"
ok "and the job continues" has "$err" 'with 2 PE\(s\), resumed after .* in memory'
back $b
begin 0.05 --hosts=$a:1,$b:1,$c:1 --spare=0
vanish KILL $c
end "a host is lost, without replacement"
ok "the job has fewer PEs" has "$err" 'epoch 2, with 2 PE\(s\), resumed after .* in memory'
back $c

# ---- buddies that are lost together
begin 0.05 --hosts=$a:1,$b:1,$c:1
kill -STOP $launcher # it detects both losses at once
vanish KILL $b
vanish KILL $c
kill -CONT $launcher
release
finish
ok "buddies are lost together: an error names the checkpoint" has "$code $err" \
  'both copies of some images of checkpoint [0-9]+ in memory are lost, and there is no checkpoint on disk'
back $b
back $c
export SKUA_CHECKPOINT_DIR="$work/saved" SKUA_CHECKPOINT_EVERY=0.01
: >"$STAY" # instead of HOLD, because PE 0 runs its scheduler there and completes checkpoints on disk
begin 0.05 --hosts=$a:1,$b:1,$c:1
rm -f "$HOLD"
for _ in $(seq 200); do
  ls "$work/saved"/gen-*/manifest >/dev/null 2>&1 && break
  sleep 0.05
done
kill -STOP $launcher
vanish KILL $b
vanish KILL $c
kill -CONT $launcher
end "buddies are lost together, with a checkpoint on disk"
ok "from which the job continues" has "$err" "resumed after .* from the checkpoint in $work/saved"
back $b
back $c

# ---- restarts on another number of hosts
unset SKUA_CHECKPOINT_DIR SKUA_CHECKPOINT_EVERY
mkdir "$work/one" "$work/two"
job --hosts=$a:1,$b:1 "$program" "$work/two" 8 4 stop
ok "a checkpoint on two hosts" test "$code" -eq 0
job --hosts=$a:2 --restart="$work/two" "$program"
one=$(printf '%s\n' "$out" | grep '^result')
job -n 3 "$program" "$work/one" 8 4 stop
job --hosts=$a:1,$b:1 --restart="$work/one" "$program"
two=$(printf '%s\n' "$out" | grep '^result')
job -n 1 "$program" "$work/none" 8
ok "continues on one, and one of one host on two" \
  test -n "$one" -a "$one" = "$two" -a "$one" = "$(printf '%s\n' "$out" | grep '^result')"

# ---- another number of PEs, and SIGUSR1.  The job waits in the middle, and makes checkpoints there.
# shrinks NAME: a job on three hosts continues with 1 PE, in two steps
shrinks()
{
  : >"$STAY"
  begin 1000 --hosts=$a:1,$b:1,$c:1
  rm "$HOLD"
  "$skua" resize 1 $launcher
  await 'epoch 3, with 1 PE' 1
  end "$1"
}

shrinks "skua resize of a job on three hosts to 1 PE"
ok "in two steps" has "$err" 'epoch 3, with 1 PE\(s\), resumed after .* in memory'
: >"$STAY"
begin 1000 --hosts=$a:1,$b:1
rm "$HOLD"
kill -USR1 $launcher
await 'a checkpoint is complete' 2
ok "SIGUSR1 makes a checkpoint on several hosts" true
"$skua" resize 3 $launcher
await 'epoch 2, with 3 PE' 1
end "and skua resize to 3"
ok "at once" has "$err" 'epoch 2, with 3 PE\(s\), resumed after .* in memory'

# ---- behind a shell that has run another command: SIGUSR1, which makes a checkpoint due, would end it
cat >"$work/wrapper" <<'END'
#!/bin/sh
/bin/true
"$@"
exit $?
END
chmod +x "$work/wrapper"
wrapper=$work/wrapper
shrinks "skua resize in two steps behind a shell"
ok "without a loss" eval '! has "$err" "died|lost"'
ok "nothing is left" none_left
tap_end
