/* SPDX-License-Identifier: Apache-2.0 */
/* by_messages.c - particles in messages, one for each neighbour and round. */
#include "gtcshift.h"

struct shift_head {
    int32_t domain, side; /* domain and side of the receiver */
    int64_t count;
};

static skua_handler shift_arrival;

static void shift_on_message(skua_msg *msg)
{
    struct shift            *shift = shift_self();
    const struct shift_head *head  = skua_msg_data(msg);

    shift->domain[head->domain / skua_pes()].msg[head->side] = msg;
    shift->arrived++;
}

void shift_messages_register(void)
{
    shift_arrival = skua_handler_register("particles", shift_on_message);
}

static void shift_messages_open(struct shift *shift)
{
    shift->arrived = 0;
}

static void shift_send(struct shift *shift, const struct shift_domain *d, int side)
{
    const struct particle_list *list = &d->p.leaving[side];
    int                         to   = particles_neighbour(&d->p, side);
    skua_msg                   *msg  = skua_msg_alloc(sizeof(struct shift_head) +
                                                      (size_t)list->count * PARTICLE_FIELDS * sizeof(double));
    struct shift_head          *head = skua_msg_data(msg);

    *head = (struct shift_head){to, !side, list->count};
    particles_pack(&d->p, list, (double *)(head + 1));
    stopwatch_lap(&shift->watch, PHASE_PACKING);
    skua_send(shift_owner(to), shift_arrival, msg);
    stopwatch_lap(&shift->watch, PHASE_COMM);
}

static bool shift_all_arrived(void *arg)
{
    struct shift *shift = arg;

    return shift->arrived == SHIFT_SIDES * shift->domains;
}

static void shift_messages_exchange(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift_send(shift, &shift->domain[i], side);
    if (!skua_run_until(shift_all_arrived, shift))
        return;
    shift->arrived = 0;
    stopwatch_lap(&shift->watch, PHASE_COMM);
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++) {
            skua_msg          *msg  = shift->domain[i].msg[side];
            struct shift_head *head = skua_msg_data(msg);

            shift_append(&shift->domain[i], (double *)(head + 1), head->count);
            skua_msg_free(msg);
        }
    stopwatch_lap(&shift->watch, PHASE_UNPACKING);
}

const struct shift_protocol shift_messages = {"messages", shift_messages_open,
                                              shift_messages_exchange, NULL};
