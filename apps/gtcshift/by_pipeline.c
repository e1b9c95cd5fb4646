/* SPDX-License-Identifier: Apache-2.0 */
/* by_pipeline.c - particles in puts to their final place, field by field. */
#include "gtcshift.h"

/* Sends the right neighbour, which appends at the back, the position of the back, as the value of
 * the notification. */
static void shift_tell_end(const struct shift_domain *d)
{
    skua_notify_add(shift_slot_there(d, SHIFT_RIGHT, offsetof(struct shift_slot, ready)),
                    (uint64_t)d->p.hi + 1);
}

static void shift_pipelined_settled(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        shift_tell_end(&shift->domain[i]);
    shift->told = true;
}

/* Waits for the next increase of a notification, which is a number plus 1; @p seen is its previous
 * value. Returns the number, or -1 when the job ends. */
static int64_t shift_await_value(skua_notify *notify, uint64_t *seen)
{
    uint64_t before = *seen;

    if (!skua_notify_wait(notify, before + 1))
        return -1;
    *seen = skua_notify_value(notify);
    return (int64_t)(*seen - before - 1);
}

/* Receives the ends of the neighbours' arrays before the first round of a shift. Returns false when
 * the job ends. */
static bool shift_hear_ends(struct shift *shift)
{
    for (int i = 0; i < shift->domains && shift->told; i++) {
        struct shift_domain *d = &shift->domain[i];

        d->end[SHIFT_RIGHT] = d->p.origin;
        d->end[SHIFT_LEFT]  = shift_await_value(&d->slot[SHIFT_LEFT].ready, &d->seen_end);
        if (d->end[SHIFT_LEFT] < 0)
            return false;
    }
    shift->told = false;
    return true;
}

/* Returns the index at which the particles of a round begin in the arrays of a neighbour. */
static int64_t shift_take_place(struct shift_domain *d, int side)
{
    int64_t count = d->p.leaving[side].count;

    if (side == SHIFT_RIGHT)
        return d->end[side] -= count;
    d->end[side] += count;
    return d->end[side] - count;
}

/* Puts a list in chunks, each as one operation on the 12 arrays; the last one notifies. */
static void shift_put_chunks(struct shift *shift, struct shift_domain *d, int side, int64_t place,
                             const skua_rma_params *last)
{
    const struct particle_list *list   = &d->p.leaving[side];
    ptrdiff_t                   room   = d->p.room * (ptrdiff_t)sizeof(double);
    size_t                      fields = PARTICLE_FIELDS;
    double                     *z      = d->sent[side]->z;

    for (int64_t i = 0, n; i < list->count; i += n, z += n * PARTICLE_FIELDS) {
        int64_t     left  = list->count - i;
        size_t      bytes = sizeof *z;
        skua_layout there, here;

        n = left < shift->options.chunk ? left : shift->options.chunk;
        bytes *= (size_t)n;
        there = skua_layout_strided(NULL, bytes, 1, &fields, &room);
        here  = skua_layout_contiguous(z, bytes * fields);
        particles_gather(&d->p, list, i, n, z, n);
        skua_put_layout_nb(
            shift_there(d, side, shift_field_offset(shift) + (size_t)(place + i) * sizeof *z),
            &there, &here, n == left ? last : &(skua_rma_params){.order = SKUA_ORDER_PARTIAL});
    }
}

/* The value of the notification is the number of particles. */
static void shift_put_pipelined(struct shift *shift, struct shift_domain *d, int side)
{
    const struct particle_list *list  = &d->p.leaving[side];
    int64_t                     place = shift_take_place(d, side);
    skua_rma_params             last  = {.order = SKUA_ORDER_PARTIAL,
                                         .notify =
                                             shift_slot_there(d, side, offsetof(struct shift_slot, arrived)),
                                         .notify_add = (uint64_t)list->count + 1};

    if (place < 0 || place + list->count > d->p.room)
        skua_abort("domain %d has no room for %lld particles of domain %d",
                   particles_neighbour(&d->p, side), (long long)list->count, d->p.domain);
    if (d->near[side] && list->count) {
        double *field = (double *)(d->near[side] + shift_field_offset(shift));

        particles_gather(&d->p, list, 0, list->count, field + place, d->p.room);
    }
    if (d->near[side] || !list->count)
        skua_notify_add(last.notify, last.notify_add);
    else
        shift_put_chunks(shift, d, side, place, &last);
}

/* Waits for the particles from one side. Returns their number, or -1 when the job ends. */
static int64_t shift_await(struct shift_domain *d, int side)
{
    int64_t count = shift_await_value(&d->slot[side].arrived, &d->seen[side]);

    if (count >= 0)
        shift_check_count(d, count);
    return count;
}

/* The particles are in place; only the ends of the arrays move. Returns false when the job ends. */
static bool shift_accept(struct shift_domain *d)
{
    int64_t left = shift_await(d, SHIFT_LEFT), right = shift_await(d, SHIFT_RIGHT);

    if (left < 0 || right < 0)
        return false;
    d->fresh[0][0] = d->p.lo - left;
    d->fresh[0][1] = d->p.lo;
    d->fresh[1][0] = d->p.hi;
    d->fresh[1][1] = d->p.hi + right;
    d->p.lo -= left;
    d->p.hi += right;
    return true;
}

static void shift_pipelined_exchange(struct shift *shift)
{
    if (!shift_hear_ends(shift))
        return;
    stopwatch_lap(&shift->watch, PHASE_COMM);
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_put_pipelined(shift, &shift->domain[i], side);
    stopwatch_lap(&shift->watch, PHASE_PACKING);
    for (int i = 0; i < shift->domains; i++)
        if (!shift_accept(&shift->domain[i]))
            return;
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

const struct shift_protocol shift_pipelined = {"pipelined", shift_pipelined_settled,
                                               shift_pipelined_exchange, shift_pipelined_settled};
