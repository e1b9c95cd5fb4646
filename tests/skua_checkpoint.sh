#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skua_checkpoint.sh - checkpoints in a directory, as users see them: skua checkpoint ls and
# verify, a restart from a damaged one, a full disk, a directory that cannot be written, and a job
# that is ended while it writes.
#
# usage: skua_checkpoint.sh SKUA SKUARUN PROGRAM COMPRESSION-LEVEL
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkpoint_job.sh"
skua=$1 skuarun=$2 program=$3 level=$4
dir=$work/dir

run "$skua" checkpoint --help
ok "--help" has "$code $out" '^0 usage: skua checkpoint ls'
run "$skua" checkpoint
ok "a command is expected" has "$code $err" '^2 skua checkpoint: expected ls or verify'
run "$skua" checkpoint ls
ok "and a directory" has "$code $err" '^2 skua checkpoint: expected a directory'
run "$skua" checkpoint ls "$work"
ok "which has checkpoints" has "$code $err" '^1 skua checkpoint: .*: the directory has no checkpoint'
ok "else no table is printed" test -z "$out"

job 2 1 -- "$work" 6
result=$out
ok "an undisturbed run has a result" test "$code" -eq 0 -a -n "$result"
job 2 1 -- "$dir" 6 3
ok "so has one with a checkpoint" test "$code" -eq 0 -a "$out" = "$result"
job 2 1 checkpoint_compress="$level" -- "$dir" 6 3
ok "so has one with a second checkpoint, compressed with level $level" test "$code" -eq 0 -a "$out" = "$result"
mkdir "$dir/gen-000003"
echo rest >"$dir/gen-000003/image.0000.tmp"

run "$skua" checkpoint ls "$dir"
ok "ls lists the checkpoints" has "$code $out" '^20[0-9T:-]+Z +2 +2 +1 +[0-9.]+ +[^ ]+ +complete +.*/gen-000002$'
ok "and what is not one" has "$out" 'not completed +.*/gen-000003$'
run "$skua" checkpoint ls --json "$dir/gen-000001"
ok "--json" has "$out" '^\{"path":".*/gen-000001","state":"complete","generation":1,"time":".*","pes":2,"processes":2,"hosts":1,"bytes":[0-9]+\}$'
run "$skua" checkpoint verify "$dir"
ok "verify finds them intact" has "$code $out" ' intact +.*/gen-000002$'
job 2 1 restart="$dir" --
ok "the newest one is restarted from" test "$code" -eq 0 -a "$out" = "$result"

# A byte in the middle of an image.
size=$(wc -c <"$dir/gen-000002/image.0001")
printf '\377\001\376' | dd of="$dir/gen-000002/image.0001" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run "$skua" checkpoint verify "$dir"
ok "verify finds damage, and its file" has "$code $out" 'gen-000002: image.0001: .*damaged'
ok "and fails" test "$code" -eq 1
job 2 1 restart="$dir" --
ok "a restart from it is refused, with the file" has "$code $err" 'gen-000002: image.0001: .*damaged'
ok "and offers the one before" has "$err" 'checkpoint 1 of 20[^ ]*Z is intact: skuarun --restart .*/gen-000001'
job 2 1 restart="$dir/gen-000001" --
ok "from which the program continues" test "$code" -eq 0 -a "$out" = "$result"
mkdir "$work/empty"
run "$skuarun" -n 2 --restart="$work/empty" "$program"
ok "an empty directory is refused before a process starts" \
  has "$code $err" '^2 skuarun: restart: .*/empty: the directory has no complete checkpoint; name the directory that '
job 2 1 restart="$work" shared_memory=0 --
ok "so is a directory without checkpoints, where processes share no memory" has "$code $err" '^2 .*no complete checkpoint'

# An error while a checkpoint is written does not end the job.
echo file >"$work/file"
job 2 1 -- "$work/file/dir" 6 3
ok "a directory that cannot be made: the job continues" test "$code" -eq 0 -a "$out" = "$result"
ok "with an error that names it" has "$err" "$work/file/dir: .*Not a directory"
mkdir "$work/small"
if mount -t tmpfs -o size=16k tmpfs "$work/small" 2>/dev/null; then # needs root
  job 2 1 -- "$work/small/dir" 6 3
  umount "$work/small"
  ok "a disk that is full: the job continues" test "$code" -eq 0 -a "$out" = "$result"
  ok "with an error that names the file" has "$err" 'gen-000001: image.000[01]: writing failed .*No space left'
fi

# A job that is ended while it writes.
timeout 60 "$skuarun" -n 2 --pin=none "$program" "$dir" 6 3 >/dev/null 2>&1 &
pid=$!
tries=1000
while [ ! -d "$dir/gen-000004" ] && [ $((tries -= 1)) -gt 0 ]; do
  sleep 0.01
done
kill -TERM "$pid" 2>/dev/null
wait "$pid"
job 2 1 -- "$dir" 6 3
ok "after a job that was ended while it wrote, the next one has a result" test "$code" -eq 0 -a "$out" = "$result"
run "$skua" checkpoint verify "$dir"
ok "and its checkpoint is intact" has "$out" ' intact +.*/gen-0000'
left=$(printf '%s\n' "$out" | grep -c 'not completed')
ok "and nothing is left of the others" test "$left" = 0

# SIGUSR1, to a skuarun that has just begun and to one whose program is behind a shell.
job 2 1 -- none 4 due
result=$out
asked=$work/asked
: >"$work/stay"
STAY=$work/stay env --block-signal=USR1 sh -c 'kill -USR1 $$; exec "$@"' sh \
  "$skuarun" -n 2 --pin=none --set=checkpoint_dir="$asked" sh -c '"$@"; exit $?' sh "$program" none 4 due \
  >"$work/asked.out" 2>"$work/asked.err" &
pid=$!
for generation in 1 2; do
  tries=500
  while [ ! -e "$asked/gen-00000$generation/manifest" ] && [ $((tries -= 1)) -gt 0 ]; do
    sleep 0.02
  done
  ok "SIGUSR1 makes checkpoint $generation" test -e "$asked/gen-00000$generation/manifest"
  kill -USR1 $pid
done
rm "$work/stay"
code=0
wait $pid || code=$?
out=$(cat "$work/asked.out") err=$(cat "$work/asked.err")
ok "the job continues" test "$code" = 0 -a "$out" = "$result"
tap_end
