#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# mpi.sh - the MPI drivers, and jobs that are bootstrapped by MPI, with each MPI that Skua was built
# with.
#
# usage: mpi.sh MPI-BOOT DRIVERS-FOLDER TESTS-FOLDER MPI...
boot=$1
drivers=$2
tests=$3
shift 3
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mpiexec.sh"
unset SKUA_BOOT SKUA_DRIVER SKUA_DRIVER_PATH
code=0 out='' err=''

# under MPI N PROGRAM...: run it without binding, since tests share the machine
under()
{
  mpi=$1
  n=$2
  shift 2
  case $mpi in
    openmpi) run timeout 120 "$(mpiexec_of openmpi)" --oversubscribe --bind-to none -n "$n" "$@" ;;
    mpich)   run timeout 120 "$(mpiexec_of mpich)" -n "$n" "$@" ;;
  esac
}

lines()
{
  printf '%s\n' "$out" | grep -cE -- "$1"
}

other()
{
  case $1 in openmpi) echo mpich ;; mpich) echo openmpi ;; esac
}

found=
for mpi in "$@"; do
  mpiexec_of "$mpi" >/dev/null || continue
  found="$found $mpi"
  program="$tests/mpi_driver_$mpi"
  driver="$drivers/skua-mpi-$mpi.so"

  # ---- a program that calls MPI itself
  for order in mpi-first driver-first; do
    under "$mpi" 2 "$program" "$driver" "$order"
    ok "$mpi: packets and collectives, $order" has "$code $out" '^0 over (Open MPI|MPICH) [0-9.]+'
  done
  under "$mpi" 2 "$program" "$driver" single
  ok "$mpi: a program of one thread" test "$code" = 0
  under "$mpi" 2 "$program" "$driver" ports
  ok "$mpi: ports of several threads" test "$code" = 0
  under "$mpi" 2 "$program" "$driver" in-turns
  ok "$mpi: ports that take turns" test "$code" = 0
  under "$mpi" 1 "$program" "$driver" ports
  ok "$mpi: ports of one process" test "$code" = 0
  run timeout 60 "$program" "$driver" close
  ok "$mpi: a port that closes early" has "$out" '^closed'

  # ---- the runtime in a program that calls MPI, without shared memory
  export SKUA_SHARED_MEMORY=0
  for way in mpi tcp ucx ofi; do
    [ "$way" = mpi ] || [ -e "$drivers/skua-$way.so" ] || continue
    export SKUA_DRIVER=$way
    orders="mpi-first skua-first careless"
    [ "$way" = tcp ] && orders=mpi-first # shares no library with MPI
    for order in $orders; do
      under "$mpi" 2 "$tests/mpi_program_$mpi" $order
      ok "$mpi: a program over $way, $order" test "$code $(lines '^code 0; MPI was initialised')" = "0 2"
      [ "$order" = mpi-first ] || continue
      ok "$mpi: which initialised MPI" test "$(lines 'initialised by the program')" = 2
    done
  done

  # ---- phases in a program that calls MPI between them
  for way in mpi tcp; do
    for order in mpi-first mpi-last; do
      SKUA_DRIVER=$way under "$mpi" 2 "$tests/embed_mpi_$mpi" $order
      ok "$mpi: phases over $way, $order" test "$code $(lines '^step [0-2]: a chain of 1[0-9]+')" = "0 3"
    done
  done
  SKUA_SHARED_MEMORY=1 under "$mpi" 3 "$tests/embed_mpi_$mpi" mpi-first
  ok "$mpi: phases in shared memory" test "$code $(lines '^step [0-2]: a chain of 1[0-9]+')" = "0 3"

  SKUA_DRIVER=mpi under "$mpi" 2 "$tests/mpi_program_$mpi" single
  ok "$mpi: MPI without thread support is rejected" has "$err" 'MPI was initialised for one thread .*needs 3'
  ok "$mpi: and the program continues" test "$(lines '^code 1; MPI was initialised by the program')" = 2
  unset SKUA_SHARED_MEMORY SKUA_DRIVER

  # ---- over TCP, as between hosts.  The line is written to a file: a launcher may drop what it has not read
  # of the output when the program calls MPI_Abort.
  rm -f "$work/over"
  set -- sh -c 'exec "$@" >>"$0"' "$work/over" "$program" "$driver" no-end
  case $mpi in
    openmpi) run env OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp timeout 120 "$(mpiexec_of openmpi)" \
               --oversubscribe --bind-to none -n 2 "$@" ;;
    mpich)   run env MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self FI_PROVIDER=tcp timeout 120 \
               "$(mpiexec_of mpich)" -n 2 "$@" ;;
  esac
  ok "$mpi: over TCP" has "$(cat "$work/over")" '^over (Open MPI|MPICH)'

  # ---- bootstrap
  run env SKUA_BOOT=mpi timeout 60 "$boot"
  ok "$mpi: without a launcher" has "$code $out" '^0 0 of 1 with 1'
  if [ "$mpi" = openmpi ]; then
    export SKUA_BOOT=mpi # its launcher provides PMIx, which is preferred
  fi
  under "$mpi" 3 "$boot"
  ok "$mpi: three processes on this host" test "$code $(lines '^[012] of 3 with 3')" = "0 3"
  export SKUA_DRIVER=mpi
  under "$mpi" 3 "$boot" driver
  ok "$mpi: and packets among them" test "$code $(lines ' over (Open MPI|MPICH)')" = "0 3"
  unset SKUA_DRIVER SKUA_BOOT

  # ---- a crash: libraries below the MPI do not replace the handler
  under "$mpi" 2 "$tests/test_misbehave" segv
  ok "$mpi: a crash is reported" has "$out$err" 'skua: PE 1 .process 1. died of signal 11 .Segmentation fault. at address'

  # ---- mismatched MPIs
  run timeout 60 "$program" "$driver" refuse
  ok "$mpi: one process needs no launcher" has "$out" '^0: '
  stranger="$drivers/skua-mpi-$(other "$mpi").so"
  [ -e "$stranger" ] || continue
  under "$mpi" 2 "$program" "$stranger" refuse
  ok "$mpi: the driver of the other MPI refuses to start in a program that uses it" \
    test "$(lines 'the program uses another MPI')" = 2
  under "$mpi" 1 env SKUA_BOOT=mpi SKUA_DRIVER_PATH="$work" "$boot"
  ok "$mpi: without the modules" has "$err" 'MPI does not tell.*was not found'
  mkdir -p "$work/$mpi"
  cp "$stranger" "$work/$mpi"
  under "$mpi" 1 env SKUA_BOOT=mpi SKUA_DRIVER_PATH="$work/$mpi" "$boot"
  ok "$mpi: the driver of the other MPI refuses to start under its launcher" has "$err" 'was started by the launcher of'
done
if [ -z "$found" ]; then
  echo "1..0 # SKIP no MPI"
  exit 0
fi
run env -u PMI_RANK -u PMI_FD "$boot"
ok "no launcher, no MPI" has "$out" 'no MPI launcher'
tap_end
