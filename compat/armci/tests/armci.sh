#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# armci.sh - ARMCI on Skua with one MPI: its calls on one host and between processes that share no
# memory, misuse, and programs of Global Arrays, which have to print what they print on ARMCI-MPI.
#
# usage: armci.sh TESTS-FOLDER GA-SCF-FOLDER MPI
tests=$1
scf=$2
mpi=$3
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

# Waits of MPICH take all of a core, so there are not many more processes than cores.
case $mpi in
  openmpi) numbers="2 4 7" ;;
  mpich)   numbers="2 4" ;;
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
under 2 "$tests/armci_calls-$mpi" armci-first
ok "ARMCI_Init before MPI_Init" has "$code $out" '^0 ok: 2 processes'
under 2 "$tests/armci_calls-$mpi" busy
ok "a target that computes does not delay operations" has "$code $out" '^0 ok'
export SKUA_SHARED_MEMORY=0
under 3 "$tests/armci_calls-$mpi"
ok "calls of processes that share no memory" has "$code $out" '^0 ok: 3 processes'
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

# ---- misuse: CASE and the error
while read -r what error; do
  wrong "$what"
  ok "misuse: $what" has "$([ "$code" != 0 ] && echo "$err")" "armci: process [01]: $error"
done <<END
outside ARMCI_Put: 8 bytes at 0x[0-9a-f]* of process [01] are in no allocation
beyond ARMCI_Get: 8 bytes at 0x[0-9a-f]* of process [01] are in no allocation
strided ARMCI_PutS: 8200 bytes at 0x[0-9a-f]* of process [01] are in no allocation
null ARMCI_Get: an address is NULL
process ARMCI_Put: there is no process 2
levels ARMCI_PutS: 9 stride levels; there are 0 to 8
type ARMCI_Acc: there is no accumulate of type 99
operation ARMCI_Rmw: there is no operation 99
mutex ARMCI_Lock: there is no mutex 0 on process 0
freed ARMCI_Free: 0x[0-9a-f]* is not the address of an allocation
END

# Between hosts the target cannot refuse what has returned.
export SKUA_SHARED_MEMORY=0
for what in beyond strided; do
  wrong $what
  ok "misuse between hosts: $what" has "$([ "$code" != 0 ] && echo "$err")" \
    'armci: process [01]: .* of process [01] are not all in one allocation'
done
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
    under 2 "$tests/$program.peer-$mpi"
    [ "$code $out" = "0 $expected" ] || echo "# $program on ARMCI-MPI prints something else: $code $out"
  fi
done
for program in ga_scf ga_scf_fortran; do
  [ -x "$scf/$program-$mpi" ] || continue
  under 3 "$scf/$program-$mpi"
  ok "$program" has "$code$out" 'verified'
done

tap_end
