/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - see lane.h. */
#include "objects/lane.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "objects/chain.h"
#include "objects/objects.h"
#include "onesided/layout.h"

#define ENOUGH    1     /* equal steps before a habit is one                */
#define MOST      16384 /* habits of a PE                                   */
#define HEAD_MOST 64    /* bytes: messages with longer heads are not learned */

enum { IDLE, ARMED, BUSY, LANDED };

struct ski_lane {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t state;

    /* Of the side whose turn it is. */
    int64_t     reference; /* armed for that, ... */
    uint64_t    bytes;     /* ... of so many      */
    skua_layout to;
    skua_msg   *msg; /* whose data have landed */

    /* Of the receiver. */
    struct holder   *holder; /* NULL: nobody has had a message on it, or he has gone */
    struct ski_lane *next;   /* of the holder                                        */
    skua_land_fn     land;
    uint64_t         delivered, last; /* messages, and their highest number */
    int64_t          expected;        /* reference                          */
    uint64_t         expected_bytes;
    skua_layout      given; /* by the program; `to` has the same shape, simplified ... */
    size_t           room;  /* ... and so many bytes                                   */
    int32_t          sender;
    bool             wanted; /* it should be armed */
    unsigned char    head[HEAD_MOST];
};

/* An object here that has had messages on lanes. */
struct holder {
    struct ski_link    link;
    struct ski_object *object;
    struct ski_lane   *first;
    unsigned           wanted; /* of its lanes */
};

/* What a sender remembers of messages of one kind. */
struct habit {
    struct ski_link  link;
    skua_ref         ref;
    uint32_t         entry;
    uint32_t         head_bytes;
    unsigned char    head[HEAD_MOST];
    int64_t          reference, step; /* of the last one */
    uint64_t         bytes;
    unsigned         streak; /* so often the step was the same */
    uint64_t         number; /* of messages on the lane        */
    struct ski_lane *lane;
    skua_layout      to, from; /* of the last copy ...         */
    struct ski_path  path;     /* ... and the way between them */
};

struct ski_lanes {
    struct ski_chains habits, holders;
    uint64_t          landed;
};

static struct ski_lanes *lanes_of(struct ski_pe *self)
{
    if (!self->objects->lanes)
        self->objects->lanes = ski_calloc(1, sizeof *self->objects->lanes);
    return self->objects->lanes;
}

static uint64_t word(uint64_t number, unsigned state)
{
    return number << 2 | state;
}

/* ---- habits --------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (; bytes >= sizeof hash; at += sizeof hash, bytes -= sizeof hash) {
        uint64_t eight;

        memcpy(&eight, at, sizeof eight);
        hash = (hash ^ eight) * SKI_GOLDEN;
    }
    while (bytes-- > 0)
        hash = (hash ^ *at++) * SKI_GOLDEN;
    return hash ^ hash >> 32;
}

static bool is_of(const struct habit *habit, const skua_ref *ref, uint32_t entry, const void *head,
                  size_t bytes)
{
    return habit->ref.of.id == ref->of.id && habit->entry == entry && habit->head_bytes == bytes &&
           ski_index_equal(&habit->ref.index, &ref->index) && memcmp(habit->head, head, bytes) == 0;
}

/* NULL: it is not to be learned. */
static struct habit *habit_for(struct ski_lanes *lanes, const skua_ref *ref, uint32_t entry,
                               const void *head, size_t bytes)
{
    uint64_t         hash = hash_bytes(ref->of.id ^ (uint64_t)entry << 48, head, bytes);
    struct ski_link *link;
    struct habit    *made;

    hash = hash_bytes(hash, &ref->index.at, ref->index.bytes);
    for (link = ski_chain_first(&lanes->habits, hash); link; link = link->next)
        if (link->hash == hash && is_of((struct habit *)link, ref, entry, head, bytes))
            return (struct habit *)link;
    if (lanes->habits.count >= MOST)
        return NULL;
    made  = ski_malloc(sizeof *made);
    *made = (struct habit){.ref = *ref, .entry = entry, .head_bytes = (uint32_t)bytes};
    memcpy(made->head, head, bytes);
    ski_chain_add(&lanes->habits, &made->link, hash);
    return made;
}

/* Whether the next one can be expected. */
static bool note(struct habit *habit, const struct ski_landing *landing)
{
    int64_t step = (int64_t)((uint64_t)landing->reference - (uint64_t)habit->reference);

    if (step != 0 && step == habit->step && landing->bytes == habit->bytes)
        habit->streak++;
    else
        habit->streak = 0;
    habit->step      = step;
    habit->reference = landing->reference;
    habit->bytes     = landing->bytes;
    return habit->streak >= ENOUGH;
}

/* Messages to an object of the same host, that are not copied on their way there. */
static bool can_have_lane(const struct ski_pe *self, const skua_ref *ref)
{
    return ski_config.channels != SKI_CHANNELS_MESSAGE && ref->index.bytes <= SKI_MSG_INDEX_BYTES &&
           ski_job_index(self->job, skua_where(*ref)) >= 0;
}

