/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_calls.c - wrong calls of the core: handlers, messages, reductions, teams, detectors,
 * threads, locks. */
#include "misbehave.h"

static volatile int sink;

static void unknown_pe(void)
{
    skua_send(99, misbehave_nothing, skua_msg_alloc(8));
}

static void unknown_handler(void)
{
    skua_send_copy(0, (skua_handler){1234}, NULL, 0);
}

/* Handles that were declared and never registered. */
static skua_handler      forgotten;
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
    skua_handler_register(NULL, skua_msg_free);
}

static void class_no_name(void)
{
    skua_class_register(&(skua_class_def){.bytes = 8});
}

static void broadcast_nothing(void)
{
    skua_broadcast(misbehave_nothing, NULL, skua_done_nothing());
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
    skua_send(0, misbehave_nothing, NULL);
}

static void late_register(void)
{
    skua_handler_register("too late", skua_msg_free);
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

static void different_sum(void)
{
    int32_t x = 1;
    skua_allreduce(SKUA_SUM, SKUA_INT32, &x, 1, skua_done_nothing());
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

/* Returns a team of both PEs, in the opposite order. */
static skua_team team_reversed(void)
{
    skua_team team;

    skua_team_split(SKUA_TEAM_ALL, 0, -skua_pe(), &team);
    return team;
}

static void team_split_barrier(void)
{
    skua_team_barrier(team_reversed(), skua_done_nothing());
}

static void team_split_allreduce(void)
{
    const skua_reduction sum = {SKUA_SUM, SKUA_INT64, 1};

    skua_team_allreduce(team_reversed(), &sum, team_memory, team_memory + 16, skua_done_nothing());
}

/* Gathers blocks of 8 bytes and of @p bytes of the other PE. */
static void team_split_allgatherv(size_t bytes)
{
    const size_t           sizes[] = {skua_pe() == 1 ? 8 : bytes, skua_pe() == 0 ? 8 : bytes};
    const skua_team_blocks all     = {team_memory + 16, sizes, NULL};

    skua_team_allgatherv(team_reversed(), team_memory, 8, &all, skua_done_nothing());
}

static void team_split_even(void)
{
    team_split_allgatherv(8);
}

static void team_split_uneven(void)
{
    team_split_allgatherv(12);
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

static void wait_for_newer_set(void)
{
    const skua_notify_set set = {.size = sizeof set + 8};

    skua_notify_wait_any(&set);
}

static void test_unset_set(void)
{
    const skua_notify_set set = {.size = (size_t)0x41 << 56};

    skua_notify_test_all(&set);
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

static const struct misbehave_act acts[] = {
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
    {"done-call-nothing", done_call_nothing, NULL},
    {"register-nothing", register_nothing, NULL},
    {"register-no-name", register_no_name, NULL},
    {"class-no-name", class_no_name, NULL},
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
    {"different-reduction", different_reduction, different_sum},
    {"barrier-or-reduce", call_reduce, call_barrier},
    {"msg-immense", msg_immense, NULL},
    {"team-none", team_none, NULL},
    {"team-root", team_root, NULL},
    {"team-overlap", team_overlap, NULL},
    {"team-sizes", team_allgather, team_allgather_more},
    {"team-calls", team_allgather, team_alltoall},
    {"team-split-calls", team_split_barrier, team_split_allreduce},
    {"team-split-sizes", team_split_even, team_split_uneven},
    {"team-small-or-large", team_alltoall, team_alltoall_direct},
    {"team-pairs-or-direct", team_alltoall_pairs, team_alltoall_direct},
    {"team-large-or-small", team_broadcast_large, team_broadcast_late},
    {"team-roots", team_broadcast_own, team_broadcast_own},
    {"team-scan-more", team_scan_one, team_scan_two},
    {"team-scan-less", team_scan_two, team_scan_one},
    {"team-scan-or-gather", team_scan_one, team_allgather},
    {"team-no-operator", team_no_operator, NULL},
    {"set-twice", set_twice, NULL},
    {"newer-set", wait_for_newer_set, NULL},
    {"unset-set", test_unset_set, NULL},
    {"unknown-lock", unknown_lock, NULL},
    {"unlock-untaken", unlock_untaken, unlock_untaken},
};

const struct misbehave_subject misbehave_calls = {acts, sizeof acts / sizeof *acts, NULL};
