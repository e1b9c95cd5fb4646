! SPDX-License-Identifier: Apache-2.0
!
! ga_arrays_fortran.F90 - the Fortran interface of Global Arrays, with results that do not depend on
! the library below or on the number of processes.
program ga_arrays_fortran
  use mpi
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer(8), parameter  :: n = 48
  integer(8)             :: a, b, c, i, j, me, procs, next, total
  integer(8)             :: rows(20), cols(20), map(2), one = 1
  double precision       :: row(n), values(20), patch(6, 5), sum
  integer(4)             :: error
  logical                :: okay

  call mpi_init(error)
  call ga_initialize()
  okay  = ma_init(mt_dbl, 500000_8, 500000_8)
  me    = ga_nodeid()
  procs = ga_nnodes()

  okay = ga_create(mt_dbl, n, n, 'a', 0_8, 0_8, a)
  okay = ga_duplicate(a, b, 'b') .and. okay
  okay = ga_duplicate(a, c, 'c') .and. okay
  do i = 1 + me, n, procs
     do j = 1, n
        row(j) = sin(dble(i)) + 0.01d0 * dble(j)
     end do
     call ga_put(a, i, i, 1_8, n, row, 1_8)
  end do
  call ga_sync()
  call report('put', ga_ddot(a, a))

  call ga_get(a, 10_8, 15_8, 20_8, 24_8, patch, 6_8)
  sum = 0
  do j = 1, 5
     do i = 1, 6
        sum = sum + abs(patch(i, j) - sin(dble(i + 9)) - 0.01d0 * dble(j + 19))
     end do
  end do
  call report('get', merge(0d0, sum, sum < 1d-12))

  call ga_zero(b)
  call ga_acc(b, 10_8, 15_8, 20_8, 24_8, patch, 6_8, 2.0d0)
  call ga_sync()
  call report('accumulate', ga_ddot(b, b) / dble(procs)**2)

  do i = 1, 20
     rows(i) = mod(i * 7, n) + 1
     cols(i) = mod(i * 11, n) + 1
     values(i) = dble(i)
  end do
  call ga_zero(b)
  if (me == 0) call ga_scatter(b, values, rows, cols, 20_8)
  call ga_sync()
  values = 0
  call ga_gather(b, values, rows, cols, 20_8)
  sum = 0
  do i = 1, 20
     sum = sum + values(i)
  end do
  call report('scatter and gather', sum)

  call ga_dgemm('n', 't', n, n, n, 1.0d0, a, a, 0.0d0, c)
  call report('dgemm', ga_ddot(c, c))
  okay = ga_destroy(a) .and. okay

  okay = ga_create(mt_int, 1_8, 1_8, 'counter', 0_8, 0_8, a) .and. okay
  call ga_zero(a)
  total = 0
  do i = 1, 50
     next  = ga_read_inc(a, 1_8, 1_8, 1_8)
     total = total + next
  end do
  call ga_igop(1_8, total, one, '+')
  call report('read_inc', dble(total) - 25.0d0 * dble(procs) * (50.0d0 * dble(procs) - 1.0d0))
  map = 0
  okay = ga_destroy(a) .and. okay
  okay = ga_destroy(b) .and. okay
  okay = ga_destroy(c) .and. okay
  if (.not. okay) call ga_error('an array could not be created or destroyed', 1_8)
  call ga_terminate()
  call mpi_finalize(error)

contains

  subroutine report(what, number)
    character(*), intent(in)     :: what
    double precision, intent(in) :: number

    if (me == 0) print '(a24, es18.10)', what, number
  end subroutine report
end program ga_arrays_fortran
