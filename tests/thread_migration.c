/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_migration.c - elements migrate while user threads run in them, in deep recursion.
 *
 * usage: thread_migration [ELEMENTS [DEPTH]]   roam at random, compared with a model
 *        thread_migration overflow             a thread overruns its stack after it has migrated
 *        thread_migration refused              code is at another address in the other process, or
 *                                              is not
 *
 * Each element has one to three threads.  Every frame of their recursions has values, a pointer
 * into itself, memory of alloca(), a pointer to the frame of its caller and a double in a register,
 * and waits by one of the possible means, while the element migrates to random PEs.
 */
#include <alloca.h>
#include <skua/skua.h>
#include <string.h>

#include "fixed_addresses.h"
#include "tap.h"
#include "waits.h"

#define THREADS 3 /* largest number of threads of an element */

struct roamer {
    uint64_t    pad;
    skua_future answer[THREADS]; /* a future in the element, not on a stack */
    int64_t     pokes, greeted;
    int32_t     index;
};

/* The argument of a thread. */
struct trip {
    uint64_t values, moves;
    int32_t  thread, threads, depth, elements;

    skua_collection roamers, oracles;
};

/* The state of a thread on its stack. */
struct traveller {
    struct roamer *roamer;
    uint64_t       moves; /* random */
    int            thread;
    bool           alone; /* no other thread is in the element, so it migrates at once */
    int64_t        sent;
    unsigned       elements;

    skua_collection roamers, oracles;
};

static skua_class      roamer_class, oracle_class;
static skua_entry      roam_entry, poke_entry, square_entry, count_entry;
static skua_collection roamers, oracles; /* used on PE 0 */
static skua_handler    resume_handler, ended_handler, migrated_handler;
static skua_mutex      mutex; /* a mutex of the process, used on one of its PEs */

static int     elements = 12, depth_most = 9;
static int64_t ended, sent, moved; /* used on PE 0 */

/* Returns true if a setting is 0. */
static bool is_off(const char *name)
{
    const char *value = getenv(name);

    return value && strcmp(value, "0") == 0;
}

static int random_pe(struct traveller *t)
{
    return (int)(tap_random(&t->moves) % (unsigned)skua_pes());
}

/* ---- ways to wait -------------------------------------------------------------------- */

static void wait_now(struct traveller *t)
{
    int         from = skua_pe(), pe = random_pe(t);
    skua_status status = skua_migrate_now(t->roamer, pe);

    CHECK(status == SKUA_OK || (status == SKUA_PENDING && !t->alone && skua_pe() == from));
    if (t->alone)
        CHECK(skua_pe() == pe);
}

static void wait_yield(struct traveller *t)
{
    skua_migrate(t->roamer, random_pe(t));
    skua_thread_yield();
}

/* Another PE resumes this thread, on the PE where the thread was when it requested that. */
static void wait_suspend(struct traveller *t)
{
    struct {
        skua_thread *thread;
        int64_t      pe;
    } to = {skua_thread_self(), skua_pe()};

    skua_send_copy(random_pe(t), resume_handler, &to, sizeof to);
    skua_migrate(t->roamer, random_pe(t));
    skua_thread_suspend();
}

static void on_resume(skua_msg *msg)
{
    struct {
        skua_thread *thread;
        int64_t      pe;
    } to;

    memcpy(&to, skua_msg_data(msg), sizeof to);
    skua_msg_free(msg);
    skua_thread_resume_on((int)to.pe, to.thread);
}

static void ask(struct traveller *t, skua_future *answer)
{
    uint64_t        x    = tap_random(&t->moves) % 1000;
    size_t          size = 0;
    const uint64_t *data;
    skua_ref        oracle = skua_element1(t->oracles, (int)(x % t->elements));

    skua_invoke_reply(oracle, square_entry, &x, sizeof x, skua_done_future(answer));
    skua_migrate(t->roamer, random_pe(t));
    data = skua_future_wait(answer, &size);
    CHECK(size >= sizeof *data && *data == x * x);
    skua_future_clear(answer);
}

static void wait_future(struct traveller *t)
{
    skua_future answer = SKUA_FUTURE_INIT;

    ask(t, &answer);
}

static void wait_future_of_element(struct traveller *t)
{
    ask(t, &t->roamer->answer[t->thread]);
}

static void wait_timer(struct traveller *t)
{
    skua_counter fired = SKUA_COUNTER_INIT;
    skua_timer   timer = skua_timer_after(1e-5, skua_done_count(&fired));
    int          from  = skua_pe();

    skua_migrate(t->roamer, random_pe(t));
    skua_counter_wait(&fired, 1);
    CHECK(fired.value == 1);
    if (skua_pe() != from)
        CHECK(!skua_timer_cancel(timer));
}

struct call {
    skua_counter called;
    uint64_t     value;
};

static void on_call(void *arg, const void *data, size_t bytes)
{
    struct call *call = arg;

    CHECK(bytes >= sizeof call->value);
    memcpy(&call->value, data, sizeof call->value);
    skua_complete(skua_done_count(&call->called), NULL, 0);
}

