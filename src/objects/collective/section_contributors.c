/* SPDX-License-Identifier: Apache-2.0 */
/* section_contributors.c - see section_contributors.h. */
#include "objects/collective/section_contributors.h"

#include "base/memory.h"

/* Appends @p number to the list @p from of *count numbers.  Returns the list, which may have moved.
 */
static uint32_t *section_contributors_append(uint32_t *from, size_t *count, uint32_t number)
{
    from             = ski_realloc(from, (*count + 1) * sizeof *from);
    from[(*count)++] = number;
    return from;
}

void ski_section_contributors_leave(struct ski_section_reduction *reduction, uint32_t number)
{
    ski_assert(reduction->left < reduction->contributors);
    reduction->left_from =
        section_contributors_append(reduction->left_from, &reduction->left, number);
}

void ski_section_contributors_begin_late(struct ski_section_reduction *reduction, uint32_t number)
{
    ski_assert(ski_seqnum_before(reduction->first, number));
    reduction->late_from =
        section_contributors_append(reduction->late_from, &reduction->late, number);
}

void ski_section_contributors_prune_late(struct ski_section_reduction *reduction)
{
    size_t kept = 0;

    for (size_t i = 0; i < reduction->late; i++)
        if (ski_seqnum_before(reduction->first, reduction->late_from[i]))
            reduction->late_from[kept++] = reduction->late_from[i];
    reduction->late = kept;
}

uint32_t ski_section_contributors_last(const struct ski_section_reduction *reduction)
{
    uint32_t last = reduction->left ? reduction->left_from[0] : reduction->first;

    for (size_t i = 1; i < reduction->left; i++)
        if (ski_seqnum_before(last, reduction->left_from[i]))
            last = reduction->left_from[i];
    return last;
}
