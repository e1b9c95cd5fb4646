#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skuarun.sh - skuarun on one host: exit codes, failures, signals, input and output, and that no process
# remains.
#
# usage: skuarun.sh SKUARUN MISBEHAVE
skuarun=$1
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/launching.sh"
name_program "$2"
export SKUA_PIN=none
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# ---- the command line
run "$skuarun" --help
ok "--help prints the usage" has "$code $out" '^0 usage: skuarun'
run "$skuarun" --version
ok "--version" has "$code $out" '^0 skuarun [0-9]'
run sh -c "'$skuarun' --help >/dev/full"
ok "or says that it cannot" has "$code $err" '^1 skuarun: cannot write to standard output: No space'
run "$skuarun" -n 2
ok "no program is an error" has "$code $err" '^2 skuarun: no program'
run "$skuarun" -n 2 ""
ok "nor is an empty name" has "$code $err" '^2 skuarun: no program'
run "$skuarun" -n 0 "$program"
ok "0 PEs are an error" has "$code $err" '^2 skuarun: -n 0: expected'
run "$skuarun" -n 2x "$program"
ok "a number of PEs that is none is an error" has "$code $err" '^2 skuarun: -n 2x: expected'
run "$skuarun" --bogus "$program"
ok "an unknown option is an error" has "$code" '^2$'
run "$skuarun" -np 2 -v "$program" exit-42
ok "-np is -n, as of mpirun" has "$code $err" '^42 skuarun: process 0 is pid'
run "$skuarun" --np=2 "$program" exit-42
ok "and so is --np" test "$code" = 42
run "$skuarun" -np
ok "it has an argument" has "$code $err" '^2 skuarun: -np: expected'
run "$skuarun" -n 2 -s log_levle=info "$program" exit-42
ok "--set of a misspelt setting is an error" has "$code $err" '^2 skuarun: --set=log_levle=info: SKUA_LOG_LEVLE is not a setting; did you mean SKUA_LOG_LEVEL.'
run "$skuarun" -n 2 -s share=0 "$program" exit-42
ok "and a former name" has "$code $err" '^2 .*SKUA_SHARE was renamed'
run "$skuarun" -s log_level "$program"
ok "--set without a value is an error" has "$code $err" '^2 .*expected NAME=VALUE'
run "$skuarun" --spare=1 "$program"
ok "--spare without --survive is an error" has "$code $err" '^2 skuarun: --spare requires --survive'
run "$skuarun" -x A=1 "$program"
ok "--export with a value is an error" has "$code $err" '^2 skuarun: --export=A=1: expected names'
run "$skuarun" --restart="$program" "$program"
ok "--restart from a file is an error" has "$code $err" '^2 skuarun: --restart=.*: Not a directory'
run "$skuarun" -n 2 ./no-such-program
ok "a program that does not exist" has "$code $err" '^127 skuarun: cannot run ./no-such-program: No such file'
ok "is reported once" one_line "$err"
cp "$program" "$work/just$$"
run sh -c 'cd "$1" && exec "$2" -n 1 "$3"' sh "$work" "$skuarun" "just$$"
ok "a program of this directory without a path: the error says how to run it" \
  has "$code $err" "^127 .* in PATH; to run the one in this directory, write ./just$$"
printf '#!/bin/no-such-shell\n' >"$work/script"
chmod +x "$work/script"
run "$skuarun" -n 2 "$work/script"
ok "a script whose interpreter does not exist" has "$code $err" '^127 .*script: No such file or directory: the interpreter'
run "$skuarun" -n 2 /etc/passwd
ok "a program that cannot be executed" has "$code $err" '^126 skuarun: cannot run /etc/passwd: Permission denied'
run "$skuarun" -n 2 /etc
ok "a directory in place of a program" has "$code $err" '^126 skuarun: cannot run /etc: Is a directory'

