/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misbehave.c - fails, or misuses the interface, on the last PE in the way that its argument names,
 * for skuarun.sh, hosts.sh and misuse.sh, which check how the job ends.
 */
#include <signal.h>
#include <skua/skuac_flow.h>
#include <skua/skua.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static skua_handler nothing;
static volatile int sink;

static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* ---- crashes ------------------------------------------------------------------ */

static __attribute__((noinline)) void write_to_nowhere(void)
{
    volatile uintptr_t nowhere = 8; /* hides the value from the compiler */

    *(volatile int *)nowhere = 1;
}

/* Uses what a wait returns that the end of the job has ended. */
static void use_no_value(void)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_exit(0);
    sink = *(const volatile int *)skua_future_wait(&future, NULL);
}

static void die_by_signal(void)
{
    write_to_nowhere();
}

static void killed(void)
{
    kill(getpid(), SIGKILL);
}

static void stop_it(void)
{
    raise(SIGSTOP);
}

static void abort_it(void)
{
    abort();
}

static void give_up(void)
{
    skua_abort("the answer is not %d", 42);
}

static void leave_early(void)
{
    exit(0);
}

static void leave_early_with_code(void)
{
    exit(7);
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[1024];

    frame[depth % 1024] = (char)depth;
    return depth == 0 ? frame[0] : recurse(depth + 1) + frame[1];
}

static void overflow_thread(void *arg)
{
    (void)arg;
    sink = recurse(1);
}

static void run_quietly(void *arg)
{
    (void)arg;
    skua_thread_yield();
}

/* A frame that is larger than the stack and is accessed at its far end only. */
static __attribute__((noinline)) int large_frame(void)
{
    volatile char frame[1 << 20];

    frame[0] = 1;
    return frame[0];
}

static void overflow_frame_thread(void *arg)
{
    (void)arg;
    sink = large_frame();
}

static void overflow_frame(void)
{
    for (int i = 0; i < 100; i++) /* with other stacks before and after it */
        skua_thread_create(run_quietly, NULL, 0);
    skua_thread_set_name(skua_thread_create(overflow_frame_thread, NULL, 0), "wide");
}

static void overflow(void)
{
    skua_thread_set_name(skua_thread_create(overflow_thread, NULL, 0), "deep");
}

/* ---- misuse ------------------------------------------------------------------ */

static void unknown_pe(void)
{
    skua_send(99, nothing, skua_msg_alloc(8));
}

static void unknown_handler(void)
{
    skua_send_copy(0, (skua_handler){1234}, NULL, 0);
}

/* Handles that were declared and never registered. */
static skua_handler      forgotten;
static skua_entry        forgotten_entry;
static skua_class        forgotten_class;
static skua_function     forgotten_function;
static skua_stream       forgotten_stream;
static skua_pe_data      forgotten_data;
static skua_process_data forgotten_shared;

static void forgot_send(void)
{
    skua_send(0, forgotten, skua_msg_alloc(8));
}

static void forgot_send_copy(void)
{
    skua_send_copy(0, forgotten, "x", 1);
}

static void forgot_send_prio(void)
{
    skua_send_copy_prio(0, forgotten, "x", 1, 3);
}

static void forgot_enqueue(void)
{
    skua_enqueue(forgotten, skua_msg_alloc(8));
}

static void forgot_broadcast(void)
{
    skua_broadcast(forgotten, skua_msg_alloc(8), skua_done_nothing());
}

static void forgot_done(void)
{
    skua_barrier(skua_done_send(0, forgotten));
}

static void forgot_call(void)
{
    skua_call(0, forgotten_function, NULL, 0, skua_done_nothing());
}

static void forgot_chare(void)
{
    skua_chare_create(forgotten_class, 0, NULL, 0);
}

static void forgot_seed(void)
{
    skua_chare_create(forgotten_class, SKUA_ANY_PE, NULL, 0);
}

static void forgot_array(void)
{
    skua_array_create1(forgotten_class, 5, NULL, 0);
}

static void forgot_stream(void)
{
    skua_stream_put(forgotten_stream, 0, &(uint64_t){1});
}

static void forgot_data(void)
{
    sink = *(int *)skua_pe_data_get(forgotten_data);
}

static void forgot_shared(void)
{
    sink = *(int *)skua_process_data_get(forgotten_shared);
}

static void done_call_nothing(void)
{
    skua_barrier(skua_done_call(NULL, NULL));
}

static void register_nothing(void)
{
    skua_handler_register("no function", NULL);
}

static void register_no_name(void)
{
    skua_handler_register(NULL, on_nothing);
}

static void class_no_name(void)
{
    skua_class_register(&(skua_class_def){.bytes = 8});
}

static void broadcast_nothing(void)
{
    skua_broadcast(nothing, NULL, skua_done_nothing());
}

static void reduce_nothing(void)
{
    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, NULL, 1, skua_done_nothing());
}

static void reduce_swapped(void)
{
    const double number = 1;

    skua_allreduce((skua_op)(int)SKUA_DOUBLE, (skua_type)(int)SKUA_SUM, &number, 1,
                   skua_done_nothing());
}

static void join_nothing(void)
{
    skua_thread_join(NULL);
}

static void send_nothing(void)
{
    skua_send(0, nothing, NULL);
}

static void late_register(void)
{
    skua_handler_register("too late", on_nothing);
}

static void late_readonly(void)
{
    static int variable;

    skua_readonly_register("too late", &variable, sizeof variable);
}

