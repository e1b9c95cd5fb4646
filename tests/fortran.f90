! SPDX-License-Identifier: Apache-2.0
!
! fortran.f90 - the module `skua`: one-sided operations with layouts, atomics, notifications, collectives
! of all PEs and of teams, and completions, then an array with a map of the program, and a ring of messages
! whose handlers are Fortran, which ends the job.
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

  ! Rows of matrices, whose elements are apart in Fortran.
  subroutine test_layouts()
    type(skua_region) :: region
    type(skua_gaddr) :: second
    type(skua_layout) :: row
    real(c_double), pointer :: mine(:, :)
    real(c_double), target, asynchronous :: from(3), to(4, 3)
    integer :: before, i

    before = modulo(skua_pe() - 1, skua_pes())
    call check(skua_region_create(96_c_size_t, region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine, [4, 3])
    mine = -1
    call skua_sync()
    second = skua_at(region, modulo(skua_pe() + 1, skua_pes()), 8_c_int64_t)
    row = skua_layout_strided_c(c_null_ptr, 8_c_size_t, 1, [3_c_size_t], [32_c_ptrdiff_t])
    from = [(10.0d0 * skua_pe() + i, i=1, 3)]
    call check(skua_put_layout(second, row, skua_layout_contiguous(from, c_sizeof(from))) == SKUA_OK, "put_layout")
    call skua_sync()
    call check(all(mine(2, :) == [(10.0d0 * before + i, i=1, 3)]), "a row that was put")
    call check(all(mine([1, 3, 4], :) == -1), "the other rows")
    to = 0
    call check(skua_get_layout(skua_layout_strided(to(3, 1), 8_c_size_t, 1, [3_c_size_t], [32_c_ptrdiff_t]), &
      second, row) == SKUA_OK, "get_layout")
    call check(all(to(3, :) == from) .and. all(to([1, 2, 4], :) == 0), "a row that was got")
    call skua_sync()
    call check(skua_acc_layout(second, row, skua_layout_contiguous(from, c_sizeof(from)), &
      skua_update(SKUA_SUM, SKUA_DOUBLE, c_null_ptr)) == SKUA_OK, "acc_layout")
    call skua_sync()
    call check(all(mine(2, :) == [(2 * (10.0d0 * before + i), i=1, 3)]), "a row that was accumulated")
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

  ! The operations of any type.
  subroutine test_typed_atomics()
    type(skua_region) :: region
    type(skua_gaddr) :: sum, greatest
    real(c_double), pointer :: mine(:)
    real(c_double), target :: operand, old
    integer(c_int64_t), target :: swap(2), word

    call check(skua_region_create(24_c_size_t, region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine, [3])
    mine = 0
    call skua_sync()
    sum = skua_at(region, 0, 0_c_int64_t)
    greatest = skua_at(region, 0, 8_c_int64_t)
    operand = 1.5d0
    old = -1
    call check(skua_atomic(sum, SKUA_ATOMIC_ADD, SKUA_DOUBLE, operand, old) == SKUA_OK, "atomic add")
    call check(old >= 0 .and. old < 1.5d0 * skua_pes(), "the old value of an atomic")
    operand = skua_pe()
    call check(skua_atomic_nb_c(greatest, SKUA_ATOMIC_MAX, SKUA_DOUBLE, c_loc(operand), c_null_ptr) >= SKUA_OK, &
      "atomic_nb")
    call skua_flush_all()
    call skua_sync()
    if (skua_pe() == 0) then
      call check(mine(1) == 1.5d0 * skua_pes(), "the sum of atomics of any type")
      call check(mine(2) == skua_pes() - 1, "the maximum of atomics")
    end if
    swap = [0_c_int64_t, skua_pe() + 1_c_int64_t]
    word = -1
    call check(skua_atomic(skua_at(region, skua_pe(), 16_c_int64_t), SKUA_ATOMIC_COMPARE_SWAP, SKUA_INT64, swap, word) &
      == SKUA_OK, "compare_swap")
    call check(word == 0, "the word before a swap")
    call check(skua_atomic(skua_at(region, skua_pe(), 16_c_int64_t), SKUA_ATOMIC_COMPARE_SWAP, SKUA_INT64, swap, word) &
      == SKUA_OK, "compare_swap")
    call check(word == skua_pe() + 1, "the word after a swap")
    operand = 1
    call check(skua_atomic(sum, SKUA_ATOMIC_AND, SKUA_DOUBLE, operand, old) == SKUA_ERR_INVAL, "bits of a double")
    call skua_sync()
    call check(skua_region_destroy(region) == SKUA_OK, "a region is destroyed")
  end subroutine

  subroutine test_notify_set()
    type(skua_region) :: region
    type(skua_notify), pointer :: mine(:)
    type(skua_notify_set) :: set
    integer(c_int64_t), target :: values(2)
    integer(c_int) :: next

    call check(skua_region_create(16_c_size_t, region) == SKUA_OK, "region")
    call c_f_pointer(skua_region_local(region), mine, [2])
    mine = skua_notify()
    call skua_sync()
    next = modulo(skua_pe() + 1, skua_pes())
    values = [1_c_int64_t, 2_c_int64_t]
    set%notify = c_loc(mine)
    set%count = 2
    set%cmp = SKUA_CMP_GE
    set%values = c_loc(values)
    call check(skua_notify_add(skua_at(region, next, 8_c_int64_t), 2_c_int64_t) == SKUA_OK, "notify_add")
    call check(skua_notify_wait_any(set) == 1, "notify_wait_any")
    call skua_sync()
    call check(skua_notify_add(skua_at(region, next, 0_c_int64_t), 1_c_int64_t) == SKUA_OK, "notify_add")
    call check(logical(skua_notify_wait_all(set)), "notify_wait_all")
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

  ! ---- teams ---------------------------------------------------------------------------------------

  ! The PEs with even numbers and those with odd ones, ranked in descending order.
  subroutine test_team_split(team)
    type(c_ptr), intent(out) :: team
    type(c_ptr) :: some
    integer(c_int) :: color

    call check(skua_team_split(SKUA_TEAM_ALL(), modulo(skua_pe(), 2), -skua_pe(), team) == SKUA_OK, "split")
    call check(skua_team_pes(team) == (skua_pes() + 1 - modulo(skua_pe(), 2)) / 2, "members of a team")
    call check(skua_team_pe(team) == skua_team_pes(team) - 1 - skua_pe() / 2, "a rank")
    call check(skua_team_pe_of(team, skua_team_pe(team)) == skua_pe(), "the PE of a rank")
    call check(skua_team_translate(SKUA_TEAM_ALL(), skua_pe(), team) == skua_team_pe(team), "the rank of a PE")
    color = merge(0, SKUA_COLOR_NONE, skua_pe() == 0)
    call check(skua_team_split(SKUA_TEAM_ALL(), color, 0, some) == SKUA_OK, "split, some")
    call check(c_associated(some) .eqv. skua_pe() == 0, "a PE without a color is in no team")
    if (skua_pe() == 0) call check(skua_team_destroy(some) == SKUA_OK, "a team is destroyed")
  end subroutine

  subroutine test_teams()
    type(c_ptr) :: team
    type(skua_counter), target :: counter
    type(skua_reduction) :: sums
    integer :: n, rank, i
    integer(c_int64_t), target, asynchronous :: mine(2), total(2), scanned(2), data
    integer(c_int64_t), target, asynchronous, allocatable :: pes(:), from(:), to(:)

    call test_team_split(team)
    n = skua_team_pes(team)
    rank = skua_team_pe(team)
    allocate (pes(n), from(n), to(n))
    mine = [int(skua_pe(), c_int64_t), 1_c_int64_t]
    data = merge(42, 0, rank == 0)
    from = [(1000_c_int64_t * rank + i, i=0, n - 1)]
    sums = skua_reduction(SKUA_SUM, SKUA_INT64, 2_c_size_t)
    call skua_team_allreduce(team, sums, mine, total, skua_done_count(counter))
    call skua_team_scan(team, sums, mine, scanned, skua_done_count(counter))
    call skua_team_broadcast(team, 0, data, 8_c_size_t, skua_done_count(counter))
    call skua_team_allgather(team, mine, 8_c_size_t, pes, skua_done_count(counter))
    call skua_team_alltoall(team, from, to, 8_c_size_t, skua_done_count(counter))
    call skua_team_barrier(team, skua_done_count(counter))
    call check(logical(skua_counter_wait(counter, 6_c_int64_t)), "collectives of a team")
    call check(all(pes == [(skua_team_pe_of(team, i), i=0, n - 1)]), "allgather")
    call check(all(total == [sum(pes), int(n, c_int64_t)]), "allreduce")
    call check(all(scanned == [sum(pes(:rank + 1)), rank + 1_c_int64_t]), "scan")
    call check(data == 42, "broadcast")
    call check(all(to == [(1000_c_int64_t * i + rank, i=0, n - 1)]), "alltoall")
    call check(skua_team_destroy(team) == SKUA_OK, "a team is destroyed")
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
    call test_layouts()
    call test_atomics()
    call test_typed_atomics()
    call test_notify()
    call test_notify_set()
    call test_reductions()
    call test_teams()
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
