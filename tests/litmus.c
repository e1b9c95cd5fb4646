/* SPDX-License-Identifier: Apache-2.0 */
/*
 * litmus.c - litmus tests of the memory orders.
 *
 *   message passing   data, then a flag: a reader that sees the flag sees the data.  Orders, a
 * flush, or a fence between two unordered puts make it so store buffering   two PEs write, then
 * read what the other wrote: at least one of them sees it own writes        a get returns the data
 * of an earlier put
 *
 * PEs work in pairs; with an odd number, one of them only takes part in the barriers.  A PE that
 * polls yields and runs the scheduler, so that the tests also work by active messages and with more
 * PEs than CPUs.
 *
 * Flags are C atomics.  ThreadSanitizer does not understand fences and reports what they order as
 * races, so under it only tests that are ordered by atomics run.
 *
 * On a loaded machine the PEs hardly ever run at the same time, and each step takes a time slice:
 * after PATIENCE seconds the remaining tests run FEW times.
 *
 * usage: litmus [times]
 */
#include <sched.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#if defined(__SANITIZE_THREAD__)
#define KNOWS_FENCES false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KNOWS_FENCES false
#endif
#endif
#ifndef KNOWS_FENCES
#define KNOWS_FENCES true
#endif

#define SLOTS 64   /* messages in flight */
#define WORDS 32   /* words of 8 bytes in a slot */
#define BATCH 1000 /* rounds of store buffering between two barriers */

#define PATIENCE 30.0
#define FEW      1000

struct shared { /* the symmetric memory of each PE */
    _Alignas(64) _Atomic uint64_t flag;
    _Alignas(64) _Atomic uint64_t ack; /* progress of the other PE */
    _Alignas(64) skua_notify notify;
    skua_region registered; /* a region of this PE */
    _Alignas(64) uint64_t data[SLOTS][WORDS];
    _Alignas(64) uint32_t buffered[2][BATCH]; /* on the first PE of a pair: the words of both */
    uint32_t seen[BATCH];
};

struct state { /* the state of a PE */
    skua_region    region;
    struct shared *mine;
    uint64_t (*memory)[WORDS];      /* registered memory of SLOTS slots */
    skua_region registered, theirs; /* the PE's own memory, and that of its peer */
    int         peer;
    uint64_t    times;
};

static skua_pe_data state_key;
static uint64_t     times = 20000;

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static skua_gaddr at(int pe, size_t offset)
{
    return skua_at(self()->region, pe, offset);
}

#define AT(pe, member) at(pe, offsetof(struct shared, member))

static skua_gaddr slot_at(int pe, uint64_t i)
{
    return at(pe, offsetof(struct shared, data) + i % SLOTS * sizeof(uint64_t[WORDS]));
}

/* Waits until *word >= value.  Returns *word. */
static uint64_t poll_word(_Atomic uint64_t *word, uint64_t value)
{
    uint64_t seen;

    /* Acquire: pairs with the release or fence that orders the flag after the data. */
    for (unsigned i = 1; (seen = atomic_load_explicit(word, memory_order_acquire)) < value; i++)
        if (i % 64 == 0) {
            skua_poll(8);
            sched_yield();
        }
    return seen;
}

/* ---- message passing ---------------------------------------------------------------- */

/* A variant of a sender: it sends the data of message i (from 1), then the flag.  @p to is the PE
 * whose memory is written. */
struct passing {
    const char *what;
    void (*data)(int to, uint64_t i);
    void (*flag)(int to, uint64_t i);
    size_t words;
    bool   fences;     /* ThreadSanitizer does not support it */
    bool   sums;       /* data is accumulated */
    bool   notifies;   /* the flag is a notification */
    bool   fetched;    /* the receiver gets both from the sender */
    bool   registered; /* the data go to registered memory of the receiver */
};

static const skua_rma_params strict    = {.order = SKUA_ORDER_STRICT};
static const skua_rma_params partial   = {.order = SKUA_ORDER_PARTIAL};
static const skua_rma_params unordered = {.order = SKUA_UNORDERED};

/* Data and flags stay unchanged until their message has been acknowledged: the network may read
 * them until then. */
static const uint64_t *words_of(uint64_t i)
{
    static _Thread_local uint64_t words[SLOTS][WORDS];
    uint64_t                     *word = words[i % SLOTS];

    for (int k = 0; k < WORDS; k++)
        word[k] = i * 3 + (uint64_t)k;
    return word;
}