static void consume_too_much(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_produce(detector, 4);
    skua_detector_consume(detector, 5);
    skua_detector_done(detector);
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void done_too_often(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_done(detector);
    skua_detector_done(detector);
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void start_twice(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_start(detector, 1, skua_done_nothing());
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void no_detector(void)
{
    skua_detector_produce((skua_detector){99, 1}, 1);
}

static void free_stranger(void)
{
    static char memory[128];
    skua_msg_free((skua_msg *)(void *)memory);
}

static void unlock_unlocked(void)
{
    skua_mutex mutex = SKUA_MUTEX_INIT;
    skua_mutex_unlock(&mutex);
}

static void run_in_thread_body(void *arg)
{
    (void)arg;
    skua_run();
}

static void run_in_thread(void)
{
    skua_thread_detach(skua_thread_create(run_in_thread_body, NULL, 0));
}

static void bad_reduction(void)
{
    double x = 1;
    skua_reduce(0, SKUA_BIT_AND, SKUA_DOUBLE, &x, 1, skua_done_nothing());
}

/* Each PE takes itself for the root once. */
static void own_root(void)
{
    static double number;

    for (int i = 0; i < 100; i++)
        skua_team_broadcast(SKUA_TEAM_ALL, i == 3 ? skua_pe() : 0, &number, sizeof number,
                            skua_done_nothing());
}

static void different_reduction(void)
{
    double x = 1;
    skua_allreduce(SKUA_MAX, SKUA_DOUBLE, &x, 1, skua_done_nothing());
}

static void call_barrier(void)
{
    skua_barrier(skua_done_nothing());
}

static void call_reduce(void)
{
    double x = 1;
    skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, &x, 1, skua_done_nothing());
}

static void msg_immense(void)
{
    skua_msg_alloc((size_t)-1);
}

static char team_memory[64];

static void team_none(void)
{
    skua_team_barrier(SKUA_TEAM_NONE, skua_done_nothing());
}

static void team_root(void)
{
    skua_team_broadcast(SKUA_TEAM_ALL, 2, team_memory, 8, skua_done_nothing());
}

static void team_overlap(void)
{
    skua_team_allgather(SKUA_TEAM_ALL, team_memory + 4, 8, team_memory, skua_done_nothing());
}

static void team_allgather(void)
{
    skua_team_allgather(SKUA_TEAM_ALL, team_memory, 8, team_memory + 16, skua_done_nothing());
}

static void team_allgather_more(void)
{
    skua_team_allgather(SKUA_TEAM_ALL, team_memory, 12, team_memory + 16, skua_done_nothing());
}

static void team_alltoall(void)
{
    skua_team_alltoall(SKUA_TEAM_ALL, team_memory, team_memory + 16, 8, skua_done_nothing());
}

static char team_blocks[2][2 * 524288];

static void team_alltoall_pairs(void)
{
    skua_team_alltoall(SKUA_TEAM_ALL, team_blocks[0], team_blocks[1], 524288, skua_done_nothing());
}

static void team_alltoall_direct(void)
{
    skua_team_alltoall(SKUA_TEAM_ALL, team_blocks[0], team_blocks[1], 262144, skua_done_nothing());
}

/* Two PEs broadcast different amounts, of which one is small; that call comes late. */
static void team_broadcast_large(void)
{
    skua_team_broadcast(SKUA_TEAM_ALL, 1, team_blocks[0], 65536, skua_done_nothing());
}

static void team_broadcast_late(void)
{
    double begun = skua_time();

    while (skua_time() - begun < 0.1)
        skua_poll(1);
    skua_team_broadcast(SKUA_TEAM_ALL, 1, team_blocks[0], 64, skua_done_nothing());
}

/* Each PE is the root. */
static void team_broadcast_own(void)
{
    skua_team_broadcast(SKUA_TEAM_ALL, skua_pe(), team_memory, 8, skua_done_nothing());
}

static void team_scan(size_t count)
{
    skua_reduction sum = {SKUA_SUM, SKUA_INT64, count};

    skua_team_scan(SKUA_TEAM_ALL, &sum, team_memory, team_memory + 16, skua_done_nothing());
}

static void team_scan_one(void)
{
    team_scan(1);
}

static void team_scan_two(void)
{
    team_scan(2);
}

static void team_no_operator(void)
{
    skua_reduction none = {SKUA_MINLOC, SKUA_DOUBLE, 1};

    skua_team_scan(SKUA_TEAM_ALL, &none, team_memory, team_memory, skua_done_nothing());
}

static void set_twice(void)
{
    skua_future future = SKUA_FUTURE_INIT;
    skua_future_set(&future, NULL, 0);
    skua_future_set(&future, NULL, 0);
}

static void unknown_lock(void)
{
    skua_lock((skua_locks){{0}}, 0, 7);
}

static void unlock_untaken(void)
{
    skua_locks locks;

    skua_locks_create(1, &locks);
    if (skua_pe() == skua_pes() - 1)
        skua_unlock(locks, 0, 0);
}

/* ---- misuse of objects ------------------------------------------------------- */

/* Runs on one PE, which waits for its message to itself. */
struct thing {
    int64_t value;
    int     how;
};

static skua_class thing_class, other_class;

static void method_no_function(void)
{
    skua_method_register(thing_class, "run", NULL, 0);
}
static skua_entry poke_entry, end_entry, ask_entry, go_entry, other_entry, twice_entry, odd_entry;

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)data;
    ((struct thing *)self)->value += (int64_t)bytes;
}

static void on_end(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void on_go(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_twice(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    for (int i = 0; i < 20000; i++)
        skua_contribute_nothing(self, skua_done_nothing());
}

/* Elements whose contributions depend on their index. */
static void on_odd(void *self, const void *data, size_t bytes)
{
    double x[2] = {0, 0};
    bool   odd  = skua_index_of(self).at.x[0] == 1;

    (void)bytes;
    if (*(const int *)data == 0)
        skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, x, odd ? 2 : 1, skua_done_nothing());
    else
        skua_contribute(self, odd ? SKUA_MAX : SKUA_SUM, SKUA_DOUBLE, x, 1, skua_done_nothing());
}

static skua_collection things(int n)
{
    return skua_array_create1(thing_class, n, NULL, 0);
}

static void poke(skua_ref ref)
{
    skua_invoke_copy(ref, poke_entry, NULL, 0);
}

static void poke_deleted(void)
{
    skua_ref ref = skua_element1(things(20), 19);

    skua_invoke_copy(ref, end_entry, NULL, 0);
    poke(ref);
}

static void poke_deleted_chare(void)
{
    skua_ref ref = skua_chare_create(thing_class, 0, NULL, 0);

    skua_object_destroy_ref(ref);
    poke(ref);
}

static void poke_nobody(void)
{
    poke(skua_element1(things(20), 20));
}

static skua_collection open_things(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};

    return skua_array_create(thing_class, &def, NULL, 0);
}

/* A message waits for an element that is never inserted. */
static void poke_closed(void)
{
    skua_collection all = open_things();

    skua_array_insert(skua_element1(all, 1), 0, NULL, 0);
    poke(skua_element1(all, 2));
    skua_array_close(all);
}