static void wait_call(struct traveller *t)
{
    struct call call = {SKUA_COUNTER_INIT, 0};
    uint64_t    x    = tap_random(&t->moves) % 1000;

    skua_invoke_reply(skua_element1(t->oracles, (int)(x % t->elements)), square_entry, &x, sizeof x,
                      skua_done_call(on_call, &call));
    skua_migrate(t->roamer, random_pe(t));
    skua_counter_wait(&call.called, 1);
    CHECK(call.value == x * x);
}

/* A thread that holds a mutex does not migrate, even if requested. */
static void wait_mutex(struct traveller *t)
{
    int from = skua_pe();

    if (from != skua_process_first(skua_process()))
        return;
    CHECK(skua_mutex_lock(&mutex));
    from = skua_pe();
    skua_migrate(t->roamer, random_pe(t));
    skua_thread_yield();
    CHECK(skua_pe() == from);
    skua_mutex_unlock(&mutex);
    skua_thread_yield();
}

static void wait_poke(struct traveller *t)
{
    int to = (int)(tap_random(&t->moves) % t->elements);

    t->sent++;
    skua_invoke_copy(skua_element1(t->roamers, to), poke_entry, NULL, 0);
    skua_migrate(t->roamer, random_pe(t));
    skua_thread_yield();
}

static void wait_somehow(struct traveller *t)
{
    static void (*const ways[])(struct traveller * t) = {
        wait_now,   wait_yield, wait_suspend, wait_future, wait_future_of_element,
        wait_timer, wait_call,  wait_mutex,   wait_poke};

    ways[tap_random(&t->moves) % (sizeof ways / sizeof *ways)](t);
}

/* ---- recursion ------------------------------------------------------------------------- */

/* Computes the result of dive(), without waits. */
static uint64_t model(uint64_t *values, int depth)
{
    uint64_t own = tap_random(values);

    return depth ? own + 3 * model(values, depth - 1) : own;
}

__attribute__((noinline)) static uint64_t dive(struct traveller *t, uint64_t *values, int depth,
                                               uint64_t *above)
{
    uint64_t       own = tap_random(values), before = *above, sum = own;
    uint64_t      *mine  = &own;
    size_t         bytes = 1 + own % 200;
    unsigned char *some  = alloca(bytes);
    double         kept  = (double)(own % 1000) / 7;
    void          *self  = t->roamer;

    memset(some, (int)own, bytes);
    wait_somehow(t);
    if (depth)
        sum += 3 * dive(t, values, depth - 1, mine);
    wait_somehow(t);
    for (size_t i = 0; i < bytes; i++)
        CHECK(some[i] == (unsigned char)own);
    CHECK(mine == &own && *mine == own && *above == before && t->roamer == self);
    CHECK(kept == (double)(*mine % 1000) / 7);
    return sum;
}

static void on_roam(void *self, const void *data, size_t bytes)
{
    const struct trip *trip   = data; /* stays on the stack of the thread */
    struct traveller   t      = {self,
                                 trip->moves,
                                 trip->thread,
                                 trip->threads == 1 && !is_off("SKUA_THREAD_MIGRATION"),
                                 0,
                                 (unsigned)trip->elements,
                                 trip->roamers,
                                 trip->oracles};
    uint64_t           values = trip->values, again = trip->values, above = 7;
    int32_t            index  = t.roamer->index;
    skua_thread       *thread = skua_thread_self();

    CHECK(bytes == sizeof *trip);
    CHECK(dive(&t, &values, trip->depth, &above) == model(&again, trip->depth));
    CHECK(trip->thread == t.thread && t.roamer->index == index && above == 7);
    CHECK(skua_thread_self() == thread);
    skua_send_copy(0, ended_handler, &t.sent, sizeof t.sent);
}

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 0);
    ((struct roamer *)self)->pokes++;
}

/* ---- others ------------------------------------------------------------------------------ */

static void construct(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct roamer *)self)->index = skua_index_of(self).at.x[0];
}

/* The futures are not packed: the runtime keeps those that threads wait for. */
static void pup(skua_pup *p, void *self)
{
    struct roamer *r = self;

    skua_pup_bytes(p, &r->pokes, sizeof r->pokes);
    skua_pup_bytes(p, &r->greeted, sizeof r->greeted);
    skua_pup_bytes(p, &r->index, sizeof r->index);
}

static void on_square(void *self, const void *data, size_t bytes)
{
    uint64_t x, result[32] = {0};

    (void)self;
    CHECK(bytes == sizeof x);
    memcpy(&x, data, sizeof x);
    result[0] = x * x;
    /* Small results in a cell, large ones in a message. */
    skua_reply(result, x % 2 ? sizeof x : sizeof result);
}

static void on_ended(skua_msg *msg)
{
    ended++;
    sent += *(int64_t *)skua_msg_data(msg);
    skua_msg_free(msg);
}

static void on_migrated(skua_msg *msg)
{
    moved += *(int64_t *)skua_msg_data(msg);
    skua_msg_free(msg);
}

