# SPDX-License-Identifier: Apache-2.0
# launching.sh - what the tests of skuarun on one host and on several share.  Source it
# after tap.sh; $skuarun and $program are set.

# full_disk: output that nobody takes is said.
full_disk()
{
  run sh -c "'$skuarun' -n 2 '$program' lines >/dev/full"
  ok "a full disk is said" has "$code $err" '^1 .*cannot write the output of the job: No space'
}

# stalled_reader SECONDS: a reader that stalls, for so long before the signal comes.
stalled_reader()
{
  mkfifo "$work/fifo"
  "$skuarun" -n 2 "$program" flood >"$work/fifo" 2>"$work/err" &
  pid=$!
  exec 9<"$work/fifo" # open, but never read
  sleep "$1"
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  exec 9<&-
  ok "a reader that stalls does not keep signals away" test "$code" = 143
  ok "and nothing is left" none_left
}

# start_waiting COMMAND...: in the background, as $pid, until three PEs say that they wait.
# (A shell makes what it runs in the background ignore SIGINT.)
start_waiting()
{
  : >"$work/wait" # not the lines of the last one
  env --default-signal=INT "$@" >"$work/wait" 2>"$work/wait.err" &
  pid=$!
  await_waiting 3
}

await_waiting()
{
  for _ in $(seq 200); do
    [ "$(grep -c waiting "$work/wait")" = "$1" ] && break
    sleep 0.05
  done
}

# ended: waits for $pid; $code and $err are set.
ended()
{
  code=0
  wait $pid 2>/dev/null || code=$?
  err=$(cat "$work/wait.err")
}
