/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_state.c - what a program has besides objects is in a checkpoint: regions with their
 * contents.
 *
 * usage: checkpoint_state DIR [other] [stay]
 *
 * All PEs create regions, and fill them by their ids and PEs.  PE 0 makes a checkpoint; with `stay`
 * the job goes on, else it ends.  Restarted, or not, each PE looks at its pieces and at those of
 * the next PE, destroys the regions and creates others.  With `other` the program allows a restart
 * on another number of PEs: one region is redistributed, the others are transient.
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MOST  64 /* PEs */
#define GRAIN 24
#define WORDS                                                                                      \
    30 /* of the region in blocks, on each PE, in a job that is not restarted: 10 grains */

/* The regions; even is that of PEs of even numbers. */
struct regions {
    skua_region whole, even, varied, blocks, transient;
    skua_locks  locks;
    skua_region own[MOST]; /* of each PE */
};

static int            pes, other, stay;
static struct regions first; /* read-only */

static skua_handler saved_handler, flushed_handler, look_handler, looked_handler, own_handler;
static int          looked, owned;
static skua_region  owns[MOST]; /* at PE 0, which may get them before it has its own */
static char         dir[4000];  /* of PE 0 */

/* ---- contents ---------------------------------------------------------------------------- */

static uint64_t word_of(skua_region region, int pe, uint64_t i)
{
    return (uint64_t)region.id << 32 ^ (uint64_t)pe << 20 ^ i;
}

static void fill(skua_region region, int pe)
{
    uint64_t *piece = skua_region_local(region);

    for (uint64_t i = 0; i < skua_region_size(region) / sizeof *piece; i++)
        piece[i] = word_of(region, pe, i);
}

static void look_at(skua_region region, int pe, size_t bytes)
{
    uint64_t *copy = malloc(bytes + 1);

    CHECK(skua_region_size_of(region, pe) == bytes);
    CHECK(skua_get(copy, skua_at(region, pe, 0), bytes) == SKUA_OK);
    for (uint64_t i = 0; i < bytes / sizeof *copy; i++)
        CHECK(copy[i] == word_of(region, pe, i));
    free(copy);
}

static size_t varied_bytes(int pe)
{
    return (size_t)(pe % 3) * 4096 + (size_t)pe * 8;
}

/* ---- the regions ----------------------------------------------------------------------------- */

static bool is_even(void)
{
    return skua_pe() % 2 == 0;
}

static void create(struct regions *r)
{
    int list[MOST], n = 0;

    for (int pe = 0; pe < skua_pes(); pe += 2)
        list[n++] = pe;
    CHECK(skua_region_create(8, &r->transient) == SKUA_OK); /* leaves a gap in the numbers */
    CHECK(skua_region_create(80000, &r->whole) == SKUA_OK);
    CHECK(skua_region_create(WORDS * sizeof(uint64_t), &r->blocks) == SKUA_OK);
    if (is_even())
        CHECK(skua_region_create_on(list, n, 264, &r->even) == SKUA_OK);
    CHECK(skua_region_create_varied(varied_bytes(skua_pe()), &r->varied) == SKUA_OK);
    CHECK(skua_region_create_local(1000, &r->own[skua_pe()]) == SKUA_OK);
    CHECK(skua_locks_create(3, &r->locks) == SKUA_OK);
    CHECK(skua_region_set_name(r->whole, "whole") == SKUA_OK);
    CHECK(skua_region_set_restart(r->transient, SKUA_REGION_TRANSIENT, 0) == SKUA_OK);
    CHECK(skua_region_set_restart(r->blocks, SKUA_REGION_BLOCKS, GRAIN) == SKUA_OK);
}

static void make_transient(skua_region region)
{
    CHECK(skua_region_set_restart(region, SKUA_REGION_TRANSIENT, 0) == SKUA_OK);
}

static void allow_other(const struct regions *r)
{
    make_transient(r->whole);
    make_transient(r->varied);
    make_transient(r->own[skua_pe()]);
    make_transient(r->locks.region);
    if (is_even())
        make_transient(r->even);
}

static void fill_all(const struct regions *r)
{
    fill(r->whole, skua_pe());
    fill(r->blocks, skua_pe());
    fill(r->varied, skua_pe());
    fill(r->own[skua_pe()], skua_pe());
    if (is_even())
        fill(r->even, skua_pe());
    CHECK(skua_lock(r->locks, (skua_pe() + 1) % skua_pes(), 2));
    skua_unlock(r->locks, (skua_pe() + 1) % skua_pes(), 2);
}

/* The sequence of words is that of the former job, whatever the number of PEs is. */
static void look_at_blocks(skua_region blocks)
{
    size_t    bytes = skua_region_size(blocks), words = bytes / sizeof(uint64_t);
    uint64_t *piece = skua_region_local(blocks);

    CHECK(bytes % GRAIN == 0 && bytes * (size_t)skua_pes() >= WORDS * sizeof *piece * (size_t)pes);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t at = (uint64_t)skua_pe() * words + i;

        if (at < (uint64_t)(WORDS * pes))
            CHECK(piece[i] == word_of(blocks, (int)(at / WORDS), at % WORDS));
    }
}

