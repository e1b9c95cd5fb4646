/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_limit.c - the limit of the kernels of bench_scaling.h: the same memory traffic, or the
 * same computation, in plain C.  The launcher of Skua starts and binds the processes, and a region
 * is their shared memory; between the barriers of a measurement the program does not call the
 * runtime.
 *
 *   messages      a cache line in a ring that one PE fills and one PE empties
 *   collectives   recursive doubling, in each step of which the partner writes a cache line; for a
 *                 number of PEs that is no power of two, lines to PE 0 and one line back
 *   alloc         malloc() and free()
 *   one-sided     memcpy(), an atomic add, a loop that adds under a lock
 *   stream        items in two buckets for each PE, in memory of the receiver
 *   tasks         the recursion on each PE, without tasks
 *
 * A PE that waits yields its core after a while, since PEs may outnumber cores.
 *
 * usage: bench-scaling_limit SERIES [KERNEL]
 */
#include <skua/skua.h>

#include <stdatomic.h>
#include <stdbool.h>

#include "bench_pieces.h"
#include "bench_scaling.h"

#define LIMIT_SLOTS  64
#define LIMIT_LINE   64
#define LIMIT_WORDS  7    /* words in a slot, beside its stamp */
#define LIMIT_SPINS  1000 /* spins of a wait before it yields the core */
#define LIMIT_PES    1024
#define LIMIT_BUCKET 1024 /* items in a bucket */
#define LIMIT_BLOCKS (SCALING_REGION / SCALING_BYTES)

struct limit_slot {
    _Alignas(LIMIT_LINE) _Atomic uint64_t stamp; /* number of the message + 1 */
    uint64_t word[LIMIT_WORDS];
};

/* Messages from one PE to another.  The receiver publishes its head four times per turn of the
 * ring. */
struct limit_ring {
    _Alignas(128) _Atomic uint64_t head;
    _Alignas(128) struct limit_slot slot[LIMIT_SLOTS];
};

/* Items from one PE to another, in buckets that are filled in turn. */
struct limit_buckets {
    _Alignas(128) _Atomic uint64_t filled;  /* buckets, by the sender    */
    _Alignas(128) _Atomic uint64_t emptied; /* buckets, by the receiver */
    _Alignas(128) struct limit_bucket {
        uint64_t count, item[LIMIT_BUCKET];
    } bucket[2];
};

/* A value and the number of the operation that it belongs to. */
struct limit_line {
    _Alignas(128) _Atomic uint64_t epoch;
    double value;
};

/* The piece of a PE.  A ring, a line, a block of data and buckets for each PE follow it. */
struct limit_piece {
    _Alignas(128) _Atomic uint64_t word[SCALING_WORDS];
    struct limit_block {
        _Alignas(128) _Atomic uint64_t lock;
        _Alignas(128) double value[SCALING_BYTES / sizeof(double)];
    } block[LIMIT_BLOCKS]; /* blocks to which PEs add */
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    char    *piece[LIMIT_PES];
    uint64_t sent[LIMIT_PES], received[LIMIT_PES], known[LIMIT_PES];
    uint64_t filled[LIMIT_PES], emptied[LIMIT_PES], items, items_due;
    struct limit_open {
        uint64_t *next, *end; /* of the bucket for a PE that is being filled */
    } open[LIMIT_PES];
    uint64_t total, sum, epoch;
    long     expected;
    double   own[SCALING_BYTES / sizeof(double)];
} limit;

static int me(void)
{
    return skua_pe();
}

static struct limit_ring *ring_of(int receiver, int sender)
{
    char *rings = limit.piece[receiver] + sizeof(struct limit_piece);

    return (struct limit_ring *)(void *)rings + sender;
}

static struct limit_line *line_of(int owner, int pe)
{
    return (struct limit_line *)(void *)ring_of(owner, skua_pes()) + pe;
}

static char *block_of(int owner, int pe)
{
    return (char *)line_of(owner, skua_pes()) + (size_t)pe * SCALING_BYTES;
}

static struct limit_buckets *buckets_of(int receiver, int sender)
{
    return (struct limit_buckets *)(void *)block_of(receiver, skua_pes()) + sender;
}

static void pause_wait(long *spins)
{
    if (++*spins % LIMIT_SPINS == 0)
        sched_yield();
}

/* ---- rings ----------------------------------------------------------------------------- */

