/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_threads.c - a checkpoint contains user threads of elements, which continue in a
 * restarted job, in deep recursion, on any number of PEs.
 *
 * usage: checkpoint_threads DIR [stay] [die] [host] [stuck]
 *
 * Elements of an array have threads that recurse and wait in each frame, for a future, a counter or
 * to be resumed.  The next element holds the means to wake them.  The thread of another object
 * makes a checkpoint in each round, and waits for it with a future on its stack; then all waits
 * end, threads go deeper, some elements migrate, and more threads begin.  The result depends on all
 * frames.  Between hosts elements cannot migrate while a put that the first threads start is in
 * flight: these are saved where they are.
 *
 * The job ends after a checkpoint in the second round; with `stay` it continues; with `die`
 * checkpoints are in memory, and the process of the last PE kills itself; with `host` that of PE 1
 * and its agent are killed.  With `stuck` a thread holds a mutex: the first checkpoint is refused.
 */
#include <alloca.h>
#include <inttypes.h>
#include <signal.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "waits.h"

#define WALKERS 13
#define THREADS 4 /* threads of a walker; they begin in successive rounds */
#define ROUNDS  6

/* The means to wake a thread of another element. */
struct held {
    int32_t         number, used, pe;
    skua_thread    *thread; /* NULL: the completion wakes it */
    skua_completion done;
};

struct walker {
    int32_t     index, last; /* last: threads no longer wait */
    uint64_t    sum;
    skua_future future; /* the class does not pack it */
    struct held held[THREADS];
};

struct leader {
    int32_t rounds;
};

static skua_class walker_class, leader_class;
static skua_entry walk_entry, hold_entry, release_entry, last_entry, report_entry, lead_entry,
    result_entry;
static skua_handler    die_handler;
static skua_collection walkers;                /* read-only */
static skua_gaddr      board;                  /* read-only: a word on PE 0 */
static skua_ref        leader;                 /* read-only */
static int             stay, die, host, stuck; /* read-only */
static char            dir[4000];              /* read-only */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

/* ---- walkers ------------------------------------------------------------------------------ */

static void pup_walker(skua_pup *p, void *self)
{
    struct walker *w = self;

    skua_pup_bytes(p, &w->index, sizeof w->index);
    skua_pup_bytes(p, &w->last, sizeof w->last);
    skua_pup_bytes(p, &w->sum, sizeof w->sum);
    skua_pup_bytes(p, w->held, sizeof w->held);
}

static void construct_walker(void *self, const void *data, size_t bytes)
{
    struct walker *w = self;

    (void)data, (void)bytes;
    w->index = skua_index_of(self).at.x[0];
}

/* Gives the next walker the means to wake this thread. */
static void hand_over(const struct walker *w, int number, skua_thread *thread, skua_completion done)
{
    struct held held = {number, 1, skua_pe(), thread, done};

    skua_invoke_copy(skua_element1(walkers, (w->index + 1) % WALKERS), hold_entry, &held,
                     sizeof held);
}

static void on_hold(void *self, const void *data, size_t bytes)
{
    struct walker *w = self;
    struct held    held;

    CHECK(bytes == sizeof held);
    memcpy(&held, data, sizeof held);
    CHECK(!w->held[held.number].used);
    w->held[held.number] = held;
}

/* Waits for a future whose value is an array of two words. */
static uint64_t wait_future(struct walker *w, int number, skua_future *future)
{
    uint64_t value[2];

    hand_over(w, number, NULL, skua_done_future(future));
    future_take(future, value, sizeof value);
    return mix(value[0], value[1]);
}

/* Waits by one of the possible means. */
static uint64_t wait_somehow(struct walker *w, int number, uint64_t random)
{
    skua_future  future  = SKUA_FUTURE_INIT;
    skua_counter counter = SKUA_COUNTER_INIT;

    if (random % 3 == 0)
        skua_migrate(w, (int)(random / 3 % (unsigned)skua_pes()));
    switch ((random >> 32) % 3) {
    case 0:
        hand_over(w, number, skua_thread_self(), skua_done_nothing());
        skua_thread_suspend();
        return random;
    case 1:
        hand_over(w, number, NULL, skua_done_count(&counter));
        CHECK(skua_counter_wait(&counter, 1));
        return random;
    default: return wait_future(w, number, number == 0 ? &w->future : &future);
    }
}

