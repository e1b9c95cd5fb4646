/* SPDX-License-Identifier: Apache-2.0 */
/* seed.c - see seed.h. */
#include "objects/chare/seed.h"

#include <stdlib.h>

#include <skua/collective.h>
#include <skua/scheduler.h>

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/invoke.h"
#include "objects/location/location.h"
#include "objects/objects.h"

#define REFUSALS   3  /* before an idle PE turns to its neighbours */
#define GIVE_MOST  32 /* seeds at a time                           */
#define NEIGHBOURS 31 /* at most: bits of a PE's number            */
#define STAY       1  /* seeds that a PE does not give away: see seed.h */

struct ski_seeds {
    skua_msg **row; /* oldest at `first`, around the end */
    uint32_t   first, count, room;
    bool       known;    /* all PEs know that there are seeds, this one looks for them */
    bool       asking;   /* and waits for the answer                                   */
    bool       resting;  /* the neighbours know that we are hungry                     */
    uint32_t   refusals; /* since the last seed                                        */
    uint32_t   hungry;   /* neighbours, by bit                                         */
    uint64_t   ungrown;  /* planted here and not known to have grown                   */

    struct ski_list kept; /* messages that wait until `ungrown` is 0 */
};

/* What one asks another for: some now, or the next there is. */
enum { NOW, NEXT };

struct ski_seeds *ski_seeds_begin(void)
{
    struct ski_seeds *seeds = ski_calloc(1, sizeof *seeds);

    ski_list_init(&seeds->kept);
    return seeds;
}

void ski_seeds_end(struct ski_seeds *seeds)
{
    for (; seeds->count > 0; seeds->count--, seeds->first++)
        skua_msg_free(seeds->row[seeds->first & (seeds->room - 1)]);
    for (skua_msg *msg; (msg = ski_list_pop(&seeds->kept));)
        skua_msg_free(msg);
    free(seeds->row);
    free(seeds);
}

/* ---- the row ------------------------------------------------------------------------- */

static void make_room(struct ski_seeds *s)
{
    uint32_t   room = s->room ? 2 * s->room : 16;
    skua_msg **row  = ski_malloc(room * sizeof(skua_msg *));

    for (uint32_t i = 0; i < s->count; i++)
        row[i] = s->row[(s->first + i) & (s->room - 1)];
    free(s->row);
    s->row   = row;
    s->first = 0;
    s->room  = room;
}

static void push(struct ski_seeds *s, skua_msg *seed)
{
    if (s->count == s->room)
        make_room(s);
    s->row[(s->first + s->count++) & (s->room - 1)] = seed;
}

static skua_msg *pop_newest(struct ski_seeds *s)
{
    return s->row[(s->first + --s->count) & (s->room - 1)];
}

static skua_msg *pop_oldest(struct ski_seeds *s)
{
    s->count--;
    return s->row[s->first++ & (s->room - 1)];
}

/* ---- giving ---------------------------------------------------------------------------- */

/* The neighbour of a PE across a bit of its number, or -1. */
static int neighbour(const struct ski_pe *self, unsigned bit)
{
    int64_t pe = self->pe ^ (INT64_C(1) << bit);

    return pe < self->pes ? (int)pe : -1;
}

/* Gives the oldest seeds to hungry neighbours, one each; @p stay of them are kept. */
static void feed(struct ski_pe *self, struct ski_seeds *s, uint32_t stay)
{
    while (s->hungry && s->count > stay) {
        unsigned bit = (unsigned)__builtin_ctz(s->hungry);

        s->hungry &= s->hungry - 1;
        ski_pass_on(self, neighbour(self, bit), pop_oldest(s));
    }
}

/* Puts a seed into the row, and a message into the queue that will let one grow. */
static void keep(struct ski_objects *objects, skua_msg *seed, uint32_t stay)
{
    struct ski_seeds *s = objects->seeds;

    push(s, seed);
    s->resting  = false;
    s->refusals = 0;
    skua_send_copy(objects->self->pe, (skua_handler){SKI_HANDLER_SEED_GROW}, NULL, 0);
    feed(objects->self, s, stay);
}

/* ---- asking ----------------------------------------------------------------------------- */

/* Requests pass the queue: behind a victim's backlog they would come when it has used up its
 * seeds itself. */
static void ask(struct ski_pe *self, int pe, int32_t what)
{
    skua_msg *msg = ski_msg_copy(self, SKI_HANDLER_SEED_ASK, &what, sizeof what);

    skua_msg_set_expedited(msg, true);
    ski_msg_post(self, pe, SKI_HANDLER_SEED_ASK, msg);
}

