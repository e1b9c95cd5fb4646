! SPDX-License-Identifier: Apache-2.0
!
! fortran.f90 - the module `skua`: one-sided operations, atomics, notifications, collectives and
! completions, then an array with a map of the program, and a ring of messages whose handlers are
! Fortran, which ends the job.
!
! PEs may be threads of one process: the state of a PE is in local variables, messages or PE data.
module fortran_test
  use skua
  implicit none
  integer, parameter :: rounds = 5

  type, bind(c) :: token
    integer(c_int) :: hops
    real(c_double) :: sum
  end type

  type(skua_handler) :: token_handler, ready_handler
  type(skua_class) :: cell_class
  type(skua_entry) :: place_entry
  integer(c_int) :: cell_map
  character(kind=c_char), target :: cell_name(5) = ['c', 'e', 'l', 'l', c_null_char]
  type(skua_pe_data) :: calls_data
  integer(c_int) :: first_op

contains

  subroutine check(good, text)
    logical, intent(in) :: good
    character(len=*), intent(in) :: text

    if (.not. good) call skua_abort("fortran: "//text)
  end subroutine

  ! ---- one-sided -----------------------------------------------------------------------------------

  subroutine test_put_get()
    type(skua_region) :: region
    real(c_double), pointer :: mine(:)
    real(c_double), target :: from(8), to(8)
    integer :: next, i

    call check(skua_region_create(8 * c_sizeof(from(1)), region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine, [8])
    next = modulo(skua_pe() + 1, skua_pes())
    from = [(100.0d0 * skua_pe() + i, i=1, 8)]
    call check(skua_put(skua_at(region, next, 0_c_int64_t), from, c_sizeof(from)) == SKUA_OK, "put")
    call skua_sync()
    call check(all(mine == [(100.0d0 * modulo(skua_pe() - 1, skua_pes()) + i, i=1, 8)]), "data of a put")
    call check(skua_get(to, skua_at(region, next, 0_c_int64_t), c_sizeof(to)) == SKUA_OK, "get")
    call check(all(to == from), "data of a get")
    call skua_sync()
    call check(skua_put_nb(skua_at(region, next, 16_c_int64_t), from(1:2), 16_c_size_t) >= SKUA_OK, "put_nb")
    call skua_flush_all()
    call skua_sync()
    call check(mine(3) == 100.0d0 * modulo(skua_pe() - 1, skua_pes()) + 1, "data of a put_nb")
    call skua_sync()
    call check(skua_copy(skua_at(region, skua_pe(), 56_c_int64_t), skua_at(region, next, 16_c_int64_t), &
      8_c_size_t) == SKUA_OK, "copy")
    call check(mine(8) == 100.0d0 * skua_pe() + 1, "data of a copy")
    call skua_sync()
    call check(skua_put(skua_at(region, skua_pes(), 0_c_int64_t), from, 8_c_size_t) == SKUA_ERR_RANGE, "no such PE")
    call check(skua_status_text(SKUA_ERR_RANGE) == "outside of the region", "the text of a status")
    call skua_sync()
    call check(skua_region_destroy(region) == SKUA_OK, "a region is destroyed")
  end subroutine

  subroutine test_atomics()
    type(skua_region) :: region
    type(skua_gaddr) :: at
    integer(c_int64_t), pointer :: mine
    integer(c_int64_t) :: old

    call check(skua_region_create(8_c_size_t, region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine)
    mine = 0
    at = skua_at(region, 0, 0_c_int64_t)
    call skua_sync()
    call check(skua_fetch_add64(at, 1_c_int64_t, old) == SKUA_OK, "fetch_add64")
    call check(old >= 0 .and. old < 11 * skua_pes(), "the old value")
    call check(skua_add64(at, 10_c_int64_t) == SKUA_OK, "add64, which is inline in C")
    call check(skua_fetch_xor64(at, 0_c_int64_t) == SKUA_OK, "the old value may be left out")
    call skua_sync()
    if (skua_pe() == 0) then
      call check(mine == 11 * skua_pes(), "the sum of atomics")
      call check(skua_compare_swap64(at, mine, -1_c_int64_t, old) == SKUA_OK .and. mine == -1, "compare_swap64")
    end if
    call skua_sync()
    call check(skua_region_destroy(region) == SKUA_OK, "a region is destroyed")
  end subroutine

  subroutine test_notify()
    type(skua_region) :: region
    type(skua_notify), pointer :: mine
    integer :: pe

    call check(skua_region_create(8_c_size_t, region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine)
    mine = skua_notify()
    call skua_sync()
    do pe = 0, skua_pes() - 1
      call check(skua_notify_add(skua_at(region, pe, 0_c_int64_t), 2_c_int64_t) == SKUA_OK, "notify_add")
    end do
    call check(logical(skua_notify_wait(mine, 2_c_int64_t * skua_pes())), "notify_wait")
    call skua_sync()
    call check(skua_region_destroy(region) == SKUA_OK, "a region is destroyed")
  end subroutine

  ! ---- collectives and completions -----------------------------------------------------------------

  ! An operator of this program: the first operand.
  subroutine keep_first(into, from, count, type) bind(c)
    type(c_ptr), value :: into, from
    integer(c_size_t), value :: count
    integer(c_int), value :: type

    call check(c_associated(into) .and. c_associated(from) .and. count == 1 .and. type == SKUA_DOUBLE, &
               "arguments of an operator")
  end subroutine

  subroutine on_result(arg, data, bytes) bind(c)
    type(c_ptr), value :: arg, data
    integer(c_size_t), value :: bytes
    integer(c_int64_t), pointer :: value, to

    call check(bytes == 8, "bytes of a result")
    call c_f_pointer(arg, to)
    call c_f_pointer(data, value)
    to = value
  end subroutine

  subroutine test_reductions()
    real(c_double) :: values(2)
    real(c_double), pointer :: result(:)
    integer(c_int64_t) :: mine
    integer(c_int64_t), target, volatile :: largest
    type(skua_future), target :: total
    type(skua_counter), target :: counter
    integer(c_size_t) :: bytes

    values = [1.0d0, real(skua_pe(), c_double)]
    call skua_allreduce(SKUA_SUM, SKUA_DOUBLE, values, 2_c_size_t, skua_done_future(total))
    call c_f_pointer(skua_future_wait(total, bytes), result, [2])
    call check(bytes == 16, "bytes of a reduction")
    call check(result(1) == skua_pes() .and. result(2) == skua_pes() * (skua_pes() - 1) / 2, "a sum")
    call skua_future_clear(total)

    largest = -1
    mine = skua_pe()
    call skua_allreduce(SKUA_MAX, SKUA_INT64, mine, 1_c_size_t, skua_done_call(on_result, c_loc(largest)))
    call skua_barrier(skua_done_count(counter))
    call check(logical(skua_counter_wait(counter, 1_c_int64_t)), "a barrier")
    do while (largest < 0) ! the callback may run after the barrier
      bytes = skua_poll(1_c_size_t)
    end do
    call check(largest == skua_pes() - 1, "a maximum, by a callback")

    call skua_reduce(0, first_op, SKUA_DOUBLE, values(2), 1_c_size_t, skua_done_future(total))
    if (skua_pe() == 0) then
      call c_f_pointer(skua_future_wait(total), result, [1])
      call check(result(1) == 0, "an operator of the program")
      call skua_future_clear(total)
    end if
  end subroutine

  ! ---- objects -------------------------------------------------------------------------------------

  ! A map of this program: index 0 is on PE arg(2).
  function map_from(index, range, arg) bind(c) result(pe)
    type(skua_index), intent(in) :: index
    type(skua_range), intent(in) :: range
    integer(c_int32_t), intent(in) :: arg(*)
    integer(c_int) :: pe

    call check(range%dims == 1, "range of a map")
    pe = modulo(index%at(1) + arg(2), skua_pes())
  end function

  subroutine on_place(self, data, bytes) bind(c)
    type(c_ptr), value :: self, data
    integer(c_size_t), value :: bytes
    type(skua_index) :: index
    integer(c_int32_t), pointer :: first

    index = skua_index_of(self)
    call check(bytes == 4, "bytes of a call of an entry")
    call c_f_pointer(data, first)
    call check(skua_pe() == modulo(index%at(1) + first, skua_pes()), "a map of the program")
    call skua_contribute(self, SKUA_SUM, SKUA_INT32, first, 1_c_size_t, skua_done_send(0, ready_handler))
  end subroutine

  subroutine on_ready(msg) bind(c)
    type(c_ptr), value :: msg

    call skua_msg_free(msg)
    call start_ring()
  end subroutine

  subroutine start_array()
    type(skua_array_def) :: def
    type(skua_collection) :: array

    def%dims = 1
    def%range%dims = 1
    def%range%upper(1) = 2 * skua_pes()
    def%map%kind = cell_map
    def%map%arg(2) = 3
    array = skua_array_create_c(cell_class, def, c_null_ptr, 0_c_size_t)
    call skua_invoke_all(array, place_entry, def%map%arg(2), 4_c_size_t)
  end subroutine

  ! ---- messages ------------------------------------------------------------------------------------

  ! Passes the token on, in its own message; PE 0 counts the rounds.
  subroutine on_token(msg) bind(c)
    type(c_ptr), value :: msg
    type(token), pointer :: t
    integer(c_int), pointer :: calls

    call check(skua_msg_size(msg) == c_sizeof(t), "the size of a message")
    call c_f_pointer(skua_msg_data(msg), t)
    call c_f_pointer(skua_pe_data_get(calls_data), calls)
    calls = calls + 1
    t%hops = t%hops + 1
    t%sum = t%sum + skua_pe()
    if (t%hops < rounds * skua_pes()) then
      call skua_send(modulo(skua_pe() + 1, skua_pes()), token_handler, msg)
      return
    end if
    call check(calls == rounds, "messages of a PE")
    call check(t%sum == rounds * skua_pes() * (skua_pes() - 1) / 2, "the token has been everywhere")
    call skua_msg_free(msg)
    print '(a, i0, a)', "ok - ", skua_pes(), " PEs"
    call skua_exit(0)
  end subroutine

  subroutine start_ring()
    type(token), pointer :: t
    type(c_ptr) :: msg

    msg = skua_msg_alloc(c_sizeof(t))
    call c_f_pointer(skua_msg_data(msg), t)
    t = token(0, 0.0d0)
    call skua_send(modulo(1, skua_pes()), token_handler, msg)
  end subroutine

  subroutine start()
    call test_put_get()
    call test_atomics()
    call test_notify()
    call test_reductions()
    call skua_sync()
    if (skua_pe() == 0) call start_array()
  end subroutine
end module

program main
  use fortran_test
  implicit none
  integer(c_int) :: code
  type(skua_class_def) :: cell

  cell%name = c_loc(cell_name)
  cell%bytes = 4
  cell_class = skua_class_register(cell)
  place_entry = skua_method_register(cell_class, "place", on_place, 0)
  cell_map = skua_map_register("from", map_from)
  ready_handler = skua_handler_register("ready", on_ready)
  token_handler = skua_handler_register("token", on_token)
  first_op = skua_op_register("first", keep_first)
  calls_data = skua_pe_data_register(4_c_size_t)
  code = skua_main(start)
  stop code, quiet=.true.
end program
