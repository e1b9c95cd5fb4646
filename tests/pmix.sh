#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pmix.sh - jobs that mpirun of Open MPI starts, through PMIx: their results, their ends, and that no
# process remains.
#
# usage: pmix.sh SKUA MISBEHAVE EXAMPLES-FOLDER TESTS-FOLDER
skua=$1
examples=$3
tests=$4
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
name_program "$2"

mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
if [ -z "$mpirun" ] || ! "$mpirun" --version 2>/dev/null | grep -qE "Open MPI|OpenRTE" ||
   "$skua" info 2>/dev/null | grep -q "PMIx): no"; then
  echo "1..0 # SKIP no mpirun of Open MPI, or no PMIx"
  exit 0
fi

# mpi N PROGRAM...: run it without binding, since tests share the machine
mpi()
{
  n=$1
  shift
  run timeout 60 "$mpirun" --oversubscribe --bind-to none -n "$n" "$@"
}

mpi 3 "$examples/hello"
ok "three processes are a job" test "$(printf '%s\n' "$out" | grep -c 'of 3 says hello')" = 3
run env SKUA_THREADS=2 timeout 60 "$mpirun" --oversubscribe --bind-to none -n 2 "$examples/hello"
ok "processes with two PEs each" test "$(printf '%s\n' "$out" | grep -c 'of 4 says hello')" = 4
run env SKUA_THREADS=40000 timeout 60 "$mpirun" --oversubscribe --bind-to none -n 2 "$examples/hello"
ok "more PEs than a job can have" has "$code $err" '^1 .*2 processes of 40000 PEs each .SKUA_THREADS. are more PEs'
mpi 1 "$examples/hello"
ok "one process is a job" has "$code $out" '^0 PE 0 of 1'
for test in order messages collectives onesided notify; do
  mpi 3 "$tests/test_$test" 200
  ok "test_$test" test "$code" = 0
done
mpi 3 "$tests/test_embed" 4 library
ok "phases" test "$code" = 0
run timeout 60 "$mpirun" --oversubscribe --bind-to core -n 2 "$examples/halo"
ok "bound by the launcher" test "$code" = 0

# ---- inside of a job of skuarun
skuarun=$(dirname "$skua")/skuarun
inner="$mpirun --oversubscribe --bind-to none -n 2 $examples/hello"
run timeout 60 "$skuarun" -n 1 sh -c "$inner"
ok "mpirun inside of a job: the error says how to start it" has "$err" 'skua: error: .*mpirun.*by .env -u SKUA_JOB'
run timeout 60 "$skuarun" -n 1 sh -c "env -u SKUA_JOB $inner"
ok "and so it runs" test "$code $(printf '%s\n' "$out" | grep -c 'of 2 says hello')" = "0 2"

# ---- failures
mpi 3 "$program" exit-42
ok "skua_exit(42)" test "$code" = 42
mpi 3 "$program" segv
ok "a crash is reported" has "$err" 'skua: PE 2 \(process 2\) died of signal 11'
ok "and ends the job" test "$code" = 139
mpi 3 "$program" give-up
ok "giving up is reported" has "$err" 'skua: PE 2 \(process 2\) aborted: the answer is not 42'
touch "$work/odd"
run env ODD_ONE="$work/odd" timeout 60 "$mpirun" --oversubscribe --bind-to none -n 3 "$program" exit-42
ok "processes that differ are reported" has "$err" 'handler [0-9]+ is (missing|"odd") in process'
ok "no process is left" none_left

# ---- srun without PMI
run env SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=0 "$examples/hello"
ok "processes of srun that are no job are warned of" has "$code $err" 'srun has started 3 processes without PMI'
run env SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1 "$examples/hello"
ok "once" test "$code" = 0 -a -z "$err"

run "$skua" info
ok "skua info lists PMIx" has "$out" 'srun \(PMIx\)$'
tap_end
