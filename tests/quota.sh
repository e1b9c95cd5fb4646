#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# quota.sh - a job in a control group with the time of one CPU: by default it has one PE, and PEs are
# not bound and sleep instead of spinning.
#
# usage: quota.sh SKUARUN TESTS-FOLDER SKUA
skuarun=$1
tests=$2
skua=$3
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''

make_group cpu cpu.cfs_quota_us cpu.max 100000
if [ -z "$group" ] || [ "$(nproc)" -lt 2 ]; then
  echo "1..0 # SKIP cannot make a control group of CPU time, or there is one CPU"
  [ -z "$group" ] || rmdir "$group"
  exit 0
fi
trap 'rm -rf "$work"; rmdir "$group"' EXIT
trap 'exit 130' INT TERM HUP

in_group "$skua" info
ok "skua info names the quota" has "$out" "CPUs usable by this process, 1 at a time"
in_group timeout 60 "$skuarun" -v "$tests/test_flood" 100 4096
ok "a job has one PE by default" test "$code $(printf '%s\n' "$err" | grep -c ' is pid ')" = "0 1"
in_group timeout 60 "$skuarun" -v -n 4 "$tests/test_flood" 1000 4096
ok "a job of more PEs succeeds" test "$code" = 0
ok "these are not bound" has "$err" "the control groups allow 1 CPU at a time: PEs are not bound"
in_group timeout 60 "$skuarun" -v -n 2 --pin=0 "$tests/test_flood" 100 4096
ok "unless the user binds them" has "$err" "with PE 1 on CPU 0"
tap_end
