/* SPDX-License-Identifier: Apache-2.0 */
/* by_pipeline.c - particles in puts to their final place, field by field. */
#include "gtcshift.h"

/* Tells the right neighbour, which appends at the back, where the back is. */
static void shift_tell_end(struct shift *shift, struct shift_domain *d)
{
    size_t     slot = shift_slot_offset(SHIFT_LEFT);
    int        to   = particles_neighbour(&d->p, SHIFT_RIGHT);
    skua_gaddr ready;

    ready   = shift_at(shift, to, slot + offsetof(struct shift_slot, ready));
    d->told = d->p.hi;
    skua_put_nb(shift_at(shift, to, slot + offsetof(struct shift_slot, place)), &d->told,
                sizeof d->told, &(skua_rma_params){.notify = ready});
}

static void shift_pipelined_settled(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        shift_tell_end(shift, &shift->domain[i]);
    shift->told++;
}

/* Before the first round of a shift, the ends of the neighbours are where they say. Returns false
 * when the job ends. */
static bool shift_hear_ends(struct shift *shift)
{
    for (int i = 0; i < shift->domains && shift->heard < shift->told; i++) {
        struct shift_domain *d = &shift->domain[i];

        if (!skua_notify_wait(&d->slot[SHIFT_LEFT].ready, shift->told))
            return false;
        d->end[SHIFT_LEFT]  = d->slot[SHIFT_LEFT].place;
        d->end[SHIFT_RIGHT] = d->p.origin;
    }
    shift->heard = shift->told;
    return true;
}

/* Where the particles of a round begin in the arrays of a neighbour. */
static int64_t shift_take_place(struct shift_domain *d, int side)
{
    int64_t count = d->p.leaving[side].count;

    if (side == SHIFT_RIGHT)
        return d->end[side] -= count;
    d->end[side] += count;
    return d->end[side] - count;
}

/* Puts a list in chunks, each as one operation on the 12 arrays. */
static void shift_put_chunks(struct shift *shift, struct shift_domain *d, int side, int64_t place)
{
    const struct particle_list *list   = &d->p.leaving[side];
    ptrdiff_t                   room   = d->p.room * (ptrdiff_t)sizeof(double);
    size_t                      fields = PARTICLE_FIELDS;
    double                     *z      = d->sent[side]->z;

    skua_counter_wait(&d->copied[side], d->puts[side]);
    for (int64_t i = 0; i < list->count; i += shift->options.chunk) {
        int64_t left      = list->count - i,
                n         = left < shift->options.chunk ? left : shift->options.chunk;
        size_t      bytes = (size_t)n * sizeof(double);
        skua_layout there = skua_layout_strided(NULL, bytes, 1, &fields, &room);
        skua_layout here  = skua_layout_contiguous(z, bytes * fields);

        particles_gather(&d->p, list, i, n, z, n);
        skua_put_layout_nb(shift_at(shift, particles_neighbour(&d->p, side),
                                    shift_field_offset(shift) + (size_t)(place + i) * sizeof *z),
                           &there, &here,
                           &(skua_rma_params){.local = skua_done_count(&d->copied[side])});
        d->puts[side]++;
        z += n * PARTICLE_FIELDS;
    }
}

static void shift_put_pipelined(struct shift *shift, struct shift_domain *d, int side)
{
    const struct particle_list *list  = &d->p.leaving[side];
    int64_t                     place = shift_take_place(d, side);
    size_t                      slot  = shift_slot_offset(!side);
    int                         to    = particles_neighbour(&d->p, side);
    skua_gaddr arrived = shift_at(shift, to, slot + offsetof(struct shift_slot, arrived));

    if (place < 0 || place + list->count > d->p.room)
        skua_abort("domain %d has no room for %lld particles of domain %d", to,
                   (long long)list->count, d->p.domain);
    if (d->near[side]) {
        double *field = (double *)(d->near[side] + shift_field_offset(shift));

        particles_gather(&d->p, list, 0, list->count, field + place, d->p.room);
        ((struct shift_slot *)(d->near[side] + slot))->count = list->count;
        skua_notify_add(arrived, 1);
    } else {
        shift_put_chunks(shift, d, side, place);
        skua_put_nb(
            shift_at(shift, to, slot + offsetof(struct shift_slot, count)), &list->count,
            sizeof list->count,
            &(skua_rma_params){.notify = arrived, .local = skua_done_count(&d->copied[side])});
        d->puts[side]++;
    }
}

/* The particles are in place; only the ends of the arrays move. */
static void shift_accept(struct shift_domain *d)
{
    int64_t left = d->slot[SHIFT_LEFT].count, right = d->slot[SHIFT_RIGHT].count;

    shift_check_count(d, left);
    shift_check_count(d, right);
    d->fresh[0][0] = d->p.lo - left;
    d->fresh[0][1] = d->p.lo;
    d->fresh[1][0] = d->p.hi;
    d->fresh[1][1] = d->p.hi + right;
    d->p.lo -= left;
    d->p.hi += right;
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
    for (int i = 0; i < shift->domains; i++) {
        struct shift_domain *d = &shift->domain[i];

        for (int side = 0; side < SHIFT_SIDES; side++)
            if (!skua_notify_wait(&d->slot[side].arrived, shift->rounds + 1))
                return;
        shift_accept(d);
    }
    for (int i = 0; i < shift->domains; i++) /* the numbers of particles have been read */
        for (int side = 0; side < SHIFT_SIDES; side++)
            skua_counter_wait(&shift->domain[i].copied[side], shift->domain[i].puts[side]);
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

const struct shift_protocol shift_pipelined = {"pipelined", shift_pipelined_settled,
                                               shift_pipelined_exchange, shift_pipelined_settled};
