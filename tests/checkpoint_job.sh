# SPDX-License-Identifier: Apache-2.0
# checkpoint_job.sh - runs a program whose checkpoints are tested.  A script sources it after tap.sh and sets
# $skuarun and $program.

# job PES THREADS [NAME=VALUE ...] -- ARGUMENTS: runs the program, with the settings in $settings, too.
settings=
job()
{
  pes=$1 threads=$2
  shift 2
  set=$settings
  while [ "$1" != -- ]; do
    set="$set --set=$1"
    shift
  done
  shift
  # shellcheck disable=SC2086
  run timeout 60 "$skuarun" -n "$pes" -t "$threads" --pin=none $set "$program" "$@"
}

# restarts PES THREADS SETTING ARGUMENTS PES.THREADS[,SETTING] ...: a checkpoint, then restarts, which print
# $expected, or the number of PEs that made the checkpoint.
expected=
restarts()
{
  from=$1 by=$2 how=$3 arguments=$4
  shift 4
  rm -rf "$work/dir"
  # shellcheck disable=SC2086
  job "$from" "$by" $how -- "$work/dir" $arguments
  ok "$from PEs, $by a process, $how: stop after a checkpoint ($arguments)" test "$code" -eq 0
  for to in "$@"; do
    form=${to%%,*}
    other=
    test "$form" = "$to" || other=${to#*,}
    # shellcheck disable=SC2086
    job "${form%.*}" "${form#*.}" $other restart="$work/dir" --
    ok "they go on as ${form%.*}, ${form#*.} a process, $other" \
      test "$code" -eq 0 -a "$out" = "${expected:-result $from}"
  done
}
