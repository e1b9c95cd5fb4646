# SPDX-License-Identifier: Apache-2.0
# tap.sh - for tests in shell: source it, call the functions, end with tap_end.
#
#   run COMMAND...      runs it; $code, $out (stdout) and $err (stderr) are set,
#                       and $seconds, how long it took (a whole number)
#   ok WHAT TEST...     a result: whether the command TEST succeeds
#   has TEXT PATTERN    whether the text has a line that matches (grep -E)
set -u
count=0
bad=0
work=$(mktemp -d)
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

# A copy of the program $1 under a name of this run alone, $program, so that its
# processes can be told from those of other runs.
name_program()
{
  name=test$$
  program=$work/$name
  cp "$1" "$program"
}

# Whether no process of that program is left.  They are gone within
# milliseconds; a loaded machine is given seconds.
none_left()
{
  for _ in $(seq 100); do
    ps -C "$name" -o stat= | grep -qv '^Z' || return 0 # Z: dead, not yet collected
    sleep 0.1
  done
  return 1
}

# The files that a page links to, relative to it.
links_of()
{
  sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -oE '\]\([^)#:]+\)' | sed 's/](\(.*\))/\1/'
}

# Likewise the links to headings, of the same page or of another.
anchor_links_of()
{
  sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -oE '\]\([^):]*#[^):]+\)' | sed 's/](\(.*\))/\1/'
}

tap_end()
{
  echo "1..$count"
  [ "$bad" = 0 ]
  exit $?
}
