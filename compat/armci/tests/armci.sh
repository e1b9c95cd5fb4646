#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# armci.sh - ARMCI on Skua with one MPI: its calls on one host and between processes that share no
# memory, misuse, and programs of Global Arrays, which have to print the same as on ARMCI-MPI.
#
# usage: armci.sh TESTS-FOLDER GA-SCF-FOLDER MPI DRIVERS-FOLDER [brief]
#
# brief: another MPI is tested, too, with all checks that do not depend on the MPI.
tests=$1
scf=$2
mpi=$3
drivers=$4
brief=$5
. "$(dirname "$0")/../../../tests/tap.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1
unset SKUA_BOOT SKUA_DRIVER SKUA_DRIVER_PATH
code=0 out='' err=''

launcher=$(command -v "mpiexec.$mpi" || command -v mpiexec) || { echo "1..0 # SKIP no mpiexec"; exit 0; }

# under N PROGRAM...: run it without binding, since tests share the machine
under()
{
  n=$1
  shift
  case $mpi in
    openmpi) run timeout 100 "$launcher" --oversubscribe --bind-to none -n "$n" "$@" </dev/null ;;
    mpich)   run timeout 100 "$launcher" -n "$n" "$@" </dev/null ;;
  esac
}

# A wait of MPICH occupies a core, so there are no more processes than cores.
case $mpi in
  openmpi) numbers="2 4 7" some=3 ;;
  mpich)   numbers=2 some=2
           [ "$(nproc)" -lt 4 ] || numbers="2 4" ;;
esac

# ---- the header
if [ -x "$tests/armci_layout.peer-$mpi" ]; then
  ours=$("$tests/armci_layout.skua-$mpi")
  theirs=$("$tests/armci_layout.peer-$mpi")
  ok "sizes, offsets and values are those of Debian's armci.h" test "$ours" = "$theirs"
else
  echo "# ARMCI-MPI was not found: layouts and outputs are not compared"
fi

# ---- the calls
for n in 1 $numbers; do
  under "$n" "$tests/armci_calls-$mpi"
  ok "calls of $n processes" has "$code $out" "^0 ok: $n processes"
done
export SKUA_DRIVER_PATH="$drivers" # the folder beside the shared library
under 2 "$tests/armci_calls.static-$mpi"
unset SKUA_DRIVER_PATH
ok "calls with the static library" has "$code $out" "^0 ok: 2 processes"
under 2 "$tests/armci_calls-$mpi" armci-first
ok "ARMCI_Init before MPI_Init" has "$code $out" '^0 ok: 2 processes'
under 2 "$tests/armci_calls-$mpi" no-mpi
ok "a program that leaves MPI to ARMCI" has "$code $out" '^0 ok: 2 processes'
under 2 "$tests/armci_calls-$mpi" mpi-ends
ok "ARMCI begins twice; MPI_Finalize without ARMCI_Finalize" has "$code $out" '^0 ok: 2 processes'
under 2 "$tests/armci_calls-$mpi" busy
ok "a target that computes does not delay operations" has "$code $out" '^0 ok'
export SKUA_SHARED_MEMORY=0
under $some "$tests/armci_calls-$mpi"
ok "calls of processes that share no memory" has "$code $out" "^0 ok: $some processes"
under 2 "$tests/armci_calls-$mpi" busy
ok "a target that computes does not delay operations over a network" has "$code $out" '^0 ok'
unset SKUA_SHARED_MEMORY

# wrong CASE: misuse ARMCI; $err is what the processes write.  They write it to a file: mpiexec of
# MPICH may end after MPI_Abort() without having read all that is in its pipes.
wrong()
{
  : > "$work/said"
  under 2 sh -c 'exec "$@" 2>> "$0"' "$work/said" "$tests/armci_calls-$mpi" wrong "$1"
  err=$(cat "$work/said")
}

# ---- misuse: CASE and the error; on one host, then without shared memory, where another host would refuse
misuse()
{
  while read -r what error; do
    wrong "$what"
    ok "misuse: $what" has "$([ "$code" != 0 ] && echo "$err$out")" "armci: process [01]: $error"
  done
}
none='bytes at 0x[0-9a-f]* of process [01] are in no allocation'
misuse <<END
outside ARMCI_Put: 8 $none
END
# The checks do not depend on the MPI; how the job ends does.
[ "$brief" = brief ] || misuse <<END
beyond ARMCI_Get: 8 $none
strided ARMCI_PutS: 8200 $none
vector ARMCI_PutV: 8 $none
accumulate ARMCI_Acc: 16 $none
started ARMCI_NbPut: 16 $none
before ARMCI_GetS: 16 $none
null ARMCI_Get: an address is NULL
count ARMCI_GetS: count\[0\] is -8
process ARMCI_Put: there is no process 2
levels ARMCI_PutS: 9 stride levels; there are 0 to 8
type ARMCI_Acc: there is no accumulate of type 99
operation ARMCI_Rmw: there is no operation 99
mutex ARMCI_Lock: there is no mutex 0 on process 0
freed ARMCI_Free: 0x[0-9a-f]* is not the address of an allocation
twice ARMCI_Free: 0x[0-9a-f]* is not the address of an allocation
notify armci_notify: there is no process -1
END
export SKUA_SHARED_MEMORY=0
misuse <<END
beyond ARMCI_Get: 8 $none
strided ARMCI_PutS: 8200 $none
started ARMCI_NbPut: 16 $none
END
unset SKUA_SHARED_MEMORY

# ---- Global Arrays: what programs print does not depend on the library or the number of processes
for program in ga_arrays ga_arrays_fortran; do
  [ -x "$tests/$program.skua-$mpi" ] || { echo "# $program was not built: no Global Arrays, or no Fortran"; continue; }
  expected=$(cat "$(dirname "$0")/$program.txt")
  for n in $numbers; do
    under "$n" "$tests/$program.skua-$mpi"
    ok "$program: $n processes" test "$code $out" = "0 $expected"
  done
  if [ -x "$tests/$program.peer-$mpi" ]; then
    # Windows of MPI_Win_allocate() in shared memory lose puts in MPICH 4.0.2 (mpich issue 6110).
    [ "$mpi" = mpich ] && export ARMCI_USE_WIN_ALLOCATE=0
    under 2 "$tests/$program.peer-$mpi"
    unset ARMCI_USE_WIN_ALLOCATE
    ok "$program on ARMCI-MPI prints that, too" test "$code $out" = "0 $expected"
  fi
done
for program in ga_scf ga_scf_fortran; do
  [ -x "$scf/$program-$mpi" ] || continue
  under $some "$scf/$program-$mpi"
  ok "$program" has "$code$out" '^0result ga_scf: .*: passed$'
  first=$out
  under $some "$scf/$program-$mpi"
  ok "$program prints the same result again" test "$out" = "$first"
done

tap_end
