/* SPDX-License-Identifier: Apache-2.0 */
/* by_pipeline.c - particles in puts to their final place, field by field. */
#include "gtcshift.h"

/* After a shift the areas of all domains are empty. */
static void shift_pipelined_settled(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift->domain[i].place[side] = particles_area_end(&shift->domain[i].p, !side);
}

/* Puts a list in chunks, each as one operation on the 12 arrays. The notification of the numbers
 * takes effect after these puts. */
static void shift_put_chunks(struct shift *shift, struct shift_domain *d, int side)
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
            shift_there(d, side,
                        shift_field_offset(shift) + (size_t)(d->place[side] + i) * sizeof *z),
            &there, &here, &(skua_rma_params){.order = SKUA_ORDER_PARTIAL});
    }
}

/* Stores the particles that leave a domain on one side in the area of the neighbour for the other
 * side. */
static void shift_put_pipelined(struct shift *shift, struct shift_domain *d, int side)
{
    const struct particle_list *list      = &d->p.leaving[side];
    int                         neighbour = particles_neighbour(&d->p, side);

    d->peer[side]->sent->count[neighbour / skua_pes()][!side] = list->count;
    if (!list->count)
        return;
    d->place[side] -= list->count;
    if (d->place[side] < particles_area_end(&d->p, !side) - particles_area_room(&d->p))
        skua_abort("domain %d has no room for %lld particles of domain %d", neighbour,
                   (long long)list->count, d->p.domain);
    if (d->near[side])
        particles_gather(&d->p, list, 0, list->count,
                         (double *)(d->near[side] + shift_field_offset(shift)) + d->place[side],
                         d->p.room);
    else
        shift_put_chunks(shift, d, side);
}

/* Puts the numbers of particles of this round and notifies their receiver. */
static void shift_put_counts(struct shift *shift, const struct shift_peer *peer)
{
    size_t head = offsetof(struct shift_counts, count);

    skua_put_nb(skua_gaddr_add(peer->there, (ptrdiff_t)head), peer->sent->count,
                shift_domains_most(shift) * sizeof *peer->sent->count,
                &(skua_rma_params){.order = SKUA_ORDER_PARTIAL, .notify = peer->there});
}

/* The particles are in place; only the front of each area moves. */
static void shift_accept(struct shift_domain *d, int number)
{
    for (int side = 0; side < SHIFT_SIDES; side++) {
        int64_t count = d->peer[side]->here->count[number][side];

        shift_check_count(d, count);
        if (count > d->p.front[side] - particles_area_end(&d->p, side) + particles_area_room(&d->p))
            skua_abort("domain %d was told of %lld particles, for which it has no room",
                       d->p.domain, (long long)count);
        d->fresh[side][1] = d->p.front[side];
        d->fresh[side][0] = d->p.front[side] -= count;
    }
}

static void shift_pipelined_exchange(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_put_pipelined(shift, &shift->domain[i], side);
    stopwatch_lap(&shift->watch, PHASE_PACKING);
    for (int i = 0; i < shift->peers; i++)
        shift_put_counts(shift, &shift->peer[i]);
    for (int i = 0; i < shift->peers; i++)
        if (!skua_notify_wait(&shift->peer[i].here->arrived, shift->rounds + 1))
            return;
    for (int i = 0; i < shift->domains; i++)
        shift_accept(&shift->domain[i], i);
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

const struct shift_protocol shift_pipelined = {"pipelined", shift_pipelined_settled,
                                               shift_pipelined_exchange, shift_pipelined_settled};