static void ask_somebody(struct ski_objects *objects)
{
    int pe = ski_random_pe(objects);

    if (pe == objects->self->pe)
        pe = (pe + 1) % objects->self->pes;
    objects->seeds->asking = true;
    ask(objects->self, pe, NOW);
}

static void tell_neighbours(struct ski_objects *objects)
{
    objects->seeds->resting = true;
    for (unsigned bit = 0; bit < NEIGHBOURS; bit++)
        if (neighbour(objects->self, bit) >= 0)
            ask(objects->self, neighbour(objects->self, bit), NEXT);
}

/* When there is nothing else to do. */
static bool look_for_seeds(void *arg)
{
    struct ski_objects *objects = arg;
    struct ski_seeds   *s       = objects->seeds;

    if (s->count > 0 || s->asking || s->resting)
        return false;
    if (s->refusals < REFUSALS)
        ask_somebody(objects);
    else
        tell_neighbours(objects);
    return true;
}

/* ---- handlers ----------------------------------------------------------------------------- */

void ski_on_seed_known(skua_msg *msg)
{
    struct ski_objects *objects = ski_self->objects;

    if (!objects->seeds->known && objects->self->pes > 1)
        skua_idle_add(look_for_seeds, objects);
    objects->seeds->known = true;
    if (msg)
        skua_msg_free(msg);
}

/* A seed from elsewhere, because this PE was hungry. */
void ski_on_seed(skua_msg *msg)
{
    ski_self->objects->seeds->asking = false;
    keep(ski_self->objects, msg, STAY);
}

void ski_on_seed_grow(skua_msg *msg)
{
    struct ski_seeds *s = ski_self->objects->seeds;

    skua_msg_free(msg);
    if (s->count > 0) /* else somebody took it */
        ski_grow(pop_newest(s));
}

void ski_on_seed_ask(skua_msg *msg)
{
    struct ski_pe    *self = ski_self;
    struct ski_seeds *s    = self->objects->seeds;
    int               pe   = msg->source;
    int32_t           what = *(int32_t *)skua_msg_data(msg);
    uint32_t          some = s->count > STAY ? s->count / 2 : 0;

    skua_msg_free(msg);
    if (what == NEXT) {
        unsigned bit = (unsigned)__builtin_ctz((unsigned)(pe ^ self->pe) | 1u << NEIGHBOURS);

        if (neighbour(self, bit) != pe)
            ski_fatal("PE %d is no neighbour, and asked for seeds as one", pe);
        s->hungry |= UINT32_C(1) << bit;
        feed(self, s, STAY);
        return;
    }
    if (some == 0)
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_SEED_NONE}, NULL, 0);
    for (uint32_t i = 0; i < some && i < GIVE_MOST; i++)
        ski_pass_on(self, pe, pop_oldest(s));
}

void ski_on_seed_none(skua_msg *msg)
{
    struct ski_seeds *s = ski_self->objects->seeds;

    skua_msg_free(msg);
    s->asking = false;
    s->refusals++;
}

/* It tells where the object is, too. */
void ski_on_seed_grew(skua_msg *msg)
{
    struct ski_objects *objects = ski_self->objects;

    if (objects->seeds->ungrown == 0) {
        ski_far_drop(ski_self, msg);
        return;
    }
    ski_seed_grew(objects);
    ski_on_located(msg);
}

void ski_seed_grew(struct ski_objects *objects)
{
    struct ski_seeds *s = objects->seeds;

    if (--s->ungrown == 0)
        ski_unhold(objects->self, &s->kept);
}

bool ski_seeds_awaited(struct ski_objects *objects, skua_msg *msg)
{
    if (objects->seeds->ungrown == 0)
        return false;
    ski_hold(objects->self, &objects->seeds->kept, msg);
    return true;
}

/* ---- planting -------------------------------------------------------------------------------- */

void ski_seed_plant(struct ski_objects *objects, const skua_ref *ref, const void *data,
                    size_t bytes)
{
    skua_msg *seed = ski_insertion(objects->self, ref, SKI_HANDLER_SEED, data, bytes);

    if (!objects->seeds->known) {
        ski_on_seed_known(NULL);
        ski_broadcast(objects->self, SKI_HANDLER_SEED_KNOWN, skua_msg_alloc(0));
    }
    objects->seeds->ungrown++;
    keep(objects, seed, 0);
}
