/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - what a PE knows of the elements of an array, by index.
 *
 * A value is an object that is here, or a *place*: where one is that is not, and what
 * waits for one that does not exist yet.  They are told apart by the lowest bit.
 *
 * Open addressing with linear probing, at most three quarters full; removal moves what
 * follows back, so there are no graves.
 */
#ifndef SKI_DIRECTORY_H
#define SKI_DIRECTORY_H

#include "core/data/msg_list.h"
#include "objects/chare/index.h"

struct ski_forward;
struct ski_object;

/* Of an element that is not here. */
struct ski_absent {
    skua_index      index;
    int32_t         pe;          /* where it is, or SKI_PLACE_... */
    uint32_t        moves;       /* so many had it made then     */
    struct ski_list held;        /* messages that wait for it    */
    uint32_t        checks;      /* at home, of one that was deleted: answers that are missing, see
                                    insertion.h */
    bool                judged;  /* ... and none inserts it again */
    struct ski_forward *forward; /* forward.h; NULL: none was forwarded */
};

/* Claimed: its home was asked to let it be created here, and will say where it is. */
enum { SKI_PLACE_UNKNOWN = -1, SKI_PLACE_DELETED = -2, SKI_PLACE_CLAIMED = -3 };

struct ski_slot {
    uint64_t  key;
    uintptr_t value; /* 0: free */
};

struct ski_directory {
    struct ski_slot *slot;
    uint64_t         mask;
    unsigned         shift;
    bool             exact;    /* keys are indices                 */
    uint64_t         mask_key; /* so much of the last eight bytes of an index is its own */
    uint64_t         golden;   /* SKI_GOLDEN: loaded faster than made */
    size_t           count;
    uint64_t         version; /* grows with every change, never 0 */
};

#define SKI_IS_PLACE ((uintptr_t)1)

/** For indices of @p index_bytes, or of any number of them (0). */
void ski_directory_init(struct ski_directory *directory, uint32_t index_bytes);
void ski_directory_destroy(struct ski_directory *directory);

/** Make room for @p more entries beyond those there are. */
void ski_directory_reserve(struct ski_directory *directory, size_t more);

/** Whether a value is the one of an index: where keys are not. */
bool ski_value_is(uintptr_t value, const skua_index *index);

/** The key of an index of one or two integers, which lie @p at. */
static inline uint64_t ski_key_of(const struct ski_directory *directory, const void *at)
{
    uint64_t key;

    memcpy(&key, at, sizeof key);
    return key & directory->mask_key;
}

/** The key of any index: itself, or its hash. */
static inline uint64_t ski_directory_key(const struct ski_directory *directory,
                                         const skua_index           *index)
{
    return directory->exact ? ski_key_of(directory, &index->at) : ski_index_hash(index);
}

/** Its value, or 0; where keys are indices. */
static inline uintptr_t ski_directory_find_key(const struct ski_directory *directory, uint64_t key)
{
    const struct ski_slot *slot = directory->slot;

    for (uint64_t at = key * directory->golden >> directory->shift; slot[at].value;
         at          = (at + 1) & directory->mask)
        if (slot[at].key == key)
            return slot[at].value;
    return 0;
}

/** Its value, or 0. */
static inline uintptr_t ski_directory_find(const struct ski_directory *directory,
                                           const skua_index           *index)
{
    uint64_t               key  = ski_directory_key(directory, index);
    uint64_t               at   = key * directory->golden >> directory->shift;
    const struct ski_slot *slot = directory->slot;

    if (directory->exact)
        return ski_directory_find_key(directory, key);
    for (; slot[at].value; at = (at + 1) & directory->mask)
        if (slot[at].key == key && ski_value_is(slot[at].value, index))
            return slot[at].value;
    return 0;
}

/** Set the value of an index, new or not; 0 takes it out. */
void ski_directory_set(struct ski_directory *directory, const skua_index *index, uintptr_t value);

#endif