static const uint64_t *flag_of(uint64_t i)
{
    static _Thread_local uint64_t flags[SLOTS];

    flags[i % SLOTS] = i;
    return &flags[i % SLOTS];
}

static void put_word(int to, uint64_t i)
{
    CHECK(skua_put(slot_at(to, i), words_of(i), 8) == SKUA_OK);
}

static void put_words(int to, uint64_t i)
{
    CHECK(skua_put(slot_at(to, i), words_of(i), 8 * WORDS) == SKUA_OK);
}

static void put_words_partial(int to, uint64_t i)
{
    CHECK(skua_put_nb(slot_at(to, i), words_of(i), 8 * WORDS, &partial) >= SKUA_OK);
}

static void put_words_strided(int to, uint64_t i)
{
    skua_layout pairs = {
        .kind = SKUA_LAYOUT_STRIDED, .bytes = 16, .strided = {1, {WORDS / 2}, {16}}};
    skua_layout words = skua_layout_contiguous(words_of(i), 8 * WORDS);

    CHECK(skua_put_layout_nb(slot_at(to, i), &pairs, &words, NULL) >= SKUA_OK);
}

static void put_words_unordered(int to, uint64_t i)
{
    CHECK(skua_put_nb(slot_at(to, i), words_of(i), 8 * WORDS, &unordered) >= SKUA_OK);
}

static void add_words_strict(int to, uint64_t i)
{
    static const uint64_t    ones[WORDS] = {1, 1, 1, 1};
    static const skua_update sum         = {.op = SKUA_SUM, .type = SKUA_UINT64};

    CHECK(skua_acc_nb(slot_at(to, i), ones, 8 * 4, &sum, &strict) >= SKUA_OK);
}

static void put_flag(int to, uint64_t i)
{
    CHECK(skua_put(AT(to, flag), &i, 8) == SKUA_OK);
}

static void put_flag_partial(int to, uint64_t i)
{
    CHECK(skua_put_nb(AT(to, flag), flag_of(i), 8, &partial) >= SKUA_OK);
}

static void put_flag_strict(int to, uint64_t i)
{
    CHECK(skua_put_nb(AT(to, flag), flag_of(i), 8, &strict) >= SKUA_OK);
}

static void put_flag_after_flush(int to, uint64_t i)
{
    if (i % 3 == 0)
        skua_flush(to);
    else if (i % 3 == 1)
        skua_flush_region(self()->region);
    else
        skua_flush_all();
    CHECK(skua_put_nb(AT(to, flag), flag_of(i), 8, &unordered) >= SKUA_OK);
}

static void put_flag_after_fence(int to, uint64_t i)
{
    if (i % 2)
        skua_fence(to);
    else
        skua_fence_all();
    CHECK(skua_put_nb(AT(to, flag), flag_of(i), 8, &unordered) >= SKUA_OK);
}

/* The flag takes another path than data to other memory. */
static void put_word_registered(int to, uint64_t i)
{
    skua_gaddr slot = skua_at(self()->theirs, to, i % SLOTS * sizeof(uint64_t[WORDS]));

    CHECK(skua_put_nb(slot, words_of(i), 8 * WORDS, &unordered) >= SKUA_OK);
}

static void add_words_unordered(int to, uint64_t i)
{
    static const uint64_t    ones[WORDS] = {1, 1, 1, 1};
    static const skua_update sum         = {.op = SKUA_SUM, .type = SKUA_UINT64};

    CHECK(skua_acc_nb(slot_at(to, i), ones, 8 * 4, &sum, &unordered) >= SKUA_OK);
}

/* A large put after the fence, then another fence and the flag: by the driver, if it does that. */
static void put_words_twice(int to, uint64_t i)
{
    static const uint64_t none[WORDS];

    CHECK(skua_put_nb(slot_at(to, i), none, 8 * WORDS, &unordered) >= SKUA_OK);
    skua_fence(to);
    CHECK(skua_put_nb(slot_at(to, i), words_of(i), 8 * WORDS, &unordered) >= SKUA_OK);
}

static void add_to_notify_after_fence(int to, uint64_t i)
{
    (void)i;
    skua_fence(to);
    CHECK(skua_notify_add(AT(to, notify), 1) == SKUA_OK);
}

static void store_flag(int to, uint64_t i)
{
    CHECK(skua_store64(AT(to, flag), i) == SKUA_OK);
}

static void add_to_flag(int to, uint64_t i)
{
    (void)i;
    CHECK(skua_add64(AT(to, flag), 1) == SKUA_OK);
}

