/* SPDX-License-Identifier: Apache-2.0 */
/*
 * randomaccess_limit.c - the limit of RandomAccess: the updates of the application, and their
 * transport to the owner of a word, in plain C.  The launcher of Skua starts and binds the
 * processes, and a region is their shared memory; between the barriers the program does not call
 * the runtime.
 *
 * In a round a PE generates as many numbers as may be ahead of their updates.  A PE sorts them into
 * boxes, one for each owner, publishes the round, and updates its words with the boxes of all PEs
 * for it. There are two sets of boxes: a PE generates the next numbers while others still read the
 * previous ones.
 *
 *   boxes and their counts   `made` release (publish) -> `made` acquire (apply)
 *   reuse of boxes           `applied` release -> `applied` acquire, two rounds later
 *
 * usage: bench-randomaccess_limit SERIES LOG2
 */
#include <skua/skua.h>

#include <stdatomic.h>
#include <stdint.h>

#include "bench.h"
#include "bench_pieces.h"
#include "randomaccess/sequence.h"
#include "randomaccess/table.h"

#define LIMIT_PES 256

/* The piece of a PE, which only this PE writes. Two boxes for each PE follow it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t made; /* number of completed rounds */
    BENCH_APART _Atomic uint64_t applied;
    BENCH_APART uint32_t         count[2][LIMIT_PES];
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece *piece[LIMIT_PES];
    struct table        table;
    uint64_t            round;
    int                 log2;
} limit;

static uint64_t *box_of(int maker, int owner, unsigned set)
{
    uint64_t *boxes = (uint64_t *)(void *)(limit.piece[maker] + 1);

    return boxes + ((size_t)set * (size_t)skua_pes() + (size_t)owner) * LOOK_AHEAD;
}

/* Makes @p count numbers that follow @p a.  Returns the last. */
static uint64_t make_numbers(uint64_t a, uint64_t count, unsigned set)
{
    uint64_t  pes = (uint64_t)skua_pes();
    uint64_t *end[LIMIT_PES];

    for (int pe = 0; pe < skua_pes(); pe++)
        end[pe] = box_of(skua_pe(), pe, set);
    for (uint64_t i = 0; i < count; i++) {
        a                                                          = sequence_next(a);
        *end[table_owner(a & limit.table.mask, pes, limit.log2)]++ = a;
    }
    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[skua_pe()]->count[set][pe] = (uint32_t)(end[pe] - box_of(skua_pe(), pe, set));
    return a;
}

static void apply_box(const uint64_t *a, size_t count)
{
    uint64_t *t = limit.table.word, first = limit.table.first, mask = limit.table.mask;
    size_t    i = 0;

    for (; i < count && i < PREFETCH; i++)
        __builtin_prefetch(&t[(a[i] & mask) - first], 1);
    for (i = 0; i < count; i++) {
        if (i + PREFETCH < count)
            __builtin_prefetch(&t[(a[i + PREFETCH] & mask) - first], 1);
        t[(a[i] & mask) - first] ^= a[i];
    }
}

/* Generates numbers, and applies the numbers of all PEs for this PE. */
static uint64_t run_round(uint64_t a, uint64_t count)
{
    unsigned set = limit.round % 2;
    int      me = skua_pe(), pes = skua_pes();

    for (int pe = 0; limit.round >= 2 && pe < pes; pe++)
        bench_wait_for(&limit.piece[pe]->applied, limit.round - 1);
    a = make_numbers(a, count, set);
    limit.round++;
    bench_publish(&limit.piece[me]->made, limit.round);
    for (int i = 0; i < pes; i++) {
        int pe = (me + i) % pes;

        bench_wait_for(&limit.piece[pe]->made, limit.round);
        apply_box(box_of(pe, me, set), limit.piece[pe]->count[set][me]);
    }
    bench_publish(&limit.piece[me]->applied, limit.round);
    return a;
}

/* Performs all updates once.  Returns the seconds of the slowest PE. */
static double run_updates(void)
{
    uint64_t total = PER_WORD * (limit.table.end - limit.table.first), made = 0;
    uint64_t most = PER_WORD * ((limit.table.mask + 1) / (uint64_t)skua_pes() + 1);
    uint64_t a    = sequence_at(PER_WORD * limit.table.first);
    double   start, seconds;

    skua_sync();
    start = bench_now();
    for (uint64_t round = 0; round * LOOK_AHEAD < most; round++) {
        uint64_t count = total - made < LOOK_AHEAD ? total - made : LOOK_AHEAD;

        a = run_round(a, count);
        made += count;
    }
    skua_sync();
    seconds = bench_now() - start;
    return seconds;
}

static void prepare(void)
{
    size_t bytes =
        sizeof(struct limit_piece) + 2 * (size_t)skua_pes() * LOOK_AHEAD * sizeof(uint64_t);
    skua_region region = bench_create_pieces(bytes, LIMIT_PES);

    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
}

static void start(int argc, char **argv)
{
    double seconds;

    limit.log2 = argc > 2 ? atoi(argv[2]) : 20;
    prepare();
    limit.table = table_create(limit.log2);
    seconds     = run_updates();
    run_updates(); /* restores the table: an update is its own inverse */
    if (table_errors(&limit.table) > 0)
        skua_abort("some words of the table on PE %d are wrong", skua_pe());
    bench_end_limit("randomaccess", argc > 1 ? argv[1] : "limit", 8, "rate",
                    PER_WORD * (double)(limit.table.mask + 1) / seconds);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
