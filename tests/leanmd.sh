#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# leanmd.sh - molecular dynamics conserves energy, momentum and atoms, and its result is bit-identical
# on any number of PEs, as processes, threads and between hosts, with any balancing, with the control
# flow written by hand, and with MPI.
#
# usage: leanmd.sh SKUARUN LEANMD LEANMD-PLAIN PEERS-FOLDER MPI...
skuarun=$1
leanmd=$2
plain=$3
peers=$4
shift 4
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none ASAN_OPTIONS=detect_leaks=0
few=24
case $SANITIZED in *thread*) few=12 ;; esac
small="--size=3,3,4 --atoms=16 --steps=$few --migrate=6 --balance=4"
even=3,3,4,1,1,1,2,16,24,6,0,1
uneven="--size=5,3,4 --away=2,1,1 --atoms=14 --droplet --steps=12 --migrate=3 --balance=5 --seed=7"
droplet=5,3,4,2,1,1,8,14,12,3,1,7

# Prints the result line.
result()
{
  printf '%s\n' "$out" | grep '^result '
}

# Succeeds if a run ended with code 0 and the same result as $reference.
same()
{
  [ "$code" = 0 ] && [ "$(result)" = "$reference" ]
}

# Succeeds if a run ended with code 0 and the energy of $reference, to 1e-9, since an MPI may use another compiler.
same_energy()
{
  [ "$code" = 0 ] && printf '%s\n%s\n' "$reference" "$(result)" | sed 's/.* energy \([^ ]*\) J.*/\1/' |
    awk 'NR == 1 { a = $1 } NR == 2 { d = ($1 - a) / a; exit !(d < 1e-9 && d > -1e-9) }'
}

# job PES THREADS STRATEGY ARGUMENTS...
job()
{
  pes=$1
  threads=$2
  strategy=$3
  shift 3
  run env SKUA_BALANCE="$strategy" timeout 120 "$skuarun" -n "$pes" -t "$threads" --pin=none "$@"
}

numbers="2 4 7"
steps=1000
if [ -n "$SANITIZED" ]; then # slow
  numbers=4
  steps=40
fi

case $SANITIZED in
  *thread*) ;; # one thread has no races
  *)
    run timeout 120 "$leanmd" --size=3,3,3 --atoms=12 --steps=$steps
    ok "energy, momentum and atoms are conserved over $steps steps" has "$code $(result)" '^0 result .* good$' ;;
esac

run timeout 120 "$leanmd" $small
reference=$(result)
ok "one PE" has "$code $reference" '^0 result .* 576 atoms, '$few' steps; .* good$'
for pes in $numbers; do
  for strategy in none rotate; do
    job $pes $pes $strategy "$leanmd" $small
    ok "$pes PEs, threads, $strategy" same
    case $SANITIZED in *thread*) continue ;; esac
    job $pes 1 $strategy "$leanmd" $small
    ok "$pes PEs, processes, $strategy" same
  done
done
job 4 4 greedy "$leanmd" $small
ok "4 PEs, threads, greedy" same
job 3 3 none "$plain" $small
ok "control flow written by hand" same
case $SANITIZED in
  *thread*) ;;
  *)
    export SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp
    job 4 2 random "$leanmd" $small
    ok "two processes without shared memory" same
    unset SKUA_SHARED_MEMORY SKUA_DRIVER ;;
esac
for mpi in "$@"; do
  [ -x "$peers/peer-$mpi-leanmd" ] || continue # some builds have no peers
  run timeout 120 "$(mpiexec_of "$mpi")" -n 3 "$peers/peer-$mpi-leanmd" test $even
  ok "$mpi, 3 ranks" same_energy
done

run timeout 120 "$leanmd" $uneven
reference=$(result)
ok "a droplet with neighbours two cells away, one PE" has "$code $reference" '^0 result .* good$'
job 4 4 rotate "$leanmd" $uneven
ok "a droplet, 4 PEs, rotate" same
for mpi in "$@"; do
  [ -x "$peers/peer-$mpi-leanmd" ] || continue # some builds have no peers
  run timeout 120 "$(mpiexec_of "$mpi")" -n 2 "$peers/peer-$mpi-leanmd" test $droplet
  ok "a droplet, $mpi, 2 ranks" same_energy
done

case $SANITIZED in *thread*) tap_end ;; esac # what follows has one thread
run timeout 120 "$leanmd" $small --migrate=1 --series=name
ok "atoms migrate after each step" has "$code $(result)" '^0 result .* good$'
ok "times are printed as JSON" has "$out" '"bench":"leanmd","series":"name","bytes":36,"metric":"step-1pe"'
tap_end
