#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# limits.sh - a job whose processes may have few addresses, files or processes: it has a smaller arena, or
# its error names the limit to raise.  A job where /proc or /sys is not mounted, or loopback is down.
#
# usage: limits.sh SKUARUN TESTS-FOLDER
skuarun=$1
tests=$2
. "$(dirname "$0")/tap.sh"
export SKUA_PIN=none SKUA_DRIVER=tcp
unset SKUA_ARENA_SIZE

# limited OPTION VALUE COMMAND...: runs a command with a limit of bash.
limited()
{
  run timeout 60 bash -c 'ulimit "$0" "$1" && shift && exec "$@"' "$@"
}

# ---- addresses
for share in 1 0; do
  export SKUA_SHARED_MEMORY=$share
  limited -v 1000000 "$skuarun" -n 2 "$tests/test_order"
  ok "the arena fits into ulimit -v (shared memory: $share)" test "$code $err" = "0 "
done
unset SKUA_SHARED_MEMORY
limited -v 1000000 env SKUA_ARENA_SIZE=2g "$skuarun" -n 2 "$tests/test_order"
ok "an arena that does not is refused, with the limit" has "$code $err" '^1 .*cannot map an arena .*ulimit -v'
limited -v 150000 env SKUA_ARENA_SIZE=64m SKUA_STACK_SIZE=64m "$skuarun" -n 1 "$tests/test_threads"
ok "so are stacks" has "$err" 'no memory for the stack of another user thread .*ulimit -v'

limited -f 1000000 "$skuarun" -n 2 "$tests/test_order"
ok "the arena fits into ulimit -f" test "$code $err" = "0 "
limited -f 1000 env SKUA_ARENA_SIZE=64m "$skuarun" -n 2 "$tests/test_order"
ok "an arena that does not is refused, with the limit" has "$code $err" '^1 .*cannot create an arena of 64 MiB .*ulimit -f'

# ---- stacks
for share in 1 0; do
  limited -s 64 env SKUA_SHARED_MEMORY=$share "$skuarun" -n 2 "$tests/test_order" </dev/null
  ok "a stack of 64 KiB is enough (shared memory: $share)" test "$code $err" = "0 "
done

# ---- files
limited -n 12 "$skuarun" -n 3 "$tests/test_order"
ok "too few files for pipes" has "$code $err" '^1 .*cannot start process .*ulimit -n'
limited -n 8 env SKUA_SHARED_MEMORY=0 "$skuarun" -n 3 "$tests/test_order"
ok "too few for an agent" has "$code $err" '^1 .*cannot start an agent.*ulimit -n'

# ---- /proc and /sys, which are hidden here

# without FOLDER COMMAND...: runs a command that finds the folder empty.
without()
{
  run timeout 60 unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$@"
}
if unshare -m mount -t tmpfs none /sys 2>/dev/null; then
  export SKUA_SHARED_MEMORY=0
  without /proc "$skuarun" -n 2 "$tests/test_order"
  ok "a job of agents needs /proc" test "$code $err" = \
    "2 skuarun: cannot start agents: /proc/self/exe: No such file or directory (is /proc mounted?)"
  without /sys "$skuarun" -n 2 "$tests/test_order"
  ok "but not /sys" has "$code $out" '^0 '
  without /sys env SKUA_DRIVER=ucx "$skuarun" -n 2 "$tests/test_order"
  if [ -e "$tests/../drivers/skua-ucx.so" ]; then
    ok "which UCX needs" has "$err" 'ucx: UCX finds no interfaces: .*is /sys mounted'
  fi
  for driver in tcp ucx ofi; do
    [ -e "$tests/../drivers/skua-$driver.so" ] || continue
    run timeout 60 unshare -n env SKUA_DRIVER=$driver "$skuarun" -n 2 "$tests/test_order"
    ok "loopback that is down is an error of $driver" has "$code $err" "$driver: interface lo is down"
  done
  unset SKUA_SHARED_MEMORY
fi

# ---- processes and threads, which root may start nevertheless
as=
if [ "$(id -u)" = 0 ]; then # an id that no other process has
  as="setpriv --reuid $((1000000000 + $$)) --clear-groups"
  chmod 755 "$work"
fi
# shellcheck disable=SC2086
if [ -z "$as" ] || ! $as "$skuarun" --version >/dev/null 2>&1; then
  ok "processes # SKIP not root, or the launcher cannot be run by others" true
  tap_end
fi
limited -u 2 $as "$skuarun" -n 3 "$tests/test_order"
ok "too few processes" has "$code $err" '^1 .*cannot start process .*ulimit -u'
limited -u 2 $as "$skuarun" -n 4 -t 4 "$tests/test_order"
ok "too few threads" has "$err" 'cannot start the thread of PE 1: .*ulimit -u'
tap_end
