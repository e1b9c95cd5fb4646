# SPDX-License-Identifier: Apache-2.0
# tap.sh - functions for tests in shell.  A test sources it, calls ok, and ends with tap_end.
#
#   run COMMAND...      run the command; sets $code, $out (stdout), $err (stderr) and
#                       $seconds, the run time as a whole number
#   ok NAME TEST...     print the result of a test: whether the command TEST succeeds
#   has TEXT PATTERN    succeed if a line of the text matches (grep -E)
set -u
count=0 code=0 out= err=
bad=0
work=$(mktemp -d)
export TMPDIR="$work" # Open MPI leaves folders there if a job is killed
trap 'rm -rf "$work"' EXIT

run()
{
  began=$(date +%s)
  code=0
  "$@" >"$work/out" 2>"$work/err" || code=$?
  seconds=$(( $(date +%s) - began ))
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}

ok()
{
  what=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $what"
  else
    bad=$((bad + 1))
    echo "not ok $count - $what ($*)"
    echo "# code $code; out: $out; err: $err" | head -c 2000
    echo
  fi
}

has()
{
  printf '%s\n' "$1" | grep -qE -- "$2"
}

one_line()
{
  [ "$(printf '%s\n' "$1" | grep -c .)" = 1 ]
}

# Copies the program $1 to $program, whose name, $name, is unique to this run, so that its
# processes can be distinguished from those of other runs.
name_program()
{
  name=test$$
  program=$work/$name
  cp "$1" "$program"
}

# Succeeds when no process of that program remains.  They exit within milliseconds; the limit
# is for loaded machines.
none_left()
{
  for _ in $(seq 100); do
    ps -C "$name" -o stat= | grep -qv '^Z' || return 0 # Z: a zombie
    sleep 0.1
  done
  return 1
}

# make_group CONTROLLER FILE-1 FILE-2 VALUE: makes a control group and writes VALUE to its FILE-1, if the
# groups are of version 1, or FILE-2.  Sets $group to its path, or to nothing if that is not possible.
# The caller removes it with rmdir.
make_group()
{
  for group in "/sys/fs/cgroup/$1/skua$$" "/sys/fs/cgroup/skua$$"; do
    limit=$2
    [ "${group%/"$1"/*}" = "$group" ] && limit=$3
    if mkdir "$group" 2>/dev/null && echo "$4" 2>/dev/null >"$group/$limit"; then
      return
    fi
    rmdir "$group" 2>/dev/null
  done
  group=
}

# in_group COMMAND...: runs it in the control group.
in_group()
{
  run sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# make_memory_group BYTES: makes a control group that limits memory.
make_memory_group()
{
  make_group memory memory.limit_in_bytes memory.max "$1"
}

# Prints the files that a page links to, relative to the page.
links_of()
{
  sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -oE '\]\([^)#:]+\)' | sed 's/](\(.*\))/\1/'
}

# Likewise the links to headings, of the same page or of another.
anchor_links_of()
{
  sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -oE '\]\([^):]*#[^):]+\)' | sed 's/](\(.*\))/\1/'
}

# namespace NAME: prints the name of a network namespace of this test.  The names of others do not begin
# like this, so that none is removed that a test has not made.
namespace()
{
  echo "skuatest-$$-$1"
}

# remove_namespaces NAME...: ends the processes of network namespaces of this test, and removes these
remove_namespaces()
{
  for namespace in "$@"; do
    for pid in $(ip netns pids "$namespace" 2>/dev/null); do
      kill -9 "$pid" 2>/dev/null
    done
    ip netns del "$namespace" 2>/dev/null
  done
}

# Removes the network namespaces of tests that were killed, so that their traps did not run: those whose
# names contain the id of a process that does not exist.  Only root can tell: others cannot signal it.
remove_lost_namespaces()
{
  [ "$(id -u)" = 0 ] || return 0
  for lost in $(ip netns list 2>/dev/null | sed -nE 's/^(skuatest-[0-9]+-[0-9a-z]+)( .*)?$/\1/p'); do
    owner=${lost#skuatest-}
    kill -0 "${owner%%-*}" 2>/dev/null || remove_namespaces "$lost"
  done
}

# first_namespace NAME: makes a network namespace, or skips the test.
first_namespace()
{
  remove_lost_namespaces
  if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null || ! ip netns add "$1" 2>/dev/null; then
    echo "1..0 # SKIP not root, or no network namespaces here"
    exit 0
  fi
}

# bridged_namespace NAMESPACE LABEL ADDRESS: makes a network namespace whose interface e0 is joined to the
# bridge b0 in namespace 0 of this test.
bridged_namespace()
{
  ip netns add "$1" && ip -n "$1" link set lo up &&
    ip -n "$(namespace 0)" link add "v$2" type veth peer name e0 netns "$1" &&
    ip -n "$(namespace 0)" link set "v$2" master b0 up &&
    ip -n "$1" addr add "$3/24" dev e0 && ip -n "$1" link set e0 up
}

tap_end()
{
  echo "1..$count"
  [ "$bad" = 0 ]
  exit $?
}
