/* SPDX-License-Identifier: Apache-2.0 */
/* isomalloc_test.c - blocks do not overlap, are found from any address, and are known to their
 * owners wherever they are. */
#include "core/isomalloc/isomalloc.h"

#include "base/config.h"
#include "tests/core_pe.h"

#define BLOCKS 300

static void iso_test_deliver(void)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < CORE_PES; i++) {
            core_pe_as(i);
            while (skua_poll(10))
                ;
        }
}

static char *iso_test_slot(void)
{
    bool fresh;

    return ski_isomalloc_slot(core_pe[0], &fresh);
}

/* The first slot of the share of PE @p i, of which none was used. */
static char *iso_test_slot_of(int i)
{
    bool fresh;

    return ski_isomalloc_slot(core_pe[i], &fresh);
}

static bool iso_test_blocks(void)
{
    static char  *block[BLOCKS];
    static size_t bytes[BLOCKS];
    bool          right = true;

    for (int i = 0; i < BLOCKS; i++) {
        bytes[i] = (size_t)(i + 1) * (size_t)(i % 7 + 1) * 13;
        block[i] = ski_isomalloc(core_pe[i % CORE_PES], bytes[i]);
        memset(block[i], i, bytes[i]);
        right &= (uintptr_t)block[i] % 16 == 0;
    }
    for (int i = 0; i < BLOCKS; i++) {
        right &= block[i][0] == (char)i && block[i][bytes[i] - 1] == (char)i;
        right &= ski_isomalloc_block(block[i] + bytes[i] - 1) == (uintptr_t)block[i];
        right &= ski_isomalloc_here(core_pe[i % CORE_PES], block[i] + bytes[i] / 2) != NULL;
        right &= !ski_isomalloc_here(core_pe[(i + 1) % CORE_PES], block[i]);
        right &= !ski_isomalloc_is_slot(block[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        ski_isomalloc_free(core_pe[i % CORE_PES], block[i]);
    return right;
}

/* Moves a slot of PE 0 around; returns what PE 0 thinks of it when all updates have arrived. */
static bool iso_test_moves(void)
{
    char               *slot = iso_test_slot();
    struct ski_iso_move move;
    bool                right = true;

    move = ski_isomalloc_depart(core_pe[0], slot, 1);
    right &= ski_isomalloc_lookup(core_pe[0], slot) == 1;
    right &= ski_isomalloc_move_valid(core_pe[1], &move, 0);
    ski_isomalloc_arrive(core_pe[1], &move);
    right &= !ski_isomalloc_move_valid(core_pe[1], &move, 0); /* it is there */
    move = ski_isomalloc_depart(core_pe[1], slot, 2);
    ski_isomalloc_arrive(core_pe[2], &move);
    right &= ski_isomalloc_lookup(core_pe[1], slot + 100) == 0; /* its owner knows */
    iso_test_deliver();
    right &= ski_isomalloc_lookup(core_pe[0], slot) == 2;
    ski_isomalloc_free(core_pe[2], slot);
    iso_test_deliver();
    right &= ski_isomalloc_lookup(core_pe[0], slot) == SKI_ISO_FREE;
    return right && iso_test_slot() == slot;
}

/* The update that PE 1 sends when a slot leaves it arrives after the slot has come home. */
static bool iso_test_late_update(void)
{
    char               *slot = iso_test_slot();
    struct ski_iso_move move = ski_isomalloc_depart(core_pe[0], slot, 1);

    ski_isomalloc_arrive(core_pe[1], &move);
    move = ski_isomalloc_depart(core_pe[1], slot, 2); /* tells PE 0 */
    ski_isomalloc_arrive(core_pe[2], &move);
    move = ski_isomalloc_depart(core_pe[2], slot, 0);
    ski_isomalloc_arrive(core_pe[0], &move);
    iso_test_deliver();
    return ski_isomalloc_here(core_pe[0], slot) != NULL;
}

/* Counts the slots of PE 0, of those in @p slot, whose first byte above the guard is kept. */
static int iso_test_kept(char **slot, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        kept += slot[i][ski_isomalloc_guard()] == 1;
    return kept;
}

/* Of eight slots that become free, stack_cache lets @p kept keep their pages, which are used first
 * again; none of the eight is fresh the second time. */
static bool iso_test_cache(size_t stack_cache, int kept)
{
    enum { SLOTS = 8 };
    size_t before = ski_config.stack_cache;
    char  *slot[SLOTS];
    bool   fresh = true, right = true;

    for (int i = 0; i < SLOTS; i++) {
        slot[i]                        = ski_isomalloc_slot(core_pe[0], &fresh);
        slot[i][ski_isomalloc_guard()] = 1;
    }
    ski_config.stack_cache = stack_cache;
    for (int i = 0; i < SLOTS; i++)
        ski_isomalloc_free(core_pe[0], slot[i]);
    for (int i = 0; i < SLOTS; i++) {
        slot[i] = ski_isomalloc_slot(core_pe[0], &fresh);
        right &= !fresh;
    }
    right &= iso_test_kept(slot, kept) == kept && iso_test_kept(slot, SLOTS) == kept;
    ski_config.stack_cache = before;
    for (int i = 0; i < SLOTS; i++)
        ski_isomalloc_free(core_pe[0], slot[i]);
    return right;
}

static bool iso_test_refused(void)
{
    char               *slot = iso_test_slot();
    struct ski_iso_move move = {(uintptr_t)slot + 64, 1, 0}, stack = {(uintptr_t)&slot, 1, 0};

    return !ski_isomalloc_move_valid(core_pe[1], &move, 0) &&
           !ski_isomalloc_move_valid(core_pe[1], &stack, 0) && !ski_isomalloc_contains(&slot) &&
           ski_isomalloc_block(&slot) == 0;
}

/* All PEs begin, as if in another job. */
static void iso_test_begin_again(void)
{
    for (int i = 0; i < CORE_PES; i++) {
        ski_isomalloc_end(core_pe[i]);
        ski_isomalloc_begin(core_pe[i]);
    }
}

/* Blocks of a former job come back; their owner gives none of them out before they are free. */
static bool iso_test_restart(void)
{
    enum { SLOTS = 3 };
    uint64_t            shares = ski_isomalloc_shares(), layout = ski_isomalloc_layout();
    char               *slot[SLOTS];
    struct ski_iso_move move;
    bool                fresh, right;

    iso_test_begin_again();
    for (int i = 0; i < SLOTS; i++)
        slot[i] = ski_isomalloc_slot(core_pe[0], &fresh);
    iso_test_begin_again();
    right = !ski_isomalloc_adopt(core_pe[0], shares, layout + 1) &&
            !ski_isomalloc_adopt(core_pe[0], shares + 1, layout) &&
            !ski_isomalloc_adopt(core_pe[0], 0, layout) &&
            !ski_isomalloc_adopt(core_pe[0], UINT64_MAX, layout) &&
            ski_isomalloc_layout() == layout && !ski_isomalloc_restores(core_pe[0]);
    for (int i = 0; i < CORE_PES; i++)
        right &= ski_isomalloc_adopt(core_pe[i], shares, layout);
    move = (struct ski_iso_move){.at = (uintptr_t)slot[0]};
    right &= ski_isomalloc_may_restore(core_pe[0], &move, 0);
    ski_isomalloc_arrive(core_pe[0], &move);
    right &= !ski_isomalloc_may_restore(core_pe[0], &move, 0); /* twice */
    right &= !ski_isomalloc_restored(core_pe[0], move.at, 1);
    right &= ski_isomalloc_restored(core_pe[0], (uintptr_t)slot[1], 2);
    right &= !ski_isomalloc_restored(core_pe[0], (uintptr_t)slot[1] + 8, 2);
    right &= !ski_isomalloc_restored(core_pe[0], (uintptr_t)slot[2], CORE_PES);
    right &= !ski_isomalloc_restored(core_pe[1], (uintptr_t)slot[2], 2); /* not its own */
    right &= ski_isomalloc_lookup(core_pe[0], slot[1]) == 2;
    right &= ski_isomalloc_slot(core_pe[0], &fresh) == slot[2] && fresh;
    move.at = (uintptr_t)slot[1];
    ski_isomalloc_arrive(core_pe[2], &move);
    ski_isomalloc_free(core_pe[2], slot[1]);
    iso_test_deliver();
    return right && ski_isomalloc_slot(core_pe[0], &fresh) == slot[1] && fresh; /* no guard yet */
}

/* A share beyond the number of PEs belongs to one of them. */
static bool iso_test_owners(void)
{
    char  *slot  = iso_test_slot_of(1);
    size_t share = (size_t)(iso_test_slot_of(2) - slot);
    bool   right = true;

    slot -= share;

    for (size_t i = 0; i < ski_isomalloc_shares(); i++)
        right &= ski_isomalloc_owner(slot + i * share) == (int)(i % CORE_PES) &&
                 ski_isomalloc_block(slot + i * share) == (uintptr_t)slot + i * share;
    return right && !ski_isomalloc_contains(slot + ski_isomalloc_shares() * share);
}

/* A PE whose first share has no room continues in its next one. */
static bool iso_test_next_share(void)
{
    size_t bytes = (size_t)300 << 20; /* the zone of such blocks has room for one of them */
    char  *first = ski_isomalloc(core_pe[1], bytes), *next = ski_isomalloc(core_pe[1], bytes);
    bool   right = first && next && ski_isomalloc_owner(next) == 1 &&
                 ski_isomalloc_block(next) == (uintptr_t)next;

    if (ski_isomalloc_shares() < 2 * CORE_PES)
        return true; /* the range is small under ThreadSanitizer */
    right = right && (size_t)(next - first) % CORE_PES == 0 && (size_t)(next - first) > bytes;
    ski_isomalloc_free(core_pe[1], first);
    ski_isomalloc_free(core_pe[1], next);
    return right;
}

int main(void)
{
    core_handler[SKI_HANDLER_ISOMALLOC] = ski_on_isomalloc;
    core_pes_begin(64);
    if (!ski_isomalloc_open(core_pe[0]->job, 65536)) {
        OK(true, "the range is not free here # SKIP");
        core_pes_end();
        return tap_end();
    }
    for (int i = 0; i < CORE_PES; i++)
        ski_isomalloc_begin(core_pe[i]);
    OK(iso_test_blocks(), "blocks of many sizes are apart, and found from addresses in them");
    OK(iso_test_moves(), "the owner of a slot learns where it is, and gets it back");
    OK(iso_test_late_update(), "an update that comes late is ignored");
    OK(iso_test_refused(), "addresses that are not those of a block are refused");
    OK(iso_test_cache(2 * 5 * ski_isomalloc_slot_bytes(), 5),
       "free slots keep their pages up to half of stack_cache, and are used first");
    OK(iso_test_cache(1, 4), "a few keep them in any case");
    OK(iso_test_cache(0, 0), "none keeps them if stack_cache is 0");
    OK(!ski_isomalloc(core_pe[0], (size_t)1 << 45), "a block that is too large is not there");
    OK(iso_test_restart(),
       "blocks of a former job come back, and are given out when they are free");
    OK(iso_test_owners(), "each share has an owner");
    OK(iso_test_next_share(), "a PE uses all of its shares");
    core_pes_end();
    ski_isomalloc_close();
    return tap_end();
}