static struct ski_lane *new_lane(struct ski_pe *self)
{
    struct ski_lane *lane = ski_pool_alloc(&self->pool, sizeof *lane);

    if (!lane)
        return NULL;
    memset(lane, 0, sizeof *lane);
    lane->sender = self->pe;
    return lane;
}

/* ---- the sender ------------------------------------------------------------------------------ */

/* The lane is ours if it is armed for this message. */
static bool claim(struct ski_lane *lane, const struct ski_landing *landing)
{
    uint64_t armed = word(landing->number, ARMED);

    if (atomic_load_explicit(&lane->state, memory_order_relaxed) != armed)
        return false;
    return atomic_compare_exchange_strong_explicit(&lane->state, &armed,
                                                   word(landing->number, BUSY),
                                                   memory_order_acquire, memory_order_relaxed);
}

static void copy(struct habit *habit, const skua_layout *to, const skua_layout *from)
{
    if (!ski_layout_same(&habit->to, to) || !ski_layout_same(&habit->from, from)) {
        habit->to   = *to;
        habit->from = *from;
        ski_path_make(&habit->path, to, from);
    }
    ski_path_copy(&habit->path, to->at, from->at);
}

static bool put(struct habit *habit, skua_msg *msg, const skua_layout *from)
{
    struct ski_lane          *lane    = habit->lane;
    const struct ski_landing *landing = ski_landing_of(msg);
    bool                      fits;

    if (!claim(lane, landing))
        return false;
    fits = lane->reference == landing->reference && lane->bytes == landing->bytes;
    if (fits) {
        copy(habit, &lane->to, from);
        lane->msg = msg;
    }
    atomic_store_explicit(&lane->state, word(landing->number, fits ? LANDED : IDLE),
                          memory_order_release);
    return fits;
}

bool ski_lane_send(struct ski_pe *self, const skua_ref *ref, skua_entry entry, skua_msg *msg,
                   const skua_layout *from)
{
    struct ski_landing *landing = ski_landing_of(msg);
    struct habit       *habit;
    bool                expected;

    if (landing->head > HEAD_MOST)
        return false;
    habit = habit_for(lanes_of(self), ref, entry.id, landing + 1, landing->head);
    if (!habit)
        return false;
    expected = note(habit, landing);
    if (expected && !habit->lane && can_have_lane(self, ref))
        habit->lane = new_lane(self);
    if (!habit->lane)
        return false;
    landing->lane   = habit->lane;
    landing->number = ++habit->number;
    landing->step   = expected ? habit->step : 0;
    return put(habit, msg, from);
}

/* ---- holders ----------------------------------------------------------------------------------
 */

static struct holder *find_holder(const struct ski_lanes *lanes, const struct ski_object *object)
{
    struct ski_link *link = ski_chain_first(&lanes->holders, (uintptr_t)object);

    while (link && ((struct holder *)link)->object != object)
        link = link->next;
    return (struct holder *)link;
}

static struct holder *holder_of(struct ski_lanes *lanes, struct ski_object *object)
{
    struct holder *holder = find_holder(lanes, object);

    if (!holder) {
        holder  = ski_malloc(sizeof *holder);
        *holder = (struct holder){.object = object};
        ski_chain_add(&lanes->holders, &holder->link, (uintptr_t)object);
    }
    return holder;
}

/* The first message on a lane, here: the object is the one that answers on it. */
static void adopt(struct ski_lane *lane, struct ski_object *object, const struct ski_entry *entry,
                  const struct ski_landing *landing)
{
    struct holder *holder = holder_of(lanes_of(ski_self), object);

    lane->holder  = holder;
    lane->next    = holder->first;
    holder->first = lane;
    lane->land    = entry->land;
    lane->wanted  = false;
    memcpy(lane->head, landing + 1, landing->head);
}

static void want(struct ski_lane *lane, bool wanted)
{
    lane->holder->wanted += wanted;
    lane->holder->wanted -= lane->wanted;
    lane->wanted = wanted;
}

/* ---- the receiver -------------------------------------------------------------------------------
 */

/* The lane that a message names; NULL: none that means something here. */
static struct ski_lane *named(const struct ski_pe *self, const skua_msg *msg)
{
    struct ski_lane *lane = ski_landing_of(msg)->lane;

    if (!lane || ski_job_index(self->job, msg->source) < 0 ||
        (uintptr_t)lane % SKI_CACHE_LINE != 0 || ski_landing_of(msg)->head > HEAD_MOST ||
        !ski_arena_contains(self->pool.arena, lane) ||
        !ski_arena_contains(self->pool.arena, lane + 1))
        return NULL;
    return lane;
}

/* What the message says about the lane. */
static void take(struct ski_lane *lane, skua_msg *msg)
{
    struct ski_landing *landing = ski_landing_of(msg);
    uint64_t            state   = atomic_load_explicit(&lane->state, memory_order_acquire);

    if (state == word(landing->number, LANDED) && lane->msg == msg) {
        landing->view  = lane->given;
        landing->apart = 1;
        ski_self->objects->lanes->landed++;
    }
    if ((state & 3) == ARMED || landing->apart)
        atomic_store_explicit(&lane->state, word(0, IDLE), memory_order_relaxed);
    lane->delivered++;
    lane->last           = landing->number > lane->last ? landing->number : lane->last;
    lane->expected       = (int64_t)((uint64_t)landing->reference + (uint64_t)landing->step);
    lane->expected_bytes = landing->bytes;
    want(lane, landing->step != 0);
}