# ---- settings
run "$skuarun" -n 2 -s log_level=loud "$program" exit-42
ok "an invalid setting is rejected before the start" has "$code $err" '^2 .*SKUA_LOG_LEVEL=loud: expected fatal'
run "$skuarun" -n 2 -s log_level=info "$program" exit-42
ok "the log shows the zero-copy threshold" has "$code $err" 'zero copy from [0-9]+ bytes'
run env SKUA_MALLOC_ARENA=4k "$program" exit-42
ok "malloc_arena needs a library that skuarun preloads" has "$code $err" '^42 .*skua-malloc.so is not loaded'
run env SKUA_SHARE=0 "$skuarun" -n 2 "$program" exit-42 # a former name of a setting
ok "a former name is rejected, with the present one" has "$code $err" '^2 .*SKUA_SHARE was renamed: set SKUA_SHARED_MEMORY instead'
run env SKUA_LOG_LEVLE=info "$skuarun" -n 2 "$program" exit-42
ok "a misspelt setting is reported with a suggestion" has "$code $err" '^42 .*SKUA_LOG_LEVLE is not a setting; did you mean SKUA_LOG_LEVEL'
ok "once" one_line "$err"
run "$skuarun" -n 2 -s arena_address=1000000000000 "$program" exit-42
ok "an arena that cannot be mapped" has "$code $err" '^1 .*cannot map an arena.*SKUA_ARENA_ADDRESS'
touch "$work/taken"
run env PLACE_TAKEN="$work/taken" "$skuarun" -n 3 -s arena_address=0x300000000000 "$program" exit-42
ok "a process whose address range is occupied" has "$code $err" '^1 .*cannot map the arena at 0x300000000000'
ok "no process is left" none_left
run "$skuarun" -n 2 --pin=9-1 "$program" exit-42
ok "an invalid list of CPUs" has "$code $err" '^2 .*SKUA_PIN=9-1: expected'

run env SKUA_THREADS=2 "$skuarun" -n 4 -v "$program" exit-42
ok "SKUA_THREADS is the default of -t" has "$code $err" 'process 1 is pid [0-9]+, with PE 2, PE 3$'
run "$skuarun" -n 4 -s threads=4 -t 2 -v "$program" exit-42
ok "-t takes precedence" has "$code $err" 'process 1 is pid [0-9]+, with PE 2, PE 3$'
run env SKUA_THREADS=100000 "$program" exit-42
ok "more threads than a job can have PEs are rejected" has "$code $err" '^[12] .*SKUA_THREADS=100000: expected a number of PEs from 1 to 65535'
run env SKUA_SURVIVE=10 "$program" exit-42
ok "SKUA_SURVIVE without skuarun is reported" has "$code $err" '^42 .*SKUA_SURVIVE has no effect without skuarun'
run env SKUA_CHECKPOINT_DIR= "$skuarun" -n 2 -s checkpoint_every=60 "$program" exit-42
ok "so is checkpoint_every without a directory" has "$code $err" '^42 .*SKUA_CHECKPOINT_EVERY has no effect: no directory'
ok "once" one_line "$err"
run env SKUA_RESTART=memory timeout -k 1 20 "$program" exit-42
ok "a process without images is not restarted from memory" has "$code $err" '^1 .*SKUA_RESTART=memory: this process has no checkpoint in memory'
run env SKUA_RESTART=memory timeout -k 1 20 "$skuarun" -n 2 "$program" exit-42
ok "nor is a new job" has "$code $err" '^2 skuarun: restart: a new job has no checkpoint in memory'

# ---- exit codes
for mode in "-n 1" "-n 3" "-n 3 -t 3" "-n 4 -t 2"; do
  # shellcheck disable=SC2086
  run "$skuarun" $mode "$program" exit-42
  ok "skua_exit(42) with $mode" test "$code" = 42
  ok "prints no error" test -z "$err"
done
run "$skuarun" -n 2 "$program" exit--256
ok "a failure does not read as success" has "$code $err" '^255 .*warn: skua_exit: the exit code is 255: of -256'
run "$program" exit--256
ok "nor without a launcher" test "$code" = 255
run "$skuarun" -n 2 true
ok "a program that does not use Skua" test "$code" = 0
run "$skuarun" -n 2 false
ok "a program that does not use Skua and fails" has "$code $err" '^1 .*exited with code 1 without joining'
run "$skuarun" -n 2 -s exit_grace=0.3 "$program" compute-on
ok "a PE that continues to compute is killed" has "$code $err" '^3 .*did not exit within 0.3 s of skua_exit'

