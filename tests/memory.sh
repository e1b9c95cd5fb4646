#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# memory.sh - a job in a control group with little memory: the arena fits, back-pressure keeps a flood
# of messages below the limit, and a process that the kernel kills nevertheless is reported with that
# reason.
#
# usage: memory.sh SKUARUN TESTS-FOLDER SKUA
skuarun=$1
tests=$2
skua=$3
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''

make_memory_group 268435456
if [ -z "$group" ]; then
  echo "1..0 # SKIP cannot make a memory control group"
  exit 0
fi
trap 'rm -rf "$work"; rmdir "$group"' EXIT
trap 'exit 130' INT TERM HUP

in_group "$skua" info
ok "the arena is three quarters of the limit" has "$out" "192 MiB"
in_group timeout 60 "$skuarun" -n 3 --pin=none "$tests/test_flood" 10000 192
ok "a flood of four times the limit succeeds" test "$code" = 0
ok "the flood stays within the arena" has "$out" "^ok"

in_group timeout 60 "$skuarun" -n 2 --pin=none "$tests/test_flood" hog
ok "a process that exceeds the limit is killed" test "$code" = 137
ok "the reason is reported" has "$err" "killed by the kernel: its control group has used up its memory of 256 MiB"
ok "with its PE" has "$err" "PE 1"
tap_end