/* Empties the ring of one sender. */
static void drain_one(int sender)
{
    struct limit_ring *ring = ring_of(me(), sender);
    uint64_t           next = limit.received[sender];
    struct limit_slot *slot = &ring->slot[next % LIMIT_SLOTS];
    uint64_t           sum  = 0;

    while (atomic_load_explicit(&slot->stamp, memory_order_acquire) == next + 1) {
        for (int i = 0; i < LIMIT_WORDS; i++)
            sum += slot->word[i];
        next++;
        if (next % (LIMIT_SLOTS / 4) == 0)
            atomic_store_explicit(&ring->head, next, memory_order_release);
        slot = &ring->slot[next % LIMIT_SLOTS];
    }
    limit.sum += sum;
    limit.total += next - limit.received[sender];
    limit.received[sender] = next;
}

static void drain_all(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        drain_one(pe);
}

static void limit_send(int to)
{
    struct limit_ring *ring  = ring_of(to, me());
    uint64_t           next  = limit.sent[to]++;
    struct limit_slot *slot  = &ring->slot[next % LIMIT_SLOTS];
    long               spins = 0;

    while (next - limit.known[to] >= LIMIT_SLOTS) {
        limit.known[to] = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (next - limit.known[to] < LIMIT_SLOTS)
            break;
        drain_all();
        pause_wait(&spins);
    }
    for (int i = 0; i < LIMIT_WORDS; i++)
        slot->word[i] = next;
    atomic_store_explicit(&slot->stamp, next + 1, memory_order_release);
}

/* Sends bursts; a target of -1 means no target. */
static void send_rounds(long rounds, int (*target)(long round))
{
    for (long i = 0; i < rounds; i++) {
        int to = target(i);

        for (int k = 0; to >= 0 && k < SCALING_BURST; k++)
            limit_send(to);
    }
}

/* Receives until @p messages more than before have arrived. */
static void receive_all(long messages)
{
    long spins = 0;

    limit.expected += messages;
    while (limit.total != (uint64_t)limit.expected) {
        drain_all();
        pause_wait(&spins);
    }
}

static int to_partner(long round)
{
    (void)round;
    return scaling_partner(me(), skua_pes());
}

static int to_other(long round)
{
    return scaling_other(me(), skua_pes(), round);
}

static int to_first(long round)
{
    (void)round;
    return me() == 0 ? -1 : 0;
}

static int to_next(long round)
{
    (void)round;
    return (me() + 1) % skua_pes();
}

static void run_pairs(long rounds)
{
    int half = skua_pes() / 2;

    send_rounds(rounds, to_partner);
    if (me() >= half && me() < 2 * half)
        receive_all(rounds * SCALING_BURST);
}

static void run_alltoall(long rounds)
{
    send_rounds(rounds, to_other);
    receive_all(rounds * SCALING_BURST);
}

static void run_manytoone(long rounds)
{
    send_rounds(rounds, to_first);
    if (me() == 0)
        receive_all(rounds * SCALING_BURST * (skua_pes() - 1));
}

static void run_next(long rounds)
{
    send_rounds(rounds, to_next);
    receive_all(rounds * SCALING_BURST);
}

/* ---- streams --------------------------------------------------------------------------- */

/* Takes the items of the buckets that a sender has filled. */
static void empty_buckets(int sender)
{
    struct limit_buckets *from = buckets_of(me(), sender);

    while (limit.emptied[sender] < atomic_load_explicit(&from->filled, memory_order_acquire)) {
        const struct limit_bucket *bucket = &from->bucket[limit.emptied[sender] % 2];
        uint64_t                   sum    = 0;

        for (uint64_t i = 0; i < bucket->count; i++)
            sum += bucket->item[i];
        limit.sum += sum;
        limit.items += bucket->count;
        atomic_store_explicit(&from->emptied, ++limit.emptied[sender], memory_order_release);
    }
}

static void empty_all_buckets(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        empty_buckets(pe);
}

static void open_bucket(int to)
{
    uint64_t *item = buckets_of(to, me())->bucket[limit.filled[to] % 2].item;

    limit.open[to] = (struct limit_open){item, item + LIMIT_BUCKET};
}

/* Hands a bucket over, and opens the other one when it is empty. */
static void pass_bucket(int to)
{
    struct limit_buckets *buckets = buckets_of(to, me());
    struct limit_bucket  *bucket  = &buckets->bucket[limit.filled[to]++ % 2];
    long                  spins   = 0;

    bucket->count = (uint64_t)(limit.open[to].next - bucket->item);
    atomic_store_explicit(&buckets->filled, limit.filled[to], memory_order_release);
    while (limit.filled[to] - atomic_load_explicit(&buckets->emptied, memory_order_acquire) >= 2) {
        empty_all_buckets();
        pause_wait(&spins);
    }
    open_bucket(to);
}

