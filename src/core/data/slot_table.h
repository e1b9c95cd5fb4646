/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_table.h - names for what a PE waits for, which other PEs may send back in the place of an
 * address: a slot of a table and the turn that it is used in, so that a name which is wrong, or
 * whose time is over, finds nothing.
 *
 *      | turn, from 1 on (32) | slot (32) |
 *
 * Adding, finding and removing take constant time.  The table grows with what is waited for at a
 * time.  0 is never a name.
 */
#ifndef SKI_SLOT_TABLE_H
#define SKI_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct ski_slot_use {
    void    *item; /* NULL: the slot is free             */
    uint32_t turn; /* changes when an item is removed    */
    uint32_t next; /* free slot; the table's length: none */
};

struct ski_slots {
    struct ski_slot_use *slot;
    uint32_t             room, free;
};

/** Name @p item, which is not NULL. */
uint64_t ski_slots_add(struct ski_slots *slots, void *item);

/** The item of that name, or NULL. */
void *ski_slots_find(const struct ski_slots *slots, uint64_t name);

/** Forget the name of an item that there is. */
void ski_slots_remove(struct ski_slots *slots, uint64_t name);

/** Free the table; @p drop, or NULL, gets each item that is left in it. */
void ski_slots_end(struct ski_slots *slots, void (*drop)(void *item));

#endif