/* In an open array an element that was deleted might be inserted again; it is not. */
static void poke_deleted_open(void)
{
    skua_collection all = open_things();

    skua_array_insert(skua_element1(all, 3), 0, NULL, 0);
    skua_invoke_copy(skua_element1(all, 3), end_entry, NULL, 0);
    poke(skua_element1(all, 3));
}

static void array_negative(void)
{
    things(-5);
}

static void array_negative3(void)
{
    skua_array_create3(thing_class, 2, -1, 3, NULL, 0);
}

/* A program that was compiled against a version with larger definitions. */
static void array_newer(void)
{
    const skua_array_def def = {.size = sizeof def + 8, .dims = 1};

    skua_array_create(thing_class, &def, NULL, 0);
}

static void class_newer(void)
{
    const skua_class_def def = {.size = sizeof def + 8, .name = "newer"};

    skua_class_register(&def);
}

static void stream_newer(void)
{
    const skua_stream_def def = {.size = sizeof def + 8, .item_bytes = 8};

    skua_stream_register("newer", &def);
}

static void poke_wrong_dims(void)
{
    poke(skua_element2(things(20), 3, 4));
}

static void poke_no_member(void)
{
    poke(skua_member(skua_group_create(thing_class, NULL, 0), 7));
}

static void poke_no_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), (skua_entry){4321}, NULL, 0);
}

static void forgot_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), forgotten_entry, NULL, 0);
}

static void forgot_entry_all(void)
{
    skua_invoke_all(things(20), forgotten_entry, NULL, 0);
}

static void forgot_done_entry(void)
{
    skua_done_invoke(skua_element1(things(20), 3), forgotten_entry);
}

static void poke_wrong_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), other_entry, NULL, 0);
}

static void poke_no_array(void)
{
    poke(skua_element1((skua_collection){UINT64_C(77) << 32}, 3));
}

static void poke_deleted_array(void)
{
    skua_collection all = things(20);

    skua_collection_destroy(all);
    skua_poll(SIZE_MAX);
    skua_invoke_all(all, poke_entry, NULL, 0);
}

/* The member was looked up before, and is remembered until the group ends. */
static void local_deleted(void)
{
    skua_collection all = skua_group_create(thing_class, NULL, 0);

    skua_poll(SIZE_MAX);
    if (!skua_group_local(all) || skua_group_local(all) != skua_group_local(all))
        skua_abort("there is no member");
    skua_collection_destroy(all);
    skua_poll(SIZE_MAX);
    skua_group_local(all);
}

static void contribute_twice(void)
{
    skua_invoke_copy(skua_element1(things(20), 19), twice_entry, NULL, 0);
}

static void contribute_sizes(void)
{
    skua_invoke_all(things(2), odd_entry, &(int){0}, sizeof(int));
}

static void contribute_ops(void)
{
    skua_invoke_all(things(2), odd_entry, &(int){1}, sizeof(int));
}

static void insert_closed(void)
{
    skua_array_insert(skua_element1(things(20), 20), SKUA_ANY_PE, NULL, 0);
}

static void insert_twice(void)
{
    skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all = skua_array_create(thing_class, &def, NULL, 0);

    skua_array_insert(skua_element1(all, 5), 0, NULL, 0);
    skua_array_insert(skua_element1(all, 5), 0, NULL, 0);
}

static void ask_nobody_waits(void)
{
    skua_invoke_copy(skua_element1(things(20), 19), ask_entry, NULL, 0);
}

static void wait_for_none(void)
{
    skua_invoke_reply(skua_element1(things(20), 19), poke_entry, NULL, 0, skua_done_nothing());
}

static void reply_to_nobody(void)
{
    skua_reply(NULL, 0);
}

static void migrate_member(void)
{
    skua_invoke_copy(skua_member(skua_group_create(thing_class, NULL, 0), skua_pe()), go_entry,
                     &(int){0}, sizeof(int));
}

static void delete_member(void)
{
    skua_object_destroy_ref(skua_member(skua_group_create(thing_class, NULL, 0), skua_pe()));
}

/* Classes without a pup function, or with a wrong one. */
static skua_class fixed_class, partly_class;
static skua_entry fixed_entry, partly_entry;

static void on_go_on(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void pup_partly(skua_pup *p, void *self)
{
    skua_pup_plain(p, &((struct thing *)self)->how);
}

static void move_fixed(void)
{
    skua_invoke_copy(skua_chare_create(fixed_class, 0, NULL, 0), fixed_entry, NULL, 0);
}

/* Load balancing: `fixed` is not balanced, `waiter` is. */
static skua_class waiter_class;
static skua_entry waiter_entry, sync_fixed_entry;

static void on_waiter(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_at_sync(self);
    skua_at_sync(self);
}

static void sync_twice(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(waiter_class, 4, NULL, 0), 3), waiter_entry,
                     NULL, 0);
}

static void sync_group(void)
{
    skua_invoke_copy(skua_member(skua_group_create(waiter_class, NULL, 0), 1), waiter_entry, NULL,
                     0);
}

static void sync_class(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(fixed_class, 4, NULL, 0), 2),
                     sync_fixed_entry, NULL, 0);
}

static void strategy_unknown(void)
{
    skua_balance_set_strategy("gredy");
}

static void register_waiter(void)
{
    static const skua_class_def def    = {.name = "waiter", .bytes = 8, .pup = skua_pup_plain};
    skua_balance_params         params = {.flags = SKUA_BALANCE_AT_SYNC};

    waiter_class     = skua_class_register(&def);
    waiter_entry     = skua_method_register(waiter_class, "go", on_waiter, 0);
    sync_fixed_entry = skua_method_register(fixed_class, "sync", on_waiter, 0);
    params.resume    = waiter_entry;
    skua_class_set_balance(waiter_class, &params);
}

static void move_partly(void)
{
    skua_invoke_copy(skua_chare_create(partly_class, 0, NULL, 0), partly_entry, NULL, 0);
}