/* Recurses in two frames for each wait; all frames are checked on return. */
__attribute__((noinline)) static uint64_t walk(struct walker *w, int number, uint64_t value,
                                               const uint64_t *above)
{
    volatile uint64_t frame[8];
    uint64_t *const   words = alloca((size_t)(1 + value % 50) * sizeof *words);
    double            real  = (double)(value % 1000);

    for (unsigned i = 0; i < 8; i++)
        frame[i] = mix(value, i);
    words[value % 50] = value;
    if (!w->last) {
        uint64_t got = value % 2 ? wait_somehow(w, number, value) : value;

        value = walk(w, number, mix(got, frame[7]) | (value % 2 ? 0 : 1), &words[value % 50]);
    }
    for (unsigned i = 0; i < 8; i++)
        value = mix(value, frame[i]);
    return mix(value, *above + (uint64_t)real);
}

static void on_walk(void *self, const void *data, size_t bytes)
{
    struct walker *w = self;
    uint64_t       value;
    int32_t        number;

    CHECK(bytes == sizeof number);
    memcpy(&number, data, sizeof number);
    value = mix((uint64_t)w->index + 1, (uint64_t)number);
    if (number < 2)
        CHECK(skua_put_nb(board, &w->sum, sizeof w->sum, NULL) >= 0);
    value = walk(w, number, value | 1, &value);
    w->sum += value;
}

/* Waits in a thread that holds a mutex. */
static void on_stick(void *self, const void *data, size_t bytes)
{
    struct walker *w      = self;
    skua_mutex     mutex  = SKUA_MUTEX_INIT;
    skua_future    future = SKUA_FUTURE_INIT;

    (void)data, (void)bytes;
    CHECK(skua_mutex_lock(&mutex));
    (void)wait_future(w, THREADS - 1, &future);
    skua_mutex_unlock(&mutex);
}

static void on_release(void *self, const void *data, size_t bytes)
{
    static const uint64_t value[2] = {3, 7};
    struct walker        *w        = self;

    (void)data, (void)bytes;
    for (int i = 0; i < THREADS; i++) {
        struct held held = w->held[i];

        w->held[i].used = 0;
        if (held.used && held.thread)
            skua_thread_resume_on(held.pe, held.thread);
        else if (held.used)
            skua_complete(held.done, value, sizeof value);
    }
}

static void on_last(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct walker *)self)->last = 1;
}

static void on_report(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_contribute(self, SKUA_SUM, SKUA_UINT64, &((struct walker *)self)->sum, 1,
                    skua_done_invoke(leader, result_entry));
}

/* ---- the leader ------------------------------------------------------------------------- */

/* Returns true if the job was restarted. */
static bool save(skua_status *status)
{
    skua_future            future = SKUA_FUTURE_INIT;
    skua_checkpoint_result result;

    skua_checkpoint(die ? NULL : dir, skua_done_future(&future));
    future_take(&future, &result, sizeof result);
    *status = (skua_status)result.status;
    return result.restarted;
}

/* In the second round, the first time: ends the job, or a process of it. */
static void end_job(void)
{
    skua_counter flushed = SKUA_COUNTER_INIT;

    if (die) {
        skua_send_copy(host ? 1 : skua_pes() - 1, die_handler, NULL, 0);
        skua_thread_suspend();
    }
    skua_checkpoint_flush(skua_done_count(&flushed));
    CHECK(skua_counter_wait(&flushed, 1));
    skua_exit(0);
    skua_thread_suspend();
}

