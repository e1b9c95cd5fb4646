/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.c - see collective.h.
 *
 * Algorithms. Where all memory is mapped, a hop is cheap and a context switch is expensive, so
 * every member communicates with every other one directly: it puts its data and raises a flag, then
 * waits for a flag of each; teams synchronise by boards (board.h). Between hosts, synchronisation
 * takes rounds of doubling distance (dissemination), and a broadcast uses a binomial tree. The
 * receivers of a long broadcast over mapped memory copy it concurrently.
 *
 * A flag that follows data, to a PE of another host, is an atomic store: the target's progress
 * thread serves it after the puts, and replies. A flag that only synchronises is a message to the
 * PE, which polls for it: nothing is replied, and no quiet waits for it. If a thread that is not
 * the PE may wait for a flag, the PE need not poll, so all flags are stores then.
 *
 * A member may be ahead of the others, which still use data of earlier calls. In most collectives
 * it waits for all members, so they have begun the call that it has completed, and programs with
 * two buffers and two pSync arrays in turn rely on that. A broadcast over an active set has to
 * ensure it: a receiver reports that it has begun, and the sender waits for the report of the call
 * before.
 */
#include "collective.h"

#include <stdlib.h>

#include "board.h"
#include "rma.h"
#include "wait.h"
#include "wait_report.h"

/* The largest mapped set in which each member synchronises with each, and the least bytes of a
 * broadcast that its receivers copy. */
#define COLLECTIVE_PAIRS_MAX 16
#define COLLECTIVE_PULL_MIN  (32 * 1024)

/* ---- the words of the library ------------------------------------------- */

/* Where the board begins (board.h), after the exit word (job_exit.h). */
#define COLLECTIVE_BOARD_AT 128

/* The words of a PE, which follow the board, in this order; `n` is the number of PEs. */
static struct {
    uint64_t                 *flag;   /* [slot][n]: flags received */
    uint64_t                 *length; /* [slot][n]: lengths of data */
    uint64_t                 *begun;  /* [n]: broadcasts of this PE that each PE has begun */
    struct shmemi_slot_offer *offer;  /* [slot]: what this PE offers for a new team */
    char                     *buffer; /* [slot][2][n][SHMEMI_SHORT_BYTES]: short reductions */
    /* Counts that only this PE uses: */
    uint64_t *sent;   /* [slot][n]: flags sent                 */
    uint64_t *taken;  /* [slot][n]: flags waited for           */
    unsigned *shorts; /* [slot][n]: number of short reductions */
    /* Counts of broadcasts over active sets, [n] each: */
    uint64_t *given; /* sent to that PE                                      */
    uint64_t *known; /* of these, so many have begun there at least          */
    uint64_t *own;   /* of that PE, so many have begun here                  */
} collective;

static size_t collective_cells(int pes)
{
    return (size_t)SHMEMI_SLOTS * (size_t)pes;
}

/* Returns the words of `begun`, whole cache lines, so that what follows is aligned. */
static size_t collective_begun_words(int pes)
{
    return ((size_t)pes + 7) & ~(size_t)7;
}

size_t shmemi_words_bytes(int pes)
{
    size_t bytes = COLLECTIVE_BOARD_AT + shmemi_board_bytes() +
                   (2 * collective_cells(pes) + collective_begun_words(pes)) * sizeof(uint64_t) +
                   SHMEMI_SLOTS * sizeof(struct shmemi_slot_offer) +
                   2 * collective_cells(pes) * SHMEMI_SHORT_BYTES + shmemi_wait_report_bytes(pes);

    return (bytes + 4095) & ~(size_t)4095;
}

bool shmemi_words_open(char *words)
{
    size_t cells = collective_cells(shmemi_job.pes), n = (size_t)shmemi_job.pes;

    shmemi_board_open(words + COLLECTIVE_BOARD_AT);
    collective.flag   = (uint64_t *)(void *)(words + COLLECTIVE_BOARD_AT + shmemi_board_bytes());
    collective.length = collective.flag + cells;
    collective.begun  = collective.length + cells;
    collective.offer  = (struct shmemi_slot_offer *)(void *)(collective.begun +
                                                            collective_begun_words(shmemi_job.pes));
    collective.buffer = (char *)(collective.offer + SHMEMI_SLOTS);
    if (!shmemi_wait_report_open(collective.buffer + 2 * cells * SHMEMI_SHORT_BYTES))
        return false;
    memset(words, 0, 64);
    memset(collective.flag, 0, cells * sizeof(uint64_t));
    memset(collective.begun, 0, n * sizeof(uint64_t));
    collective.sent   = calloc(cells, sizeof *collective.sent);
    collective.taken  = calloc(cells, sizeof *collective.taken);
    collective.shorts = calloc(cells, sizeof *collective.shorts);
    collective.given  = calloc(3 * n, sizeof *collective.given);
    if (!collective.sent || !collective.taken || !collective.shorts || !collective.given)
        return false;
    collective.known = collective.given + n;
    collective.own   = collective.known + n;
    return true;
}

