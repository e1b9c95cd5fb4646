/* SPDX-License-Identifier: Apache-2.0 */
/* seed.c - see seed.h. */
#include "objects/chare/seed.h"

#include <stdlib.h>

#include <skua/collective.h>
#include <skua/scheduler.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/location/insertion.h"
#include "objects/location/route.h"
#include "objects/model/element.h"

#define SEED_REFUSALS   3  /* refusals before an idle PE informs its neighbours      */
#define SEED_GIVE_MAX   32 /* seeds that a request gets                      */
#define SEED_NEIGHBOURS 31 /* at most: bits of a PE's number                 */
#define SEED_STAY       1  /* seeds that a PE keeps: see seed.h */

struct seeds {
    uint64_t   random; /* state of seed_random() */
    skua_msg **deque;  /* oldest at `first`, around the end */
    uint32_t   first, count, room;
    bool       known;     /* all PEs know that there are seeds, and look for them when idle */
    bool       asking;    /* a request is in flight                                      */
    bool       resting;   /* the neighbours know that this PE is idle                     */
    uint32_t   refusals;  /* since the last seed                                            */
    uint32_t   idle;      /* neighbours that asked, by bit                                   */
    uint64_t   uncreated; /* submitted here and not known to be created                      */

    struct ski_list kept; /* messages that wait until `uncreated` is 0 */
};

/* A steal request: some seeds now, or the next one that is submitted. */
enum { SEED_NOW, SEED_NEXT };

static struct seeds *seeds_of(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_SEEDS];
}

/* ---- the deque ------------------------------------------------------------------------ */

static void seed_deque_grow(struct seeds *s)
{
    uint32_t   room  = s->room ? 2 * s->room : 16;
    skua_msg **deque = ski_malloc(room * sizeof(skua_msg *));

    for (uint32_t i = 0; i < s->count; i++)
        deque[i] = s->deque[(s->first + i) & (s->room - 1)];
    free(s->deque);
    s->deque = deque;
    s->first = 0;
    s->room  = room;
}

static void seed_push(struct seeds *s, skua_msg *seed)
{
    if (s->count == s->room)
        seed_deque_grow(s);
    s->deque[(s->first + s->count++) & (s->room - 1)] = seed;
}

static skua_msg *seed_pop_newest(struct seeds *s)
{
    ski_assert(s->count > 0);
    return s->deque[(s->first + --s->count) & (s->room - 1)];
}

static skua_msg *seed_pop_oldest(struct seeds *s)
{
    ski_assert(s->count > 0);
    s->count--;
    return s->deque[s->first++ & (s->room - 1)];
}

/* ---- giving ------------------------------------------------------------------------- */

/* Returns the neighbour of a PE across a bit of its number, or -1. */
static int seed_neighbour(const struct ski_pe *self, unsigned bit)
{
    int64_t pe = self->pe ^ (INT64_C(1) << bit);

    return pe < self->pes ? (int)pe : -1;
}

/* Gives the oldest seeds to idle neighbours, one each, and keeps @p stay of them. */
static void seed_give_to_idle(struct ski_pe *self, struct seeds *s, uint32_t stay)
{
    while (s->idle && s->count > stay) {
        unsigned bit = (unsigned)__builtin_ctz(s->idle);

        s->idle &= s->idle - 1;
        ski_msg_forward(self, seed_neighbour(self, bit), seed_pop_oldest(s));
    }
}

/* Adds a seed to the deque, and to the queue a message that will create the object of one. */
static void seed_keep(struct ski_objects *objects, skua_msg *seed, uint32_t stay)
{
    struct seeds *s = seeds_of(objects);

    seed_push(s, seed);
    s->resting  = false;
    s->refusals = 0;
    skua_send_copy(objects->self->pe, (skua_handler){SKI_HANDLER_SEED_CREATE}, NULL, 0);
    seed_give_to_idle(objects->self, s, stay);
}

/* ---- asking ------------------------------------------------------------------------- */

/* Requests seeds from PE @p pe.  Requests are expedited: behind the queue of that PE they would run
 * after it has used up its seeds itself. */