static void on_lead(void *self, const void *data, size_t bytes)
{
    struct leader *l = self;
    skua_status    status;

    (void)data, (void)bytes;
    for (l->rounds = 0; l->rounds < ROUNDS; l->rounds++) {
        bool restarted;

        if (l->rounds < THREADS)
            skua_invoke_all(walkers, walk_entry, &l->rounds, sizeof l->rounds);
        wait_quiet();
        restarted = save(&status);
        CHECK(status == (stuck ? SKUA_ERR_UNSUPPORTED : SKUA_OK));
        if (l->rounds == 2 && !restarted && !stay)
            end_job();
        stuck = 0;
        if (l->rounds == ROUNDS - 1)
            skua_invoke_all(walkers, last_entry, NULL, 0);
        wait_quiet();
        skua_invoke_all(walkers, release_entry, NULL, 0);
        wait_quiet(); /* before other threads begin, which it would release */
    }
    skua_invoke_all(walkers, report_entry, NULL, 0);
}

static void on_result(void *self, const void *data, size_t bytes)
{
    uint64_t sum;

    (void)self;
    CHECK(bytes == sizeof sum);
    memcpy(&sum, data, sizeof sum);
    printf("result %016" PRIx64 "\n", sum);
    skua_exit(0);
}

static void on_die(skua_msg *msg)
{
    skua_msg_free(msg);
    if (host)
        kill(getppid(), SIGKILL);
    (void)raise(SIGKILL);
}

static skua_entry stick_entry;

/* Only the threads that begin before the checkpoint of the second round use it. */
static skua_gaddr make_board(void)
{
    skua_region region;

    CHECK(skua_region_create_local(sizeof(uint64_t), &region) == SKUA_OK);
    CHECK(skua_region_set_restart(region, SKUA_REGION_TRANSIENT, 0) == SKUA_OK);
    return skua_at(region, 0, 0);
}

static void begin(int argc, char **argv)
{
    CHECK(argc > 1);
    snprintf(dir, sizeof dir, "%s", argv[1]);
    for (int i = 2; i < argc; i++) {
        stay  = stay || strcmp(argv[i], "stay") == 0;
        host  = host || strcmp(argv[i], "host") == 0;
        die   = die || host || strcmp(argv[i], "die") == 0;
        stuck = stuck || strcmp(argv[i], "stuck") == 0;
    }
    board   = make_board();
    walkers = skua_array_create1(walker_class, WALKERS, NULL, 0);
    leader  = skua_chare_create_local(leader_class, NULL, 0);
    if (stuck)
        skua_invoke_copy(skua_element1(walkers, WALKERS / 2), stick_entry, NULL, 0);
    skua_invoke_copy(leader, lead_entry, NULL, 0);
}

static void register_variables(void)
{
    skua_readonly_register("walkers", &walkers, sizeof walkers);
    skua_readonly_register("board", &board, sizeof board);
    skua_readonly_register("leader", &leader, sizeof leader);
    skua_readonly_register("stay", &stay, sizeof stay);
    skua_readonly_register("die", &die, sizeof die);
    skua_readonly_register("host", &host, sizeof host);
    skua_readonly_register("dir", dir, sizeof dir);
}

int main(int argc, char **argv)
{
    walker_class  = skua_class_register(&(skua_class_def){.size      = sizeof(skua_class_def),
                                                          .name      = "walker",
                                                          .bytes     = sizeof(struct walker),
                                                          .construct = construct_walker,
                                                          .pup       = pup_walker});
    leader_class  = skua_class_register(&(skua_class_def){.size  = sizeof(skua_class_def),
                                                          .name  = "leader",
                                                          .bytes = sizeof(struct leader),
                                                          .pup   = skua_pup_plain});
    walk_entry    = skua_method_register(walker_class, "walk", on_walk, SKUA_ENTRY_THREADED);
    stick_entry   = skua_method_register(walker_class, "stick", on_stick, SKUA_ENTRY_THREADED);
    hold_entry    = skua_method_register(walker_class, "hold", on_hold, 0);
    release_entry = skua_method_register(walker_class, "release", on_release, 0);
    last_entry    = skua_method_register(walker_class, "last", on_last, 0);
    report_entry  = skua_method_register(walker_class, "report", on_report, 0);
    lead_entry    = skua_method_register(leader_class, "lead", on_lead, SKUA_ENTRY_THREADED);
    result_entry  = skua_method_register(leader_class, "result", on_result, 0);
    die_handler   = skua_handler_register("die", on_die);
    register_variables();
    return skua_program(argc, argv, begin);
}
