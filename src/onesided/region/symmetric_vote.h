/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_vote.h - the members of a symmetric region on several hosts agree on its id, and that
 * all of them have its memory.
 *
 * The members form a tree that enters each host once.  A member sends its parent, once all its
 * children have voted, whether they have memory and how many bytes they asked for.  If all agree
 * the first member requests an id from the registrar, and the outcome goes down the tree.  After
 * they have created the region the members confirm that in a second vote: the first PE that knows
 * the outcome may access the memory of all others immediately.
 *
 * The registrar is PE 0, or the progress thread of its process.  A host keeps its memory of a
 * region until the members on all hosts have freed it: then the registrar notifies the hosts, and
 * reuses the id.
 *
 * A round is identified by its members, a hash of their list, and a count of the rounds of these
 * members.  Votes may arrive before this PE has called.
 */
#ifndef SKI_SYMMETRIC_VOTE_H
#define SKI_SYMMETRIC_VOTE_H

#include <skua/message.h>
#include <skua/region.h>

#define SKI_SYMMETRIC_VOTE_MIN 48

struct ski_pe;

/* One vote, as its members see it. */
struct ski_vote_round {
    const int *pes; /* the members, ascending; NULL: all PEs */
    uint32_t   members, rank;
    uint64_t   key, number;
    bool       confirms; /* the second vote: the members have an id */
};

/** Returns the next round of these members; @p rank is that of @p self. */
struct ski_vote_round ski_vote_round_next(struct ski_pe *self, const int *pes, uint32_t members,
                                          uint32_t rank);

/** Votes @p mine, the outcome of allocating @p bytes, and waits for the others.  Returns the common
 *  outcome and sets *id; *other is a size that differs from @p bytes, if there is one.
 *  SKUA_ERR_EXIT: the job ends. */
skua_status ski_symmetric_vote(struct ski_pe *self, const struct ski_vote_round *round,
                               skua_status mine, uint64_t bytes, uint32_t *id, uint64_t *other);

/** Reports to the registrar that @p members, all of this host, have freed region @p id.  When those
 * of the other hosts have freed it, too, ski_region_destroy() runs here. */
void ski_symmetric_vote_freed(uint32_t id, uint32_t members);

/** Reports to the registrar, in its process, that the restarted job has region @p id of @p members
 *  PEs.  Returns false if the registrar does not give out such an id. */
bool ski_symmetric_vote_restored(uint32_t id, uint32_t members);

/** Resets the ids of the registrar, in a process that has left its job. */
void ski_symmetric_vote_reset(void);

/** Frees the votes of a PE that ends. */
void ski_symmetric_vote_end(struct ski_pe *self);

/** Handles a vote, and what the registrar sends and receives. */
void ski_on_symmetric_vote(skua_msg *msg);

#endif
