# SPDX-License-Identifier: Apache-2.0
# mpiexec.sh - what tests share that start programs with mpiexec.  Source it after tap.sh.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# mpiexec_of MPI: prints the path of the mpiexec of openmpi or mpich.
mpiexec_of()
{
  command -v "mpiexec.$1" || command -v mpiexec
}