# ---- failures: reported in one line, with the exit code of the failed process, without waiting for a
# time-out
if [ "${SANITIZED:-}" = "" ]; then # a sanitizer prints its own report
  died "-n 4" segv 139 '^skuarun: PE 3 \(process 3\) died of signal 11 \(Segmentation fault\) at address 0x8 \(-s backtrace=1 shows where\)$'
  died "-n 4 -t 2" segv 139 '^skuarun: PE 3 \(process 1\) died of signal 11'
  died "-n 2" exit-wait 139 'PE 1 .*died of signal 11 .*PE 1 had called skua_exit.0.: from then on waits return NULL or false'
  died "-n 2" send-nothing 139 'PE 1 .*died of signal 11 .*, inside of a call of Skua that was given NULL'
  died "-n 3 -t 3" abort 134 '^skuarun: PE 2 \(process 0\) died of signal 6'
  died "-n 2" overflow 139 '^skuarun: PE 1 .*: user thread deep overran its stack of 65536 bytes'
  died "-n 2" overflow-frame 139 '^skuarun: PE 1 .*: user thread wide overran its stack of 65536 bytes'
fi
died "-n 3" kill 137 '^skuarun: PE 2 \(process 2\) died of signal 9 \(Killed\)$'
died "-n 4 -t 2" kill 137 '^skuarun: PEs 2-3 \(process 1\) died of signal 9'
died "-n 2" give-up 134 '^skuarun: PE 1 \(process 1\) aborted: the answer is not 42$'
died "-n 3" leave 1 '^skuarun: PE 2 \(process 2\) exited with code 0 before skua_exit'
died "-n 3" leave-7 7 '^skuarun: PE 2 \(process 2\) exited with code 7 before skua_exit'
ok "no process is left" none_left

if [ "${SANITIZED:-}" = "" ]; then
  run "$skuarun" -n 2 -s backtrace=1 "$program" segv
  ok "SKUA_BACKTRACE=1 names the function" has "$err" 'at address 0x8, in write_to_nowhere'
  ok "and its caller" has "$err" 'called from (start|die_by_signal)'
  run "$skuarun" -n 2 -s backtrace=1 "$program" unknown-pe
  ok "also after a misuse" has "$err" 'called from (unknown_pe|start)'
fi

# ---- all PEs of a process fail at once: one of them is reported
if [ "${SANITIZED:-}" = "" ]; then
  for _ in 1 2 3 4 5; do
    run "$skuarun" -n 4 -t 4 "$program" all-segv
    ok "all PEs crash: one is reported, in one line" has "$err" '^skuarun: PE [0-3] \(process 0\) died of signal 11 .* at address 0x8 \(-s backtrace=1 shows where\)$'
  done
fi
run "$skuarun" -n 4 -t 4 "$program" all-give-up
ok "all PEs give up: one is reported" has "$err" '^skuarun: PE [0-3] \(process 0\) aborted: the answer is not 42$'
ok "in one line" one_line "$err"

# ---- processes that do not join, or join twice
mkdir "$work/first"
run "$skuarun" -n 2 sh -c "rmdir $work/first 2>/dev/null && exit 0; sleep 0.3; exec $program exit-42"
ok "a process that never joins ends the job" has "$code $err" '^1 .*exited with code 0 without joining'
run "$skuarun" -n 2 sh -c "$program exit-42; $program exit-42"
ok "a second program in a slot is rejected" has "$err" 'has joined already'

# ---- a process that is stopped for longer than SKUA_STOP_TIMEOUT is killed
for apart in 1 0; do
  run "$skuarun" -n 2 -s stop_timeout=0.1 -s shared_memory=$apart "$program" stop
  ok "stopped, shared_memory=$apart: killed" \
    has "$code $err" '^137 skuarun: PE 1 \(process 1\) was stopped for 0.1 s and has been killed .SKUA_STOP_TIMEOUT.$'
done

# ---- binaries that differ
touch "$work/odd"
run env ODD_ONE="$work/odd" "$skuarun" -n 3 "$program" exit-42
ok "a process with other handlers is reported" has "$err" 'handler [0-9]+ is (missing|"odd") in process [12] but ("odd"|missing) in process 0'
ok "and ends the job" test "$code" = 1
touch "$work/odd"
run env ODD_ONE="$work/odd" "$skuarun" -n 2 -s shared_memory=0 "$program" exit-42
ok "also over the network, on both sides" \
  has "$err" 'its handler [0-9]+ is "(odd|.missing.)", that of this process is "(odd|.missing.)"'

