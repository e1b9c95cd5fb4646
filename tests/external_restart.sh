#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# external_restart.sh - what docs/guide/survive.md says of other launchers: a job under mpirun of Open MPI,
# mpiexec of MPICH and srun ends when one of its processes is killed, leaves nothing behind, and the same
# line with SKUA_RESTART continues from its last checkpoint, on any number of processes.
#
# usage: external_restart.sh PROGRAM EXAMPLES-FOLDER
#
# All installed launchers are tested; srun, which needs a running cluster, only with SRUN=1 in the
# environment, where all nodes share the working folder $TMPDIR.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
name_program "$1"
examples=$2
steps=${STEPS:-60}
export SKUA_PIN=none
unset SKUA_BOOT SKUA_DRIVER

# under N COMMAND...: the command of the launcher $launcher.
under()
{
  n=$1
  shift
  case $launcher in
    openmpi) timeout 60 mpirun.openmpi --oversubscribe --bind-to none -n "$n" "$@" ;;
    mpich)   timeout 60 mpiexec.mpich -n "$n" "$@" ;;
    srun)    timeout 60 srun --mpi=pmix -n "$n" "$@" ;;
  esac
}

available()
{
  case $1 in
    openmpi) command -v mpirun.openmpi ;;
    mpich)   command -v mpiexec.mpich && [ -e "$(dirname "$examples")/drivers/skua-mpi-mpich.so" ] ;;
    srun)    [ "${SRUN:-}" ] && srun --mpi=list 2>&1 | grep -q pmix ;;
  esac >/dev/null 2>&1
}

result_of()
{
  printf '%s\n' "$out" | grep '^result' | sort -u
}

# killed: starts the job, kills one process when a checkpoint is on disk, and waits for its end.
killed()
{
  : >"$STAY"
  under 4 "$program" none "$steps" due >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  for _ in $(seq 400); do
    ls "$SKUA_CHECKPOINT_DIR"/gen-*/manifest >/dev/null 2>&1 && break
    sleep 0.05
  done
  # Not a zombie, which the job of the launcher before may have left.
  kill -9 "$(ps -C "$name" -o pid=,stat= | awk '$2 !~ /^Z/ { print $1 }' | shuf -n 1)"
  code=0
  wait $job || code=$?
  rm -f "$STAY"
}

# restart N: the documented line.
restart()
{
  SKUA_RESTART=$SKUA_CHECKPOINT_DIR SKUA_CHECKPOINT_EVERY=0 under "$1" "$program"
}

test_launcher()
{
  launcher=$1
  run under 3 "$examples/hello"
  ok "$launcher: three processes are a job" test "$(printf '%s\n' "$out" | grep -c 'of 3 says hello')" = 3
  export SKUA_CHECKPOINT_DIR="$work/saved-$launcher" SKUA_CHECKPOINT_EVERY=0.001
  mkdir "$SKUA_CHECKPOINT_DIR"
  killed
  ok "$launcher: a job that loses a process ends" test "$code" -ne 0
  ok "$launcher: and leaves nothing" none_left
  for n in 4 1 3; do
    run restart $n
    ok "$launcher: it continues with $n process(es)" test "$code" -eq 0 -a "$(result_of)" = "$expected"
  done
  unset SKUA_CHECKPOINT_DIR SKUA_CHECKPOINT_EVERY
}

export STAY="$work/stay"
run "$program" none "$steps" due
expected=$(result_of)
ok "an undisturbed run" test "$code" -eq 0 -a -n "$expected"
found=
for one in openmpi mpich srun; do
  available $one || continue
  found="$found $one"
  test_launcher $one
done
if [ -z "$found" ]; then
  echo "1..0 # SKIP no mpirun, mpiexec or srun"
  exit 0
fi
tap_end
