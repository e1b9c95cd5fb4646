/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_tree.h - the creation of a section and of its tree of delegates.
 *
 * A section is created by a message with the lists of its delegates and their members
 * (section_list.h), that of the creator first.  The PE that gets the message is the delegate of the
 * first list.  It divides the other lists evenly among its children: the delegates of the first
 * list of each share.  The lists of its own host come first and are divided by themselves; those of
 * other hosts are divided by hosts, so that the tree enters each host once.  The trees of later
 * generations (section_rebuild.h) are made in the same way, with the same root.
 */
#ifndef SKI_SECTION_TREE_H
#define SKI_SECTION_TREE_H

#include <stdint.h>

#include <skua/message.h>

#include "boot/job.h"
#include "objects/collective/section.h"

/** Returns the children of a delegate that passes on @p others lists in a tree of @p arity. */
static inline uint32_t ski_section_tree_children(uint32_t others, uint32_t arity)
{
    return others < arity ? others : arity;
}

/** Returns the lists that child @p i of @p children gets of @p others. */
static inline uint32_t ski_section_tree_share(uint32_t others, uint32_t children, uint32_t i)
{
    return others / children + (i < others % children);
}

/** Returns the rank of delegate @p pe among the lists of a section of PE @p root: delegates of one
 * host have consecutive ranks, the host of the root first. */
static inline uint64_t ski_section_tree_rank(const struct ski_job *job, int root, int pe)
{
    int host = ski_job_host_of(job, pe) - ski_job_host_of(job, root);

    return (uint64_t)(host < 0 ? host + job->hosts : host) * (uint64_t)job->pes +
           (uint64_t)(pe < root ? pe - root + job->pes : pe - root);
}

/** Returns the delegate with @p rank in a section of PE @p root. */
static inline int ski_section_tree_pe(const struct ski_job *job, int root, uint64_t rank)
{
    return (int)((rank % (uint64_t)job->pes + (uint64_t)root) % (uint64_t)job->pes);
}

/* A member, and the rank of its delegate. */
struct ski_section_choice {
    uint64_t          rank;
    const skua_index *index;
};

/** At the root: creates the generation that follows @p section, of the members @p chosen, which are
 *  sorted by the call.  Returns its record. */
struct ski_section *ski_section_tree_succeed(struct ski_section        *section,
                                             struct ski_section_choice *chosen, size_t count);

/** At the root of a job that is restarted: creates section @p id of @p all again, whose members
 *  were the @p count elements of @p indices and whose first reduction is @p first.  Returns its
 *  record. */
struct ski_section *ski_section_tree_restore(struct ski_collection *all, uint64_t id,
                                             const skua_index *indices, size_t count,
                                             uint32_t first);

/** Handler: create a section at a delegate. */
void ski_on_section_create(skua_msg *msg);

#define SKI_SECTION_CREATE_MIN 32 /* bytes of the smallest creation */

#endif
