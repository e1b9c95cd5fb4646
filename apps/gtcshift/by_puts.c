/* SPDX-License-Identifier: Apache-2.0 */
/* by_puts.c - particles in puts: between post, start, complete and wait, and signalling. */
#include <string.h>

#include "gtcshift.h"

/* Copies a value into a slot of a neighbour and increases its member `ready`. */
static void shift_tell(const struct shift_domain *d, int side, size_t member, const int64_t *value)
{
    skua_put_nb(shift_slot_there(d, side, member), value, sizeof *value,
                &(skua_rma_params){
                    .notify = shift_slot_there(d, side, offsetof(struct shift_slot, ready))});
}

/* ---- signalling put ------------------------------------------------------------------------- */

/* Within a host the particles are packed into the receive buffer itself. */
static void shift_put_signal(struct shift *shift, struct shift_domain *d, int side)
{
    const struct particle_list *list   = &d->p.leaving[side];
    size_t                      offset = shift_buffer_offset(shift, !side);
    skua_gaddr           arrived = shift_slot_there(d, side, offsetof(struct shift_slot, arrived));
    struct shift_packed *packed  = d->sent[side];

    if (d->near[side])
        packed = (struct shift_packed *)(d->near[side] + offset);
    packed->count = list->count;
    particles_pack(&d->p, list, packed->z);
    stopwatch_lap(&shift->watch, PHASE_PACKING);
    if (d->near[side])
        skua_notify_add(arrived, 1);
    else
        skua_put_nb(shift_there(d, side, offset), packed,
                    sizeof *packed + (size_t)list->count * PARTICLE_FIELDS * sizeof(double),
                    &(skua_rma_params){.notify = arrived});
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

static void shift_signal_exchange(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_put_signal(shift, &shift->domain[i], side);
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++) {
            struct shift_domain       *d      = &shift->domain[i];
            const struct shift_packed *packed = (const struct shift_packed *)d->buffer[side];

            if (!skua_notify_wait(&d->slot[side].arrived, shift->rounds + 1))
                return;
            stopwatch_lap(&shift->watch, PHASE_COMM);
            shift_append(d, packed->z, packed->count);
            stopwatch_lap(&shift->watch, PHASE_UNPACKING);
        }
}

const struct shift_protocol shift_signal = {"signal", NULL, shift_signal_exchange, NULL};

/* ---- post, start, complete, wait ---------------------------------------------------------- */

/* Waits until both neighbours of all domains have increased `ready` the given number of times. */
static bool shift_wait_ready(const struct shift *shift, uint64_t target)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            if (!skua_notify_wait(&shift->domain[i].slot[side].ready, target))
                return false;
    return true;
}

/* Post: sends each neighbour the position of its particles in the common receive buffer. Particles
 * from the left are at the beginning, those from the right follow. */
static void shift_post(struct shift *shift, int64_t *place)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++) {
            struct shift_domain *d = &shift->domain[i];

            shift_check_count(d, d->slot[side].count);
            place[SHIFT_SIDES * i + side] = side == SHIFT_LEFT ? 0 : d->slot[SHIFT_LEFT].count;
            shift_tell(d, side, offsetof(struct shift_slot, place), &place[SHIFT_SIDES * i + side]);
        }
}

static void shift_pscw_put(struct shift *shift, struct shift_domain *d, int side)
{
    const struct particle_list *list  = &d->p.leaving[side];
    size_t                      bytes = PARTICLE_FIELDS * sizeof(double);

    particles_pack(&d->p, list, d->sent[side]->z);
    stopwatch_lap(&shift->watch, PHASE_PACKING);
    skua_put_nb(shift_there(d, side,
                            shift_buffer_offset(shift, SHIFT_LEFT) + sizeof(struct shift_packed) +
                                (size_t)d->slot[side].place * bytes),
                d->sent[side]->z, (size_t)list->count * bytes, NULL);
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

/* Complete: notifies the neighbours, after the puts of this PE.  Their next counts, which this PE
 * waits for before it packs again, say that the data have arrived. */
static void shift_complete(const struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            skua_notify_add(
                shift_slot_there(&shift->domain[i], side, offsetof(struct shift_slot, arrived)), 1);
}

static void shift_pscw_finish(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++) {
        struct shift_domain *d = &shift->domain[i];

        for (int side = 0; side < SHIFT_SIDES; side++)
            if (!skua_notify_wait(&d->slot[side].arrived, shift->rounds + 1))
                return;
        stopwatch_lap(&shift->watch, PHASE_COMM);
        shift_append(d, ((const struct shift_packed *)d->buffer[SHIFT_LEFT])->z,
                     d->slot[SHIFT_LEFT].count + d->slot[SHIFT_RIGHT].count);
        stopwatch_lap(&shift->watch, PHASE_UNPACKING);
    }
}

static void shift_pscw_exchange(struct shift *shift)
{
    int64_t place[SHIFT_SIDES * 4096];

    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_tell(&shift->domain[i], side, offsetof(struct shift_slot, count),
                       &shift->domain[i].p.leaving[side].count);
    if (!shift_wait_ready(shift, 2 * shift->rounds + 1))
        return;
    shift_post(shift, place);
    if (!shift_wait_ready(shift, 2 * shift->rounds + 2))
        return;
    stopwatch_lap(&shift->watch, PHASE_COMM);
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_pscw_put(shift, &shift->domain[i], side);
    shift_complete(shift);
    shift_pscw_finish(shift);
}

const struct shift_protocol shift_pscw = {"pscw", NULL, shift_pscw_exchange, NULL};
