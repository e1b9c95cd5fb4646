! SPDX-License-Identifier: Apache-2.0
!
! skua - the interface of Skua for Fortran 2018.
!
! Made by fortran/generate.py from the C headers, which document each name; docs/guide/fortran.md says
! how Fortran programs differ.  Not in the module:
!
!@missing
module skua
  use, intrinsic :: iso_c_binding
  implicit none
  public
  private :: skua_start_stored, skua_start_call, skua_run_job, skua_string_c, skua_string_kept

!@constants

!@types

  abstract interface
!@callbacks
    ! The function that a program runs first.
    subroutine skua_begin_fn()
    end subroutine skua_begin_fn
  end interface

  interface
!@interfaces
    function skua_main_c(argc, argv, start) bind(c, name="skua_main") result(code)
      import
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
      type(c_funptr), value :: start
      integer(c_int) :: code
    end function

    function skua_program_c(argc, argv, start) bind(c, name="skua_program") result(code)
      import
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
      type(c_funptr), value :: start
      integer(c_int) :: code
    end function

    subroutine skua_abort_c(text) bind(c, name="skuaf_abort")
      import
      type(c_ptr), value :: text
    end subroutine
  end interface

  procedure(skua_begin_fn), pointer :: skua_start_stored => null()

contains

  ! Joins the job, runs start on every PE, then delivers messages until some PE calls skua_exit().
  ! Returns the exit code of the job.  start finds the arguments of the program with
  ! get_command_argument().
  function skua_main(start) result(code)
    procedure(skua_begin_fn) :: start
    integer(c_int) :: code

    code = skua_run_job(skua_main_c, start)
  end function

  ! Runs a program as skua_main() does, but calls begin on PE 0 only.
  function skua_program(begin) result(code)
    procedure(skua_begin_fn) :: begin
    integer(c_int) :: code

    code = skua_run_job(skua_program_c, begin)
  end function

  function skua_run_job(run, start) result(code)
    procedure(skua_main_c) :: run
    procedure(skua_begin_fn) :: start
    integer(c_int) :: code
    type(c_ptr) :: argv(2)
    character(kind=c_char), target :: name(8)

    name = skua_string_c("fortran")
    argv = [c_loc(name), c_null_ptr]
    skua_start_stored => start
    code = run(1_c_int, argv, c_funloc(skua_start_call))
  end function

  subroutine skua_start_call(argc, argv) bind(c, name="")
    integer(c_int), value :: argc
    type(c_ptr), value :: argv

    if (argc > 0 .and. c_associated(argv)) call skua_start_stored()
  end subroutine

  ! Prints an error on stderr and ends the job at once as a failure.
  subroutine skua_abort(text)
    character(len=*), intent(in) :: text
    character(kind=c_char), target :: text_c(len(text) + 1)

    text_c = skua_string_c(text)
    call skua_abort_c(c_loc(text_c))
  end subroutine

  ! The text of a status.
  function skua_status_text(status) result(text)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: from(:)
    type(c_ptr) :: address
    integer :: i, n

    address = skua_status_str(status)
    call c_f_pointer(address, from, [1000])
    n = 0
    do while (from(n + 1) /= c_null_char)
      n = n + 1
    end do
    allocate (character(len=n) :: text)
    do i = 1, n
      text(i:i) = from(i)
    end do
  end function

  ! A string as C takes it.
  pure function skua_string_c(text) result(made)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: made(len(text) + 1)
    integer :: i

    do i = 1, len(text)
      made(i) = text(i:i)
    end do
    made(len(text) + 1) = c_null_char
  end function

  ! The address of a copy of a string that stays valid for the life of the program, as names that are
  ! registered must.
  function skua_string_kept(text) result(address)
    character(len=*), intent(in) :: text
    type(c_ptr) :: address
    character(kind=c_char), pointer :: copy(:)

    allocate (copy(len(text) + 1))
    copy = skua_string_c(text)
    address = c_loc(copy)
  end function

!@procedures
end module skua
