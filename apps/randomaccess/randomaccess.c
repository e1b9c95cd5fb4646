/* SPDX-License-Identifier: Apache-2.0 */
/*
 * randomaccess.c - how many random updates a second a machine makes in its memory.
 *
 * The rules are those of HPC Challenge.  A table T of 2^m words, T[i] = i, lies across
 * all PEs.  Of a sequence of 4 * 2^m pseudo-random numbers (sequence.h) each PE makes a
 * piece, starting in the middle of it; a number `a` means T[a mod 2^m] ^= a, and goes to
 * the PE that has that word.  A PE makes at most 1024 numbers ahead of their updates.
 * Since ^ undoes itself, all updates once more must give T[i] = i again.
 *
 * Numbers go through a stream (skua/stream.h), eight bytes each.  Every PE has an
 * updater, which takes turns in making numbers and applying those that arrive.
 */
#include <inttypes.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "options.h"
#include "sequence.h"

#define LOOK_AHEAD 1024             /* numbers made whose updates are not: the rule ...      */
#define STEP       (LOOK_AHEAD / 2) /* ... half made in a step, half waiting in the stream   */
#define LAP        16               /* steps after which PEs wait for each other             */
#define PREFETCH   64               /* updates that wait for memory at a time                */
#define PER_WORD   4                /* updates for every word                                */

struct updater {
    struct options options;
    uint64_t      *table;      /* our words ...                              */
    uint64_t       first, end; /* ... are those, of all `mask` + 1           */
    uint64_t       mask;
    uint64_t       made, total; /* numbers of our piece of the sequence       */
    int64_t        laps;        /* in which all PEs make theirs               */
    uint64_t       applied;     /* updates made here                          */
    double         shown;       /* when progress was shown last               */
};

static skua_stream  updates;
static skua_pe_data updater_key;

/* ---- the table ---------------------------------------------------------------------- */

/* Words are dealt out in order, as evenly as can be, to any number of PEs: word i goes to
 * PE floor(i * PEs / 2^m), so that a multiplication finds it. */
static inline int owner(uint64_t i, uint64_t pes, int log2)
{
    return (int)(i * pes >> log2);
}

/* The first word of a PE. */
static uint64_t first_of(const struct updater *u, int pe)
{
    uint64_t pes = (uint64_t)skua_pes();

    return (((uint64_t)pe << u->options.log2) + pes - 1) / pes;
}

static void make_table(struct updater *u)
{
    size_t bytes;
    void  *memory;

    u->mask  = (UINT64_C(1) << u->options.log2) - 1;
    u->first = first_of(u, skua_pe());
    u->end   = first_of(u, skua_pe() + 1);
    u->total = PER_WORD * (u->end - u->first);
    u->laps  = (int64_t)(PER_WORD * ((u->mask + 1) / (uint64_t)skua_pes() + 1) / (STEP * LAP) + 1);
    bytes    = (u->end - u->first + 1) * sizeof *u->table; /* 1: some PE may have none */
    memory   = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        skua_abort("no memory for %zu bytes of the table; see --log2", bytes);
    madvise(memory, bytes, MADV_HUGEPAGE);
    u->table = memory;
    for (uint64_t i = u->first; i < u->end; i++)
        u->table[i - u->first] = i;
}

static uint64_t count_errors(const struct updater *u)
{
    uint64_t errors = 0;

    for (uint64_t i = u->first; i < u->end; i++)
        errors += u->table[i - u->first] != i;
    return errors;
}

/* ---- updates ------------------------------------------------------------------------- */

/* Numbers for our words.  Memory is far: ask for words some updates before their turn.
 * (The place is computed from where the table begins: a pointer to where word 0 would be
 * spares a subtraction, but Neoverse cores ignore prefetches relative to such a one.) */
static void apply(void *arg, const void *items, size_t count)
{
    struct updater *u = arg;
    const uint64_t *a = items;
    uint64_t       *t = u->table, first = u->first, mask = u->mask;
    size_t          i = 0;

    for (; i + PREFETCH < count; i++) {
        __builtin_prefetch(&t[(a[i + PREFETCH] & mask) - first], 1);
        t[(a[i] & mask) - first] ^= a[i];
    }
    for (; i < count; i++)
        t[(a[i] & mask) - first] ^= a[i];
    u->applied += count;
}

/* Makes the next numbers of our piece; the last of them. */
static uint64_t make_some(struct updater *u, uint64_t a, uint64_t count)
{
    skua_stream stream = updates; /* all known not to change in the loop */
    uint64_t    mask = u->mask, pes = (uint64_t)skua_pes();
    int         log2 = u->options.log2;

    for (uint64_t i = 0; i < count; i++) {
        a = sequence_next(a);
        skua_stream_put(stream, owner(a & mask, pes, log2), &a);
    }
    u->made += count;
    return a;
}