static void register_things(void)
{
    static const skua_class_def thing  = {.name  = "thing",
                                          .bytes = sizeof(struct thing),
                                          .pup   = skua_pup_plain},
                                other  = {.name = "other"},
                                fixed  = {.name = "fixed", .bytes = sizeof(struct thing)},
                                partly = {.name  = "partly",
                                          .bytes = sizeof(struct thing),
                                          .pup   = pup_partly};

    thing_class  = skua_class_register(&thing);
    other_class  = skua_class_register(&other);
    fixed_class  = skua_class_register(&fixed);
    partly_class = skua_class_register(&partly);
    fixed_entry  = skua_method_register(fixed_class, "go", on_go_on, 0);
    partly_entry = skua_method_register(partly_class, "go", on_go_on, 0);
    register_waiter();
    poke_entry  = skua_method_register(thing_class, "poke", on_poke, 0);
    end_entry   = skua_method_register(thing_class, "end", on_end, 0);
    ask_entry   = skua_method_register(thing_class, "ask", on_poke, SKUA_ENTRY_SYNC);
    go_entry    = skua_method_register(thing_class, "go", on_go, 0);
    twice_entry = skua_method_register(thing_class, "twice", on_twice, 0);
    odd_entry   = skua_method_register(thing_class, "odd", on_odd, 0);
    other_entry = skua_method_register(other_class, "poke", on_poke, 0);
}

/* Invalid packed flows. */
static skua_class flowing_class;
static skua_entry flow_entry;

static void never_go(skuac_frame *frame)
{
    skuac_flow_end(frame);
}

static const skuac_frame_type never_type = {"flowing.never", sizeof(skuac_frame), 0, 0, never_go};
static const skuac_frame_type *const flowing_types[] = {&never_type};
static const char *const             flowing_names[] = {"a"};
static const skuac_flow_class flowing_flow = {"flowing", 16, 1, 1, flowing_types, flowing_names};

enum { FORGED_WORDS = 16 };

static uint64_t forged[][FORGED_WORDS] = {
    {0, UINT64_C(1) << 40},                        /* too many frames */
    {0, 1, 7},                                     /* a frame of an unknown type */
    {0, 1, 0, UINT64_C(1) << 32},                  /* a waiting frame without waits */
    {0, 1, 0, 3},                                  /* a frame with an unknown parent */
    {0, 0, 1, UINT64_C(1) << 40, 0, ~UINT64_C(0)}, /* a message that is too long */
    {0, 0, 1},                                     /* a missing message */
};

static void pup_flowing(skua_pup *p, void *self)
{
    int *which = self;

    skua_pup_value(p, which);
    if (skua_pup_unpacking(p))
        skuac_flow_pup(&flowing_flow, p, self);
    else
        skua_pup_bytes(p, forged[*which], sizeof forged[*which]);
}

static void on_flow(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    *(int *)self = *(const int *)data;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void forge(int which)
{
    skua_invoke_copy(skua_element1(skua_array_create1(flowing_class, 20, NULL, 0), 19), flow_entry,
                     &which, sizeof which);
}

static void many_frames(void)
{
    forge(0);
}

static void strange_frame(void)
{
    forge(1);
}

static void strange_waits(void)
{
    forge(2);
}

static void strange_parent(void)
{
    forge(3);
}

static void long_message(void)
{
    forge(4);
}

static void no_message(void)
{
    forge(5);
}

static void register_flowing(void)
{
    static const skua_class_def def = {
        .name = "flowing", .bytes = SKUA_FLOW_BYTES(16, 1), .pup = pup_flowing};

    flowing_class = skua_class_register(&def);
    flow_entry    = skua_method_register(flowing_class, "flow", on_flow, 0);
}

/* ---- memory ------------------------------------------------------------------ */

static void fill_arena(void)
{
    int n = 0;

    while (n < 1000000) {
        skua_msg   *msg;
        skua_status status = skua_msg_try_alloc(1000000, &msg);
        if (status != SKUA_OK) {
            printf("%s after %d messages\n", skua_status_str(status), n);
            skua_exit(n > 10 ? 0 : 1);
            return;
        }
        memset(skua_msg_data(msg), 1, 1000);
        n++;
    }
    skua_exit(1);
}

static void fill_arena_fatally(void)
{
    for (;;)
        memset(skua_msg_data(skua_msg_alloc(1000000)), 1, 1000);
}

/* ---- errors of calls that return a status ------------------------------------ */

static bool on_error(void *arg, const skua_error *error)
{
    printf("told %s: %s in %s on PE %d%s\n", (char *)arg, skua_status_str(error->status),
           error->call, error->pe, error->fatal ? ", fatal" : "");
    fflush(stdout);
    return strcmp(arg, "all") == 0;
}

static __attribute__((noinline)) void put_beyond(void)
{
    skua_region region;
    char        byte = 1;

    skua_region_create_local(64, &region);
    printf("got %s\n", skua_status_str(skua_put(skua_at(region, skua_pe(), 64), &byte, 1)));
    skua_exit(0);
}

/* ---- misuse of sections ------------------------------------------------------- */

static skua_class cell_class;
static skua_entry give_entry;

/* The data of a multicast. */
struct giving {
    skua_section section;
    int          unequal; /* the element of index 3 contributes two numbers */
};

static void on_give(void *self, const void *data, size_t bytes)
{
    const struct giving *giving = data;
    int32_t              two[2] = {1, 2};
    bool                 more   = giving->unequal && skua_index_of(self).at.x[0] == 3;

    (void)bytes;
    skua_section_contribute(giving->section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT32, two, more ? 2 : 1),
                            skua_done_nothing());
}

/* Elements 2 to 5 of ten. */
static struct giving four_of_ten(skua_collection *ten)
{
    skua_range range = {.dims = 1, .lower = {2}, .upper = {6}};

    *ten = skua_array_create1(cell_class, 10, NULL, 0);
    return (struct giving){skua_section_create_range(*ten, &range, NULL), 0};
}

static void section_twice(void)
{
    skua_collection ten     = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index[] = {skua_index1(3), skua_index1(8), skua_index1(3)};

    skua_section_create(ten, index, 3);
}

static void section_dims(void)
{
    skua_collection ten   = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index = skua_index2(3, 4);

    skua_section_create(ten, &index, 1);
}

static void section_beyond(void)
{
    skua_collection ten   = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index = skua_index1(99);

    skua_section_create(ten, &index, 1);
}

static void section_stranger(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_invoke_copy(skua_element1(ten, 0), give_entry, &giving, sizeof giving);
}