static void look_at_all(const struct regions *r)
{
    int next = (skua_pe() + 1) % skua_pes();

    look_at(r->whole, skua_pe(), 80000);
    look_at(r->whole, next, 80000);
    look_at(r->varied, skua_pe(), varied_bytes(skua_pe()));
    look_at(r->varied, next, varied_bytes(next));
    look_at(r->own[skua_pe()], skua_pe(), 1000);
    if (is_even())
        look_at(r->even, 0, 264);
    CHECK(skua_lock(r->locks, next, 2));
    skua_unlock(r->locks, next, 2);
    skua_sync();
    if (is_even())
        CHECK(skua_region_destroy(r->even) == SKUA_OK);
    CHECK(skua_region_destroy(r->whole) == SKUA_OK);
    CHECK(skua_region_destroy(r->varied) == SKUA_OK);
    CHECK(skua_region_destroy(r->own[skua_pe()]) == SKUA_OK);
    CHECK(skua_locks_destroy(r->locks) == SKUA_OK);
}

static void look(const struct regions *r, bool restarted)
{
    struct regions others;

    look_at_blocks(r->blocks);
    CHECK(!restarted || skua_region_size(r->transient) == 0);
    if (!other)
        look_at_all(r);
    skua_sync();
    CHECK(skua_region_destroy(r->blocks) == SKUA_OK);
    for (int i = 0; i < 20; i++) { /* their numbers are those of no region that exists */
        create(&others);
        fill_all(&others);
        skua_sync();
        look_at_all(&others);
        CHECK(skua_region_destroy(others.blocks) == SKUA_OK);
        CHECK(skua_region_destroy(others.transient) == SKUA_OK);
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

struct order {
    struct regions regions;
    bool           restarted;
};

static void on_look(skua_msg *msg)
{
    struct order order;

    memcpy(&order, skua_msg_data(msg), sizeof order);
    skua_msg_free(msg);
    look(&order.regions, order.restarted);
    skua_send_copy(0, looked_handler, NULL, 0);
}

static void on_looked(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++looked == skua_pes()) {
        printf("result %d\n", pes);
        skua_exit(0);
    }
}

static void on_saved(skua_msg *msg)
{
    skua_checkpoint_result result;
    struct order          *order;

    memcpy(&result, skua_msg_data(msg), sizeof result);
    skua_msg_free(msg);
    CHECK(result.status == SKUA_OK && result.generation > 0);
    if (!result.restarted && !stay) {
        skua_checkpoint_flush(skua_done_send(0, flushed_handler));
        return;
    }
    msg    = skua_msg_alloc(sizeof *order);
    order  = skua_msg_data(msg);
    *order = (struct order){first, result.restarted};
    skua_broadcast(look_handler, msg, skua_done_nothing());
}

/* The region of each PE alone is known to all. */
static void on_own(skua_msg *msg)
{
    owns[skua_msg_source(msg)] = *(const skua_region *)skua_msg_data(msg);
    skua_msg_free(msg);
    if (++owned < skua_pes())
        return;
    memcpy(first.own, owns, sizeof owns);
    skua_checkpoint(dir, skua_done_send(0, saved_handler));
}

static void on_flushed(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    struct regions mine = {.whole = {0}};

    CHECK(argc > 1 && skua_pes() <= MOST);
    for (int i = 2; i < argc; i++) {
        other = other || strcmp(argv[i], "other") == 0;
        stay  = stay || strcmp(argv[i], "stay") == 0;
    }
    create(&mine);
    if (other)
        allow_other(&mine);
    fill_all(&mine);
    skua_sync();
    if (skua_pe() == 0) {
        snprintf(dir, sizeof dir, "%s", argv[1]);
        pes   = skua_pes();
        first = mine;
        CHECK(skua_region_set_restart(mine.blocks, SKUA_REGION_BLOCKS, 7) == SKUA_ERR_INVAL);
        CHECK(skua_region_set_restart(mine.varied, SKUA_REGION_BLOCKS, 8) == SKUA_ERR_INVAL);
    }
    skua_send_copy(0, own_handler, &mine.own[skua_pe()], sizeof(skua_region));
}

int main(int argc, char **argv)
{
    saved_handler   = skua_handler_register("saved", on_saved);
    flushed_handler = skua_handler_register("flushed", on_flushed);
    look_handler    = skua_handler_register("look", on_look);
    looked_handler  = skua_handler_register("looked", on_looked);
    own_handler     = skua_handler_register("own", on_own);
    skua_readonly_register("pes", &pes, sizeof pes);
    skua_readonly_register("other", &other, sizeof other);
    skua_readonly_register("first", &first, sizeof first);
    return skua_main(argc, argv, start);
}