static void seed_send_request(struct ski_pe *self, int pe, int32_t what)
{
    skua_msg *msg = ski_msg_copy(self, SKI_HANDLER_SEED_REQUEST, &what, sizeof what);

    skua_msg_set_expedited(msg, true);
    ski_msg_post(self, pe, SKI_HANDLER_SEED_REQUEST, msg);
}

/* Returns a number below @p bound, at random: Steele and Vigna's splitmix. */
static int seed_random(struct seeds *s, int bound)
{
    uint64_t x = s->random += SKI_GOLDEN;

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((x >> 32) * (unsigned)bound >> 32);
}

/* Returns a random victim.  The first requests go to PEs of this host: between hosts a seed costs a
 * packet, and its reply another. */
static int seed_choose_pe(struct ski_objects *objects)
{
    struct seeds         *s    = seeds_of(objects);
    const struct ski_job *job  = objects->self->job;
    int                   self = objects->self->pe, host = ski_job_host_of(job, self);
    int                   near = ski_job_host_pes(job, host), pes = objects->self->pes;
    int                   i, pe;

    if (near > 1 && s->refusals + 1 < SEED_REFUSALS) {
        i  = seed_random(s, near);
        pe = ski_job_host_pe(job, host, i);
        return pe == self ? ski_job_host_pe(job, host, (i + 1) % near) : pe;
    }
    pe = seed_random(s, pes);
    return pe == self ? (pe + 1) % pes : pe;
}

static void seed_ask_random(struct ski_objects *objects)
{
    int pe = seed_choose_pe(objects);

    ski_assert(pe != objects->self->pe);
    seeds_of(objects)->asking = true;
    seed_send_request(objects->self, pe, SEED_NOW);
}

static void seed_ask_neighbours(struct ski_objects *objects)
{
    seeds_of(objects)->resting = true;
    for (unsigned bit = 0; bit < SEED_NEIGHBOURS; bit++)
        if (seed_neighbour(objects->self, bit) >= 0)
            seed_send_request(objects->self, seed_neighbour(objects->self, bit), SEED_NEXT);
}

/* Called when this PE is idle. */
static bool seed_idle(void *arg)
{
    struct ski_objects *objects = arg;
    struct seeds       *s       = seeds_of(objects);

    if (s->count > 0 || s->asking || s->resting)
        return false;
    if (s->refusals < SEED_REFUSALS)
        seed_ask_random(objects);
    else
        seed_ask_neighbours(objects);
    return true;
}

/* ---- handlers ----------------------------------------------------------------------- */

void ski_on_seed_known(skua_msg *msg)
{
    struct ski_objects *objects = ski_self->objects;

    if (!seeds_of(objects)->known && objects->self->pes > 1)
        skua_idle_add(seed_idle, objects);
    seeds_of(objects)->known = true;
    if (msg)
        skua_msg_free(msg);
}

/* A seed comes from another PE, since this one was idle. */
void ski_on_seed(skua_msg *msg)
{
    seeds_of(ski_self->objects)->asking = false;
    seed_keep(ski_self->objects, msg, SEED_STAY);
}

/* Counts a seed of this PE whose object has been created. */
static void seed_count_created(struct ski_objects *objects)
{
    struct seeds *s = seeds_of(objects);

    ski_assert(s->uncreated > 0);
    if (--s->uncreated == 0)
        ski_msg_unhold(objects->self, &s->kept);
}

/* Creates the object of a seed on this PE and reports that to its home. */
static void seed_create_object(skua_msg *msg)
{
    struct ski_insertion      *order = skua_msg_data(msg);
    struct ski_location_update update;
    struct ski_collection     *all;
    skua_index                 index;
    int                        home;

    if (!ski_element_msg(msg, sizeof *order, &all, &index))
        return;
    home   = ski_home(all, &index);
    update = (struct ski_location_update){all->self->pe, 1};
    if (all->kind != SKI_CHARES || ski_element_here(all, &index))
        ski_fatal("PE %d sent a seed of %s, which is here or is not a single object", msg->source,
                  ski_element_text(all, &index));
    if (home != all->self->pe)
        ski_element_post(all->self, home, SKI_HANDLER_SEED_CREATED, all->id, &index, &update,
                         sizeof update);
    else
        seed_count_created(all->self->objects);
    ski_element_create(all, &index, home != all->self->pe, order + 1, msg->bytes - sizeof *order);
    skua_msg_free(msg);
}