static void section_unequal(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    giving.unequal = 1;
    skua_section_invoke(giving.section, give_entry, &giving, sizeof giving);
}

static void section_deleted(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_section_invoke(giving.section, give_entry, &giving, sizeof giving);
}

static void section_rebuilt_late(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_section_rebuild(giving.section);
}

static void object_channel_none(void)
{
    skua_ref cell = skua_chare_create_local(cell_class, NULL, 0);

    skua_object_channel_put(skua_object_local(cell), (skua_object_channel){7});
}

static void object_channel_no_kind(void)
{
    skua_ref cell = skua_chare_create_local(cell_class, NULL, 0);

    skua_object_channel_create(skua_object_local(cell), (skua_channel_end){9}, 0);
}

static void section_given_late(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_poll(100);
    skua_invoke_copy(skua_element1(ten, 5), give_entry, &giving, sizeof giving);
}

static void section_unknown(void)
{
    skua_section_destroy((skua_section){(uint64_t)skua_pe() << 32 | 7});
}

/* ---- others ------------------------------------------------------------------ */

static void exit_with_code(void)
{
    skua_exit(42);
}

static void exit_with_large_code(void)
{
    skua_exit(-256);
}

static void compute_on(void)
{
    skua_exit(3);
    for (;;)
        sink++;
}

static void wait_for_ever(void)
{
    printf("waiting\n");
}

static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
    signalled = sig;
}

static void wait_for_signal(void)
{
    signal(SIGUSR1, on_signal);
    printf("waiting\n");
    fflush(stdout);
    while (!signalled)
        usleep(1000);
    skua_exit(5);
}

/* More output than pipes hold. */
static void flood(void)
{
    for (int i = 0; i < 100000; i++)
        printf("line %d of output that is never read\n", i);
    skua_exit(0);
}

/* Writes that end one line and begin the next. */
static void pieces(void)
{
    for (int i = 0; i < 5; i++) {
        printf("begin");
        fflush(stdout);
        usleep(20000);
        printf(" end\nwhole\n");
    }
    skua_exit(0);
}

static void echo(void)
{
    char line[256];

    while (skua_pe() == 0 && fgets(line, sizeof line, stdin))
        printf("got %s", line);
    skua_exit(0);
}

static void print_lines(void)
{
    for (int i = 0; i < 200; i++) { /* in several writes, which could interleave */
        printf("line %d ", i);
        fflush(stdout);
        printf("of PE %d\n", skua_pe());
    }
}

static void on_all_printed(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    if (skua_pe() == 0)
        skua_exit(0);
}

static void large(void)
{
    size_t    bytes = ((size_t)3 << 30) + 12345;
    skua_msg *msg   = skua_msg_alloc(bytes);
    char     *data  = skua_msg_data(msg);

    data[0] = 'a', data[(size_t)1 << 31] = 'b', data[bytes - 1] = 'c';
    skua_send(0, nothing, msg);
}

static void on_large(skua_msg *msg)
{
    size_t bytes = skua_msg_size(msg);
    char  *data  = skua_msg_data(msg);

    if (bytes != ((size_t)3 << 30) + 12345)
        return on_nothing(msg);
    if (data[0] != 'a' || data[(size_t)1 << 31] != 'b' || data[bytes - 1] != 'c')
        skua_abort("the large message is damaged");
    skua_msg_free(msg);
    printf("%zu bytes\n", bytes);
    skua_exit(0);
}

/* ---- objects ---------------------------------------------------------------------- */

static skua_class box_class, bag_class, mayfly_class;
static skua_entry box_ask, box_put, bag_put, mayfly_here, mayfly_plain;

static void on_put(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
}

static void on_delete(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void contribute_last(void *self)
{
    skua_contribute_nothing(self, skua_done_nothing());
}

/* Objects that contribute while they are destroyed, to a reduction that others have begun. */
enum sack_order { SACK_GIVE, SACK_DELETE, SACK_MOVE };

struct sack_order_msg {
    enum sack_order order;
    skua_section    section; /* 0: all elements */
};

static skua_class            sack_class;
static skua_entry            sack_put;
static struct sack_order_msg sack_last; /* on this process */

static void sack_result(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
}

static void sack_give(void *self)
{
    skua_completion done = skua_done_call(sack_result, NULL);
    double          one  = 1;

    if (sack_last.section.id)
        skua_section_contribute(sack_last.section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_DOUBLE, &one, 1), done);
    else
        skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, &one, 1, done);
}

/* Elements of PE 0 do not: the job is to end because of others. */
static void sack_destroy(void *self)
{
    if (skua_index_of(self).at.x[0] >= 5)
        sack_give(self);
}

static void sack_pup(skua_pup *p, void *self)
{
    skua_pup_bytes(p, self, 8);
}

static void on_sack_put(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    sack_last = *(const struct sack_order_msg *)data;
    if (sack_last.order == SACK_GIVE)
        sack_give(self);
    else if (sack_last.order == SACK_DELETE)
        skua_object_destroy(self);
    else
        skua_migrate(self, 1 - skua_pe());
}

