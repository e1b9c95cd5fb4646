/* SPDX-License-Identifier: Apache-2.0 */
/*
 * when_entry_test.c - buffered messages and waits are found in the order of age, with an index and
 * without: random operations, compared with arrays that are searched from the beginning.
 */
#include "flow/when_entry.h"

#include <string.h>

#include "tests/tap.h"

#define THINGS_MAX 400

/* The model: messages and waits in the order of age. */
struct when_test {
    skuac_when  entry;
    skuac_flow  flow;
    skuac_frame frame;
    skua_msg   *msg[THINGS_MAX];
    skuac_wait *wait[THINGS_MAX];
    unsigned    msgs, waits;
    int64_t     refnums; /* reference numbers are drawn from 0 to refnums - 1 */
    uint64_t    seed;
    unsigned    wrong;
    bool        indexed; /* an index has been built at least once */
};

static int64_t when_test_draw(struct when_test *t, int64_t below)
{
    return (int64_t)(tap_random(&t->seed) % (uint64_t)below);
}

static void when_test_remove(void **list, unsigned *count, unsigned at)
{
    memmove(list + at, list + at + 1, (--*count - at) * sizeof *list);
}

static void when_test_buffer(struct when_test *t)
{
    skua_msg *msg = calloc(1, sizeof(struct skua_msg));

    if (t->msgs == THINGS_MAX) {
        free(msg);
        return;
    }
    msg->target = (uint64_t)when_test_draw(t, t->refnums);
    ski_when_buffer(&t->entry, msg);
    t->msg[t->msgs++] = msg;
}

/* Takes the first message that matches a random wait; compares it and the next with the model. */
static void when_test_take(struct when_test *t)
{
    skuac_wait wait  = {.any       = when_test_draw(t, 4) == 0,
                        .reference = when_test_draw(t, t->refnums)};
    skua_msg  *first = ski_when_first(&t->entry, &wait);
    unsigned   at    = 0, next;

    while (at < t->msgs && !wait.any && ski_when_refnum(t->msg[at]) != wait.reference)
        at++;
    if (at == t->msgs) {
        t->wrong += first != NULL;
        return;
    }
    t->wrong += first != t->msg[at];
    for (next = at + 1; next < t->msgs && !wait.any;) {
        if (ski_when_refnum(t->msg[next]) == wait.reference)
            break;
        next++;
    }
    t->wrong += ski_when_next(&t->entry, &wait, first) != (next < t->msgs ? t->msg[next] : NULL);
    ski_when_unbuffer(&t->entry, first);
    when_test_remove((void **)t->msg, &t->msgs, at);
    free(first);
}

static void when_test_add_wait(struct when_test *t)
{
    skuac_wait *wait = calloc(1, sizeof *wait);

    if (t->waits == THINGS_MAX) {
        free(wait);
        return;
    }
    wait->frame     = &t->frame;
    wait->any       = when_test_draw(t, 8) == 0;
    wait->reference = when_test_draw(t, t->refnums);
    ski_when_add_wait(&t->entry, wait);
    t->wait[t->waits++] = wait;
}

/* Compares all results of a search with the model. */
static void when_test_search(struct when_test *t)
{
    struct ski_when_search search;
    int64_t                reference = when_test_draw(t, t->refnums);

    ski_when_search_begin(&search, &t->entry, reference);
    for (unsigned i = 0; i < t->waits; i++)
        if (t->wait[i]->any || t->wait[i]->reference == reference)
            t->wrong += ski_when_search_next(&search) != t->wait[i];
    t->wrong += ski_when_search_next(&search) != NULL;
}

static void when_test_remove_wait(struct when_test *t)
{
    unsigned    at = t->waits ? (unsigned)when_test_draw(t, t->waits) : 0;
    skuac_wait *wait;

    if (!t->waits)
        return;
    wait = t->wait[at];
    ski_when_remove_wait(&t->entry, wait);
    when_test_remove((void **)t->wait, &t->waits, at);
    free(wait);
}

static void when_test_step(struct when_test *t, bool grow)
{
    unsigned chance = (unsigned)when_test_draw(t, 8);

    if (chance < 2 || (chance == 2 && grow))
        when_test_buffer(t);
    else if (chance < 4)
        when_test_take(t);
    else if (chance < 5 || (chance == 5 && grow))
        when_test_add_wait(t);
    else if (chance < 7)
        when_test_remove_wait(t);
    else
        when_test_search(t);
    t->indexed = t->indexed || t->entry.index;
}

static void when_test_empty(struct when_test *t)
{
    const skuac_wait any = {.any = true};

    while (t->waits)
        when_test_remove_wait(t);
    for (skua_msg *msg; (msg = ski_when_first(&t->entry, &any)); free(msg))
        ski_when_unbuffer(&t->entry, msg);
    t->msgs = 0;
}

static void when_test_run(int64_t refnums, unsigned steps, uint64_t seed, bool indexed)
{
    static struct when_test t;

    memset(&t, 0, sizeof t);
    t.frame.flow = &t.flow;
    t.refnums    = refnums;
    t.seed       = seed;
    for (unsigned i = 0; i < steps; i++)
        when_test_step(&t, i / 1000 % 2 == 0); /* fill and drain in turn */
    OK(t.wrong == 0, "%d reference numbers: %u steps agree with the model", (int)refnums, steps);
    OK(!indexed || t.indexed, "%d reference numbers: an index was built if needed", (int)refnums);
    when_test_empty(&t);
    OK(!t.entry.index && !t.entry.waits && !t.entry.first, "an index is freed when it is empty");
    ski_when_destroy(&t.entry);
}

int main(void)
{
    uint64_t seed = tap_seed();

    when_test_run(1, 5000, seed, false);
    when_test_run(3, 20000, seed, false);
    when_test_run(200, 40000, seed, true);
    return tap_end();
}