void shmemi_words_close(void)
{
    free(collective.sent);
    free(collective.taken);
    free(collective.shorts);
    free(collective.given);
    shmemi_wait_report_close();
    memset(&collective, 0, sizeof collective);
}

struct shmemi_slot_offer *shmemi_slot_offer(int slot)
{
    return collective.offer + slot;
}

static size_t collective_cell(const struct shmemi_set *set, int pe)
{
    return (size_t)set->slot * (size_t)shmemi_job.pes + (size_t)pe;
}

char *shmemi_short_buffer(const struct shmemi_set *set, unsigned which, int rank)
{
    size_t cell = ((size_t)set->slot * 2 + which) * (size_t)shmemi_job.pes;

    return collective.buffer + (cell + (size_t)shmemi_set_pe(set, rank)) * SHMEMI_SHORT_BYTES;
}

unsigned shmemi_short_next(const struct shmemi_set *set, int rank)
{
    return collective.shorts[collective_cell(set, shmemi_set_pe(set, rank))]++ % 2;
}

/* ---- flags -------------------------------------------------------------- */

/* The release pairs with the acquires in shmemi_flag_take(), collective_admit() and
 * wait_report.c. */
void shmemi_store(uint64_t *word, uint64_t count, int pe)
{
    const struct shmemi_segment *heap   = &shmemi_job.segment[SHMEMI_HEAP];
    uintptr_t                    offset = (uintptr_t)word - heap->base;

    if (heap->peer[pe]) {
        if (shmemi_job.net) /* completes puts through Skua to variables of that PE */
            skua_flush(pe);
        __atomic_store_n((uint64_t *)(void *)(heap->peer[pe] + offset), count, __ATOMIC_RELEASE);
        return;
    }
    skua_fence(pe);
    shmemi_check_status("a collective", pe,
                        skua_atomic_nb(skua_gaddr_add(heap->at[pe], (ptrdiff_t)offset),
                                       SKUA_ATOMIC_STORE, SKUA_UINT64, &count, NULL, NULL));
}

void shmemi_flag_raise(const struct shmemi_set *set, int rank)
{
    int pe = shmemi_set_pe(set, rank);

    shmemi_store(&collective.flag[collective_cell(set, shmemi_job.pe)],
                 ++collective.sent[collective_cell(set, pe)], pe);
}

/* A flag that only synchronises, as it is sent. */
struct collective_signal {
    uint64_t slot;
    uint64_t count;
};

static skua_handler collective_signal_handler;

/* Raises a word to @p count, unless it is higher: a later flag, stored by the progress thread, may
 * be there already. The release pairs with the acquire in shmemi_flag_take(). */
static void collective_raise_to(uint64_t *word, uint64_t count)
{
    uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (now < count && !__atomic_compare_exchange_n(word, &now, count, false, __ATOMIC_RELEASE,
                                                       __ATOMIC_RELAXED))
        ;
}

static void collective_on_signal(skua_msg *msg)
{
    const struct collective_signal *signal = skua_msg_data(msg);
    int                             source = skua_msg_source(msg);

    if (skua_msg_size(msg) == sizeof *signal && signal->slot < SHMEMI_SLOTS && collective.flag &&
        (unsigned)source < (unsigned)shmemi_job.pes)
        collective_raise_to(
            &collective.flag[signal->slot * (size_t)shmemi_job.pes + (size_t)source],
            signal->count);
    skua_msg_free(msg);
}

void shmemi_collective_register(void)
{
    if (!collective_signal_handler.id)
        collective_signal_handler = skua_handler_register("shmem-flag", collective_on_signal);
}

/* Raises the flag of this PE at a member, which waits for nothing else of this PE. Earlier flags,
 * which may be stores, arrive first: the flush waits for them if there are any. */
