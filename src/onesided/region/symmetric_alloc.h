/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_alloc.h - symmetric regions of a job that is spread over several arenas: the
 * members agree on an id, and that all of them have the memory.
 *
 * The members form a tree, in the order of their list.  Each tells its parent, when
 * its children have told it, whether memory was found and how much was asked for; if
 * all is well the first member gets an id from the registrar, and what came of it goes
 * down the tree.  When they have made the region they confirm it in the same way, since
 * who hears of it first may access the memory of all at once.
 *
 * The registrar is PE 0, or the helper of its process.  When all members have left a
 * region it says so to the hosts, which keep their memory until then, and the id can be
 * given again.
 *
 * A round is known by its members, a hash of their list, and by how many there have
 * been of those members.  Votes may come before this PE has called.
 */
#ifndef SKI_SYMMETRIC_ALLOC_H
#define SKI_SYMMETRIC_ALLOC_H

#include <skua/message.h>
#include <skua/region.h>

#define SKI_AGREE_LEAST 48

struct ski_pe;
struct ski_origin;

/* A round, as its members see it. */
struct ski_round {
    const int *pes; /* the members, ascending; NULL: all PEs */
    uint32_t   members, rank;
    uint64_t   key, number;
    bool       confirms; /* no id is needed any more */
};

/** The next round of these members; @p rank is ours. */
struct ski_round ski_round_next(struct ski_pe *self, const int *pes, uint32_t members,
                                uint32_t rank);

/** Agree: @p mine is what came of our memory, of @p bytes.  The common outcome, and *id;
 *  *other is a size that differs from ours, or ours.  SKUA_ERR_EXIT: the job ends. */
skua_status_t ski_agree(struct ski_pe *self, const struct ski_round *round, skua_status_t mine,
                        uint64_t bytes, uint32_t *id, uint64_t *other);

/** So many members, all that are here, have left a region that was agreed on.  When the
 *  others have left it too, ski_region_remove() is called here. */
void ski_agree_left(uint32_t id, uint32_t members);

void ski_agree_end(struct ski_origin *origin);

void ski_on_agree(skua_msg *msg);

#endif