static void on_count(void *self, const void *data, size_t bytes)
{
    skua_completion done;

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &((struct roamer *)self)->pokes, 1, done);
}

static bool all_ended(void *arg)
{
    return ended == *(int64_t *)arg;
}

static void roam(void)
{
    uint64_t        seed    = tap_seed();
    int64_t         started = 0;
    skua_future     future  = SKUA_FUTURE_INIT;
    skua_completion done    = skua_done_future(&future);

    for (int i = 0; i < elements; i++) {
        int threads = 1 + (int)(tap_random(&seed) % THREADS);

        for (int k = 0; k < threads; k++, started++) {
            struct trip trip = {tap_random(&seed) | 1,
                                tap_random(&seed) | 1,
                                k,
                                threads,
                                (int)(tap_random(&seed) % (unsigned)(depth_most + 1)),
                                elements,
                                roamers,
                                oracles};
            skua_invoke_copy(skua_element1(roamers, i), roam_entry, &trip, sizeof trip);
        }
    }
    CHECK(skua_run_until(all_ended, &started));
    wait_quiet();
    skua_invoke_all(roamers, count_entry, &done, sizeof done);
    CHECK(future_take_int64(&future) == sent);
}

/* ---- refusal and overflow ---------------------------------------------------------------- */

static skua_entry overflow_entry, refused_entry;

__attribute__((noinline)) static int deeper(volatile int *above)
{
    volatile int here[64] = {*above};

    here[0]++;
    return here[0] > 0 ? deeper(here) + here[1] : 0;
}

static void on_overflow(void *self, const void *data, size_t bytes)
{
    volatile int depth = 0;

    (void)data, (void)bytes;
    CHECK(skua_migrate_now(self, skua_pes() - 1) == SKUA_OK && skua_pe() == skua_pes() - 1);
    deeper(&depth);
}

/* Receives the address of main() on the last PE. */
static void on_refused(void *self, const void *data, size_t bytes)
{
    uintptr_t   there;
    skua_status status;
    int         from = skua_pe();

    CHECK(bytes == sizeof there);
    memcpy(&there, data, sizeof there);
    status = skua_migrate_now(self, skua_pes() - 1);
    if (there == (uintptr_t)on_refused) {
        CHECK(status == SKUA_OK && skua_pe() == skua_pes() - 1);
    } else {
        CHECK(status == SKUA_ERR_MISMATCH && skua_pe() == from);
        CHECK(skua_migrate_now(self, skua_pes() - 1) == SKUA_ERR_MISMATCH);
        skua_migrate(self, skua_pes() - 1); /* does not migrate, and continues */
        skua_thread_yield();
        CHECK(skua_pe() == from);
    }
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (skua_pe() == skua_pes() - 1 && strcmp(mode, "refused") == 0) {
        uintptr_t here = (uintptr_t)on_refused;
        skua_send_copy(0, migrated_handler, &here, sizeof here);
    }
    if (skua_pe() != 0)
        return;
    if (argc > 2)
        depth_most = atoi(argv[2]);
    if (strcmp(mode, "overflow") && strcmp(mode, "refused") && argc > 1)
        elements = atoi(mode);
    oracles = skua_array_create1(oracle_class, elements, NULL, 0);
    roamers = skua_array_create1(roamer_class, elements, NULL, 0);
    if (strcmp(mode, "overflow") == 0) {
        skua_invoke_copy(skua_element1(roamers, 0), overflow_entry, NULL, 0);
    } else if (strcmp(mode, "refused") == 0) {
        while (!moved)
            skua_run_count(1);
        skua_invoke_copy(skua_element1(roamers, 0), refused_entry, &moved, sizeof moved);
    } else {
        roam();
        skua_exit(0);
    }
}

int main(int argc, char **argv)
{
    skua_class_def roamer = {
        .name = "roamer", .bytes = sizeof(struct roamer), .construct = construct, .pup = pup};
    skua_class_def oracle = {.name = "oracle"};

    fix_addresses(argv);
    roamer_class = skua_class_register(&roamer);
    oracle_class = skua_class_register(&oracle);
    roam_entry   = skua_method_register(roamer_class, "roam", on_roam, SKUA_ENTRY_THREADED);
    overflow_entry =
        skua_method_register(roamer_class, "overflow", on_overflow, SKUA_ENTRY_THREADED);
    refused_entry  = skua_method_register(roamer_class, "refused", on_refused, SKUA_ENTRY_THREADED);
    poke_entry     = skua_method_register(roamer_class, "poke", on_poke, 0);
    count_entry    = skua_method_register(roamer_class, "count", on_count, 0);
    square_entry   = skua_method_register(oracle_class, "square", on_square, SKUA_ENTRY_SYNC);
    resume_handler = skua_handler_register("resume", on_resume);
    ended_handler  = skua_handler_register("ended", on_ended);
    migrated_handler = skua_handler_register("migrated", on_migrated);
    return skua_main(argc, argv, start);
}