static void die_at_once(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void register_classes(void)
{
    skua_class_def box    = {.name = "box", .bytes = 8};
    skua_class_def bag    = {.name = "bag", .bytes = 8, .destroy = contribute_last};
    skua_class_def mayfly = {.name = "mayfly", .bytes = 8, .construct = die_at_once};
    skua_class_def sack   = {.name = "sack", .bytes = 8, .destroy = sack_destroy, .pup = sack_pup};

    box_class = skua_class_register(&box);
    bag_class = skua_class_register(&bag);
    box_ask   = skua_method_register(box_class, "ask", on_put, SKUA_ENTRY_SYNC);
    box_put   = skua_method_register(box_class, "put", on_put, 0);
    bag_put   = skua_method_register(bag_class, "put", on_delete, 0);

    sack_class = skua_class_register(&sack);
    sack_put   = skua_method_register(sack_class, "put", on_sack_put, 0);

    mayfly_class = skua_class_register(&mayfly);
    mayfly_here  = skua_method_register(mayfly_class, "here", on_put, SKUA_ENTRY_CREATE_HERE);
    mayfly_plain = skua_method_register(mayfly_class, "plain", on_put, 0);
    if (getenv("CREATE_TWICE"))
        skua_method_register(mayfly_class, "both", on_put,
                             SKUA_ENTRY_CREATE_HERE | SKUA_ENTRY_CREATE_HOME);
}

/* An element of an empty array. */
static skua_ref mayfly(int i)
{
    return skua_element1(skua_array_create(mayfly_class, &(skua_array_def){.dims = 1}, NULL, 0), i);
}

static void create_mayfly(void)
{
    skua_invoke_copy(mayfly(7), mayfly_here, NULL, 0);
}

/* An entry that does not create the element. */
static void create_nothing(void)
{
    skua_invoke_copy(mayfly(7), mayfly_plain, NULL, 0);
}

static void done_too_long(void)
{
    static const char name[SKUA_INDEX_MAX + 1];
    skua_array_def    def = {.dims = 0};
    skua_collection   all = skua_array_create(box_class, &def, NULL, 0);

    skua_done_invoke(skua_element(all, skua_index_bytes(name, sizeof name)), box_put);
}

/* Creates it first on another PE, then on its home PE. */
static void insert_elsewhere(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_ref       ref = skua_element1(skua_array_create(box_class, &def, NULL, 0), 5);

    skua_array_insert(ref, 1 - skua_home(ref), NULL, 0);
    skua_array_insert(ref, SKUA_ANY_PE, NULL, 0);
}

static void answer_to_nobody(void)
{
    skua_done_invoke(skua_element1(skua_array_create1(box_class, 10, NULL, 0), 1), box_ask);
}

static void contribute_at_end(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(bag_class, 10, NULL, 0), 7), bag_put, NULL,
                     0);
}

/* Elements 6 and 7 are on one PE. */
static void sack_end(skua_collection ten, skua_section section, enum sack_order order)
{
    struct sack_order_msg first = {SACK_GIVE, section}, last = {order, section};

    skua_invoke_copy(skua_element1(ten, 6), sack_put, &first, sizeof first);
    skua_invoke_copy(skua_element1(ten, 7), sack_put, &last, sizeof last);
}

static void contribute_deleted(void)
{
    sack_end(skua_array_create1(sack_class, 10, NULL, 0), (skua_section){0}, SACK_DELETE);
}

static void contribute_moving(void)
{
    sack_end(skua_array_create1(sack_class, 10, NULL, 0), (skua_section){0}, SACK_MOVE);
}

/* The collection ends while its elements 6 and 7 have contributed, and others have not. */
static void contribute_ending(void)
{
    skua_collection ten = skua_array_create1(sack_class, 10, NULL, 0);

    sack_end(ten, (skua_section){0}, SACK_GIVE);
    skua_collection_destroy(ten);
}

static void contribute_section(void)
{
    skua_collection ten   = skua_array_create1(sack_class, 10, NULL, 0);
    skua_range      range = {.dims = 1, .lower = {5}, .upper = {10}};

    sack_end(ten, skua_section_create_range(ten, &range, NULL), SACK_MOVE);
}

/* ---- channels: PE 0 receives, the last one sends ------------------------------------ */

static skua_handler       channel_handler, seen_handler;
static char              *channel_memory;
static skua_channel       channel;
static skua_sender       *channel_sender;
static const skua_channel no_channel;

static void tell_seen(void *arg)
{
    (void)arg;
    skua_send_copy(skua_pes() - 1, seen_handler, NULL, 0);
}

static void make_channel(void)
{
    skua_layout to;

    channel_memory = skua_channel_alloc(100);
    to             = skua_layout_contiguous(channel_memory, 100);
    skua_channel_create(&to, tell_seen, NULL, "ghost", &channel);
}

static void offer_view(void)
{
    skua_layout to = skua_layout_contiguous(skua_channel_alloc(100), 100);

    skua_channel_create_view(&to, tell_seen, NULL, "ghost", &channel);
    skua_send_copy(skua_pes() - 1, channel_handler, &channel, sizeof channel);
}

static void offer_channel(void)
{
    make_channel();
    skua_send_copy(skua_pes() - 1, channel_handler, &channel, sizeof channel);
}

static void offer_and_sleep(void)
{
    offer_channel();
    usleep(500000); /* no PE polls meanwhile */
}

static void free_buffer(void)
{
    skua_channel_free(channel_memory);
    tell_seen(NULL);
}

static void delete_channel(void)
{
    skua_channel_destroy(channel);
    tell_seen(NULL);
}

/* A case: the action of the sender when it has the channel, and the reaction of each PE to a
 * message of the other. */
static void (*on_offered)(skua_channel offered), (*on_told)(void);

static void on_channel(skua_msg *msg)
{
    skua_channel offered = *(skua_channel *)skua_msg_data(msg);

    skua_msg_free(msg);
    on_offered(offered);
}

static void on_seen(skua_msg *msg)
{
    skua_msg_free(msg);
    if (on_told)
        on_told();
}

static void open_channel(skua_channel offered)
{
    channel_memory   = skua_channel_alloc(100);
    skua_layout from = skua_layout_contiguous(channel_memory, 100);

    channel_sender = skua_channel_open(offered, &from);
}

static void put_once(skua_channel offered)
{
    open_channel(offered);
    skua_channel_put(channel_sender);
}

static void put_twice(skua_channel offered)
{
    put_once(offered);
    skua_channel_put(channel_sender);
}

static void put_again(void)
{
    skua_channel_put(channel_sender);
}

static void open_other_size(skua_channel offered)
{
    static char memory[64];
    skua_layout from = skua_layout_contiguous(memory, sizeof memory);

    skua_channel_open(offered, &from);
}

static void put_freed(skua_channel offered)
{
    open_channel(offered);
    skua_channel_free(channel_memory);
    skua_channel_put(channel_sender);
}

static void channel_early(void)
{
    on_offered = put_once;
    on_told    = put_again;
}

static void channel_second(void)
{
    on_offered = put_twice;
}

static void channel_size(void)
{
    on_offered = open_other_size;
}

static void open_and_tell(skua_channel offered)
{
    open_channel(offered);
    skua_send_copy(0, seen_handler, NULL, 0);
}

static void channel_gone(void)
{
    on_offered = open_and_tell;
    on_told    = put_again;
}

static void offer_and_free(void)
{
    on_told = free_buffer;
    offer_channel();
}

