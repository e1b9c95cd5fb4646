/* SPDX-License-Identifier: Apache-2.0 */
/* learned_channel.c - see learned_channel.h. */
#include "objects/zerocopy/learned_channel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "objects/model/hash_table.h"
#include "onesided/rma/layout.h"

#define ENOUGH 1     /* times that a step was the same as before it           */
#define DEEP   2     /* messages that are expected at a time; a power of two  */
#define MOST   16384 /* habits of a PE                                        */
#define HEAD   64    /* bytes: messages with longer heads are not learned     */
#define SHAPES 64    /* of places, on a PE                                    */
#define ROUTES 32    /* that a PE remembers                                   */

#define KEY_WORDS (2 + (SKI_MSG_INDEX_BYTES + HEAD) / 8)

enum { IDLE, ARMED, BUSY, LANDED };

/* Of memory where something lands; stays as it is until the job ends. */
struct shape {
    skua_layout given; /* by the program */
    skua_layout simple;
    size_t      bytes;
};

struct ski_berth {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t state;

    int64_t             reference; /* what it is armed for, ...      */
    uint64_t            bytes;     /* ...                            */
    char               *at;        /* ... where that shall land, ... */
    const struct shape *shape;
    struct ski_object  *object; /* ... and who waits for it, ...  */
    skua_msg           *msg;    /* whose data have landed         */
    int32_t             pe;     /* ... where                      */
};

struct ski_lane {
    struct ski_berth berth[DEEP]; /* of messages by their number */

    /* Of the receiver. */
    _Alignas(SKI_CACHE_LINE) struct ski_object *object; /* NULL: nobody has had a message on it, or
                                                           he has gone */
    struct holder   *holder;          /* ... of it and other lanes                         */
    struct ski_lane *next;            /* of the holder                                     */
    uint64_t         last;            /* the highest number of a message that has come ... */
    int64_t          reference, step; /* ... and its reference, and what comes next        */
    uint64_t         bytes;           /* ... of data                                       */
    uint32_t         missed;          /* messages before the last that have not come       */
    uint16_t         entry;
    uint8_t          ahead;      /* so many messages beyond the last have a berth */
    bool             wanted : 1; /* more should have                              */
    bool             near : 1;   /* the sender is of our process                  */
    bool             rival : 1;  /* the holder has others of its kind             */

    _Alignas(SKI_CACHE_LINE) unsigned char head[HEAD];
    uint64_t tag; /* core/message/addr_tag.h: a message may say that anything is a lane */
};

/* An object here that has had messages on lanes. */
struct holder {
    struct ski_hash_link link;
    struct ski_object   *object;
    struct ski_lane     *first;
    unsigned             lanes, wanted; /* how many; those that should be armed */
};

/* What a sender remembers of messages of one kind. */
struct habit {
    struct ski_hash_link link;
    int64_t              reference, step; /* of the last one                  */
    uint64_t             bytes;           /* of its data                      */
    uint64_t             number;          /* of messages on the lane          */
    struct ski_lane     *lane;            /* or NULL                          */
    uint32_t             streak;          /* so often the step was the same   */
    uint32_t             words;           /* of its key                       */
    struct habit        *follower;        /* what was sent next, last time    */
    struct ski_lane     *its_lane;        /* the follower's                   */
    uint64_t             key[];
};

/* From one shape to another. */
struct route {
    const struct shape *to;
    skua_layout         from;
    struct ski_path     path;
};

struct ski_lanes {
    struct ski_hash_table habits, holders;
    struct habit         *recent; /* what was sent last */
    struct shape         *shape[SHAPES];
    struct route          route[ROUTES];
    unsigned              shapes, routes; /* routes: so many were ever worked out */
    uint64_t              landed;
};

/* What this PE has learned; NULL: nothing yet. */
static struct ski_lanes *lanes_known(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_LEARNED_CHANNELS];
}