void ski_on_seed_create(skua_msg *msg)
{
    struct seeds *s = seeds_of(ski_self->objects);

    skua_msg_free(msg);
    if (s->count > 0) /* else another PE has the seed */
        seed_create_object(seed_pop_newest(s));
}

void ski_on_seed_request(skua_msg *msg)
{
    struct ski_pe *self = ski_self;
    struct seeds  *s    = seeds_of(self->objects);
    int            pe   = msg->source;
    int32_t        what = *(int32_t *)skua_msg_data(msg);
    uint32_t       some = s->count > SEED_STAY ? s->count / 2 : 0;

    skua_msg_free(msg);
    if (what == SEED_NEXT) {
        unsigned bit = (unsigned)__builtin_ctz((unsigned)(pe ^ self->pe) | 1u << SEED_NEIGHBOURS);

        if (seed_neighbour(self, bit) != pe)
            ski_fatal("PE %d asked PE %d for seeds as a neighbour, which it is not", pe, self->pe);
        s->idle |= UINT32_C(1) << bit;
        seed_give_to_idle(self, s, SEED_STAY);
        return;
    }
    if (some == 0)
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_SEED_NONE}, NULL, 0);
    for (uint32_t i = 0; i < some && i < SEED_GIVE_MAX; i++)
        ski_msg_forward(self, pe, seed_pop_oldest(s));
}

void ski_on_seed_none(skua_msg *msg)
{
    struct seeds *s = seeds_of(ski_self->objects);

    skua_msg_free(msg);
    s->asking = false;
    s->refusals++;
}

/* Another PE has created the object of a seed: the message also says where the object is. */
void ski_on_seed_created(skua_msg *msg)
{
    if (seeds_of(ski_self->objects)->uncreated == 0) {
        ski_net_drop(ski_self, msg);
        return;
    }
    seed_count_created(ski_self->objects);
    ski_on_located(msg);
}

bool ski_seeds_awaited(struct ski_objects *objects, skua_msg *msg)
{
    if (seeds_of(objects)->uncreated == 0)
        return false;
    ski_msg_hold(objects->self, &seeds_of(objects)->kept, msg);
    return true;
}

/* ---- submission --------------------------------------------------------------------- */

void ski_seed_submit(struct ski_objects *objects, const skua_ref *ref, const void *data,
                     size_t bytes)
{
    skua_msg *seed = ski_insertion_msg(objects->self, ref, SKI_HANDLER_SEED, data, bytes);

    if (!seeds_of(objects)->known) {
        ski_on_seed_known(NULL);
        ski_broadcast(objects->self, SKI_HANDLER_SEED_KNOWN, skua_msg_alloc(0));
    }
    seeds_of(objects)->uncreated++;
    seed_keep(objects, seed, 0);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void seed_pe_begin(struct ski_objects *objects)
{
    struct seeds *s = ski_calloc(1, sizeof *s);

    s->random = (uint64_t)objects->self->pe << 32;
    ski_list_init(&s->kept);
    objects->slot[SKI_SLOT_SEEDS] = s;
}

static void seed_pe_end(struct ski_objects *objects)
{
    struct seeds *s = seeds_of(objects);

    for (; s->count > 0; s->count--, s->first++)
        skua_msg_free(s->deque[s->first & (s->room - 1)]);
    for (skua_msg *msg; (msg = ski_list_pop(&s->kept));)
        skua_msg_free(msg);
    free(s->deque);
    free(s);
}

const struct ski_lifecycle ski_seed_lifecycle = {.pe_begin = seed_pe_begin, .pe_end = seed_pe_end};