static void offer_and_delete(void)
{
    on_told = delete_channel;
    offer_channel();
}

static void channel_source_gone(void)
{
    on_offered = put_freed;
}

static void receiver_is_ready(void)
{
    skua_channel_ready(channel);
}

static void offer_and_return(void)
{
    on_told = receiver_is_ready;
    offer_view();
}

static void lend_once(skua_channel offered)
{
    skua_layout from = skua_layout_contiguous(skua_channel_alloc(100), 100);

    channel_memory = memset(from.at, 1, 100);
    channel_sender = skua_channel_lend(offered, &from);
    skua_channel_put(channel_sender);
}

static void change_and_tell(void)
{
    channel_memory[99]++;
    skua_send_copy(0, seen_handler, NULL, 0);
}

static void channel_changed(void)
{
    on_offered = lend_once;
    on_told    = change_and_tell;
}

static void channel_no_view(void)
{
    make_channel();
    skua_channel_view(channel);
}

static void channel_not_ours(void)
{
    skua_channel_ready(no_channel);
}

static const struct {
    const char *name;
    void (*last)(void);   /* runs on the last PE */
    void (*others)(void); /* runs on the other PEs, or NULL */
} acts[] = {
    {"segv", die_by_signal, NULL},
    {"kill", killed, NULL},
    {"stop", stop_it, NULL},
    {"exit-wait", use_no_value, NULL},
    {"abort", abort_it, NULL},
    {"give-up", give_up, NULL},
    {"leave", leave_early, NULL},
    {"leave-7", leave_early_with_code, NULL},
    {"overflow", overflow, NULL},
    {"overflow-frame", overflow_frame, NULL},
    {"unknown-pe", unknown_pe, NULL},
    {"unknown-handler", unknown_handler, NULL},
    {"forgot-send", forgot_send, NULL},
    {"forgot-send-copy", forgot_send_copy, NULL},
    {"forgot-send-prio", forgot_send_prio, NULL},
    {"forgot-enqueue", forgot_enqueue, NULL},
    {"forgot-broadcast", forgot_broadcast, NULL},
    {"forgot-done", forgot_done, NULL},
    {"forgot-call", forgot_call, NULL},
    {"forgot-chare", forgot_chare, NULL},
    {"forgot-seed", forgot_seed, NULL},
    {"forgot-array", forgot_array, NULL},
    {"forgot-stream", forgot_stream, NULL},
    {"forgot-data", forgot_data, NULL},
    {"forgot-shared", forgot_shared, NULL},
    {"forgot-entry", forgot_entry, NULL},
    {"forgot-entry-all", forgot_entry_all, NULL},
    {"forgot-done-entry", forgot_done_entry, NULL},
    {"done-call-nothing", done_call_nothing, NULL},
    {"register-nothing", register_nothing, NULL},
    {"register-no-name", register_no_name, NULL},
    {"class-no-name", class_no_name, NULL},
    {"method-no-function", method_no_function, NULL},
    {"broadcast-nothing", broadcast_nothing, NULL},
    {"reduce-nothing", reduce_nothing, NULL},
    {"reduce-swapped", reduce_swapped, NULL},
    {"join-nothing", join_nothing, NULL},
    {"send-nothing", send_nothing, NULL},
    {"late-register", late_register, NULL},
    {"late-readonly", late_readonly, NULL},
    {"consume-too-much", consume_too_much, NULL},
    {"done-too-often", done_too_often, NULL},
    {"start-twice", start_twice, NULL},
    {"no-detector", no_detector, NULL},
    {"free-stranger", free_stranger, NULL},
    {"unlock", unlock_unlocked, NULL},
    {"run-in-thread", run_in_thread, NULL},
    {"bad-reduction", bad_reduction, NULL},
    {"own-root", own_root, own_root},
    {"different-reduction", different_reduction, bad_reduction},
    {"barrier-or-reduce", call_reduce, call_barrier},
    {"msg-immense", msg_immense, NULL},
    {"team-none", team_none, NULL},
    {"team-root", team_root, NULL},
    {"team-overlap", team_overlap, NULL},
    {"team-sizes", team_allgather, team_allgather_more},
    {"team-calls", team_allgather, team_alltoall},
    {"team-small-or-large", team_alltoall, team_alltoall_direct},
    {"team-pairs-or-direct", team_alltoall_pairs, team_alltoall_direct},
    {"team-large-or-small", team_broadcast_large, team_broadcast_late},
    {"team-roots", team_broadcast_own, team_broadcast_own},
    {"team-scan-more", team_scan_one, team_scan_two},
    {"team-scan-less", team_scan_two, team_scan_one},
    {"team-scan-or-gather", team_scan_one, team_allgather},
    {"team-no-operator", team_no_operator, NULL},
    {"set-twice", set_twice, NULL},
    {"insert-elsewhere", insert_elsewhere, NULL},
    {"answer-to-nobody", answer_to_nobody, NULL},
    {"contribute-at-end", contribute_at_end, NULL},
    {"contribute-deleted", contribute_deleted, NULL},
    {"contribute-moving", contribute_moving, NULL},
    {"contribute-ending", contribute_ending, NULL},
    {"contribute-section", contribute_section, NULL},
    {"unknown-lock", unknown_lock, NULL},
    {"unlock-untaken", unlock_untaken, unlock_untaken},
    {"channel-early", channel_early, offer_channel},
    {"channel-second", channel_second, offer_and_sleep},
    {"channel-size", channel_size, offer_channel},
    {"channel-freed", channel_gone, offer_and_free},
    {"channel-deleted", channel_gone, offer_and_delete},
    {"channel-source-freed", channel_source_gone, offer_channel},
    {"channel-changed", channel_changed, offer_and_return},
    {"channel-no-view", channel_no_view, NULL},
    {"channel-not-ours", channel_not_ours, NULL},
    {"section-twice", section_twice, NULL},
    {"section-dims", section_dims, NULL},
    {"section-beyond", section_beyond, NULL},
    {"section-stranger", section_stranger, NULL},
    {"section-unequal", section_unequal, NULL},
    {"section-deleted", section_deleted, NULL},
    {"section-rebuilt-late", section_rebuilt_late, NULL},
    {"section-given-late", section_given_late, NULL},
    {"object-channel-none", object_channel_none, NULL},
    {"object-channel-no-kind", object_channel_no_kind, NULL},
    {"section-unknown", section_unknown, NULL},
    {"poke-closed", poke_closed, NULL},
    {"poke-deleted", poke_deleted, NULL},
    {"poke-deleted-open", poke_deleted_open, NULL},
    {"poke-deleted-chare", poke_deleted_chare, NULL},
    {"poke-nobody", poke_nobody, NULL},
    {"poke-wrong-dims", poke_wrong_dims, NULL},
    {"array-negative", array_negative, NULL},
    {"array-negative3", array_negative3, NULL},
    {"array-newer", array_newer, NULL},
    {"class-newer", class_newer, NULL},
    {"stream-newer", stream_newer, NULL},
    {"poke-no-member", poke_no_member, NULL},
    {"poke-no-entry", poke_no_entry, NULL},
    {"poke-wrong-entry", poke_wrong_entry, NULL},
    {"create-mayfly", create_mayfly, NULL},
    {"create-nothing", create_nothing, NULL},
    {"done-too-long", done_too_long, NULL},
    {"poke-no-array", poke_no_array, NULL},
    {"poke-deleted-array", poke_deleted_array, NULL},
    {"local-deleted", local_deleted, NULL},
    {"contribute-twice", contribute_twice, NULL},
    {"contribute-sizes", contribute_sizes, NULL},
    {"contribute-ops", contribute_ops, NULL},
    {"insert-closed", insert_closed, NULL},
    {"insert-twice", insert_twice, NULL},
    {"ask-nobody-waits", ask_nobody_waits, NULL},
    {"wait-for-none", wait_for_none, NULL},
    {"reply-to-nobody", reply_to_nobody, NULL},
    {"migrate-member", migrate_member, NULL},
    {"delete-member", delete_member, NULL},
    {"move-fixed", move_fixed, NULL},
    {"move-partly", move_partly, NULL},
    {"sync-twice", sync_twice, NULL},
    {"sync-group", sync_group, NULL},
    {"sync-class", sync_class, NULL},
    {"strategy-unknown", strategy_unknown, NULL},
    {"flow-frames", many_frames, NULL},
    {"flow-frame", strange_frame, NULL},
    {"flow-waits", strange_waits, NULL},
    {"flow-parent", strange_parent, NULL},
    {"flow-message", long_message, NULL},
    {"flow-none", no_message, NULL},
    {"put-beyond", put_beyond, NULL},
    {"fill-arena", fill_arena, NULL},
    {"fill-arena-fatally", fill_arena_fatally, NULL},
    {"exit-42", exit_with_code, NULL},
    {"exit--256", exit_with_large_code, NULL},
    {"compute-on", compute_on, NULL},
    {"wait", wait_for_ever, wait_for_ever},
    {"usr1", wait_for_signal, wait_for_signal},
    {"all-segv", die_by_signal, die_by_signal},
    {"all-give-up", give_up, give_up},
    {"flood", flood, flood},
    {"pieces", pieces, pieces},
    {"echo", echo, NULL},
    {"lines", print_lines, print_lines},
    {"large", large, NULL},
};

