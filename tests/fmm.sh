#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fmm.sh - the fast multipole method has the requested accuracy, and the same energy on any number of
# PEs, as processes, threads and between hosts, with and without overlap, and with MPI.
#
# usage: fmm.sh SKUARUN FMM PEERS-FOLDER MPI...
skuarun=$1
fmm=$2
peers=$3
shift 3
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none ASAN_OPTIONS=detect_leaks=0

# Succeeds if a run ended with code 0 and errors within the requested limit.
exact()
{
  [ "$code" = 0 ] && has "$out" "^relative errors of $1 particles" && has "$out" '^result fmm: .* energy .*: passed$'
}

# Succeeds if a run ended with code 0 and the energy of $reference, to 1e-9, since sums have different orders.
same_energy()
{
  exact "$1" && printf '%s\n%s\n' "$reference" "$out" | sed -n 's/^result .* energy \(.*\): passed$/\1/p' |
    awk 'NR == 1 { a = $1 } NR == 2 { d = ($1 - a) / a; exit !(d < 1e-9 && d > -1e-9) }'
}

# job PES THREADS ARGUMENTS...
job()
{
  pes=$1
  threads=$2
  shift 2
  run timeout 120 "$skuarun" -n "$pes" -t "$threads" --pin=none "$fmm" "$@"
}

numbers="2 4 7"
errors="1e-2 1e-3 1e-4 1e-5 1e-6"
particles=3000
periodic=1600
if [ -n "$SANITIZED" ]; then # slow
  numbers=4
  errors=1e-3
  particles=1200
  periodic=800
fi

# The accuracy, on one PE.
accuracy()
{
  for error in $errors; do
    for kind in --shape=cube --periodic --shape=plummer; do
      run timeout 120 "$fmm" --particles=1000 --check=1000 --leaf=15 --error=$error $kind
      ok "error $error is held: $kind" exact 1000
    done
  done
  run timeout 120 "$fmm" --particles=3000 --check=300 --leaf=30 --charges=equal --shape=sphere --error=1e-5
  ok "a surface with equal charges" exact 273
  run timeout 120 "$fmm" --particles=700 --check=700 --leaf=8 --order=7 --separation=2 --periodic
  ok "separation 2" exact 700
}
case $SANITIZED in
  *thread*) ;; # one thread has no races
  *) accuracy ;;
esac

for kind in "--shape=plummer --particles=$particles" "--periodic --particles=$periodic"; do
  arguments="--check=100 --leaf=25 --error=1e-3 --repeat=2 $kind"
  run timeout 120 "$fmm" $arguments
  reference=$out
  sample=$(printf '%s\n' "$out" | sed -n 's/^relative errors of \([0-9]*\) .*/\1/p')
  ok "one PE: $kind" exact "$sample"
  for pes in $numbers; do
    job $pes $pes $arguments
    ok "$pes PEs, threads: $kind" same_energy "$sample"
    case $SANITIZED in *thread*) continue ;; esac
    job $pes 1 $arguments --no-overlap
    ok "$pes PEs, processes: $kind" same_energy "$sample"
    result=$(printf '%s\n' "$out" | grep '^result')
    job $pes 1 $arguments
    ok "and the same result, whichever PEs help which" test "$(printf '%s\n' "$out" | grep '^result')" = "$result"
    job $pes 1 $arguments --no-help
    ok "and without help" same_energy "$sample"
  done
done
case $SANITIZED in
  *thread*) ;;
  *)
    export SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp
    job 6 3 $arguments
    ok "two processes without shared memory" same_energy "$sample"
    job 4 3 $arguments
    ok "and with 3 PEs and 1, which has no helper" same_energy "$sample"
    unset SKUA_SHARED_MEMORY SKUA_DRIVER ;;
esac
for mpi in "$@"; do
  [ -x "$peers/peer-$mpi-fmm" ] || continue # some builds have no peers
  for variant in messages puts; do
    run timeout 120 "$(mpiexec_of "$mpi")" -n 2 "$peers/peer-$mpi-fmm" test "$variant $arguments"
    ok "$mpi, 2 ranks, $variant" same_energy "$sample"
  done
done

job 3 3 --particles=3 --check=3
ok "more leaves than particles" exact 3
case $SANITIZED in *thread*) tap_end ;; esac # what follows has one thread
run timeout 120 "$fmm" --particles=2000 --order=2 --error=1e-5 --leaf=10
ok "an error that is too large is found" has "$code $out" 'an error exceeds its limit'
ok "and makes the job fail" [ "$code" = 1 ]
run timeout 120 "$fmm" --particles=500 --check=0 --series=name
ok "times are printed as JSON" has "$out" '"bench":"fmm","series":"name","bytes":500,"metric":"step-1pe"'
tap_end