static void add_to_notify(int to, uint64_t i)
{
    (void)i;
    CHECK(skua_notify_add(AT(to, notify), 1) == SKUA_OK);
}

static void start_adding_to_flag(int to, uint64_t i)
{
    static const uint64_t one = 1;

    (void)i;
    CHECK(skua_atomic_nb(AT(to, flag), SKUA_ATOMIC_ADD, SKUA_UINT64, &one, NULL, &strict) >=
          SKUA_OK);
}

static void flush_and_add_to_flag(int to, uint64_t i)
{
    static const uint64_t one = 1;

    (void)i;
    skua_flush(to);
    CHECK(skua_atomic_nb(AT(to, flag), SKUA_ATOMIC_ADD, SKUA_UINT64, &one, NULL, &unordered) >=
          SKUA_OK);
}

static void no_data(int to, uint64_t i)
{
    (void)to, (void)i;
}

static void put_words_and_notify(int to, uint64_t i)
{
    skua_rma_params ends = {.order = SKUA_UNORDERED, .notify = AT(to, notify)};

    CHECK(skua_put_nb(slot_at(to, i), words_of(i), 8 * WORDS, &ends) >= SKUA_OK);
}

static const struct passing passings[] = {
    {"8 bytes, flag", put_word, put_flag, .words = 1},
    {"256 bytes, flag", put_words, put_flag, .words = WORDS},
    {"partial order", put_words_partial, put_flag_partial, .words = WORDS, .fences = true},
    {"strided, flag", put_words_strided, put_flag_partial, .words = WORDS, .fences = true},
    {"accumulate, flag, strict", add_words_strict, put_flag_strict, .words = 4, .fences = true,
     .sums = true},
    {"unordered, flush, flag", put_words_unordered, put_flag_after_flush, .words = WORDS,
     .fences = true},
    {"unordered, fence, flag", put_words_unordered, put_flag_after_fence, .words = WORDS,
     .fences = true},
    {"accumulate, fence, flag", add_words_unordered, put_flag_after_fence, .words = 4,
     .fences = true, .sums = true},
    {"put, fence, put, fence, flag", put_words_twice, put_flag_after_fence, .words = WORDS,
     .fences = true},
    {"registered memory, fence, flag", put_word_registered, put_flag_after_fence, .words = WORDS,
     .fences = true, .registered = true},
    {"accumulate, fence, notify", add_words_unordered, add_to_notify_after_fence, .words = 4,
     .fences = true, .sums = true, .notifies = true},
    {"256 bytes, atomic store", put_words, store_flag, .words = WORDS},
    {"256 bytes, atomic add", put_words, add_to_flag, .words = WORDS},
    {"256 bytes, notify", put_words, add_to_notify, .words = WORDS, .notifies = true},
    {"partial order, notify", put_words_partial, add_to_notify, .words = WORDS, .fences = true,
     .notifies = true},
    {"partial order, atomic without waiting", put_words_partial, start_adding_to_flag,
     .words = WORDS, .fences = true},
    {"unordered, flush, atomic without waiting", put_words_unordered, flush_and_add_to_flag,
     .words = WORDS, .fences = true},
    {"put with notify", put_words_and_notify, no_data, .words = WORDS, .notifies = true},
    {"strict gets", put_words_partial, put_flag_partial, .words = WORDS, .fences = true,
     .fetched = true},
};

static void send_messages(const struct passing *p)
{
    int to = p->fetched ? skua_pe() : self()->peer;

    for (uint64_t i = 1; i <= self()->times; i++) {
        if (i > SLOTS)
            poll_word(&self()->mine->ack, i - SLOTS);
        p->data(to, i);
        p->flag(to, i);
    }
    poll_word(&self()->mine->ack, self()->times);
}

static void check_slot(const struct passing *p, const uint64_t *slot, uint64_t i)
{
    for (size_t k = 0; k < p->words; k++) {
        uint64_t seen = __atomic_load_n(&slot[k], __ATOMIC_RELAXED);
        uint64_t sent = p->sums ? (i - 1) / SLOTS + 1 : i * 3 + k;

        if (seen != sent)
            skua_abort("%s: the flag of message %llu arrived before word %zu of its data", p->what,
                       (unsigned long long)i, k);
    }
}