static void different_sum(void)
{
    int32_t x = 1;
    skua_allreduce(SKUA_SUM, SKUA_INT32, &x, 1, skua_done_nothing());
}

static void start(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool        last = skua_pe() == skua_pes() - 1;

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(what, acts[i].name) != 0)
            continue;
        if (strcmp(what, "echo") == 0 ? skua_pe() == 0 : last)
            acts[i].last();
        else if (acts[i].others == bad_reduction)
            different_sum();
        else if (acts[i].others)
            acts[i].others();
        if (strcmp(what, "lines") == 0)
            skua_barrier(skua_done_call(on_all_printed, NULL));
        return;
    }
    skua_abort("misbehave: unknown case '%s'", what);
}

/* Returns true if this process has removed the file that the variable names. Exactly one process
 * does so, and behaves differently. */
static bool chosen_by(const char *variable)
{
    const char *path = getenv(variable);

    return path && unlink(path) == 0;
}

/* Sends an invalid request on the control connection: too short, or a put for another process. */
static void say_nonsense(const char *which)
{
    static const struct {
        uint32_t kind, bytes;
        int32_t  process;
        char     key[32];
    } of_another        = {1, 0, 1000000, "skua.ports"};
    const char *job     = getenv("SKUA_JOB");
    int         control = -1;

    if (job && sscanf(job, "%*d,%*d,%*d,%d", &control) == 1)
        send(control, &of_another, strcmp(which, "short") == 0 ? 3 : sizeof of_another, 0);
}

static void register_cell(void)
{
    skua_class_def def = {.name = "cell", .bytes = 8};

    cell_class = skua_class_register(&def);
    give_entry = skua_method_register(cell_class, "give", on_give, 0);
}

/* A program whose begin() waits and then writes variables that others have read already. */
static int early, late;

static void write_late(int argc, char **argv)
{
    skua_future future = SKUA_FUTURE_INIT;

    (void)argc, (void)argv;
    early = 1;
    skua_timer_after(1e-3, skua_done_future(&future));
    skua_future_wait(&future, NULL);
    late = 1;
}

static int run_program(int argc, char **argv)
{
    skua_readonly_register("early", &early, sizeof early);
    skua_readonly_register("late", &late, sizeof late);
    return skua_program(argc, argv, write_late);
}

int main(int argc, char **argv)
{
    if (getenv("SAY_NONSENSE"))
        say_nonsense(getenv("SAY_NONSENSE"));
    if (getenv("ON_ERROR"))
        skua_error_set_callback(on_error, getenv("ON_ERROR"));
    nothing         = skua_handler_register("nothing", on_large);
    channel_handler = skua_handler_register("channel", on_channel);
    seen_handler    = skua_handler_register("seen", on_seen);
    register_cell();
    register_things();
    register_flowing();
    register_classes();
    if (chosen_by("ODD_ONE"))
        skua_handler_register("odd", on_nothing);
    if (chosen_by("PLACE_TAKEN"))
        mmap((void *)0x300000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    if (argc > 1 && strcmp(argv[1], "write-late") == 0)
        return run_program(argc, argv);
    return skua_main(argc, argv, start);
}
