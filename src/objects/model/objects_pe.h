/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_pe.h - the state of the objects layer on a PE.
 *
 * The members are those that messages to objects use, and the table of collections.  All other
 * state belongs to one module each: a module keeps it in its slot, from its pe_begin to its
 * pe_end (lifecycle.h).
 */
#ifndef SKI_OBJECTS_PE_H
#define SKI_OBJECTS_PE_H

#include "core/pe/pe.h"
#include "objects/model/lifecycle.h"

struct ski_collection;
struct ski_measure;
struct ski_entry;
struct ski_reply;

/* The modules that have state of a PE. */
enum ski_objects_slot {
    SKI_SLOT_BALANCE,
    SKI_SLOT_CALLBACKS,
    SKI_SLOT_CHECKPOINT,
    SKI_SLOT_CREATION_WAIT,
    SKI_SLOT_DETECTORS,
    SKI_SLOT_FINALIZE,
    SKI_SLOT_IDLE_REPORT,
    SKI_SLOT_LEARNED_CHANNELS,
    SKI_SLOT_MEASURE,
    SKI_SLOT_NOCOPY,
    SKI_SLOT_OBJECT_CHANNELS,
    SKI_SLOT_PROGRAM,
    SKI_SLOT_QUIESCENCE,
    SKI_SLOT_SECTIONS,
    SKI_SLOT_SEEDS,
    SKI_SLOT_TERMINATION,
    SKI_SLOT_THREAD_MIGRATION,
    SKI_SLOTS
};

#define SKI_NO_GROUP (UINT64_MAX << 32) /* no id: the count of an id is not 0 */

/* The state of this layer on a PE. */
struct ski_objects {
    /* Used by every message to an object. */
    struct ski_collection  *last;    /* the collection found last; never NULL            */
    const struct ski_entry *entries; /* ski_entries (class.h)                            */
    uint64_t                stamp;   /* header word of small messages to objects here: invoke.c */
    struct ski_measure     *measure; /* what entries are charged to (measure/); NULL: nothing */
    const struct ski_entry *run;     /* the entries as this PE runs them: ski_entries, or a copy of
                                        it in which each is SKI_ENTRY_MEASURED                    */

    struct skua_msg *offered; /* the multicast that an entry is run with, which it may share
                                 (core/message/msg_share.h); NULL: none */

    const skua_handler_fn *handlers; /* self->handler, unless a module lets messages wait */

    uint64_t local_group;  /* the group whose member was looked up last, or SKI_NO_GROUP */
    void    *local_member; /* its member on this PE                                      */

    struct ski_pe          *self;
    struct ski_collection **table; /* collection.c: open addressing by id */
    uint64_t                mask;
    size_t                  count;
    uint32_t                collections_created; /* by this PE                        */
    uint32_t                creators; /* PEs that may have given out ids: those of this job, or of
                                         a larger one that it was restarted from            */
    uint64_t          chares_created; /* single objects, by this PE        */
    struct ski_reply *replies;        /* of sync entries on this PE's own stack: entry.c */

    /* Until the program has begun (services/program.h): takes the creation of a collection, which
     * other PEs get with the read-only variables.  NULL: it is broadcast. */
    void (*hold_creation)(struct ski_pe *self, skua_msg *msg);

    void                      *slot[SKI_SLOTS];
    struct ski_lifecycle_table lifecycle;
};

/** Returns the id of a collection or a section: the PE that creates it, and its count of them. */
static inline uint64_t ski_id_make(uint64_t creator, uint32_t number)
{
    return creator << 32 | number;
}

/** Returns whether a PE of this job, or of the one that it was restarted from, can have given out
 * @p id. */
static inline bool ski_id_valid(const struct ski_pe *self, uint64_t id)
{
    return id >> 32 < self->objects->creators && (uint32_t)id > 0;
}

/** Returns the PE that stands for the one that gave out @p id: that PE, or another if the job was
 * restarted with fewer PEs. */
static inline int ski_id_root(const struct ski_pe *self, uint64_t id)
{
    return (int)((id >> 32) % (uint64_t)self->pes);
}

/** Returns whether the program has not begun on this PE (services/program.h). */
static inline bool ski_objects_gated(const struct ski_objects *objects)
{
    return objects->hold_creation != NULL;
}

#endif
