/* SPDX-License-Identifier: Apache-2.0 */
/* array_reduction_saved.c - see array_reduction_saved.h. */
#include "objects/collective/array_reduction_saved.h"

#include <stdio.h>

#include "core/sched/completion.h"
#include "objects/collective/array_partial.h"
#include "objects/model/object.h"
#include "objects/model/seqnum.h"

bool ski_saved_partial_possible(const struct ski_saved_partial *partial, const char *of, char *why,
                                size_t room)
{
    if (ski_completion_is_value(&partial->to))
        return true;
    snprintf(why, room,
             "reduction %u of %s, which is under way, cannot be saved: its result goes to a "
             "counter, a future or a callback; let it invoke an entry or send to a handler",
             partial->number, of);
    return false;
}

uint32_t ski_array_reduction_oldest(const struct ski_collection *all)
{
    const struct ski_array_reduction *r = all->reduction;

    return r->partials && ski_seqnum_before(r->partials->number, r->first) ? r->partials->number
                                                                           : r->first;
}

void ski_array_reduction_each_saved(const struct ski_collection *all,
                                    void (*fn)(const struct ski_saved_partial *partial,
                                               const void *data, void *arg),
                                    void *arg)
{
    for (struct ski_reduction_partial *at = all->reduction->partials; at; at = at->next) {
        struct ski_saved_partial saved = {.id     = all->id,
                                          .bytes  = at->buffer.bytes,
                                          .spec   = at->buffer.spec,
                                          .to     = at->buffer.to,
                                          .number = at->number};

        if (at->buffer.filled)
            fn(&saved, at->buffer.data, arg);
    }
}

bool ski_array_reduction_add_saved(struct ski_collection          *all,
                                   const struct ski_saved_partial *saved, const void *data)
{
    struct ski_array_partial *partial;

    if (all->root != all->self->pe || !ski_reduction_spec_valid(&saved->spec, saved->bytes))
        return false;
    partial = ski_array_partial_get(all->reduction, saved->number);
    if (!ski_reduction_buffer_fits(&partial->result.buffer, &saved->spec))
        return false;
    ski_reduction_partial_add(&partial->result, &saved->spec, data, saved->bytes, &saved->to,
                              all->self->pe);
    return true;
}

/* Counts the elements here that have contributed to reductions which are not complete.  Returns
 * false if an element has not contributed to one that is, or is too far ahead. */
static bool array_reduction_count_saved(struct ski_collection *all)
{
    struct ski_array_reduction *r = all->reduction;

    for (uint32_t i = 0; i < all->objects; i++) {
        uint32_t                       ahead = all->object[i]->next_reduction - r->first;
        struct ski_reduction_partial **at    = &r->partials;

        if (ahead > SKI_REDUCTIONS_AHEAD)
            return false;
        for (uint32_t n = r->first; ski_seqnum_before(n, all->object[i]->next_reduction); n++) {
            at = ski_array_partial_seek(at, n);
            ski_array_partial_of(*at)->done++;
            ski_array_partial_of(*at)->given++;
        }
    }
    return true;
}

void ski_array_reduction_set_oldest(struct ski_collection *all, uint32_t oldest)
{
    all->reduction->first = oldest;
}

bool ski_array_reduction_restore(struct ski_collection *all)
{
    struct ski_array_reduction *r = all->reduction;

    ski_assert(all->live == all->objects);
    if (r->partials && ski_seqnum_before(r->partials->number, r->first))
        return false;
    r->expected = all->live;
    if (!array_reduction_count_saved(all))
        return false;
    for (struct ski_reduction_partial *at = r->partials; at; at = at->next)
        ski_array_reduction_start(all, ski_array_partial_of(at));
    ski_array_reduction_advance(all);
    return true;
}
