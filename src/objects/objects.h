/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - what a PE remembers for this layer, and its beginning and end. */
#ifndef SKI_OBJECTS_H
#define SKI_OBJECTS_H

#include "core/data/slot_table.h"
#include "core/message/message.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "objects/chare/hash_table.h"

struct ski_collection;
struct ski_creation_wait;
struct ski_detect;
struct ski_entry;
struct ski_gate;
struct ski_idle_report;
struct ski_lanes;
struct ski_quiet;
struct ski_reply;
struct ski_sections;
struct ski_seeds;
struct ski_waves;

struct ski_objects {
    /* What every message to an object looks at. */
    struct ski_collection  *last;    /* found; never NULL                           */
    const struct ski_entry *entries; /* class.h's                                   */
    uint64_t                stamp;   /* of small messages to objects here: invoke.c */

    struct ski_pe          *self;
    struct ski_collection **table; /* collection.c */
    uint64_t                mask;
    size_t                  count;
    uint32_t                created; /* collections, by this PE ... */
    uint64_t                chares;  /* ... and single objects      */
    uint64_t                random;  /* chare.c                     */
    struct ski_reply       *replies; /* of entries that run: invoke.c */

    struct ski_chains errands; /* callback_table.c */

    struct ski_sections      *sections;      /* section.c */
    struct ski_seeds         *seeds;         /* seed.c       */
    struct ski_waves         *waves;         /* termination.c       */
    struct ski_quiet         *quiet;         /* quiescence.c */
    struct ski_detect        *detect;        /* detector.c   */
    struct ski_gate          *gate;          /* program.c    */
    struct ski_creation_wait *creation_wait; /* creation_wait.c: the innermost, or NULL */
    struct ski_idle_report   *idle_report;   /* idle_report.c */
    struct ski_lanes         *lanes;         /* learned_channel.c; NULL: there are none */
    struct ski_slots          parts;         /* nocopy.c */
};

/** The name of a collection or a section: the PE that creates it, and its count of them. */
static inline uint64_t ski_name(uint64_t creator, uint32_t number)
{
    return creator << 32 | number;
}

static inline bool ski_name_possible(const struct ski_pe *self, uint64_t name)
{
    return name >> 32 < (uint64_t)self->pes && (uint32_t)name > 0;
}

/** One of the PEs, at random (chare.c). */
int ski_random_pe(struct ski_objects *objects);

/** What core calls of this layer. */
extern const struct ski_layer ski_objects_layer;

/** On each PE, also the hidden helpers. */
void ski_objects_begin(struct ski_pe *self);
void ski_objects_end(struct ski_pe *self);

#endif
