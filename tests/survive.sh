#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# survive.sh - jobs whose processes and agents are killed at random moments have the result and the
# output of an undisturbed run, and leave nothing behind.
#
# usage: survive.sh SKUARUN PROGRAM SEEDS [FIRST-SEED]
#
# The seed in the name of a test determines its run, except for the exact timing.  The
# seed decides the size of the job, whether its processes share memory, how often a checkpoint is
# made, and when and which processes or agents are killed.
. "$(dirname "$0")/tap.sh"
skuarun=$1
seeds=$3
first=${4:-1}
name_program "$2"
steps=${STEPS:-120}
export STAY="$work/stay"
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0
export SKUA_PIN=none SKUA_DRIVER=tcp SKUA_DRIVER_PATH="$(dirname "$skuarun")/../drivers"

# draw SEED: sets pes, threads, shared, every, and kills, a list of "seconds:victims:kind".
draw()
{
  eval "$(awk -v seed="$1" 'function below(n) { return int(rand() * n) }
    BEGIN { srand(seed); for (i = 0; i < 5; i++) rand()
      threads = 1 + below(2); pes = threads * (2 + below(threads == 1 ? 3 : 1)); shared = below(2)
      printf "threads=%d pes=%d shared=%d every=%.2f kills=\"", threads, pes, shared,
             0.05 + rand() * 0.3
      n = 1 + below(3)
      for (i = 0; i < n; i++) { # two agents at once may be buddies
        agent = !shared && i == 0 && below(3) == 0
        printf "%.3f:%d:%s ", rand() * rand() * (shared ? 0.5 : 1.2),
               1 + (!agent && below(4) == 0), agent ? "agent" : "process"
      }
      print "\"" }')"
}

# Prints the processes of the job, or its agents, in random order.
processes()
{
  case $1 in
  agent) # children of skuarun, which is the child of timeout
    launcher=$(pgrep -P "$parent" -x skuarun)
    [ "$launcher" ] && pgrep -P "$launcher" -x skuarun
    ;;
  *) ps -C "$name" -o pid= ;;
  esac | shuf
}

# Waits SECONDS, and kills COUNT processes or agents, if the job still runs.
kill_some()
{
  sleep "$1"
  for victim in $(processes "$3" | head -n "$2"); do
    kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
  done
}

# Runs the job of a seed with its kills.
disturbed()
{
  draw "$1"
  killed=0
  : >"$STAY" # the job stays in the middle of its steps until all kills have happened
  SKUA_SHARED_MEMORY=$shared timeout 120 "$skuarun" --survive="$every" -n "$pes" -t "$threads" \
    "$program" none "$steps" due >"$work/out" 2>"$work/err" &
  parent=$!
  for one in $kills; do
    kill_some "${one%%:*}" "$(echo "$one" | cut -d: -f2)" "${one##*:}"
  done
  rm -f "$STAY"
  code=0
  wait $parent || code=$?
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}

# Succeeds if the job has printed what an undisturbed one prints.  If an agent is killed, lines that it had not
# forwarded are lost, and the output of its processes since the checkpoint is repeated.
as_expected()
{
  case $kills in
  *agent*) [ "$(printf '%s\n' "$out" | grep '^result')" = "$(printf '%s\n' "$expected" | grep '^result')" ] ;;
  *) [ "$out" = "$expected" ] ;;
  esac
}

run timeout 60 "$skuarun" -n 2 "$program" none "$steps" due
expected=$out
ok "an undisturbed run" test "$code" -eq 0
for seed in $(seq "$first" $((first + seeds - 1))); do
  disturbed "$seed"
  ok "seed $seed: $pes PEs, $threads a process, shared memory $shared, $killed killed of $kills" \
    eval '[ "$code" -eq 0 ] && as_expected'
  ok "seed $seed: nothing is left" none_left
done
# Another number of PEs, by skua resize, and by the program.

# stays COMMAND...: runs the job in the background; it stays in the middle of its steps.
stays()
{
  : >"$STAY"
  : >"$work/err"
  timeout 120 "$@" >"$work/out" 2>"$work/err" &
  parent=$!
}