struct ski_lane *ski_lane_arrived(struct ski_object *object, const struct ski_entry *entry,
                                  skua_msg *msg)
{
    struct ski_lane *lane = named(ski_self, msg);

    if (!lane)
        return NULL;
    if (!lane->holder)
        adopt(lane, object, entry, ski_landing_of(msg));
    if (lane->holder->object != object)
        return NULL;
    take(lane, msg);
    return lane;
}

/* Whether the sender reaches it. */
static bool is_reached(const struct ski_pe *self, const struct ski_lane *lane)
{
    return ski_arena_contains(self->pool.arena, lane->given.at) ||
           ski_job_process_of(self->job, lane->sender) == ski_job_process_of(self->job, self->pe);
}

/* The place that the program has given is taken, if it makes sense. */
static bool accept(struct ski_lane *lane, const skua_layout *given)
{
    if (!ski_layout_same(given, &lane->given)) {
        lane->room = 0;
        if (ski_layout_check("where a message shall land", given, true, &lane->to, &lane->room) !=
            SKUA_OK)
            return false;
    }
    lane->given = *given;
    lane->to.at = given->at;
    return lane->room == lane->expected_bytes && is_reached(ski_self, lane);
}

static void arm(struct ski_lane *lane)
{
    struct ski_object *object = lane->holder->object;
    skua_layout        given;

    if (lane->delivered != lane->last ||
        (atomic_load_explicit(&lane->state, memory_order_relaxed) & 3) != IDLE ||
        !lane->land(object + 1, lane->expected, lane->head, &given))
        return;
    want(lane, false);
    if (!accept(lane, &given))
        return;
    lane->reference = lane->expected;
    lane->bytes     = lane->expected_bytes;
    atomic_store_explicit(&lane->state, word(lane->last + 1, ARMED), memory_order_release);
}

void ski_lane_after(struct ski_object *object, const struct ski_lane *lane)
{
    const struct holder *holder = lane->holder;

    if (!holder || holder->wanted == 0 || object->state != SKI_ALIVE)
        return;
    for (struct ski_lane *each = holder->first; each; each = each->next)
        if (each->wanted)
            arm(each);
}

/* ---- taking back -------------------------------------------------------------------------------
 */

/* The state of a lane that is not armed any more, and that nobody copies to. */
static unsigned disarm(struct ski_lane *lane)
{
    uint64_t state = atomic_load_explicit(&lane->state, memory_order_acquire);

    if ((state & 3) == ARMED &&
        atomic_compare_exchange_strong_explicit(&lane->state, &state, word(0, IDLE),
                                                memory_order_acquire, memory_order_acquire))
        return IDLE;
    for (; (state & 3) == BUSY; state = atomic_load_explicit(&lane->state, memory_order_acquire))
        sched_yield();
    return state & 3;
}

static void withdraw(struct ski_lane *lane)
{
    struct ski_landing *landing;

    if (disarm(lane) == LANDED) {
        landing        = ski_landing_of(lane->msg);
        landing->view  = lane->given;
        landing->apart = 1;
        ski_landing_fill(lane->msg);
        atomic_store_explicit(&lane->state, word(0, IDLE), memory_order_release);
    }
    lane->holder = NULL;
}

void ski_lane_dropped(skua_msg *msg)
{
    struct ski_lane *lane = named(ski_self, msg);

    if (lane && lane->msg == msg && disarm(lane) == LANDED)
        atomic_store_explicit(&lane->state, word(0, IDLE), memory_order_relaxed);
}

void ski_lanes_withdraw(struct ski_object *object)
{
    struct ski_lanes *lanes  = object->of->self->objects->lanes;
    struct holder    *holder = lanes ? find_holder(lanes, object) : NULL;
    struct ski_lane  *next;

    if (!holder)
        return;
    for (struct ski_lane *lane = holder->first; lane; lane = next) {
        next = lane->next; /* it is another's as soon as it is given back */
        withdraw(lane);
    }
    ski_chain_remove(&lanes->holders, &holder->link);
    free(holder);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

uint64_t skua_landing_count(void)
{
    const struct ski_lanes *lanes = SKI_SELF()->objects->lanes;

    return lanes ? lanes->landed : 0;
}

static void free_link(struct ski_link *link, void *arg)
{
    (void)arg;
    free(link);
}

void ski_lanes_end(struct ski_objects *objects)
{
    if (!objects->lanes)
        return;
    ski_chains_each(&objects->lanes->habits, free_link, NULL);
    ski_chains_each(&objects->lanes->holders, free_link, NULL);
    ski_chains_clear(&objects->lanes->habits);
    ski_chains_clear(&objects->lanes->holders);
    free(objects->lanes);
}
