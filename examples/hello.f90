! SPDX-License-Identifier: Apache-2.0
!
! hello.f90 - every PE sends its number to PE 0, which counts the greetings and ends the job.
module hello
  use skua
  implicit none
  type(skua_handler) :: greeting

contains

  subroutine on_greeting(msg) bind(c)
    type(c_ptr), value :: msg
    integer, save :: greetings = 0 ! used on PE 0 only
    integer(c_int), pointer :: from

    call c_f_pointer(skua_msg_data(msg), from)
    print '(a, i0, a, i0, a)', "PE ", from, " of ", skua_pes(), " says hello"
    call skua_msg_free(msg)
    greetings = greetings + 1
    if (greetings == skua_pes()) call skua_exit(0)
  end subroutine

  subroutine start()
    integer(c_int) :: mine

    mine = skua_pe()
    call skua_send_copy(0, greeting, mine, c_sizeof(mine))
  end subroutine
end module

program main
  use hello
  implicit none
  integer(c_int) :: code

  greeting = skua_handler_register("greeting", on_greeting)
  code = skua_main(start)
  stop code, quiet=.true.
end program
