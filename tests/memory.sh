#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# memory.sh - a job inside of a control group that allows little memory: the arena fits into it,
# a flood of messages is held back before the limit, and a process that the kernel kills all the
# same is told to have been killed for that.
#
# usage: memory.sh SKUARUN TESTS-FOLDER SKUA
skuarun=$1
tests=$2
skua=$3
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''

# A group of version 1 or 2 below the root of the hierarchy that allows 256 MiB.
for group in /sys/fs/cgroup/memory/skua$$ /sys/fs/cgroup/skua$$; do
  limit=memory.limit_in_bytes
  [ "${group%/memory/*}" = "$group" ] && limit=memory.max
  if mkdir "$group" 2>/dev/null && echo 268435456 >"$group/$limit" 2>/dev/null; then
    break
  fi
  rmdir "$group" 2>/dev/null
  group=
done
if [ -z "$group" ]; then
  echo "1..0 # SKIP no control group of memory can be made here"
  exit 0
fi
trap 'rm -rf "$work"; rmdir "$group"' EXIT
trap 'exit 130' INT TERM HUP

# limited COMMAND...: in that group
limited()
{
  run sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

limited "$skua" info
ok "the arena is three quarters of what the group allows" has "$out" "192 MiB"
limited timeout 60 "$skuarun" -n 3 --pin=none "$tests/test_flood" 10000 192
ok "a flood of four times that memory ends well" test "$code" = 0
ok "and stayed below the arena" has "$out" "^ok"

limited timeout 60 "$skuarun" -n 2 --pin=none "$tests/test_flood" hog
ok "a process that takes more than the group allows is killed" test "$code" = 137
ok "which is told as such" has "$err" "killed by the kernel: its control group has used up its memory of 256 MiB"
ok "with its PE" has "$err" "PE 1"
tap_end