static struct ski_lanes *lanes_of(struct ski_pe *self)
{
    if (!lanes_known(self))
        self->objects->slot[SKI_SLOT_LEARNED_CHANNELS] = ski_calloc(1, sizeof(struct ski_lanes));
    return lanes_known(self);
}

static uint64_t word(uint64_t number, unsigned state)
{
    return number << 2 | state;
}

static struct ski_berth *berth_for(struct ski_lane *lane, uint64_t number)
{
    return &lane->berth[number % DEEP];
}

/* ---- habits --------------------------------------------------------------------------------- */

/* What tells kinds of messages apart: collection, entry, index and head, in words. */
struct key {
    uint64_t word[KEY_WORDS];
    uint32_t words;
};

static void append(struct key *key, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    key->words += (uint32_t)(bytes + 7) / 8;
    key->word[key->words - 1] = 0; /* what the last word has beyond the data */
    memcpy((char *)(key->word + key->words) - (bytes + 7) / 8 * 8, data, bytes);
}

static void make_key(struct key *key, const skua_ref *ref, uint32_t entry,
                     const struct ski_landing *landing, const void *head)
{
    key->words   = 2;
    key->word[0] = ref->of.id;
    key->word[1] = (uint64_t)landing->head << 32 | entry << 8 | ref->index.bytes;
    append(key, &ref->index.at, ref->index.bytes);
    append(key, head, landing->head);
}

static uint64_t hash_of(const struct key *key)
{
    uint64_t hash = key->words;

    for (uint32_t i = 0; i < key->words; i++) {
        hash = (hash ^ key->word[i]) * SKI_GOLDEN;
        hash ^= hash >> 29;
    }
    return hash;
}

static struct habit *new_habit(struct ski_lanes *lanes, uint64_t hash, const struct key *key)
{
    size_t        bytes = key->words * sizeof *key->word;
    struct habit *habit = lanes->habits.count < MOST ? ski_malloc(sizeof *habit + bytes) : NULL;

    if (!habit)
        return NULL;
    *habit = (struct habit){.words = key->words};
    memcpy(habit->key, key->word, bytes);
    ski_hash_add(&lanes->habits, &habit->link, hash);
    return habit;
}

static bool is_of(const struct habit *habit, const struct key *key)
{
    bool same = habit->words == key->words;

    for (uint32_t i = 0; same && i < key->words; i++)
        same = habit->key[i] == key->word[i];
    return same;
}

/* NULL: there are too many. */
static struct habit *find_habit(struct ski_lanes *lanes, const struct key *key)
{
    uint64_t hash = hash_of(key);

    for (struct ski_hash_link *link = ski_hash_first(&lanes->habits, hash); link; link = link->next)
        if (link->hash == hash && is_of((struct habit *)link, key))
            return (struct habit *)link;
    return new_habit(lanes, hash, key);
}

/* What the message after this one will need. */
static void fetch(const struct habit *habit)
{
    __builtin_prefetch(habit->follower);
    __builtin_prefetch((const char *)habit->follower + SKI_CACHE_LINE);
    for (int i = 0; habit->its_lane && i < DEEP; i++)
        __builtin_prefetch(&habit->its_lane->berth[i], 1);
}

/* Messages tend to follow each other as they did before: so the next one is known, and what will
 * be needed for it is fetched. */
static struct habit *habit_for(struct ski_lanes *lanes, const struct key *key)
{
    struct habit *before = lanes->recent, *habit = before ? before->follower : NULL;

    if (!habit || !is_of(habit, key))
        habit = find_habit(lanes, key);
    if (before && habit) {
        before->follower = habit;
        before->its_lane = habit->lane;
    }
    lanes->recent = habit;
    if (habit && habit->follower)
        fetch(habit);
    return habit;
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

static uint64_t lane_tag(const struct ski_pe *self, const struct ski_lane *lane)
{
    return ski_addr_tag(self->job, SKI_TAG_LANE, 0, (uintptr_t)lane, 0);
}

/* For messages to an object of the same host; NULL: it is elsewhere, or there is no memory. */
static struct ski_lane *new_lane(struct ski_pe *self, const skua_ref *ref)
{
    struct ski_lane *lane = NULL;