# ---- a message of 3 GB, between processes
run "$skuarun" -n 2 -s arena_size=8g "$program" large
ok "3 GB in a message" has "$code $out" '^0 3221237817 bytes'

# ---- input and output
run sh -c "printf 'one\ntwo\n' | '$skuarun' -n 3 '$program' echo"
ok "stdin is forwarded to PE 0" has "$(echo $out)" '^got one got two$'
run "$skuarun" -n 4 "$program" lines
ok "lines are not broken" test "$(printf '%s\n' "$out" | grep -cE '^line [0-9]+ of PE [0-3]$')" = 800
ok "and no line is lost or added" test "$(printf '%s\n' "$out" | wc -l)" = 800
run "$skuarun" -n 4 -t 2 -l "$program" lines
ok "labels name the PEs" test "$(printf '%s\n' "$out" | grep -cE '^\[(0-1|2-3)\] line')" -ge 400
run "$skuarun" -n 3 -l "$program" lines
ok "one PE per process: the label is its number" has "$out" '^\[2\] line 199 of PE 2$'
run "$skuarun" -n 2 -v "$program" exit-42
ok "-v prints pids and PEs" has "$err" '^skuarun: process 1 is pid [0-9]+, with PE 1'
run sh -c "'$skuarun' -n 2 '$program' lines | head -n 1; sleep 0.6"
ok "the job ends when the reader of its output ends" none_left

# ---- unusual environments
run sh -c "'$skuarun' -n 2 '$program' exit-42 <&-"
ok "started without stdin" test "$code" = 42
mkdir "$work/gone"
run sh -c "cd '$work/gone' && rmdir ../gone && exec '$skuarun' -n 2 '$program' exit-42"
ok "a working directory that was removed" test "$code$err" = 42
full_disk
stalled_reader 0.5
run sh -c "printf 'x' | '$skuarun' -n 2 -l '$program' pieces"
ok "every line has its label" test "$(printf '%s\n' "$out" | grep -cE '^\[[01]\] ')" = "$(printf '%s\n' "$out" | wc -l)"

# ---- signals
ended_by()
{
  start_waiting "$skuarun" -n 3 "$program" wait
  kill "-$1" $pid
  ended
  ok "SIG$1 ends the job" test "$code" = "$2"
  ok "and no process is left" none_left
}
ended_by TERM 143
ended_by INT 130
ended_by HUP 129
start_waiting env --ignore-signal=HUP "$skuarun" -n 3 "$program" wait
kill -HUP $pid
sleep 0.2
kill -HUP $pid
sleep 0.2
kill -TERM $pid
ended
ok "signals that the parent ignores, as nohup does, do not end the job" test "$code" = 143
for apart in 1 0; do
  run timeout -k 1 20 env --ignore-signal=CHLD "$skuarun" -n 2 -s shared_memory=$apart "$program" exit-42
  ok "a parent that ignores SIGCHLD, shared_memory=$apart" test "$code" = 42
done
start_waiting "$skuarun" -n 3 "$program" usr1
kill -USR1 $pid
ended
ok "SIGUSR1 reaches the program" test "$code" = 5
start_waiting "$skuarun" -n 3 "$program" wait
kill -KILL $pid
wait $pid 2>/dev/null
ok "SIGKILL of skuarun leaves no process" none_left
start_waiting "$skuarun" -n 3 "$program" wait
kill -KILL "$(pgrep -x "$name" -P $pid | head -n 1)"
ended
ok "SIGKILL of a process ends the job" test "$code" = 137
ok "and no process is left" none_left
"$skuarun" -n 2 sh -c "\"$program\" wait; true" >"$work/wait" 2>&1 &
pid=$!
await_waiting 2
kill -KILL $pid
wait $pid 2>/dev/null
ok "also of a job behind a shell" none_left

# ---- an idle job uses no CPU
ticks_used()
{
  sum=0
  for child in $(pgrep -P $pid); do
    sum=$((sum + $(cut -d' ' -f14 "/proc/$child/stat") + $(cut -d' ' -f15 "/proc/$child/stat")))
  done
  echo $sum
}
start_waiting "$skuarun" -n 3 "$program" wait
sleep 0.5
before=$(ticks_used)
sleep 1
after=$(ticks_used)
ok "an idle job uses no CPU" test $((after - before)) -le 1
kill -TERM $pid
wait $pid 2>/dev/null

tap_end
