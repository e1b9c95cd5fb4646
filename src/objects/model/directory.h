/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - what a PE knows of the elements of a collection, by index.
 *
 * A value is an object that is here, or the record of an element that is absent: where it is, and
 * the messages that wait for it.  The lowest bit of a value tells which.
 *
 * Open addressing with linear probing in groups of eight slots, at most three quarters full.
 * Removing an entry moves those after it back, so a search ends at the first free slot.
 */
#ifndef SKI_DIRECTORY_H
#define SKI_DIRECTORY_H

#include "core/data/msg_list.h"
#include "objects/model/index.h"

struct ski_forward_window;
struct ski_object;

/* A report of the location of an element to another PE. */
struct ski_location_update {
    int32_t  pe;    /* where it is, or SKI_ABSENT_DELETED       */
    uint32_t moves; /* how often it has migrated then, a seqnum */
};

/* The record of an element that is not here. */
struct ski_absent {
    skua_index      index;
    int32_t         pe;     /* where it is, or SKI_ABSENT_...               */
    uint32_t        moves;  /* its number of migrations then, a seqnum      */
    struct ski_list held;   /* messages that wait for it                    */
    uint32_t        checks; /* of a deleted element: answers awaited (closing.h) */
    bool            judged; /* of a deleted element: it is not inserted again    */

    struct ski_location_update told; /* SKI_ABSENT_CHANGING: the last update                   */
    struct ski_list arrived; /* SKI_ABSENT_ARRIVING: the order to create it, and messages for it */

    union {
        struct ski_forward_window *forward; /* forward_window.h; NULL: no message was forwarded */
        struct ski_absent         *spare;   /* of a record that is not in use: the next one     */
    };
};

/* In place of the PE of an absent element.  In the last three states this PE keeps the messages
 * that it sends to the element: it has asked the home to let the element be created here (claim.h);
 * the route to the element changes; an order to create the element has arrived (route.h). */
enum {
    SKI_ABSENT_UNKNOWN  = -1,
    SKI_ABSENT_DELETED  = -2,
    SKI_ABSENT_CLAIMED  = -3,
    SKI_ABSENT_CHANGING = -4,
    SKI_ABSENT_ARRIVING = -5
};

/** Returns whether this PE keeps the messages that it sends to an absent element. */
static inline bool ski_absent_keeps(const struct ski_absent *absent)
{
    return absent->pe <= SKI_ABSENT_CLAIMED;
}

/* An entry of a directory, or a free slot. */
struct ski_directory_slot {
    uint64_t  key;
    uintptr_t value; /* 0: free */
};

/* The elements of a collection that this PE knows, by index. */
struct ski_directory {
    struct ski_directory_slot *slot;
    uint64_t                   mask;
    unsigned                   shift;
    bool                       exact;    /* keys are the indices themselves                 */
    uint64_t                   mask_key; /* of an index's last eight bytes, those that it has */
    uint64_t                   golden;   /* SKI_GOLDEN: a load is faster than its making    */
    size_t                     count;
    uint64_t                   version; /* incremented by every change, never 0 */
};

#define SKI_ABSENT_BIT ((uintptr_t)1)

/** Returns the object that a value of a directory is, or NULL. */
static inline struct ski_object *ski_directory_object(uintptr_t value)
{
    return SKI_LIKELY(!(value & SKI_ABSENT_BIT)) ? (struct ski_object *)value : NULL;
}

/** Returns the record of an absent element that a value of a directory is, or NULL. */
static inline struct ski_absent *ski_directory_absent(uintptr_t value)
{
    return value & SKI_ABSENT_BIT ? (struct ski_absent *)(value ^ SKI_ABSENT_BIT) : NULL;
}

/** Begins an empty directory, of indices of @p index_bytes, or of any length (0). */
void ski_directory_init(struct ski_directory *directory, uint32_t index_bytes);

/** Frees the slots of a directory, not the values. */
void ski_directory_destroy(struct ski_directory *directory);

/** Makes room for @p more entries. */
void ski_directory_reserve(struct ski_directory *directory, size_t more);

/** Returns whether @p value is that of @p index.  Equal keys do not prove that if they are hashes.
 */
bool ski_directory_value_is(uintptr_t value, const skua_index *index);

/** Returns the key of an index of one or two integers at @p at. */
static inline uint64_t ski_directory_int_key(const struct ski_directory *directory, const void *at)
{
    uint64_t key;

    memcpy(&key, at, sizeof key);
    return key & directory->mask_key;
}

/** Returns the key of an index: itself, or its hash. */
static inline uint64_t ski_directory_key(const struct ski_directory *directory,
                                         const skua_index           *index)
{
    return directory->exact ? ski_directory_int_key(directory, &index->at) : ski_index_hash(index);
}

/** Returns the slot where the search for a key begins.  Keys that differ in the last three bits
 * only share a group of eight slots, so neighbours in an array are neighbours in memory; their
 * group, and their order in it, depend on a hash of the other bits, so keys at a stride use all
 * slots. */
static inline uint64_t ski_directory_begin(const struct ski_directory *directory, uint64_t key)
{
    return ((key >> 3) * directory->golden >> directory->shift) ^ (key & 7);
}

/** Returns the value of @p key, or 0, in a directory whose keys are the indices. */
static inline uintptr_t ski_directory_find_key(const struct ski_directory *directory, uint64_t key)
{
    const struct ski_directory_slot *slot = directory->slot;

    for (uint64_t at = ski_directory_begin(directory, key); slot[at].value;
         at          = (at + 1) & directory->mask)
        if (slot[at].key == key)
            return slot[at].value;
    return 0;
}

/** Returns the value of @p index, or 0. */
static inline uintptr_t ski_directory_find(const struct ski_directory *directory,
                                           const skua_index           *index)
{
    uint64_t                         key  = ski_directory_key(directory, index);
    uint64_t                         at   = ski_directory_begin(directory, key);
    const struct ski_directory_slot *slot = directory->slot;

    if (directory->exact)
        return ski_directory_find_key(directory, key);
    for (; slot[at].value; at = (at + 1) & directory->mask)
        if (slot[at].key == key && ski_directory_value_is(slot[at].value, index))
            return slot[at].value;
    return 0;
}

/** Sets the value of @p index, which may be new; 0 removes its entry.  Returns the former value, or
 *  0. */
uintptr_t ski_directory_set(struct ski_directory *directory, const skua_index *index,
                            uintptr_t value);

#endif