/* Waits until message i has arrived. Returns the number of the last one that has. */
static uint64_t await(const struct passing *p, uint64_t i)
{
    uint64_t seen;

    if (p->notifies) {
        CHECK(skua_notify_wait(&self()->mine->notify, i));
        return skua_notify_value(&self()->mine->notify);
    }
    if (!p->fetched)
        return poll_word(&self()->mine->flag, i);
    for (;;) {
        CHECK(skua_get_nb(&seen, AT(self()->peer, flag), 8, &strict) >= SKUA_OK);
        skua_flush(self()->peer);
        if (seen >= i)
            return seen;
        skua_poll(8);
        sched_yield();
    }
}

static const uint64_t *slot_of(const struct passing *p, uint64_t i)
{
    static _Thread_local uint64_t fetched[WORDS];

    if (!p->fetched)
        return p->registered ? self()->memory[i % SLOTS] : self()->mine->data[i % SLOTS];
    CHECK(skua_get_nb(fetched, slot_at(self()->peer, i), sizeof fetched, &strict) >= SKUA_OK);
    skua_flush(self()->peer);
    return fetched;
}

/* Checks the newest message first, since it may not have arrived yet. */
static void receive_messages(const struct passing *p)
{
    for (uint64_t done = 0; done < self()->times;) {
        uint64_t last = await(p, done + 1);

        for (uint64_t i = last; i > done; i--)
            check_slot(p, slot_of(p, i), i);
        done = last;
        skua_flush_all(); /* read before the sender writes again */
        CHECK(skua_put(AT(self()->peer, ack), &done, 8) == SKUA_OK);
    }
}

static void test_passing(const struct passing *p)
{
    bool last = skua_pe() % 2;

    if (p->fences && !KNOWS_FENCES)
        return;
    memset(self()->mine, 0, sizeof *self()->mine);
    skua_sync();
    if (self()->peer >= 0 && last)
        receive_messages(p);
    else if (self()->peer >= 0)
        send_messages(p);
    skua_sync();
}

/* ---- store buffering ------------------------------------------------------------------ */

/* A variant that writes the PE's own word and then reads the other one. */
struct buffering {
    const char *what;
    uint32_t (*write_and_read)(skua_gaddr own, skua_gaddr other, uint32_t value);
    bool fences;
};

static uint32_t put_get_strict(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_put_nb(own, &value, 4, &strict) >= SKUA_OK);
    CHECK(skua_get_nb(&seen, other, 4, &strict) >= SKUA_OK);
    skua_flush(other.pe);
    return seen;
}

static uint32_t put_flush_get(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_put_nb(own, &value, 4, &unordered) >= SKUA_OK);
    skua_flush(own.pe);
    CHECK(skua_get(&seen, other, 4) == SKUA_OK);
    return seen;
}

static uint32_t store_load(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_store32(own, value) == SKUA_OK);
    CHECK(skua_load32(other, &seen) == SKUA_OK);
    return seen;
}

/* Atomics are ordered with everything before and after. */
static uint32_t store_get(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_store32(own, value) == SKUA_OK);
    CHECK(skua_get(&seen, other, 4) == SKUA_OK);
    return seen;
}

static uint32_t put_load(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_put(own, &value, 4) == SKUA_OK);
    CHECK(skua_load32(other, &seen) == SKUA_OK);
    return seen;
}

static uint32_t swap_get(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen;

    CHECK(skua_swap32(own, value, NULL) == SKUA_OK);
    CHECK(skua_get(&seen, other, 4) == SKUA_OK);
    return seen;
}

static uint32_t start_swap_flush_get(skua_gaddr own, skua_gaddr other, uint32_t value)
{
    uint32_t seen, old;

    CHECK(skua_atomic_nb(own, SKUA_ATOMIC_SWAP, SKUA_UINT32, &value, &old, NULL) >= SKUA_OK);
    skua_flush(own.pe);
    CHECK(skua_get(&seen, other, 4) == SKUA_OK);
    return seen;
}

static const struct buffering bufferings[] = {
    {"strict put, strict get", put_get_strict, true},
    {"put, flush, get", put_flush_get, true},
    {"atomic store, atomic load", store_load, false},
    {"atomic store, get", store_get, true},
    {"put, atomic load", put_load, true},
    {"swap, get", swap_get, true},
    {"swap without waiting, flush, get", start_swap_flush_get, true},
};

static void write_and_read_batch(const struct buffering *b, uint32_t value)
{
    int first = skua_pe() & ~1, side = skua_pe() & 1;

    for (size_t i = 0; i < BATCH; i++) {
        size_t offset = offsetof(struct shared, buffered) + 4 * i;
        self()->mine->seen[i] =
            b->write_and_read(at(first, offset + (size_t)side * 4 * BATCH),
                              at(first, offset + (size_t)!side * 4 * BATCH), value);
    }
}

