/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - what a PE knows of the elements of a collection, by index.
 *
 * A value is an object that is here, or the record of an element that is absent: where it is, and
 * the messages that wait for it.  The lowest bit of a value tells which.  An element that is here
 * while messages wait for others has a record, too, which names the object: the fast paths take it
 * for absent.
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
    uint32_t        checks; /* of a destroyed element: answers awaited (closing.h) */
    bool            judged; /* of a destroyed element: it is not inserted again    */

    /* The messages of this PE to it: lookup.h. */
    int32_t  route;       /* the PE that they were sent to last, or SKI_ROUTE_NONE              */
    uint32_t marker;      /* the number of the last marker                                     */
    bool     own;         /* some left this PE's queue as those of other PEs do: by forwarding */
    bool     changing;    /* the route changes: messages are kept                              */
    bool     queued;      /* at the home: the marker is among the messages that it sends on     */
    struct ski_list kept; /* until it has changed, or the element has arrived                  */

    /* Messages of any PE, since the element was last here: route.h. */
    bool forwarded; /* some were sent on to the home                                     */
    bool returned;  /* some that came from the home were sent back, since its last probe,
                       whose priorities are not less urgent than that of a probe         */

    /* SKI_ABSENT_HOLDING: hold.h. */
    struct ski_object *object; /* the element; else NULL                            */
    bool               asked;  /* the home has not answered the report of its arrival */
    struct ski_list    direct; /* messages that other PEs sent here                 */

    union {
        struct ski_forward_window *forward; /* forward_window.h; NULL: no message was forwarded */
        struct ski_absent         *spare;   /* of a record that is not in use: the next one     */
    };
};

/* In place of the PE of an absent element.  In the last two states this PE has asked the home to
 * let the element be created here (claim.h); or the element is here, and later messages wait until
 * earlier ones have run (hold.h). */
enum {
    SKI_ABSENT_UNKNOWN = -1,
    SKI_ABSENT_DELETED = -2,
    SKI_ABSENT_CLAIMED = -3,
    SKI_ABSENT_HOLDING = -4
};

#define SKI_ROUTE_NONE (-1) /* no message of this PE is under way */

/** Returns whether the element of a record is expected on this PE, or here, whatever other PEs
 * report of it. */
static inline bool ski_absent_expected(const struct ski_absent *absent)
{
    return absent->pe <= SKI_ABSENT_CLAIMED;
}

/** Returns whether this PE keeps the messages that it sends to an absent element. */
static inline bool ski_absent_keeps(const struct ski_absent *absent)
{
    return absent->changing || ski_absent_expected(absent);
}

/** Returns whether messages wait in a record, or may come back to it (forward_window.h). */
static inline bool ski_absent_waits(const struct ski_absent *absent)
{
    return absent->held.first || absent->kept.first || absent->direct.first || absent->forward;
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

/** Returns the object that a value of a directory is, or that its record names; or NULL. */
static inline struct ski_object *ski_directory_present(uintptr_t value)
{
    const struct ski_absent *absent = ski_directory_absent(value);

    return SKI_LIKELY(!absent) ? (struct ski_object *)value : absent->object;
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