/* On a terminal, every second. */
static void show_progress(struct updater *u)
{
    double now = skua_time();

    if (skua_pe() != 0 || now - u->shown < 1)
        return;
    u->shown = now;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%3.0f %% of the updates", 100 * (double)u->made / (double)u->total);
    if (u->made == u->total)
        fprintf(stderr, "\r%24s\r", "");
}

/* The sum of a number over all PEs; 0 if the job ends meanwhile. */
static uint64_t sum_of_all(uint64_t value)
{
    skua_future     future = SKUA_FUTURE_INIT;
    const uint64_t *sum;

    skua_allreduce(SKUA_SUM, SKUA_UINT64, &value, 1, skua_done_future(&future));
    sum   = skua_future_wait(&future, NULL);
    value = sum ? *sum : 0;
    skua_future_clear(&future);
    return value;
}

/* Waits until everything that was made anywhere has been applied. */
static void wait_for_quiet(struct updater *u)
{
    do
        skua_stream_flush(updates);
    while (sum_of_all(u->made - u->applied) != 0);
}

/* Applies what has arrived, but no more than we have made ourselves: who is behind must
 * go on making numbers, or the others have nothing to do but to get further ahead. */
static void keep_step(const struct updater *u)
{
    while (u->applied < u->made && skua_poll(1) > 0)
        ;
}

/* Makes the numbers of a lap. */
static uint64_t run_lap(struct updater *u, uint64_t a)
{
    for (int i = 0; i < LAP && u->made < u->total; i++) {
        uint64_t left = u->total - u->made;
        a             = make_some(u, a, left < STEP ? left : STEP);
        keep_step(u);
    }
    return a;
}

/* All updates, once: the seconds they took.  Nobody gets more than a lap ahead: numbers
 * that wait for a slower PE would leave its cache, and make it slower still. */
static double update(struct updater *u)
{
    skua_counter laps = SKUA_COUNTER_INIT;
    uint64_t     a    = sequence_at(PER_WORD * u->first);
    double       start;

    u->made = u->applied = 0;
    sum_of_all(0); /* all are here */
    start = u->shown = skua_time();
    for (int64_t lap = 0; lap < u->laps; lap++) {
        a = run_lap(u, a);
        skua_barrier(skua_done_count(&laps));
        skua_counter_wait(&laps, lap);
        show_progress(u);
    }
    skua_counter_wait(&laps, u->laps);
    wait_for_quiet(u);
    return skua_time() - start;
}

/* ---- the program ---------------------------------------------------------------------- */

static void report(const struct updater *u, double seconds)
{
    double words = (double)(u->mask + 1), rate = PER_WORD * words / seconds;

    printf("table of 2^%d words (%.1f MiB), %.0f updates, %d PEs\n", u->options.log2,
           words * sizeof(uint64_t) / (1 << 20), PER_WORD * words, skua_pes());
    printf("%.6f GUP/s, %.6f a PE; %.3f s\n", 1e-9 * rate, 1e-9 * rate / skua_pes(), seconds);
    if (u->options.series)
        printf("{\"bench\":\"randomaccess\",\"series\":\"%s\",\"bytes\":8,"
               "\"metric\":\"rate-%dpe\",\"value\":%.6g}\n",
               u->options.series, skua_pes(), rate);
}

/* Whether the table is what it should be: at most one word in a hundred may be wrong,
 * says the benchmark, and none, say we. */
static bool verify(struct updater *u)
{
    double   seconds = update(u);
    uint64_t errors  = sum_of_all(count_errors(u));

    if (skua_pe() == 0)
        printf("%" PRIu64 " errors; verified in %.3f s\n", errors, seconds);
    return errors == 0;
}

static void run(struct updater *u)
{
    double seconds;
    bool   good = true;

    make_table(u);
    seconds = update(u);
    if (skua_pe() == 0)
        report(u, seconds);
    if (u->options.verify)
        good = verify(u);
    if (skua_pe() == 0)
        skua_exit(good ? 0 : 1);
}

static void start(int argc, char **argv)
{
    struct updater *u = skua_pe_data_get(updater_key);

    skua_stream_bind(updates, u);
    if (options_read(&u->options, argc, argv))
        run(u);
}

int main(int argc, char **argv)
{
    updater_key = skua_pe_data_register(sizeof(struct updater));
    updates     = skua_stream_register(
            "updates",
            &(skua_stream_def){.item_bytes = sizeof(uint64_t), .batch = apply, .buffer = STEP});
    return skua_main(argc, argv, start);
}
