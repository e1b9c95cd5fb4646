/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.c - remote completion: counters that the target waits for, handlers that run when data has
 * arrived; barriers; remote calls.
 *
 * Every block of data consists of one number, so a receiver can check that all of it has arrived. A
 * receiver acknowledges a block by a notification before it is written again.
 *
 * usage: notify [rounds [syncs]]
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <skua/skua.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "waits.h"

#define WORDS 40 /* words of a block */
#define LANES 4  /* concurrent rings: three user threads, and the PE itself */
#define PES   64
#define SIZES 4 /* bytes of the data of a signal */

#define BIG 100000 /* bytes of a large result */

#define EXCHANGED 40000 /* bytes of the largest block of an exchange */

struct block {
    uint64_t word[WORDS];
};

struct shared { /* the symmetric memory of each PE */
    struct lane {
        skua_notify  arrived, seen;
        struct block block;
    } lane[LANES];
    skua_notify  all;
    struct block from[PES];
    skua_notify  outside;
    struct block from_outside[PES]; /* by process */
    skua_notify  twice;
    int64_t      job;        /* the process of PE 0 */
    skua_region  registered; /* a struct lane, where malloc put it */
};

struct state { /* the state of a PE */
    skua_region    region;
    struct shared *mine;
    uint64_t       random;
    int            signals; /* received */
    uint64_t       answers, answered;
    skua_counter   kept; /* calls that were answered later */
    struct block   sent; /* to all PEs: it belongs to the puts until skua_sync() */
};

/* Returns the data of a signal, truncated to its size. */
struct signal {
    uint64_t value;
    int32_t  source, unused;
    char     fill[1000 - 16];
};

static const size_t signal_sizes[SIZES] = {0, 8, 48, 1000};

static skua_pe_data  state_key;
static skua_handler  on_put, on_get, on_outside, on_answer;
static skua_function square, enlarge, later, pass_on, locate;
static uint64_t      seed;
static int           rounds = 200, syncs = 10000;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static uint64_t below(uint64_t n)
{
    return tap_random(&self()->random) % n;
}

static void fill(struct block *block, uint64_t value)
{
    for (int i = 0; i < WORDS; i++)
        block->word[i] = value;
}

static void check_block(const struct block *block, uint64_t value)
{
    for (int i = 0; i < WORDS; i++)
        CHECK(block->word[i] == value);
}

static skua_gaddr at(int pe, size_t offset)
{
    return skua_at(self()->region, pe, offset);
}

#define AT(pe, member) at(pe, offsetof(struct shared, member))

static size_t in_lane(int lane, size_t offset)
{
    return offsetof(struct shared, lane) + (size_t)lane * sizeof(struct lane) + offset;
}

static void pause_for(double seconds)
{
    skua_counter fired = SKUA_COUNTER_INIT;

    skua_timer_after(seconds, skua_done_count(&fired));
    CHECK(skua_counter_wait(&fired, 1));
}

/* ---- a ring ---------------------------------------------------------------------- */

static uint64_t ring_value(int pe, int lane, int round)
{
    return (uint64_t)pe << 40 | (uint64_t)lane << 32 | (uint64_t)round;
}

/* Performs a round: sends a block to the next PE and receives one from the previous PE.  The
 * counters are reset, so that each round begins at zero. */