/* Every PE sends its items to all PEs in turn, from itself on, so it receives as many. */
static void run_stream(long rounds)
{
    uint64_t count = (uint64_t)rounds * SCALING_ITEMS;
    int      to = me(), pes = skua_pes();
    long     spins = 0;

    for (int pe = 0; pe < pes; pe++)
        open_bucket(pe);
    for (uint64_t i = 0; i < count; i++) {
        struct limit_open *open = &limit.open[to];

        *open->next++ = i;
        if (open->next == open->end)
            pass_bucket(to);
        to = to + 1 == pes ? 0 : to + 1;
    }
    for (int pe = 0; pe < pes; pe++)
        pass_bucket(pe);
    limit.items_due += count;
    while (limit.items < limit.items_due) {
        empty_all_buckets();
        pause_wait(&spins);
    }
}

/* ---- collectives ------------------------------------------------------------------------- */

static double line_wait(struct limit_line *line, uint64_t epoch)
{
    long spins = 0;

    while (atomic_load_explicit(&line->epoch, memory_order_acquire) < epoch)
        pause_wait(&spins);
    return line->value;
}

static void line_write(struct limit_line *line, uint64_t epoch, double value)
{
    line->value = value;
    atomic_store_explicit(&line->epoch, epoch, memory_order_release);
}

/* PE 0 has a line for each PE; the others wait for the line of PE 0 itself. */
static double sum_flat(double value, uint64_t epoch)
{
    if (me() != 0) {
        line_write(line_of(0, me()), epoch, value);
        return line_wait(line_of(0, 0), epoch);
    }
    for (int pe = 1; pe < skua_pes(); pe++)
        value += line_wait(line_of(0, pe), epoch);
    line_write(line_of(0, 0), epoch, value);
    return value;
}

/* Recursive doubling.  A PE has two lines for each step, used alternately, so that a partner that
 * is one operation ahead does not overwrite a value that this PE still reads. */
static double sum_doubling(double value, uint64_t epoch)
{
    for (int step = 0; 1 << step < skua_pes(); step++) {
        int line = 2 * step + (int)(epoch % 2);

        line_write(line_of(me() ^ 1 << step, line), epoch, value);
        value += line_wait(line_of(me(), line), epoch);
    }
    return value;
}

static double sum_all(double value)
{
    uint64_t epoch = ++limit.epoch;
    bool     power = (skua_pes() & (skua_pes() - 1)) == 0;

    return power ? sum_doubling(value, epoch) : sum_flat(value, epoch);
}

static void run_allreduce(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sum_all(1);
}

/* The PEs take turns as root; each has its own line, in its piece. */
static void run_broadcast(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        int      root  = (int)(i % skua_pes());
        uint64_t epoch = ++limit.epoch;

        if (root == me())
            line_write(line_of(root, skua_pes() - 1), epoch, 1);
        else
            line_wait(line_of(root, skua_pes() - 1), epoch);
    }
    sum_all(1);
}

/* ---- memory and computation ------------------------------------------------------------ */

static void run_alloc(long rounds)
{
    void *volatile held[SCALING_BLOCKS];

    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < SCALING_BLOCKS; k++) {
            held[k]              = malloc(SCALING_BLOCK + SKUA_MSG_HEADER);
            *(uint64_t *)held[k] = (uint64_t)k;
        }
        for (int k = 0; k < SCALING_BLOCKS; k++)
            free(held[k]);
    }
}

static int target_of(bool spread, long round)
{
    return spread ? scaling_other(me(), skua_pes(), round) : 0;
}

static void copy_rounds(long rounds, bool spread, bool put)
{
    char *own = (char *)limit.own;

    for (long i = 0; i < rounds; i++) {
        char *there = block_of(target_of(spread, i), me());

        for (int k = 0; k < SCALING_BURST; k++) {
            memcpy(put ? there : own, put ? own : there, SCALING_BYTES);
            __asm__ volatile("" ::: "memory"); /* prevents the compiler from removing copies */
        }
    }
}

static uint64_t word_index(bool spread, long round)
{
    return spread ? ((uint64_t)round * 7919 + (uint64_t)me() * 613) % SCALING_WORDS : 0;
}

static void atomic_rounds(long rounds, bool spread)
{
    for (long i = 0; i < rounds; i++) {
        struct limit_piece *piece = (void *)limit.piece[target_of(spread, i)];

        for (int k = 0; k < SCALING_BURST; k++)
            limit.sum +=
                atomic_fetch_add(&piece->word[word_index(spread, i * SCALING_BURST + k)], 1);
    }
}

