! SPDX-License-Identifier: Apache-2.0
!
! ga_scf_fortran.F90 - ga_scf.c in Fortran: a self-consistent field on Global Arrays. Tasks, taken
! from a shared counter, get blocks of the density, multiply them by blocks of the repulsion and
! accumulate to the Fock matrix; squarings of that give the next density. The energy is compared with
! that of plain array operations on process 0.
!
! usage: mpirun -n N ga_scf_fortran
program ga_scf_fortran
  use mpi
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer(8), parameter :: sites = 64, block = 12, cycles = 6
  integer(8)            :: density, fock, square, counter, me, cycle
  double precision      :: energy, expected
  integer(4)            :: error
  logical               :: okay

  call mpi_init(error)
  call ga_initialize()
  okay = ma_init(mt_dbl, 500000_8, 500000_8)
  me   = ga_nodeid()
  okay = ga_create(mt_dbl, sites, sites, 'density', 0_8, 0_8, density) .and. okay
  okay = ga_duplicate(density, fock, 'fock') .and. okay
  okay = ga_duplicate(density, square, 'square') .and. okay
  okay = ga_create(mt_int, 1_8, 1_8, 'counter', 0_8, 0_8, counter) .and. okay
  if (.not. okay) call ga_error('no memory', 1_8)
  call ga_zero(density)
  energy = 0
  do cycle = 1, cycles
     energy = new_fock()
     call new_density()
  end do
  if (me == 0) then
     expected = model_energy()
     if (abs(energy - expected) > 1d-8 * sites) call ga_error('the energy is wrong', 1_8)
     print '(a, f0.6, a, f0.6, a)', 'result ga_scf: energy ', energy, ', expected ', expected, ': passed'
  end if
  call ga_sync()
  call ga_terminate()
  call mpi_finalize(error)

contains

  pure double precision function hamiltonian(i, j)
    integer(8), intent(in) :: i, j

    hamiltonian = 0
    if (i == j) hamiltonian = 0.1d0 * mod(i - 1, 3_8)
    if (abs(i - j) == 1) hamiltonian = merge(-1.5d0, -0.5d0, mod(min(i, j), 2_8) == 1)
  end function hamiltonian

  pure double precision function repulsion(i, j)
    integer(8), intent(in) :: i, j

    repulsion = 0.2d0 / (1 + abs(i - j))**2
  end function repulsion

  ! Sets the Fock matrix to h + (V D + D V) / 2. Returns the energy.
  double precision function new_fock()
    integer(8)       :: blocks, task, i, j
    double precision :: column(sites)

    blocks = (sites + block - 1) / block
    call ga_zero(counter)
    do j = 1 + me, sites, ga_nnodes()
       do i = 1, sites
          column(i) = hamiltonian(i, j)
       end do
       call ga_put(fock, 1_8, sites, j, j, column, sites)
    end do
    call ga_sync()
    new_fock = 0.5d0 * ga_ddot(density, fock)
    do
       task = ga_read_inc(counter, 1_8, 1_8, 1_8)
       if (task >= blocks * blocks) exit
       call do_task(task / blocks, mod(task, blocks))
    end do
    call ga_sync()
    new_fock = new_fock + 0.5d0 * ga_ddot(density, fock)
  end function new_fock

  ! Adds block (bi, bj) of V D, and its transpose, to the Fock matrix.
  subroutine do_task(bi, bj)
    integer(8), intent(in) :: bi, bj
    integer(8)             :: ilo, ihi, jlo, jhi, klo, khi, i, k
    double precision       :: v(block, block), d(block, block), s(block, block), t(block, block)

    ilo = bi * block + 1
    ihi = min(sites, ilo + block - 1)
    jlo = bj * block + 1
    jhi = min(sites, jlo + block - 1)
    s   = 0
    do klo = 1, sites, block
       khi = min(sites, klo + block - 1)
       call ga_get(density, klo, khi, jlo, jhi, d, block)
       do k = klo, khi
          do i = ilo, ihi
             v(i - ilo + 1, k - klo + 1) = repulsion(i, k)
          end do
       end do
       call dgemm('n', 'n', int(ihi - ilo + 1), int(jhi - jlo + 1), int(khi - klo + 1), 1d0, v, &
                  int(block), d, int(block), 1d0, s, int(block))
    end do
    t = transpose(s)
    call ga_acc(fock, ilo, ihi, jlo, jhi, s, block, 0.5d0)
    call ga_acc(fock, jlo, jhi, ilo, ihi, t, block, 0.5d0)
  end subroutine do_task

  ! The traces of a global array and, for the first step, all of it are small: each process gets them.
  double precision function trace(array)
    integer(8), intent(in) :: array
    double precision       :: all(sites, sites)

    call ga_get(array, 1_8, sites, 1_8, sites, all, sites)
    trace = matrix_trace(all)
  end function trace

  ! Sets the density to the projector on the lower half of the states of the Fock matrix.
  subroutine new_density()
    double precision :: all(sites, sites), occupied
    integer(8)       :: step, j

    call ga_get(fock, 1_8, sites, 1_8, sites, all, sites)
    call begin_density(all)
    call ga_sync()
    do j = 1 + me, sites, ga_nnodes()
       call ga_put(density, 1_8, sites, j, j, all(:, j), sites)
    end do
    call ga_sync()
    do step = 1, 60
       occupied = trace(density)
       call ga_dgemm('n', 'n', sites, sites, sites, 1d0, density, density, 0d0, square)
       if (abs(trace(square) - occupied) < 1d-11) exit
       call ga_sync()
       if (occupied > sites / 2) then
          call ga_copy(square, density)
       else
          call ga_add(2d0, density, -1d0, square, density)
       end if
    end do
    call ga_sync()
  end subroutine new_density

  pure double precision function matrix_trace(a)
    double precision, intent(in) :: a(sites, sites)
    integer(8)                   :: i

    matrix_trace = 0
    do i = 1, sites
       matrix_trace = matrix_trace + a(i, i)
    end do
  end function matrix_trace

  ! Replaces F by (most - F) / (most - least), with the bounds of its eigenvalues by Gershgorin.
  pure subroutine begin_density(f)
    double precision, intent(inout) :: f(sites, sites)
    double precision                :: most, least, radius
    integer(8)                      :: i

    most  = -huge(most)
    least = huge(least)
    do i = 1, sites
       radius = sum(abs(f(:, i))) - abs(f(i, i))
       most   = max(most, f(i, i) + radius)
       least  = min(least, f(i, i) - radius)
    end do
    f = -f
    do i = 1, sites
       f(i, i) = f(i, i) + most
    end do
    f = f / (most - least)
  end subroutine begin_density

  ! The energy by plain array operations.
  double precision function model_energy()
    double precision :: d(sites, sites), f(sites, sites), v(sites, sites), h(sites, sites)
    integer(8)       :: i, j, step, turn

    do j = 1, sites
       do i = 1, sites
          h(i, j) = hamiltonian(i, j)
          v(i, j) = repulsion(i, j)
       end do
    end do
    d = 0
    model_energy = 0
    do turn = 1, cycles
       f = matmul(v, d)
       f = h + 0.5d0 * (f + transpose(f))
       model_energy = 0.5d0 * sum(d * (h + f))
       d = f
       call begin_density(d)
       do step = 1, 60
          f = matmul(d, d)
          if (abs(matrix_trace(f) - matrix_trace(d)) < 1d-11) exit
          if (matrix_trace(d) > sites / 2) then
             d = f
          else
             d = 2 * d - f
          end if
       end do
    end do
  end function model_energy
end program ga_scf_fortran