static void pass_block(int lane, int round, bool blocking)
{
    int             next = (skua_pe() + 1) % skua_pes();
    int             last = (skua_pe() + skua_pes() - 1) % skua_pes();
    struct lane    *mine = &self()->mine->lane[lane];
    struct block    block;
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params ends   = {.notify     = at(next, in_lane(lane, offsetof(struct lane, arrived))),
                              .notify_add = 3,
                              .handle     = &handle};
    skua_gaddr      to     = at(next, in_lane(lane, offsetof(struct lane, block)));

    fill(&block, ring_value(skua_pe(), lane, round));
    if (blocking) {
        CHECK(skua_put(to, &block, sizeof block) == SKUA_OK);
        CHECK(skua_notify_add(ends.notify, 3) == SKUA_OK);
    } else {
        CHECK(skua_put_nb(to, &block, sizeof block, &ends) >= SKUA_OK);
    }
    CHECK(skua_notify_wait(&mine->arrived, 3));
    check_block(&mine->block, ring_value(last, lane, round));
    CHECK(skua_notify_value(&mine->arrived) == 3);
    skua_notify_take(&mine->arrived, 3);
    CHECK(skua_notify_add(at(last, in_lane(lane, offsetof(struct lane, seen))), 1) == SKUA_OK);
    CHECK(skua_notify_wait(&mine->seen, 1));
    skua_notify_take(&mine->seen, 1);
    skua_handle_wait(&handle);
}

struct ring {
    int lane, rounds;
};

static void ring_in_thread(void *arg)
{
    struct ring *ring = arg;

    for (int i = 0; i < ring->rounds; i++)
        pass_block(ring->lane, i, i % 2);
}

/* Runs on the stack of the PE, then in several user threads and on the stack concurrently. */
static void test_ring(void)
{
    skua_thread *thread[LANES - 1];
    struct ring  ring[LANES];

    for (int i = 0; i < rounds; i++)
        pass_block(LANES - 1, i, i % 3 == 0);
    skua_sync();
    for (int lane = 0; lane < LANES; lane++)
        ring[lane] = (struct ring){lane, rounds / 4};
    for (int lane = 0; lane < LANES - 1; lane++)
        thread[lane] = skua_thread_create(ring_in_thread, &ring[lane], 0);
    ring_in_thread(&ring[LANES - 1]);
    for (int lane = 0; lane < LANES - 1; lane++)
        skua_thread_join(thread[lane]);
    skua_sync();
}

/* The waiting PE sleeps, or is about to, when the block arrives.  PE 0 delays the ring by a timer.
 */
static void sleepy_ring(void *arg)
{
    int lane = *(int *)arg;

    for (int i = 0; i < 3; i++) {
        if (skua_pe() == 0)
            pause_for(0.003);
        pass_block(lane, i, false);
    }
}

static void test_asleep(void)
{
    int          in_thread = 0, on_pe = LANES - 1;
    skua_thread *thread;

    sleepy_ring(&on_pe);
    thread = skua_thread_create(sleepy_ring, &in_thread, 0);
    skua_thread_join(thread);
    skua_sync();
}

/* ---- all to all -------------------------------------------------------------------- */

static void put_to_all(int round)
{
    struct block   *block = &self()->sent;
    skua_rma_params ends  = {.order = (skua_order)below(4)};

    fill(block, (uint64_t)(skua_pe() * 1000000 + round));
    for (int pe = 0; pe < skua_pes(); pe++) {
        ends.notify = AT(pe, all);
        CHECK(skua_put_nb(AT(pe, from[skua_pe()]), block, sizeof *block, &ends) >= SKUA_OK);
    }
}

static void test_all_to_all(void)
{
    uint64_t pes = (uint64_t)skua_pes();

    for (int i = 0; i < rounds / 2; i++) {
        put_to_all(i);
        CHECK(skua_notify_wait(&self()->mine->all, pes));
        for (int pe = 0; pe < skua_pes(); pe++)
            check_block(&self()->mine->from[pe], (uint64_t)(pe * 1000000 + i));
        skua_notify_take(&self()->mine->all, pes);
        skua_sync();
    }
    CHECK(skua_notify_value(&self()->mine->all) == 0);
}

static void test_sync(void)
{
    for (int i = 0; i < syncs; i++)
        skua_sync();
}

/* Returns the name of a file by which a PE reports that it has left the barrier; the process of PE
 * 0 tells jobs apart. */
static const char *left_name(char name[64], int pe)
{
    snprintf(name, 64, "/tmp/skua-notify.%ld.%d", (long)self()->mine->job, pe);
    return name;
}

/* PE 0 is the last in the barrier and does not return to the runtime before all others have left
 * it: what PE 0 has sent in its user thread must not wait for that. */