/* Adds a block of doubles to another. */
static void add_block(double *to, const double *from)
{
    for (size_t d = 0; d < SCALING_BYTES / sizeof(double); d++)
        to[d] += from[d];
    __asm__ volatile("" ::: "memory"); /* prevents the compiler from removing sums */
}

/* Several PEs add to each block (all PEs to one block with a single target), so a block has a
 * lock. */
static void acc_rounds(long rounds, bool spread)
{
    for (long i = 0; i < rounds; i++) {
        struct limit_piece *piece = (void *)limit.piece[target_of(spread, i)];
        long                spins = 0;

        for (int k = 0; k < SCALING_BURST; k++) {
            uint64_t            index = word_index(spread, i * SCALING_BURST + k) % LIMIT_BLOCKS;
            struct limit_block *block = &piece->block[index];

            while (atomic_exchange(&block->lock, 1))
                pause_wait(&spins);
            add_block(block->value, limit.own);
            atomic_store(&block->lock, 0);
        }
    }
}

static void run_put_one(long rounds)
{
    copy_rounds(rounds, false, true);
}

static void run_put_spread(long rounds)
{
    copy_rounds(rounds, true, true);
}

static void run_get_one(long rounds)
{
    copy_rounds(rounds, false, false);
}

static void run_get_spread(long rounds)
{
    copy_rounds(rounds, true, false);
}

static void run_atomic_one(long rounds)
{
    atomic_rounds(rounds, false);
}

static void run_atomic_spread(long rounds)
{
    atomic_rounds(rounds, true);
}

static void run_acc_one(long rounds)
{
    acc_rounds(rounds, false);
}

static void run_acc_spread(long rounds)
{
    acc_rounds(rounds, true);
}

static void run_tasks(long rounds)
{
    for (long i = 0; i < rounds; i++)
        limit.sum += (uint64_t)scaling_fib(SCALING_FIB);
}

/* ---- main ---------------------------------------------------------------------------- */

static struct scaling_kernel kernels[] = {
    {"pairs", run_pairs, SCALING_BURST, scaling_half, 2},
    {"alltoall", run_alltoall, SCALING_BURST, NULL, 1},
    {"manytoone", run_manytoone, SCALING_BURST, scaling_all_but_one, 2},
    {"barrier", run_allreduce, 0, NULL, 2},
    {"sync", run_allreduce, 0, NULL, 2},
    {"allreduce", run_allreduce, 0, NULL, 2},
    {"broadcast", run_broadcast, 0, NULL, 2},
    {"alloc", run_alloc, SCALING_BLOCKS, NULL, 1},
    {"remotefree", run_next, SCALING_BURST, NULL, 1},
    {"put-one", run_put_one, SCALING_BURST, NULL, 1},
    {"put-spread", run_put_spread, SCALING_BURST, NULL, 1},
    {"get-one", run_get_one, SCALING_BURST, NULL, 1},
    {"get-spread", run_get_spread, SCALING_BURST, NULL, 1},
    {"atomic-one", run_atomic_one, SCALING_BURST, NULL, 1},
    {"atomic-spread", run_atomic_spread, SCALING_BURST, NULL, 1},
    {"acc-one", run_acc_one, SCALING_BURST, NULL, 1},
    {"acc-spread", run_acc_spread, SCALING_BURST, NULL, 1},
    {"entries", run_next, SCALING_BURST, NULL, 1},
    {"stream", run_stream, SCALING_ITEMS, NULL, 1},
    {"tasks", run_tasks, 1, NULL, 1}, /* main() sets the operations of a round */
    {NULL, NULL, 0, NULL, 0},
};

/* Maps the pieces of all PEs. */
static void prepare(void)
{
    size_t each = sizeof(struct limit_ring) + sizeof(struct limit_line) + SCALING_BYTES +
                  sizeof(struct limit_buckets);
    size_t      bytes  = sizeof(struct limit_piece) + (size_t)skua_pes() * each;
    skua_region region = bench_create_pieces(bytes, LIMIT_PES);

    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    skua_sync();
}

static void start(int argc, char **argv)
{
    struct scaling_library library = {argc > 1 ? argv[1] : "limit", skua_pe(), skua_pes(),
                                      skua_sync, bench_largest};

    prepare();
    scaling_measure_all(&library, kernels, argc > 2 ? argv[2] : NULL);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    for (struct scaling_kernel *kernel = kernels; kernel->name; kernel++)
        if (kernel->run == run_tasks)
            kernel->each = scaling_fib_tasks(SCALING_FIB);
    return skua_main(argc, argv, start);
}
