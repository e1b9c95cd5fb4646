/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_table.h - handles for local items, which other PEs may send back in place of an address.
 *
 * A handle is a slot of the table and the generation of that slot, so that a look-up of a forged or
 * stale handle fails.  Adding, finding and removing take constant time; the table grows with the
 * items that it has at a time.  0 is never a handle.
 *
 *      | generation, from 1 on (32) | slot (32) |
 */
#ifndef SKI_SLOT_TABLE_H
#define SKI_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A slot of the table. */
struct ski_slot_use {
    void    *item;       /* NULL: the slot is free             */
    uint32_t generation; /* grows when an item is removed */
    uint32_t next;       /* free slot; the table's length: none */
};

/* A table; zeroed memory is an empty one. */
struct ski_slots {
    struct ski_slot_use *slot;
    uint32_t             room, free;
};

/** Adds @p item, which is not NULL.  Returns its handle. */
uint64_t ski_slots_add(struct ski_slots *slots, void *item);

/** Returns the item of a handle, which may be forged; NULL: there is none. */
void *ski_slots_find(const struct ski_slots *slots, uint64_t handle);

/** Removes the item of a valid handle. */
void ski_slots_remove(struct ski_slots *slots, uint64_t handle);

/** Frees the table; @p drop, unless NULL, is called with each item that is left. */
void ski_slots_end(struct ski_slots *slots, void (*drop)(void *item));

#endif