static void leave_first(void *arg)
{
    char name[64];
    int  here = 0;

    (void)arg;
    if (skua_pe() == 0)
        pause_for(0.02);
    skua_sync();
    if (skua_pe() > 0) {
        int file = open(left_name(name, skua_pe()), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        CHECK(file >= 0);
        close(file);
        return;
    }
    for (int i = 0; i < 20000 && here < skua_pes() - 1; i++) { /* 20 s are too long for any load */
        here = 0;
        for (int pe = 1; pe < skua_pes(); pe++)
            here += access(left_name(name, pe), F_OK) == 0;
        usleep(1000);
    }
    CHECK(here == skua_pes() - 1);
    for (int pe = 1; pe < skua_pes(); pe++)
        unlink(left_name(name, pe));
}

/* Other drivers may need calls to send a packet. */
static void test_sync_in_thread(void)
{
    const char *driver = getenv("SKUA_DRIVER");
    int64_t     job    = getpid();

    for (int pe = 0; pe < skua_pes() && skua_pe() == 0; pe++)
        CHECK(skua_put(AT(pe, job), &job, sizeof job) == SKUA_OK);
    skua_sync();
    for (int i = 0; i < 3 && (!driver || strcmp(driver, "tcp") == 0); i++) {
        skua_thread_join(skua_thread_create(leave_first, NULL, 0));
        skua_sync();
    }
}

/* ---- exchanges ------------------------------------------------------------------- */

/* What a partner writes.  The blocks are used in turn: a partner that has sent round i has checked
 * round i - 1 of this PE. */
struct exchange {
    skua_notify arrived;
    uint64_t    early[2]; /* put before the block, without a notification */
    char        block[2][EXCHANGED];
};

static size_t exchange_bytes(int round)
{
    static const size_t bytes[] = {8, 320, 0, 4000, 5000, 8, EXCHANGED, 8, 1};

    return bytes[(size_t)round % (sizeof bytes / sizeof *bytes)];
}

static char exchange_value(int pe, int round)
{
    return (char)(pe * 31 + round);
}

/* Puts a word, and a block with a notification, to @p pe.  What they are put from is not changed
 * before the put of the round after next: by then the partner has received them. */
static void exchange_send(skua_region region, int pe, int round)
{
    static _Thread_local char     block[2][EXCHANGED];
    static _Thread_local uint64_t early[2];
    int                           which = round % 2;
    size_t                        bytes = exchange_bytes(round);
    skua_rma_params ends = {.notify = skua_at(region, pe, offsetof(struct exchange, arrived)),
                            .order  = (skua_order)below(4)};

    early[which] = (uint64_t)round;
    memset(block[which], exchange_value(skua_pe(), round), bytes);
    CHECK(skua_put_nb(
              skua_at(region, pe, offsetof(struct exchange, early) + (size_t)which * sizeof *early),
              &early[which], sizeof *early, NULL) >= SKUA_OK);
    if (round % 7 == 3)
        skua_fence(pe);
    if (bytes == 0)
        CHECK(skua_notify_add(ends.notify, 1) == SKUA_OK);
    else
        CHECK(skua_put_nb(
                  skua_at(region, pe, offsetof(struct exchange, block) + (size_t)which * EXCHANGED),
                  block[which], bytes, &ends) >= SKUA_OK);
    if (round % 11 == 5)
        skua_flush(pe);
}

/* Returns how many messages this PE has sent to itself. */
static uint64_t count_to_self(void)
{
    skua_stats stats;

    skua_stats_get(&stats, sizeof stats);
    return stats.sent_self;
}

/* A PE and its partner put to each other and wait, again and again: what is received acknowledges
 * what was sent.  A notification shows all that its origin has put before.  Puts that are served
 * without a message leave the counts of messages, which quiescence relies on, as they are. */
static void test_exchange(void)
{
    int              pe = skua_pe() ^ 1;
    skua_region      region;
    struct exchange *mine;
    uint64_t         to_self = count_to_self();

    CHECK(skua_region_create_varied(sizeof *mine + (size_t)skua_pe() * 64, &region) == SKUA_OK);
    mine = skua_region_local(region);
    memset(mine, 0, sizeof *mine);
    skua_sync();
    for (int i = 1; i <= rounds * 2 && pe < skua_pes(); i++) {
        exchange_send(region, pe, i);
        while (i % 5 == 0 && skua_notify_value(&mine->arrived) < (uint64_t)i) {
            skua_poll(16); /* no wait for the notification would wake the PE: it must not sleep */
            sched_yield();
        }
        CHECK(skua_notify_wait(&mine->arrived, (uint64_t)i));
        CHECK(mine->early[i % 2] == (uint64_t)i);
        for (size_t k = 0; k < exchange_bytes(i); k++)
            CHECK(mine->block[i % 2][k] == exchange_value(pe, i));
        CHECK(count_to_self() >= to_self);
        to_self = count_to_self();
    }
    skua_flush_all();
    skua_sync();
    CHECK(skua_region_destroy(region) == SKUA_OK);
    skua_sync();
}

/* ---- in memory that was registered --------------------------------------------------- */

/* Other processes cannot increment such a counter directly. */
static void test_registered(void)
{
    struct lane    *lane = calloc(1, sizeof *lane);
    int             next = (skua_pe() + 1) % skua_pes();
    int             last = (skua_pe() + skua_pes() - 1) % skua_pes();
    skua_region     there;
    skua_rma_params ends = {.order = SKUA_ORDER_PARTIAL};
    struct block    block;

    CHECK(skua_region_create_from(lane, sizeof *lane, &self()->mine->registered) == SKUA_OK);
    skua_sync();
    CHECK(skua_get(&there, AT(next, registered), sizeof there) == SKUA_OK);
    ends.notify = skua_at(there, next, offsetof(struct lane, arrived));
    for (int i = 0; i < rounds / 4; i++) {
        fill(&block, ring_value(skua_pe(), 0, i));
        CHECK(skua_put_nb(skua_at(there, next, offsetof(struct lane, block)), &block, sizeof block,
                          &ends) >= SKUA_OK);
        CHECK(skua_notify_add(ends.notify, 2) == SKUA_OK);
        CHECK(skua_notify_wait(&lane->arrived, 3));
        check_block(&lane->block, ring_value(last, 0, i));
        skua_notify_take(&lane->arrived, 3);
        skua_sync();
    }
    CHECK(skua_region_destroy(self()->mine->registered) == SKUA_OK);
    free(lane);
    skua_sync();
}

/* ---- two threads that wait for one counter ---------------------------------------------- */

struct wanted {
    uint64_t target;
    bool     got;
};

static void want(void *arg)
{
    struct wanted *w = arg;

    CHECK(skua_notify_wait(&self()->mine->twice, w->target));
    w->got = true;
}

/* The second thread begins to wait between the message that wakes the first one
 * and its run; when the first one goes, the second must still be woken. */
static void test_two_wait(void)
{
    struct wanted one = {1, false}, two = {2, false};
    skua_thread  *first = skua_thread_create(want, &one, 0), *second;

    for (int i = 0; i < 10; i++)
        skua_poll(1);
    CHECK(!one.got);
    CHECK(skua_notify_add(AT(skua_pe(), twice), 1) == SKUA_OK);
    second = skua_thread_create(want, &two, 0);
    skua_thread_join(first);
    CHECK(one.got && !two.got);
    CHECK(skua_notify_add(AT(skua_pe(), twice), 1) == SKUA_OK);
    skua_thread_join(second);
    CHECK(two.got);
    skua_notify_take(&self()->mine->twice, 2);
    skua_sync();
}

/* ---- signals ------------------------------------------------------------------------- */

static uint64_t signal_value(int source, int size)
{
    return (uint64_t)source * 1000 + (uint64_t)size + 77;
}

/* Returns what was sent with a signal of this size. */
static struct signal make_signal(int source, int size)
{
    struct signal s = {.value = signal_value(source, size), .source = source};

    memset(s.fill, source * SIZES + size, sizeof s.fill);
    return s;
}

static int size_of(size_t bytes)
{
    for (int i = 0; i < SIZES; i++)
        if (signal_sizes[i] == bytes)
            return i;
    skua_abort("a signal of %zu bytes that was never sent", bytes);
}

static void check_signal(skua_msg *msg)
{
    int           source = skua_msg_source(msg), size = size_of(skua_msg_size(msg));
    struct signal like = make_signal(source, size);

    CHECK(source >= 0 && source < skua_pes());
    CHECK(memcmp(skua_msg_data(msg), &like, signal_sizes[size]) == 0);
}

static void put_signalled(skua_msg *msg)
{
    int source = skua_msg_source(msg), size = size_of(skua_msg_size(msg));

    check_signal(msg);
    check_block(&self()->mine->from[source], signal_value(source, size));
    self()->signals++;
    skua_msg_free(msg);
}

/* Acknowledges that the block has been read and may be overwritten. */
static void get_signalled(skua_msg *msg)
{
    check_signal(msg);
    fill(&self()->mine->from[skua_msg_source(msg)], UINT64_MAX);
    self()->signals++;
    skua_msg_free(msg);
}

static bool has_signals(void *arg)
{
    return self()->signals >= *(int *)arg;
}

static void wait_for_signals(int n)
{
    CHECK(skua_run_until(has_signals, &n));
    self()->signals -= n;
}

static void signalling_put(int pe, int size)
{
    struct signal   s     = make_signal(skua_pe(), size);
    skua_rma_params ends  = {.order        = (skua_order)below(4),
                             .signal       = on_put,
                             .signal_data  = &s,
                             .signal_bytes = signal_sizes[size]};
    struct block   *block = &self()->sent; /* puts that wait for room read it later */
    skua_layout     whole = skua_layout_contiguous(block, sizeof *block);

    fill(block, signal_value(skua_pe(), size));
    CHECK((below(2)
               ? skua_put_nb(AT(pe, from[skua_pe()]), block, sizeof *block, &ends)
               : skua_put_layout_nb(AT(pe, from[skua_pe()]), &whole, &whole, &ends)) >= SKUA_OK);
    memset(&s, 0, sizeof s); /* its memory may be reused */
}

static void test_signalling_put(void)
{
    for (int i = 0; i < rounds / 4; i++) {
        for (int pe = 0; pe < skua_pes(); pe++)
            signalling_put((pe + skua_pe()) % skua_pes(), i % SIZES);
        wait_for_signals(skua_pes());
        skua_sync();
    }
}

static void signalling_get(int pe, int size)
{
    struct signal   s      = make_signal(skua_pe(), size);
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params ends   = {
          .handle = &handle, .signal = on_get, .signal_data = &s, .signal_bytes = signal_sizes[size]};
    struct block block = {{0}};

    CHECK(skua_get_nb(&block, AT(pe, from[skua_pe()]), sizeof block, &ends) >= SKUA_OK);
    skua_handle_wait(&handle);
    check_block(&block, 4711);
}

static void test_signalling_get(void)
{
    for (int i = 0; i < rounds / 8; i++) {
        for (int pe = 0; pe < skua_pes(); pe++)
            fill(&self()->mine->from[pe], 4711);
        skua_sync();
        for (int pe = 0; pe < skua_pes(); pe++)
            signalling_get((pe + skua_pe()) % skua_pes(), i % SIZES);
        wait_for_signals(skua_pes());
        skua_sync();
    }
}

/* One put with all kinds of completion. */
static void put_with_all(int pe, int round)
{
    struct signal   s      = make_signal(skua_pe(), round % SIZES);
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_counter    local = SKUA_COUNTER_INIT, remote = SKUA_COUNTER_INIT;
    skua_rma_params ends = {.order        = (skua_order)below(4),
                            .handle       = &handle,
                            .local        = skua_done_count(&local),
                            .remote       = skua_done_count(&remote),
                            .notify       = AT(pe, all),
                            .notify_add   = 5,
                            .signal       = on_put,
                            .signal_data  = &s,
                            .signal_bytes = signal_sizes[round % SIZES]};
    struct block    block;

    fill(&block, signal_value(skua_pe(), round % SIZES));
    CHECK(skua_put_nb(AT(pe, from[skua_pe()]), &block, sizeof block, &ends) >= SKUA_OK);
    CHECK(skua_counter_wait(&local, 1));
    fill(&block, 0); /* ours again */
    CHECK(skua_counter_wait(&remote, 1));
    skua_handle_wait(&handle);
    CHECK(local.value == 1 && remote.value == 1 && skua_handle_test(&handle));
}

static void test_all_together(void)
{
    uint64_t pes = (uint64_t)skua_pes();

    for (int i = 0; i < rounds / 8; i++) {
        for (int pe = 0; pe < skua_pes(); pe++)
            put_with_all((pe + skua_pe()) % skua_pes(), i);
        CHECK(skua_notify_wait(&self()->mine->all, 5 * pes));
        CHECK(skua_notify_value(&self()->mine->all) == 5 * pes);
        skua_notify_take(&self()->mine->all, 5 * pes);
        wait_for_signals(skua_pes());
        skua_sync();
    }
}

/* ---- from an external thread ------------------------------------------------------- */

struct outsider {
    skua_region region;
    int         process, pes, rounds;
};

static void outside_signalled(skua_msg *msg)
{
    uint64_t *told = skua_msg_data(msg); /* process of the sender, and the value */

    CHECK(skua_msg_size(msg) == 16);
    check_block(&self()->mine->from_outside[told[0]], told[1]);
    self()->signals++;
    skua_msg_free(msg);
}

/* Performs a put, a get back and a signal to every PE; each waits until the previous one has been
 * seen. */
static void *put_from_outside(void *arg)
{
    struct outsider *o = arg;
    struct block     block, back;

    for (int pe = 0; pe < o->pes; pe++) {
        uint64_t   told[2] = {(uint64_t)o->process, (uint64_t)(o->process * 100 + pe)};
        skua_gaddr notify  = skua_at(o->region, pe, offsetof(struct shared, outside));
        skua_gaddr to =
            skua_at(o->region, pe,
                    offsetof(struct shared, from_outside) + (size_t)o->process * sizeof block);
        skua_rma_params ends = {.notify       = notify,
                                .signal       = on_outside,
                                .signal_data  = told,
                                .signal_bytes = sizeof told};

        fill(&block, told[1]);
        CHECK(skua_put_nb(to, &block, sizeof block, &ends) >= 0);
        skua_flush(pe);
        CHECK(skua_get(&back, to, sizeof back) == SKUA_OK);
        check_block(&back, told[1]);
        CHECK(skua_notify_add(notify, 1) == SKUA_OK);
    }
    return NULL;
}

static void test_outside(void)
{
    bool            first = skua_pe() == skua_process_first(skua_process());
    struct outsider o     = {self()->region, skua_process(), skua_pes(), 0};
    uint64_t        all   = 2 * (uint64_t)skua_processes();
    pthread_t       thread;

    if (first)
        CHECK(pthread_create(&thread, NULL, put_from_outside, &o) == 0);
    CHECK(skua_notify_wait(&self()->mine->outside, all));
    wait_for_signals(skua_processes());
    for (int i = 0; i < skua_processes(); i++)
        check_block(&self()->mine->from_outside[i], (uint64_t)(i * 100 + skua_pe()));
    skua_notify_take(&self()->mine->outside, all);
    skua_sync(); /* while requests of the thread are served */
    if (first)
        CHECK(pthread_join(thread, NULL) == 0);
    skua_sync();
}

/* ---- calls ------------------------------------------------------------------------------ */

static void do_square(const void *args, size_t bytes, skua_completion done)
{
    uint64_t n;

    CHECK(bytes == sizeof n);
    memcpy(&n, args, sizeof n);
    n *= n;
    skua_complete(done, &n, sizeof n);
}

/* Returns a large result, a function of its argument, which may be large, too. */
static void do_enlarge(const void *args, size_t bytes, skua_completion done)
{
    char *result = malloc(BIG);

    CHECK(bytes > 0);
    memset(result, *(const char *)args, BIG);
    result[BIG - 1] = ((const char *)args)[bytes - 1];
    skua_complete(done, result, BIG);
    free(result);
}

struct kept {
    skua_completion done;
    uint64_t        n;
};

static void answer_kept(void *arg, const void *data, size_t bytes)
{
    struct kept *kept = arg;

    (void)data, (void)bytes;
    skua_complete(kept->done, &kept->n, sizeof kept->n);
    free(kept);
}

/* Answers when a timer fires. */
static void do_later(const void *args, size_t bytes, skua_completion done)
{
    struct kept *kept = malloc(sizeof *kept);

    CHECK(bytes == sizeof kept->n);
    kept->done = done;
    memcpy(&kept->n, args, sizeof kept->n);
    skua_timer_after(1e-5 * (double)below(20), skua_done_call(answer_kept, kept));
}

/* Delegates the answer to the next PE, n times. */
static void do_pass_on(const void *args, size_t bytes, skua_completion done)
{
    uint64_t n[2];

    CHECK(bytes == sizeof n);
    memcpy(n, args, sizeof n);
    if (n[0]-- == 0)
        skua_complete(done, &n[1], sizeof n[1]);
    else
        skua_call((skua_pe() + 1) % skua_pes(), pass_on, n, sizeof n, done);
}

/* A call without arguments, and without an answer unless the caller asks for one. */
static void do_locate(const void *args, size_t bytes, skua_completion done)
{
    int here = skua_pe();

    (void)args;
    CHECK(bytes == 0);
    skua_complete(done, &here, sizeof here);
}

/* Calls @p function, whose result is one number, and waits for it. */
static uint64_t call(int pe, skua_function function, const void *args, size_t bytes)
{
    skua_future future = SKUA_FUTURE_INIT;
    uint64_t    result;

    skua_call(pe, function, args, bytes, skua_done_future(&future));
    future_take(&future, &result, sizeof result);
    return result;
}

static void call_large(int pe, size_t bytes)
{
    skua_future future = SKUA_FUTURE_INIT;
    char       *args   = malloc(bytes);
    const char *result;
    size_t      got;

    memset(args, 'a', bytes);
    args[bytes - 1] = 'z';
    skua_call(pe, enlarge, args, bytes, skua_done_future(&future));
    free(args);
    result = skua_future_wait(&future, &got);
    CHECK(result && got == BIG && result[BIG - 1] == 'z' && result[BIG / 2] == 'a');
    CHECK(bytes == 1 ? result[0] == 'z' || result[0] == 'a' : result[0] == 'a');
    skua_future_clear(&future);
}

static void a_call(int pe)
{
    uint64_t n[2] = {below(20), below(1000000)};

    switch (below(4)) {
    case 0: CHECK(call(pe, square, &n[1], 8) == n[1] * n[1]); break;
    case 1: CHECK(call(pe, later, &n[1], 8) == n[1]); break;
    case 2: CHECK(call(pe, pass_on, n, sizeof n) == n[1]); break;
    default: call_large(pe, 2 + below(2) * 50000);
    }
}

static void calls_in_thread(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        a_call((int)below((uint64_t)skua_pes()));
}

static void test_calls(void)
{
    int          n = rounds / 10 + 1;
    skua_thread *thread[LANES];

    for (int pe = 0; pe < skua_pes(); pe++) {
        skua_future future = SKUA_FUTURE_INIT;
        skua_call(pe, locate, NULL, 0, skua_done_future(&future));
        CHECK(*(const int *)future_value(&future, sizeof pe) == pe);
        skua_future_clear(&future);
        skua_call(pe, locate, NULL, 0, skua_done_nothing());
    }
    calls_in_thread(&n);
    for (int i = 0; i < LANES; i++)
        thread[i] = skua_thread_create(calls_in_thread, &n, 0);
    for (int i = 0; i < LANES; i++)
        skua_thread_join(thread[i]);
    skua_sync();
}

/* ---- a storm of calls ------------------------------------------------------------------- */

static void answered(skua_msg *msg)
{
    uint64_t n;

    CHECK(skua_msg_size(msg) == sizeof n);
    memcpy(&n, skua_msg_data(msg), sizeof n);
    self()->answered += n;
    self()->answers++;
    skua_msg_free(msg);
}

static void answered_here(void *arg, const void *data, size_t bytes)
{
    uint64_t n;

    CHECK(bytes == sizeof n);
    memcpy(&n, data, sizeof n);
    *(uint64_t *)arg += n;
    self()->answers++;
}

static bool has_answers(void *arg)
{
    return self()->answers == *(uint64_t *)arg;
}

/* Calls with every kind of completion, all in flight at once; the sum of the results is checked. */
static void test_storm(void)
{
    size_t       n = (size_t)rounds * 2, futures = 0;
    skua_future *future  = calloc(n, sizeof *future);
    skua_counter counter = SKUA_COUNTER_INIT;
    uint64_t     sent = 0, got = 0, by_answer = 0, by_counter = 0;

    self()->answers = self()->answered = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t        args[2] = {below(9), below(1000)}, kind = below(4);
        int             pe   = (int)below((uint64_t)skua_pes());
        skua_completion done = kind == 0   ? skua_done_future(&future[futures])
                               : kind == 1 ? skua_done_count(&counter)
                               : kind == 2 ? skua_done_send(skua_pe(), on_answer)
                                           : skua_done_call(answered_here, &got);

        futures += kind == 0;
        by_counter += kind == 1;
        by_answer += kind > 1;
        sent += kind == 1 ? 0 : args[1];
        if (below(2))
            skua_call(pe, later, &args[1], 8, done);
        else
            skua_call(pe, pass_on, args, sizeof args, done);
    }
    for (size_t i = 0; i < futures; i++) {
        got += *(const uint64_t *)future_value(&future[i], sizeof(uint64_t));
        skua_future_clear(&future[i]);
    }
    CHECK(skua_counter_wait(&counter, (int64_t)by_counter));
    CHECK(skua_run_until(has_answers, &by_answer));
    CHECK(got + self()->answered == sent);
    free(future);
    skua_sync();
}