static void compare_batch(const struct buffering *b, uint32_t value)
{
    uint32_t theirs[BATCH];

    CHECK(skua_get(theirs, AT(self()->peer, seen), sizeof theirs) == SKUA_OK);
    for (int i = 0; i < BATCH; i++)
        if (self()->mine->seen[i] != value && theirs[i] != value)
            skua_abort("%s: neither PE saw what the other wrote", b->what);
}

static void test_buffering(const struct buffering *b)
{
    if (b->fences && !KNOWS_FENCES)
        return;
    memset(self()->mine, 0, sizeof *self()->mine);
    skua_sync();
    for (uint32_t i = 1; i <= self()->times / BATCH + 1; i++) {
        if (self()->peer >= 0)
            write_and_read_batch(b, i);
        skua_sync();
        if (self()->peer >= 0)
            compare_batch(b, i);
        skua_sync();
    }
}

/* ---- own writes -------------------------------------------------------------------------- */

static void put_and_look(uint64_t i, uint64_t *seen)
{
    skua_gaddr      word   = slot_at(self()->peer, i);
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params ends   = {.order = (skua_order)(i / 4 % 4), .handle = &handle};

    switch (i % 4) {
    case 0: /* with any order: complete when the call returns */
        CHECK(skua_put(word, &i, 8) == SKUA_OK);
        CHECK(skua_get_nb(seen, word, 8, &ends) >= SKUA_OK);
        break;
    case 1: /* strict */
        ends.order = SKUA_ORDER_STRICT;
        CHECK(skua_put_nb(word, &i, 8, &strict) >= SKUA_OK);
        CHECK(skua_get_nb(seen, word, 8, &ends) >= SKUA_OK);
        break;
    case 2: /* any order, with a flush */
        CHECK(skua_put_nb(word, &i, 8, &ends) >= SKUA_OK);
        skua_flush(self()->peer);
        CHECK(skua_get_nb(seen, word, 8, &ends) >= SKUA_OK);
        break;
    default: /* any order, with a wait */
        CHECK(skua_put_nb(word, &i, 8, &ends) >= SKUA_OK);
        skua_handle_wait(&handle);
        CHECK(skua_load64(word, seen) == SKUA_OK);
    }
    skua_handle_wait(&handle);
}

static void test_own_writes(void)
{
    skua_sync();
    for (uint64_t i = 1; i <= self()->times && self()->peer >= 0; i++) {
        uint64_t seen = 0;
        put_and_look(i, &seen);
        CHECK(seen == i);
    }
    skua_sync();
}

/* All PEs run the remaining tests equally often. */
static void agree_on_times(double began)
{
    uint64_t    mine = skua_time() - began > PATIENCE && self()->times > FEW ? FEW : self()->times;
    skua_future agreed = SKUA_FUTURE_INIT;

    skua_allreduce(SKUA_MIN, SKUA_UINT64, &mine, 1, skua_done_future(&agreed));
    future_take(&agreed, &self()->times, sizeof mine);
}

/* ---- the job ------------------------------------------------------------------------------ */

static void start(int argc, char **argv)
{
    struct state *s     = self();
    double        began = skua_time();

    (void)argc, (void)argv;
    s->times = times;
    s->peer  = (skua_pe() ^ 1) < skua_pes() ? skua_pe() ^ 1 : -1;
    CHECK(skua_region_create(sizeof(struct shared), &s->region) == SKUA_OK);
    s->mine   = skua_region_local(s->region);
    s->memory = calloc(SLOTS, sizeof *s->memory);
    CHECK(skua_region_create_from(s->memory, SLOTS * sizeof *s->memory, &s->registered) == SKUA_OK);
    s->mine->registered = s->registered;
    skua_sync();
    if (s->peer >= 0)
        CHECK(skua_get(&s->theirs, AT(s->peer, registered), sizeof s->theirs) == SKUA_OK);
    skua_sync();
    for (size_t i = 0; i < sizeof passings / sizeof *passings; i++)
        agree_on_times(began), test_passing(&passings[i]);
    for (size_t i = 0; i < sizeof bufferings / sizeof *bufferings; i++)
        agree_on_times(began), test_buffering(&bufferings[i]);
    agree_on_times(began);
    test_own_writes();
    CHECK(skua_region_destroy(s->region) == SKUA_OK);
    skua_sync();
    CHECK(skua_region_destroy(s->registered) == SKUA_OK);
    free(s->memory);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        times = strtoull(argv[1], NULL, 10);
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