static void collective_signal(const struct shmemi_set *set, int rank)
{
    int                      pe     = shmemi_set_pe(set, rank);
    struct collective_signal signal = {(uint64_t)set->slot, 0};

    if (!shmemi_job.messages || shmemi_job.segment[SHMEMI_HEAP].peer[pe]) {
        shmemi_flag_raise(set, rank);
        return;
    }
    skua_flush(pe);
    signal.count = ++collective.sent[collective_cell(set, pe)];
    skua_send_copy(pe, collective_signal_handler, &signal, sizeof signal);
}

static bool collective_is_active_set(const struct shmemi_set *set)
{
    return set->slot == SHMEMI_SLOT_ACTIVE_ALL || set->slot == SHMEMI_SLOT_ACTIVE_SET;
}

void shmemi_flag_take(const struct shmemi_set *set, int rank)
{
    int                pe     = shmemi_set_pe(set, rank);
    size_t             cell   = collective_cell(set, pe);
    uint64_t           wanted = ++collective.taken[cell];
    struct shmemi_wait wait   = {0};

    while (__atomic_load_n(&collective.flag[cell], __ATOMIC_ACQUIRE) < wanted)
        shmemi_wait_step(&wait);
    if (collective_is_active_set(set)) /* the sender has completed all calls before this one */
        collective.known[pe] = collective.given[pe];
}

/* Raises the flag of this PE at each other member, beginning with the next rank. */
static void collective_raise_all(const struct shmemi_set *set)
{
    for (int i = 1; i < set->size; i++)
        shmemi_flag_raise(set, (set->me + i) % set->size);
}

/* Waits for the flag of each other member. */
static void collective_take_all(const struct shmemi_set *set)
{
    for (int i = 1; i < set->size; i++)
        shmemi_flag_take(set, (set->me + set->size - i) % set->size);
}

/* ---- synchronisation ---------------------------------------------------- */

/* In each round a member raises its flag at the rank at a distance that doubles. After the last
 * round every member depends on all. */
static void collective_sync_rounds(const struct shmemi_set *set)
{
    for (int distance = 1; distance < set->size; distance *= 2) {
        collective_signal(set, (set->me + distance) % set->size);
        shmemi_flag_take(set, (set->me + set->size - distance) % set->size);
    }
}

/* Rank 0 waits for a flag of each member, then raises its flag at each. */
static void collective_sync_central(const struct shmemi_set *set)
{
    if (set->me == 0) {
        collective_take_all(set);
        collective_raise_all(set);
    } else {
        shmemi_flag_raise(set, 0);
        shmemi_flag_take(set, 0);
    }
}

void shmemi_sync_flags(const struct shmemi_set *set)
{
    if (!set->mapped) {
        collective_sync_rounds(set);
    } else if (set->size > COLLECTIVE_PAIRS_MAX) {
        collective_sync_central(set);
    } else {
        collective_raise_all(set);
        collective_take_all(set);
    }
}

void shmemi_sync(const struct shmemi_set *set)
{
    if (SHMEMI_LIKELY(shmemi_board_serves(set)))
        shmemi_board_sync(set);
    else
        shmemi_sync_flags(set);
}

/* ---- broadcast ---------------------------------------------------------- */

/* Reports to rank @p from, which sends the data of a broadcast, that this PE has begun it. */
static void collective_join(const struct shmemi_set *set, int from)
{
    int pe = shmemi_set_pe(set, from);

    if (collective_is_active_set(set))
        shmemi_store(&collective.begun[shmemi_job.pe], ++collective.own[pe], pe);
}

/* Waits until rank @p to has begun the broadcast that was sent to it before. */
static void collective_admit(const struct shmemi_set *set, int to)
{
    int                pe   = shmemi_set_pe(set, to);
    struct shmemi_wait wait = {0};
    uint64_t           before;

    if (!collective_is_active_set(set))
        return;
    before = collective.given[pe]++;
    while (collective.known[pe] < before) {
        collective.known[pe] = __atomic_load_n(&collective.begun[pe], __ATOMIC_ACQUIRE);
        if (collective.known[pe] < before)
            shmemi_wait_step(&wait);
    }
}

static void collective_broadcast_push(const char *call, const struct shmemi_set *set, void *dest,
                                      const void *source, size_t bytes, int root)
{
    if (set->me != root) {
        collective_join(set, root);
        shmemi_flag_take(set, root);
        return;
    }
    for (int i = 1; i < set->size; i++) {
        int rank = (root + i) % set->size;

        collective_admit(set, rank);
        shmemi_put(call, dest, source, bytes, shmemi_set_pe(set, rank));
        shmemi_flag_raise(set, rank);
    }
}

