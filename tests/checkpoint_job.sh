# SPDX-License-Identifier: Apache-2.0
# checkpoint_job.sh - runs a program whose checkpoints are tested.  A script sources it after tap.sh and sets
# $skuarun and $program.

# job PES THREADS [NAME=VALUE ...] -- ARGUMENTS: runs the program.
job()
{
  pes=$1 threads=$2
  shift 2
  set=
  while [ "$1" != -- ]; do
    set="$set --set=$1"
    shift
  done
  shift
  # shellcheck disable=SC2086
  run timeout 60 "$skuarun" -n "$pes" -t "$threads" --pin=none $set "$program" "$@"
}
