# SPDX-License-Identifier: Apache-2.0
# launching.sh - functions that skuarun.sh and hosts.sh share.  Source it after tap.sh; $skuarun and
# $program are set.

# died OPTIONS MODE CODE PATTERN: a job of $program MODE ends with that code, without waiting for a
# time-out, and the failure is reported in one line.
died()
{
  # shellcheck disable=SC2086
  run "$skuarun" $1 "$program" "$2"
  ok "$2 with $1: code $3" test "$code" = "$3"
  ok "$2 with $1: reported" has "$err" "$4"
  ok "$2 with $1: in one line" one_line "$err"
  ok "$2 with $1: without waiting for a time-out ($seconds s)" test "$seconds" -lt 25 # SKUA_PEER_TIMEOUT is 30
}

# full_disk: an error of the output is reported.
full_disk()
{
  run sh -c "'$skuarun' -n 2 '$program' lines >/dev/full"
  ok "a full disk is reported" has "$code $err" '^1 .*cannot write the output of the job: No space'
}

# stalled_reader SECONDS: a signal ends a job whose output is not read, after that time.
stalled_reader()
{
  mkfifo "$work/fifo"
  "$skuarun" -n 2 "$program" flood >"$work/fifo" 2>"$work/err" &
  pid=$!
  exec 9<"$work/fifo" # opened, but never read
  sleep "$1"
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  exec 9<&-
  ok "a stalled reader does not block signals" test "$code" = 143
  ok "no process is left" none_left
}

# start_waiting COMMAND...: start it in the background, as $pid, and wait until three PEs have printed
# "waiting".  (A shell makes background commands ignore SIGINT, and nohup makes all ignore SIGHUP.)
start_waiting()
{
  : >"$work/wait" # remove the lines of the previous job
  env --default-signal=INT,HUP SKUA_IDLE_REPORT=0 "$@" >"$work/wait" 2>"$work/wait.err" &
  pid=$!
  await_waiting 3
}

# await_waiting N: wait until N PEs have printed "waiting".
await_waiting()
{
  for _ in $(seq 1200); do
    [ "$(grep -c waiting "$work/wait")" = "$1" ] && break
    sleep 0.05
  done
}

# ended: wait for $pid; sets $code and $err.
ended()
{
  code=0
  wait $pid 2>/dev/null || code=$?
  err=$(cat "$work/wait.err")
}