static void collective_broadcast_pull(const char *call, const struct shmemi_set *set, void *dest,
                                      const void *source, size_t bytes, int root)
{
    if (set->me == root) {
        collective_raise_all(set);
        collective_take_all(set);
        return;
    }
    shmemi_flag_take(set, root);
    shmemi_get(call, dest, source, bytes, shmemi_set_pe(set, root));
    shmemi_flag_raise(set, root);
}

/* Ranks are counted from the root. A member receives from the rank without its lowest set bit, and
 * sends to ranks that add a lower bit. */
static void collective_broadcast_tree(const char *call, const struct shmemi_set *set, void *dest,
                                      const void *source, size_t bytes, int root)
{
    int number = (set->me - root + set->size) % set->size, bit = 1;

    while (bit < set->size && !(number & bit))
        bit *= 2;
    if (number > 0) {
        collective_join(set, (number - bit + root) % set->size);
        shmemi_flag_take(set, (number - bit + root) % set->size);
        source = dest;
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        int rank = (number + bit + root) % set->size;

        if (number + bit >= set->size)
            continue;
        collective_admit(set, rank);
        shmemi_put(call, dest, source, bytes, shmemi_set_pe(set, rank));
        shmemi_flag_raise(set, rank);
    }
}

void shmemi_broadcast(const char *call, const struct shmemi_set *set, void *dest,
                      const void *source, size_t bytes, int root)
{
    if (!set->mapped)
        collective_broadcast_tree(call, set, dest, source, bytes, root);
    else if (bytes >= COLLECTIVE_PULL_MIN)
        collective_broadcast_pull(call, set, dest, source, bytes, root);
    else
        collective_broadcast_push(call, set, dest, source, bytes, root);
}

/* ---- collect, all-to-all ------------------------------------------------ */

/* Copies @p bytes to this PE's own @p dest unless the source is the destination. */
static void collective_copy_own(void *dest, const void *source, size_t bytes)
{
    if (dest != source && bytes > 0)
        memmove(dest, source, bytes);
}

/* Puts @p bytes at @p source to @p dest of every member, and waits for the data that they put. */
static void collective_put_all(const char *call, const struct shmemi_set *set, void *dest,
                               const void *source, size_t bytes)
{
    for (int i = 1; i < set->size; i++) {
        int rank = (set->me + i) % set->size;

        shmemi_put(call, dest, source, bytes, shmemi_set_pe(set, rank));
        shmemi_flag_raise(set, rank);
    }
    collective_copy_own(dest, source, bytes);
    collective_take_all(set);
}

void shmemi_fcollect(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                     size_t bytes)
{
    collective_put_all(call, set, (char *)dest + (size_t)set->me * bytes, source, bytes);
}

void shmemi_collect(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                    size_t bytes)
{
    uint64_t mine = bytes, before = 0;

    collective_put_all(call, set, &collective.length[collective_cell(set, shmemi_job.pe)], &mine,
                       sizeof mine);
    for (int rank = 0; rank < set->me; rank++)
        before += collective.length[collective_cell(set, shmemi_set_pe(set, rank))];
    /* The flags of the data are waited for after the lengths have been read. */
    collective_put_all(call, set, (char *)dest + before, source, bytes);
}

void shmemi_alltoall(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                     size_t bytes)
{
    char *mine = (char *)dest + (size_t)set->me * bytes;

    for (int i = 1; i < set->size; i++) {
        int rank = (set->me + i) % set->size;

        shmemi_put(call, mine, (const char *)source + (size_t)rank * bytes, bytes,
                   shmemi_set_pe(set, rank));
        shmemi_flag_raise(set, rank);
    }
    collective_copy_own(mine, (const char *)source + (size_t)set->me * bytes, bytes);
    collective_take_all(set);
}

void shmemi_alltoalls(const char *call, const struct shmemi_set *set, void *dest,
                      const void *source, const struct shmemi_strided_blocks *blocks)
{
    ptrdiff_t size  = (ptrdiff_t)blocks->size;
    ptrdiff_t count = (ptrdiff_t)blocks->count;
    char     *mine  = (char *)dest + set->me * count * blocks->dst * size;

    for (int i = 0; i < set->size; i++) {
        int   rank  = (set->me + i) % set->size;
        char *block = (char *)(uintptr_t)source + rank * count * blocks->sst * size;

        shmemi_iput(call, (struct shmemi_stride){mine, blocks->dst * size},
                    (struct shmemi_stride){block, blocks->sst * size}, blocks->size, blocks->count,
                    shmemi_set_pe(set, rank));
        if (i > 0)
            shmemi_flag_raise(set, rank);
    }
    collective_take_all(set);
}