/* ---- the job ------------------------------------------------------------------------------ */

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    CHECK(skua_pes() <= PES);
    s->random = seed + (uint64_t)skua_pe();
    CHECK(skua_region_create(sizeof(struct shared), &s->region) == SKUA_OK);
    s->mine = skua_region_local(s->region);
    memset(s->mine, 0, sizeof *s->mine);
    skua_sync();
    test_ring();
    test_asleep();
    test_all_to_all();
    test_sync();
    test_sync_in_thread();
    test_exchange();
    test_registered();
    test_signalling_put();
    test_signalling_get();
    test_all_together();
    test_outside();
    test_calls();
    test_storm();
    test_two_wait();
    CHECK(skua_region_destroy(s->region) == SKUA_OK);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        syncs = atoi(argv[2]);
    seed       = tap_seed();
    on_put     = skua_handler_register("put signalled", put_signalled);
    on_get     = skua_handler_register("get signalled", get_signalled);
    on_outside = skua_handler_register("outside signalled", outside_signalled);
    on_answer  = skua_handler_register("answer", answered);
    square     = skua_function_register("square", do_square);
    enlarge    = skua_function_register("enlarge", do_enlarge);
    later      = skua_function_register("later", do_later);
    pass_on    = skua_function_register("pass on", do_pass_on);
    locate     = skua_function_register("locate", do_locate);
    state_key  = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