# Lets the launcher and its agents go on when the program has removed the file $work/die.
continue_launcher()
{
  for _ in $(seq 1000); do
    [ -e "$work/die" ] || break
    sleep 0.02
  done
  for launcher in $(pgrep -P $parent -x skuarun); do
    kill -CONT "$launcher" $(pgrep -P "$launcher" -x skuarun)
  done
}

# resized PES: lets the job go on when it has so many PEs.  Sets $code, $out, $err and $launchers.
resized()
{
  for _ in $(seq 1000); do
    grep -q "with $1 PE" "$work/err" && break
    [ -d "/proc/$parent" ] || break
    sleep 0.05
  done
  launchers=$(pgrep -P $parent -x skuarun | wc -l)
  rm -f "$STAY"
  code=0
  wait $parent || code=$?
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}

run timeout 120 "$skuarun" -n 1 "$program" none "$steps" due
expected=$out
stays "$skuarun" --survive=100 -n 1 "$program" none "$steps" due
for _ in $(seq 100); do
  [ "$(ps -C "$name" -o stat= | grep -cv '^Z')" -ge 1 ] && break
  sleep 0.05
done
"${skuarun%run}" resize 2 "$(pgrep -P $parent -x skuarun)"
ok "skua resize reaches the launcher" test $? -eq 0
resized 2
ok "the job continues with 2 PEs" has "$err" 'epoch 2, with 2 PE'
ok "and has the same output" test "$code" -eq 0 -a "$out" = "$expected"
# The program asks for it: it survives without an option, and changes its size.
export SKUA_ERRORS=status
run timeout 120 "$skuarun" -n 2 "$program" none "$steps" due
expected=$out
run env RESIZE=3 timeout 120 "$skuarun" -n 2 "$program" none "$steps" due
ok "skua_resize() is refused in a job that does not survive" \
  has "$code $out $err" 'skua_resize: only a job of .skuarun --survive. can change'
for shared in 1 0; do
  stays env ASK=100 RESIZE=3 SKUA_SHARED_MEMORY=$shared "$skuarun" -n 2 "$program" none "$steps" due
  resized 3
  ok "a program asks to survive, and for 3 PEs (shared memory $shared)" has "$err" 'epoch 2, with 3 PE\(s\), resumed after .* in memory$'
  ok "the launcher that has executed itself keeps its name" test "$launchers" -eq 1
  ok "its output comes once" test "$code" -eq 0 -a "$out" = "$expected"
  run env RESIZE=3 SKUA_SHARED_MEMORY=$shared timeout 120 "$skuarun" --survive=100 -n 2 "$program" none "$steps" due
  ok "a program that does not wait for it has 3 PEs (shared memory $shared)" \
    eval '[ "$code" -eq 0 ] && [ "$out" = "$expected" ] && has "$err" "epoch 2, with 3 PE"'
  # The process dies after the checkpoint, before the launcher, or the agent, can see the request.
  : >"$work/die"
  stays env DIE="$work/die" RESIZE=3 SKUA_SHARED_MEMORY=$shared "$skuarun" --survive=100 -n 2 "$program" none "$steps" due
  continue_launcher
  resized 3
  ok "the request outlives its process (shared memory $shared)" \
    eval '[ "$code" -eq 0 ] && [ "$out" = "$expected" ] && has "$err" "with 3 PE"'
done
run env ASK=100 timeout 60 "$skuarun" -n 2 --set=survive=0 "$program" none "$steps" due
ok "options that forbid it are named" has "$code $err" '^1 .*omit --set=survive'
# Two processes are killed before the launcher can act: both are lost, also if one is still ending.
stays "$skuarun" --survive=0.05 --spare=0 -n 4 "$program" none "$steps" due
for _ in $(seq 1000); do
  grep -q "^step $((steps / 2)) " "$work/out" && break
  sleep 0.02
done
launcher=$(pgrep -P $parent -x skuarun)
kill -STOP "$launcher"
kill -9 $(ps -C "$name" -o pid= | tail -n 2)
kill -CONT "$launcher"
resized 2
ok "two processes that are killed at once are not replaced" has "$err" 'epoch 2, with 2 PE'
run "${skuarun%run}" resize 4 $$
ok "a process that is no skuarun is refused" has "$code $err" '^1 .*is not a skuarun'
ok "nothing of Skua is left in /dev/shm" test -z "$(ls /dev/shm 2>/dev/null | grep -i ^skua)"
tap_end