    if (ski_config.channels != SKI_CHANNELS_MESSAGE &&
        ski_job_index(self->job, skua_where(*ref)) >= 0)
        lane = ski_pool_alloc(&self->pool, sizeof *lane);
    if (!lane)
        return NULL;
    memset(lane, 0, sizeof *lane);
    lane->tag = lane_tag(self, lane);
    return lane;
}

/* ---- the sender ------------------------------------------------------------------------------ */

static const struct ski_path *path_between(struct ski_lanes *lanes, const struct shape *to,
                                           const skua_layout *from)
{
    unsigned      known = lanes->routes < ROUTES ? lanes->routes : ROUTES;
    struct route *route;

    for (route = lanes->route; route < lanes->route + known; route++)
        if (route->to == to && ski_layout_same(&route->from, from))
            return &route->path;
    route       = &lanes->route[lanes->routes++ % ROUTES];
    route->to   = to;
    route->from = *from;
    ski_path_make(&route->path, &to->simple, from);
    return &route->path;
}

/* The berth is ours if it is armed for this message. */
static bool is_expected(struct ski_berth *berth, const struct ski_landing *landing)
{
    uint64_t armed = word(landing->number, ARMED);

    if (atomic_load_explicit(&berth->state, memory_order_relaxed) != armed ||
        !atomic_compare_exchange_strong_explicit(&berth->state, &armed, word(landing->number, BUSY),
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    if (SKI_LIKELY(berth->reference == landing->reference && berth->bytes == landing->bytes))
        return true;
    atomic_store_explicit(&berth->state, word(0, IDLE), memory_order_release);
    return false;
}

struct ski_berth *ski_lane_claim(struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                                 struct ski_landing *landing, const void *head)
{
    struct key        key;
    struct habit     *habit;
    struct ski_berth *berth;
    bool              expected;

    /* A longer index would not let the message stay where it is. */
    if (landing->head > HEAD || ref->index.bytes > SKI_MSG_INDEX_BYTES)
        return NULL;
    make_key(&key, ref, entry.id, landing, head);
    habit = habit_for(lanes_of(self), &key);
    if (!habit)
        return NULL;
    expected = note(habit, landing);
    if (expected && !habit->lane)
        habit->lane = new_lane(self, ref);
    if (!habit->lane)
        return NULL;
    landing->lane   = habit->lane;
    landing->number = ++habit->number;
    landing->step   = expected ? habit->step : 0;
    berth           = berth_for(habit->lane, landing->number);
    return is_expected(berth, landing) ? berth : NULL;
}

struct ski_object *ski_lane_put(struct ski_pe *self, struct ski_berth *berth, skua_msg *msg,
                                const skua_layout *from, int *pe)
{
    struct ski_object *object = berth->object;

    *pe = berth->pe;
    ski_path_copy(path_between(lanes_known(self), berth->shape, from), berth->at, from->at);
    berth->msg = msg;
    atomic_store_explicit(&berth->state, word(ski_landing_of(msg)->number, LANDED),
                          memory_order_release);
    return object;
}

/* ---- holders ----------------------------------------------------------------------------------
 */

static struct holder *find_holder(const struct ski_lanes *lanes, const struct ski_object *object)
{
    struct ski_hash_link *link = ski_hash_first(&lanes->holders, (uintptr_t)object);

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
        ski_hash_add(&lanes->holders, &holder->link, (uintptr_t)object);
    }
    return holder;
}

/* The state of a berth that is not armed any more, and that nobody copies to. */
static unsigned disarm(struct ski_berth *berth)
{
    uint64_t state = atomic_load_explicit(&berth->state, memory_order_acquire);

    if ((state & 3) == ARMED &&
        atomic_compare_exchange_strong_explicit(&berth->state, &state, word(0, IDLE),
                                                memory_order_acquire, memory_order_acquire))
        return IDLE;
    for (; (state & 3) == BUSY; state = atomic_load_explicit(&berth->state, memory_order_acquire))
        sched_yield();
    return state & 3;
}

static void want(struct ski_lane *lane, bool wanted)
{
    lane->holder->wanted += wanted;
    lane->holder->wanted -= lane->wanted;
    lane->wanted = wanted;
}

/* The pattern is broken: what was promised is taken back, if it is not used already. */
static void expect_nothing(struct ski_lane *lane)
{
    for (struct ski_berth *berth = lane->berth; berth < lane->berth + DEEP; berth++)
        if ((atomic_load_explicit(&berth->state, memory_order_relaxed) & 3) == ARMED)
            disarm(berth);
    lane->ahead = 0;
    want(lane, false);
}

static bool is_of_kind(const struct ski_lane *lane, const skua_msg *msg)
{
    const struct ski_landing *landing = ski_landing_of(msg);

    return lane->entry == msg->handler && landing->head <= HEAD &&
           memcmp(lane->head, ski_landing_head(landing), landing->head) == 0;
}

/* A message has come otherwise than on those lanes that expected one of its kind: its sender has
 * moved, say.  True: there are such. */
static bool disappoint(const struct holder *holder, const struct ski_lane *lane,
                       const skua_msg *msg)
{
    bool rivals = false;

    for (struct ski_lane *each = holder->first; each; each = each->next)
        if (each != lane && is_of_kind(each, msg)) {
            each->rival = rivals = true;
            expect_nothing(each);
        }
    return rivals;
}

/* The first message on a lane, here: the object is the one that answers on it. */
static void adopt(struct ski_lane *lane, struct ski_object *object, const skua_msg *msg)
{
    struct holder            *holder  = holder_of(lanes_of(ski_self), object);
    const struct ski_landing *landing = ski_landing_of(msg);
    const struct ski_job     *job     = ski_self->job;

    lane->object  = object;
    lane->holder  = holder;
    lane->next    = holder->first;
    holder->first = lane;
    holder->lanes++;
    lane->entry  = msg->handler;
    lane->near   = ski_job_process_of(job, msg->source) == ski_job_process_of(job, ski_self->pe);
    lane->wanted = false;
    lane->ahead  = 0;
    memcpy(lane->head, ski_landing_head(landing), landing->head);
    lane->rival = disappoint(holder, lane, msg);
}

/* ---- arriving ----------------------------------------------------------------------------------
 */

/* The lane that a message names; NULL: none that means something here. */
static struct ski_lane *named(const struct ski_pe *self, const skua_msg *msg)
{
    struct ski_lane *lane =
        msg->bytes >= sizeof(struct ski_landing) ? ski_landing_of(msg)->lane : NULL;

    if (!lane || ski_job_index(self->job, msg->source) < 0 || ski_landing_of(msg)->head > HEAD ||
        !ski_addr_tag_may_look(self->job, lane, sizeof *lane) ||
        (SKI_UNLIKELY(self->net != NULL) && ski_addr_tag_peek(&lane->tag) != lane_tag(self, lane)))
        return NULL;
    return lane;
}

/* The view of a message whose data are where the berth says. */
static void set_view(struct ski_landing *landing, const struct ski_berth *berth)
{
    skua_layout *view = ski_landing_view(landing);

    ski_layout_assign(view, &berth->shape->given);
    view->at       = berth->at;
    landing->apart = 1;
}

/* The berth of a message that has come is idle. */
static void take_berth(struct ski_berth *berth, skua_msg *msg)
{
    struct ski_landing *landing = ski_landing_of(msg);
    uint64_t            state   = atomic_load_explicit(&berth->state, memory_order_acquire);

    if (state == word(landing->number, LANDED) && berth->msg == msg) {
        set_view(landing, berth);
        lanes_known(ski_self)->landed++;
    }
    if (landing->apart || state == word(landing->number, ARMED))
        atomic_store_explicit(&berth->state, word(0, IDLE), memory_order_relaxed);
}

/* Numbers come in any order: how many are missing below the highest. */
static void count(struct ski_lane *lane, uint64_t number)
{
    uint64_t steps = number - lane->last;

    if (number < lane->last) {
        lane->missed--;
        return;
    }
    lane->missed += (uint32_t)(steps - 1);
    lane->ahead = (uint8_t)(lane->ahead > steps ? lane->ahead - steps : 0);
    lane->last  = number;
}

/* On no lane. */
static void came_otherwise(const struct ski_object *object, const skua_msg *msg)
{
    const struct ski_lanes *lanes  = lanes_known(ski_self);
    const struct holder    *holder = lanes ? find_holder(lanes, object) : NULL;

    if (holder)
        disappoint(holder, NULL, msg);
}

struct ski_lane *ski_lane_arrived(struct ski_object *object, skua_msg *msg)
{
    const struct ski_landing *landing = ski_landing_of(msg);
    struct ski_lane          *lane    = named(ski_self, msg);

    if (!lane) {
        came_otherwise(object, msg);
        return NULL;
    }
    if (!lane->object)
        adopt(lane, object, msg);
    else if (SKI_UNLIKELY(lane->rival) && lane->object == object)
        disappoint(lane->holder, lane, msg);
    if (lane->object != object)
        return NULL;
    take_berth(berth_for(lane, landing->number), msg);
    count(lane, landing->number);
    if (landing->number != lane->last)
        return lane;
    lane->reference = landing->reference;
    lane->step      = landing->step;
    lane->bytes     = landing->bytes;
    want(lane, landing->step != 0);
    if (SKI_UNLIKELY(landing->step == 0))
        expect_nothing(lane);
    return lane;
}

/* ---- arming ------------------------------------------------------------------------------------
 */

static const struct shape *new_shape(struct ski_pe *self, const skua_layout *given)
{
    struct ski_lanes *lanes = lanes_known(self);
    struct shape     *shape;

    if (lanes->shapes == SHAPES || !(shape = ski_pool_alloc(&self->pool, sizeof *shape)))
        return NULL;
    if (ski_layout_check("where a message shall land", given, true, &shape->simple,
                         &shape->bytes) != SKUA_OK) {
        ski_pool_free(&self->pool, shape);
        return NULL;
    }
    shape->given                         = *given;
    return lanes->shape[lanes->shapes++] = shape;
}

/* NULL: the layout makes no sense, or there are too many. */
static const struct shape *shape_of(struct ski_pe *self, const skua_layout *given)
{
    const struct ski_lanes *lanes = lanes_known(self);

    for (unsigned i = 0; i < lanes->shapes; i++)
        if (ski_layout_same(&lanes->shape[i]->given, given))
            return lanes->shape[i];
    return new_shape(self, given);
}

/* Whether the sender reaches it. */
static bool is_reached(const struct ski_pe *self, const struct ski_lane *lane, const void *at)
{
    return lane->near || ski_arena_contains(self->pool.arena, at);
}

static bool arm_berth(struct ski_pe *self, struct ski_lane *lane, struct ski_berth *berth,
                      const skua_layout *given)
{
    berth->shape = shape_of(self, given);
    berth->bytes = lane->bytes;
    berth->at    = given->at;
    berth->pe    = self->pe;
    return berth->shape && berth->shape->bytes == berth->bytes && is_reached(self, lane, berth->at);
}

/* False: not now. */
static bool arm_next(struct ski_pe *self, struct ski_lane *lane, struct ski_object *object)
{
    uint64_t          steps = lane->ahead + 1u, number = lane->last + steps;
    struct ski_berth *berth = berth_for(lane, number);
    skua_layout       given;

    if (steps > DEEP || lane->missed > 0 ||
        (atomic_load_explicit(&berth->state, memory_order_acquire) & 3) != IDLE)
        return false;
    berth->object    = object;
    berth->reference = (int64_t)((uint64_t)lane->reference + steps * (uint64_t)lane->step);
    if (!ski_landing_fn(&ski_entries[lane->entry])(object + 1, berth->reference, lane->head,
                                                   &given))
        return false;
    if (!arm_berth(self, lane, berth, &given)) {
        want(lane, false);
        return false;
    }
    lane->ahead++;
    atomic_store_explicit(&berth->state, word(number, ARMED), memory_order_release);
    return true;
}

/* All berths, as far as the object lets us. */
static void arm(struct ski_lane *lane, struct ski_object *object)
{
    while (arm_next(ski_self, lane, object))
        ;
    if (lane->ahead == DEEP)
        want(lane, false);
}

/* A place is free for the message after the next one when the object has gone on, and that, as a
 * rule, is when it has had one on each of its lanes.  To ask before would be in vain. */
void ski_lane_after(struct ski_object *object, const struct ski_lane *lane)
{
    const struct holder *holder = lane->holder;

    if (lane->object != object || !lane->wanted || object->state != SKI_ALIVE)
        return;
    if (lane->ahead > 0 && holder->wanted < holder->lanes)
        return;
    for (struct ski_lane *each = holder->first; each; each = each->next)
        if (each->wanted)
            arm(each, object);
}

/* ---- taking back -------------------------------------------------------------------------------
 */

static void withdraw(struct ski_lane *lane)
{
    for (struct ski_berth *berth = lane->berth; berth < lane->berth + DEEP; berth++)
        if (disarm(berth) == LANDED && !ski_pe_exiting(ski_self)) { /* then it may be gone */
            struct ski_landing *landing = ski_landing_of(berth->msg);

            set_view(landing, berth);
            landing->whole = ski_landing_copy(berth->msg);
            ski_landing_tag_whole(landing->whole);
            landing->apart = 0;
            atomic_store_explicit(&berth->state, word(0, IDLE), memory_order_release);
        }
    lane->object = NULL;
}

void ski_lane_dropped(skua_msg *msg)
{
    struct ski_lane    *lane    = named(ski_self, msg);
    struct ski_landing *landing = ski_landing_of(msg);
    struct ski_berth   *berth   = lane ? berth_for(lane, landing->number) : NULL;

    if (berth &&
        atomic_load_explicit(&berth->state, memory_order_acquire) ==
            word(landing->number, LANDED) &&
        berth->msg == msg)
        atomic_store_explicit(&berth->state, word(0, IDLE), memory_order_relaxed);
}

void ski_lanes_withdraw(struct ski_object *object)
{
    struct ski_lanes *lanes  = lanes_known(object->of->self);
    struct holder    *holder = lanes ? find_holder(lanes, object) : NULL;
    struct ski_lane  *next;

    if (!holder)
        return;
    for (struct ski_lane *lane = holder->first; lane; lane = next) {
        next = lane->next; /* it is another's as soon as it is given back */
        withdraw(lane);
    }
    ski_hash_remove(&lanes->holders, &holder->link);
    free(holder);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

uint64_t skua_landing_count(void)
{
    const struct ski_lanes *lanes = lanes_known(SKI_SELF());

    return lanes ? lanes->landed : 0;
}

static void free_link(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free(link);
}

static void lanes_pe_end(struct ski_objects *objects)
{
    struct ski_lanes *lanes = objects->slot[SKI_SLOT_LEARNED_CHANNELS];

    if (!lanes)
        return;
    ski_hash_each(&lanes->habits, free_link, NULL);
    ski_hash_each(&lanes->holders, free_link, NULL);
    ski_hash_clear(&lanes->habits);
    ski_hash_clear(&lanes->holders);
    free(lanes);
}

const struct ski_lifecycle ski_learned_channel_lifecycle = {.pe_end           = lanes_pe_end,
                                                            .element_detached = ski_lanes_withdraw};
