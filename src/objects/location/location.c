/* SPDX-License-Identifier: Apache-2.0 */
/* location.c - see location.h. */
#include "objects/location/location.h"

#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/creation_wait.h"
#include "objects/location/dead_letter.h"
#include "objects/location/forward.h"
#include "objects/chare/invoke.h"
#include "objects/zerocopy/learned_channel.h"
#include "objects/location/index_map.h"
#include "objects/chare/seqnum.h"
#include "objects/chare/pup.h"
#include "objects/collective/section.h"
#include "objects/chare/seed.h"

#define GRAVES 1024  /* deleted elements that are remembered, or as many as live        */
#define HINTS  65536 /* and elements whose home is elsewhere, or a few times as many    */

/* ---- places --------------------------------------------------------------------- */

static struct ski_absent *place_of(uintptr_t value)
{
    return value & SKI_IS_PLACE ? (struct ski_absent *)(value ^ SKI_IS_PLACE) : NULL;
}

struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index)
{
    return place_of(ski_directory_find(&all->directory, index));
}

/* The place of an element that is not here, made if there is none. */
struct ski_absent *ski_absent_get(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *place = ski_absent_find(all, index);

    if (place)
        return place;
    place          = ski_malloc(sizeof *place);
    place->index   = *index;
    place->pe      = SKI_PLACE_UNKNOWN;
    place->moves   = 0;
    place->forward = NULL;
    place->checks  = 0;
    place->judged  = false;
    ski_list_init(&place->held);
    ski_directory_set(&all->directory, index, (uintptr_t)place | SKI_IS_PLACE);
    return place;
}

/* What waited for an element: on to where it is, before anything that comes later. */
static void release(struct ski_pe *self, struct ski_absent *place, int pe)
{
    struct skua_msg *msg;

    if (pe == self->pe)
        ski_unhold(self, &place->held);
    while ((msg = ski_list_pop(&place->held))) {
        self->held--;
        ski_pass_on(self, pe, msg);
    }
}

/* Messages that wait there go too: they count as received. */
static void drop_place(struct ski_pe *self, struct ski_absent *place)
{
    ski_discard_held(self, &place->held);
    ski_forward_forget(place);
    free(place);
}

void ski_places_free(struct ski_collection *all)
{
    if (!all->directory.slot)
        return;
    for (uint64_t i = 0; i <= all->directory.mask; i++)
        if (all->directory.slot[i].value & SKI_IS_PLACE)
            drop_place(all->self, place_of(all->directory.slot[i].value));
}

void ski_release_unknown(struct ski_collection *all)
{
    for (uint64_t i = 0; i <= all->directory.mask; i++) {
        struct ski_absent *place = place_of(all->directory.slot[i].value);

        if (place && (place->pe == SKI_PLACE_UNKNOWN || place->pe == SKI_PLACE_DELETED))
            release(all->self, place, all->self->pe);
    }
}

static bool is_grave(const struct ski_collection *all, const struct ski_absent *place)
{
    (void)all;
    return place->pe == SKI_PLACE_DELETED && !place->held.first;
}

/* What makes a way shorter, but need not be known: the home knows it. */
static bool is_hint(const struct ski_collection *all, const struct ski_absent *place)
{
    return place->pe >= 0 && !place->held.first && ski_home(all, &place->index) != all->self->pe;
}

/* Takes places out; returns how many. */
static size_t clear(struct ski_collection *all,
                    bool (*which)(const struct ski_collection *all, const struct ski_absent *place))
{
    struct ski_absent **found = ski_malloc(all->directory.count * sizeof(struct ski_absent *));
    size_t              count = 0;

    for (uint64_t i = 0; i <= all->directory.mask; i++) {
        struct ski_absent *place = place_of(all->directory.slot[i].value);

        if (place && which(all, place))
            found[count++] = place;
    }
    for (size_t i = 0; i < count; i++) {
        ski_directory_set(&all->directory, &found[i]->index, 0);
        drop_place(all->self, found[i]);
    }
    free(found);
    return count;
}

/* Forget who was deleted long ago, before it is more than who lives; and who is elsewhere,
 * which may be nowhere by now, and nobody would tell us. */
static void forget_some(struct ski_collection *all)
{
    if (all->graves > GRAVES + all->members)
        all->graves -= (uint32_t)clear(all, is_grave);
    if (all->hints > HINTS + 4 * (uint64_t)all->members) {
        clear(all, is_hint);
        all->hints = 0;
    }
}

/* ---- homes ------------------------------------------------------------------------- */

int ski_home(const struct ski_collection *all, const skua_index *index)
{
    switch (all->kind) {
    case SKI_GROUP:
    case SKI_CHARES: return index->at.x[0];
    case SKI_PROCESS_GROUP: return skua_process_first(index->at.x[0]);
    default: return ski_map_home(&all->def, index, all->self->pes);
    }
}

int ski_whereabouts(const struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *place = ski_absent_find(all, index);

    if (place && place->pe == SKI_PLACE_CLAIMED)
        return all->self->pe;
    return place && place->pe >= 0 ? place->pe : ski_home(all, index);
}

int skua_home(skua_ref element)
{
    struct ski_collection *all = ski_collection_get(SKI_SELF()->objects, __func__, element.of.id);

    if (all->state == SKI_EXPECTED)
        ski_creation_wait_defined(__func__, all);
    ski_check_index(__func__, all, &element.index);
    return ski_home(all, &element.index);
}

/* What is told of an element: `pe`, or SKI_PLACE_DELETED. */
struct news {
    int32_t  pe;
    uint32_t moves;
};

static void tell(struct ski_collection *all, int whom, const skua_index *index,
                 const struct news *news)
{
    ski_post_about(all->self, whom, SKI_HANDLER_LOCATED, all->id, index, news, sizeof *news);
}

void ski_tell(struct ski_collection *all, int whom, const skua_index *index, int pe, uint32_t moves)
{
    tell(all, whom, index, &(struct news){pe, moves});
}

/* Messages that wait for an element which was deleted create it again, or are in error. */
static void locate_ended(struct ski_pe *self, struct ski_absent *place)
{
    if (place->forward)
        ski_unhold(self, &place->held);
    ski_forward_forget(place);
}

/* Takes news in; those that are older than what is known are not. */
static void believe(struct ski_collection *all, const skua_index *index, const struct news *news)
{
    struct ski_absent *place;
    bool               known;

    if (ski_here(all, index)) /* it has come, or come back, since */
        return;
    if (news->pe == all->self->pe) /* it was deleted since, or has not come yet */
        return;
    forget_some(all);
    all->hints += !ski_absent_find(all, index);
    place = ski_absent_get(all, index);
    if (ski_before(news->moves, place->moves) || place->pe == SKI_PLACE_CLAIMED)
        return;
    if (place->pe == SKI_PLACE_DELETED && news->pe >= 0 && news->moves == place->moves)
        return; /* it died there */
    all->graves += (uint32_t)(news->pe == SKI_PLACE_DELETED);
    all->graves -= (uint32_t)(place->pe == SKI_PLACE_DELETED);
    known         = place->pe >= 0;
    place->checks = news->pe >= 0 ? 0 : place->checks;
    place->pe     = news->pe;
    place->moves  = news->moves;
    all->directory.version++;
    if (known && news->pe >= 0)
        ski_forward_moved(all, place);
    else if (news->pe >= 0)
        release(all->self, place, news->pe);
    else
        locate_ended(all->self, place);
}

bool ski_about(skua_msg *msg, size_t least, struct ski_collection **all, skua_index *index)
{
    if (!(msg->flags & SKI_MSG_OBJECT) || msg->bytes < least)
        ski_fatal("PE %d sent something about an element that makes no sense", msg->source);
    if (ski_collection_awaited(ski_self->objects, msg->target >> 8, msg, all))
        return false;
    *index = ski_msg_index(msg);
    ski_check_index("a message of the runtime", *all, index);
    return true;
}

void ski_on_located(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    const struct news     *news = skua_msg_data(msg);

    if (!ski_about(msg, sizeof *news, &all, &index))
        return;
    if (news->pe >= all->self->pes || news->pe < SKI_PLACE_DELETED)
        ski_fatal("PE %d says that %s is on PE %d", msg->source, ski_element_text(all, &index),
                  news->pe);
    believe(all, &index, news);
    skua_msg_free(msg);
}

void ski_settle_here(struct ski_collection *all, const skua_index *index, struct ski_object *object)
{
    uintptr_t          value = ski_directory_find(&all->directory, index);
    struct ski_absent *place = place_of(value);

    if (value && !place)
        ski_misuse("%s exists already", ski_element_text(all, index));
    ski_directory_set(&all->directory, index, (uintptr_t)object);
    if (!place)
        return;
    all->graves -= place->pe == SKI_PLACE_DELETED;
    ski_forward_arrived(all, place);
    ski_forward_forget(place);
    free(place);
}

void ski_forget(struct ski_object *object)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);
    struct news            news  = {SKI_PLACE_DELETED, object->moves};
    int                    home  = ski_home(all, &index);

    ski_directory_set(&all->directory, &index, 0);
    believe(all, &index, &news); /* also elsewhere: not what is told of it from before */
    if (home != all->self->pe)
        tell(all, home, &index, &news);
}

bool ski_is_gone(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_absent *place = ski_absent_find(all, index);

    if (ski_home(all, index) != all->self->pe) /* it may have been inserted again */
        return false;
    if (place && place->pe != SKI_PLACE_UNKNOWN)
        return place->pe == SKI_PLACE_DELETED;
    return !all->open && all->kind == SKI_ARRAY;
}

bool ski_was_deleted(const struct ski_collection *all, const skua_index *index)
{
    return ski_absent_find(all, index) && ski_is_gone(all, index) &&
           !(all->def.flags & SKUA_ARRAY_ON_DEMAND);
}

bool ski_died_here(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_object *object = ski_here(all, index);
    const struct ski_absent *place  = all->directory.slot ? ski_absent_find(all, index) : NULL;

    if (object)
        return object->state == SKI_DYING || object->state == SKI_DEAD;
    return place && place->pe == SKI_PLACE_DELETED;
}

/* ---- sending on ------------------------------------------------------------------------ */

static void keep(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    ski_hold(all->self, &ski_absent_get(all, index)->held, msg);
}

/* Nobody to deliver it to. */
static SKI_COLD _Noreturn void undeliverable(struct ski_collection *all, const skua_index *index,
                                             const skua_msg *msg, const char *why)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];

    if (entry->of)
        ski_misuse("a message from PE %d to %s::%s of %s: that object %s", msg->source,
                   entry->of->def.name, entry->name, ski_element_text(all, index), why);
    ski_misuse("a message from PE %d to %s: that object %s", msg->source,
               ski_element_text(all, index), why);
}

/* What an insertion begins with: the PE it is for, and the number of journeys that are
 * behind its index, which only the home knows.  So it goes there first. */
struct order {
    _Alignas(16) int32_t pe;
    uint32_t           moves;
    uint32_t           claimed; /* because that PE wanted it; it may want it no more */
    struct ski_account account;
};

_Static_assert(sizeof(struct order) == SKI_INSERT_LEAST, "see location.h");

/* At the home, of an element that shall be elsewhere. */
static void send_there(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    struct order      *order = skua_msg_data(msg);
    struct ski_absent *place = ski_absent_get(all, index);
    struct news        news  = {order->pe, place->moves + 1};

    order->moves = news.moves;
    ski_pass_on(all->self, order->pe, msg);
    believe(all, index, &news);
}

/* ---- creation by messages ------------------------------------------------------------------ */

static void create(struct ski_collection *all, const skua_index *index,
                   const struct ski_absent *place)
{
    size_t      bytes;
    const void *data = ski_creation_data(all, &bytes);

    ski_object_create(all, index, place ? place->moves + 1 : 0, data, bytes);
}

/* The same on another PE. */
static void create_there(struct ski_collection *all, const skua_index *index, int pe, bool claimed)
{
    skua_ref      ref = {{all->id}, *index};
    size_t        bytes;
    const void   *data  = ski_creation_data(all, &bytes);
    skua_msg     *msg   = ski_insertion(all->self, &ref, SKI_HANDLER_INSERT, data, bytes);
    struct order *order = skua_msg_data(msg);

    order->pe      = pe;
    order->claimed = claimed;
    send_there(all, index, msg);
}

/* Creates an element because @p msg is for it: the element, unless its constructor has sent
 * it elsewhere, where the message follows. */
static struct ski_object *create_for(struct ski_collection *all, const skua_index *index,
                                     struct ski_absent *place, skua_msg *msg)
{
    struct ski_object *object;

    if (place && place->held.first) { /* it is the last of several */
        keep(all, index, msg);
        create(all, index, place);
        return NULL;
    }
    create(all, index, place);
    object = ski_here(all, index);
    place  = ski_absent_find(all, index);
    if (place && place->pe >= 0)
        ski_forward(all, place, msg);
    else if (!object)
        undeliverable(all, index, msg, "was deleted by its constructor");
    return object;
}

/* At the home: a message for an element that it creates there, or where it came from.  The
 * sender did not claim it only because it believed it to be somewhere. */
static struct ski_object *create_home_or_there(struct ski_collection *all, const skua_index *index,
                                               struct ski_absent *place, skua_msg *msg,
                                               unsigned flags)
{
    bool waiting = place && place->held.first;

    if (!(flags & SKUA_ENTRY_CREATE_HERE) || waiting || msg->source == all->self->pe ||
        msg->source >= all->self->pes)
        return create_for(all, index, place, msg);
    create_there(all, index, msg->source, false);
    ski_pass_on(all->self, msg->source, msg);
    return NULL;
}

void ski_claim(struct ski_collection *all, const skua_index *index, unsigned flags)
{
    struct ski_absent *place = ski_absent_find(all, index);
    int                home = ski_home(all, index), who = all->self->pe;

    if (all->kind != SKI_ARRAY || (home != who && !(flags & SKUA_ENTRY_CREATE_HERE)) ||
        who >= all->self->pes || (place && (place->pe >= 0 || place->pe == SKI_PLACE_CLAIMED)))
        return;
    place = ski_absent_get(all, index);
    all->graves -= place->pe == SKI_PLACE_DELETED;
    place->pe = SKI_PLACE_CLAIMED;
    all->directory.version++;
    ski_post_about(all->self, home, SKI_HANDLER_CLAIM, all->id, index, &who, sizeof who);
}

/* Whether messages wait at home for an element that somebody will insert. */
static bool is_awaited(const struct ski_collection *all, const skua_index *index,
                       const struct ski_absent *place)
{
    return all->kind == SKI_ARRAY && all->state == SKI_EXISTS && all->open &&
           !(all->def.flags & SKUA_ARRAY_ON_DEMAND) && (!place || place->pe == SKI_PLACE_UNKNOWN) &&
           ski_home(all, index) == all->self->pe;
}

bool ski_wait_here(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    struct ski_absent *place = ski_absent_find(all, index);

    if (!(place && place->pe == SKI_PLACE_CLAIMED) && !is_awaited(all, index, place))
        return false;
    ski_hold_new(all->self, &ski_absent_get(all, index)->held, msg);
    return true;
}

/* At the home, which does not know the element. */
static struct ski_object *grant(struct ski_collection *all, const skua_index *index,
                                struct ski_absent *place, skua_msg *msg, int who)
{
    if (who == all->self->pe || (place && place->held.first))
        return create_for(all, index, place, msg);
    create_there(all, index, who, true);
    skua_msg_free(msg);
    return NULL;
}

/* A claim of an element that is not here.  Old traces may lead it in circles, back to its
 * sender too, until the element is where its home believes it to be.  So it never waits for
 * another claim, which might wait for this one. */
static struct ski_object *claim_astray(struct ski_collection *all, const skua_index *index,
                                       skua_msg *msg, int who)
{
    struct ski_absent *place = ski_absent_find(all, index);
    int                home  = ski_home(all, index);

    if (place && place->pe >= 0)
        ski_pass_on(all->self, place->pe, msg);
    else if (home == all->self->pe)
        return grant(all, index, place, msg, who);
    else if (who != all->self->pe || (place && place->pe == SKI_PLACE_CLAIMED))
        ski_pass_on(all->self, home, msg);
    else
        skua_msg_free(msg); /* the element was here, and has gone: nobody waits for the answer */
    return NULL;
}

/* It goes to the element as any other message does, so it comes behind all that its sender
 * sent before; then he may send there himself. */
void ski_on_claim(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_object     *object;
    skua_index             index;
    int                    who;

    if (!ski_about(msg, sizeof who, &all, &index))
        return;
    memcpy(&who, skua_msg_data(msg), sizeof who);
    if (all->kind != SKI_ARRAY || (unsigned)who >= (unsigned)all->self->pes)
        ski_fatal("PE %d claims %s, which makes no sense", who, ski_element_text(all, &index));
    object = ski_here(all, &index);
    if (!object)
        object = claim_astray(all, &index, msg, who);
    if (!object)
        return;
    if (who != all->self->pe)
        ski_post_about(all->self, who, SKI_HANDLER_CLAIMED, all->id, &index,
                       &(struct news){all->self->pe, object->moves}, sizeof(struct news));
    skua_msg_free(msg);
}

/* Somebody else has it. */
void ski_on_claimed(skua_msg *msg)
{
    const struct news     *news = skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_absent     *place;
    skua_index             index;

    if (!ski_about(msg, sizeof *news, &all, &index))
        return;
    if ((unsigned)news->pe >= (unsigned)all->self->pes)
        ski_fatal("PE %d says that %s is on PE %d", msg->source, ski_element_text(all, &index),
                  news->pe);
    place = ski_absent_find(all, &index);
    if (place && place->pe == SKI_PLACE_CLAIMED) {
        place->pe    = SKI_PLACE_UNKNOWN;
        place->moves = news->moves; /* whatever we knew: the home may have forgotten more */
    }
    believe(all, &index, news);
    skua_msg_free(msg);
}

/* ---- astray ----------------------------------------------------------------------------- */

/* At its home, which does not know it. */
static struct ski_object *astray_at_home(struct ski_collection *all, const skua_index *index,
                                         struct ski_absent *place, skua_msg *msg, unsigned flags)
{
    bool gone = place && place->pe == SKI_PLACE_DELETED;

    if (flags & SKI_ENTRY_CREATES || all->def.flags & SKUA_ARRAY_ON_DEMAND)
        return create_home_or_there(all, index, place, msg, flags);
    if (gone && ski_insertion_awaited(all, place, msg))
        return NULL;
    if (gone || (!all->open && all->kind != SKI_CHARES))
        undeliverable(all, index, msg, gone ? "was deleted" : "does not exist");
    if (all->kind == SKI_CHARES && !place)
        ski_departed_inquire(all, index);
    keep(all, index, msg);
    return NULL;
}

struct ski_object *ski_astray_for(struct ski_collection *all, const skua_index *index,
                                  skua_msg *msg, unsigned flags)
{
    struct ski_absent *place;
    int                home = ski_home(all, index);

    if (all->kind != SKI_ARRAY)
        flags = 0;
    if (flags & SKUA_ENTRY_CREATE_HERE && msg->source == all->self->pe && home != msg->source)
        ski_claim(all, index, flags); /* a result; or the array was not known before */
    place = ski_absent_find(all, index);
    if (place && place->pe >= 0)
        ski_forward(all, place, msg);
    else if (place && place->pe == SKI_PLACE_CLAIMED)
        keep(all, index, msg);
    else if (home != all->self->pe)
        ski_pass_on(all->self, home, msg);
    else
        return astray_at_home(all, index, place, msg, flags);
    return NULL;
}

struct ski_object *ski_astray(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    return ski_astray_for(all, index, msg, ski_entries[msg->handler].flags);
}

/* ---- insertion, deletion ----------------------------------------------------------------- */

static SKI_COLD _Noreturn void inserted_twice(const struct ski_collection *all,
                                              const skua_index *index, int who)
{
    ski_misuse("skua_array_insert: %s exists already, and PE %d inserts it once more",
               ski_element_text(all, index), who);
}

static void check_open(const struct ski_collection *all, const skua_index *index, bool closed)
{
    if (all->kind != SKI_ARRAY || !all->open || closed)
        ski_misuse("skua_array_insert: %s is in no array that is open (SKUA_ARRAY_OPEN)",
                   ski_element_text(all, index));
}

/* Whether an order comes too late: the element that was claimed has come here meanwhile, and
 * gone.  A message made it necessary that was delivered long ago. */
static bool is_unwanted(const struct ski_collection *all, const skua_index *index,
                        const struct order *order)
{
    const struct ski_absent *place = ski_absent_find(all, index);

    return order->claimed && !(place && place->pe == SKI_PLACE_CLAIMED);
}

static void refuse(struct ski_collection *all, const skua_index *index, const struct order *order)
{
    tell(all, ski_home(all, index), index, &(struct news){SKI_PLACE_DELETED, order->moves});
}

void ski_on_insert(skua_msg *msg)
{
    struct order          *order = skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_absent     *place;
    skua_index             index;
    bool                   home;

    if (!ski_about(msg, sizeof *order, &all, &index))
        return;
    home = ski_home(all, &index) == all->self->pe;
    if (!home && !order->moves) {       /* on its way, from a PE that did not know the array yet */
        check_open(all, &index, false); /* an order to close has come after it */
        ski_pass_on(all->self, ski_home(all, &index), msg);
        return;
    }
    if (order->pe >= all->self->pes || (!home && order->pe != all->self->pe))
        ski_fatal("PE %d inserted %s on PE %d", msg->source, ski_element_text(all, &index),
                  order->pe);
    place = home ? ski_absent_find(all, &index) : NULL;
    if (!ski_insertion_account_right(all, &order->account)) {
        ski_far_drop(all->self, msg);
        return;
    }
    if (ski_here(all, &index) || (place && place->pe >= 0))
        inserted_twice(all, &index, order->account.pe >= 0 ? order->account.pe : msg->source);
    if (home && order->pe >= 0 && order->pe != all->self->pe) {
        send_there(all, &index, msg);
        return;
    }
    if (is_unwanted(all, &index, order))
        refuse(all, &index, order);
    else
        ski_object_insert(all, &index, place ? place->moves + 1 : order->moves, &order->account,
                          order + 1, msg->bytes - sizeof *order);
    skua_msg_free(msg);
}

skua_msg *ski_insertion(struct ski_pe *self, const skua_ref *ref, uint32_t handler,
                        const void *data, size_t bytes)
{
    skua_msg     *msg   = skua_msg_alloc(sizeof(struct order) + bytes);
    struct order *order = skua_msg_data(msg);

    memset(order, 0, sizeof *order);
    order->pe         = SKUA_ANY_PE;
    order->account.pe = SKI_NO_ACCOUNT;
    if (bytes)
        memcpy(order + 1, data, bytes);
    msg->handler = (uint16_t)handler;
    msg->source  = self->pe;
    return ski_msg_address(msg, ref->of.id, &ref->index);
}

void ski_insert(struct ski_pe *self, int home, const skua_ref *ref, int pe,
                const struct ski_account *account, const void *data, size_t bytes)
{
    skua_msg     *msg   = ski_insertion(self, ref, SKI_HANDLER_INSERT, data, bytes);
    struct order *order = skua_msg_data(msg);

    order->pe = pe;
    if (account)
        order->account = *account;
    ski_msg_post(self, home, SKI_HANDLER_INSERT, msg);
}

void ski_grow(skua_msg *msg)
{
    struct order          *order = skua_msg_data(msg);
    struct ski_collection *all;
    skua_index             index;
    int                    home;

    if (!ski_about(msg, sizeof *order, &all, &index))
        return;
    home = ski_home(all, &index);
    if (all->kind != SKI_CHARES || ski_here(all, &index))
        ski_fatal("PE %d sent a seed that makes no sense", msg->source);
    if (home != all->self->pe)
        ski_post_about(all->self, home, SKI_HANDLER_SEED_GREW, all->id, &index,
                       &(struct news){all->self->pe, 1}, sizeof(struct news));
    else
        ski_seed_grew(all->self->objects);
    ski_object_create(all, &index, home != all->self->pe, order + 1, msg->bytes - sizeof *order);
    skua_msg_free(msg);
}

void skua_array_insert(skua_ref element, int pe, const void *data, size_t bytes)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, element.of.id);
    struct ski_account     account;

    if (pe != SKUA_ANY_PE && (unsigned)pe >= (unsigned)self->pes)
        ski_misuse("skua_array_insert: PE %d does not exist; this job has PEs 0 to %d", pe,
                   self->pes - 1);
    if (all->state == SKI_EXPECTED) { /* our own queue keeps it until we hear of the array */
        account = ski_insertion_account(all);
        ski_insert(self, self->pe, &element, pe, &account, data, bytes);
        return;
    }
    ski_check_index(__func__, all, &element.index);
    check_open(all, &element.index, all->closing.ordered);
    account = ski_insertion_account(all);
    ski_insert(self, ski_home(all, &element.index), &element, pe, &account, data, bytes);
}

void ski_on_delete(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    struct ski_object     *object;

    if (!ski_about(msg, 0, &all, &index))
        return;
    object = ski_here(all, &index);
    if (!object)
        object = ski_astray(all, &index, msg);
    if (!object)
        return;
    ski_object_delete(object);
    skua_msg_free(msg);
}

void skua_delete_ref(skua_ref ref)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);
    int                    pe   = self->pe;

    if (all->state != SKI_EXPECTED) {
        ski_check_index(__func__, all, &ref.index);
        if (!ski_here(all, &ref.index))
            pe = ski_whereabouts(all, &ref.index);
    }
    ski_post_about(self, pe, SKI_HANDLER_DELETE, ref.of.id, &ref.index, NULL, 0);
}

/* ---- journeys ------------------------------------------------------------------------------ */

/* What a moving element takes along besides its own; before that, how far it is in its
 * sections. */
struct luggage {
    uint32_t next, seen, moves;
    uint32_t sections;
};

void skua_migrate(void *self, int pe)
{
    struct ski_object *object = ski_object_of(self);

    if ((unsigned)pe >= (unsigned)object->of->self->pes)
        ski_misuse("skua_migrate: %s cannot move to PE %d; this job has PEs 0 to %d",
                   ski_object_text(object), pe, object->of->self->pes - 1);
    if (object->of->kind == SKI_GROUP || object->of->kind == SKI_PROCESS_GROUP)
        ski_misuse("skua_migrate: %s is a member of a group, which does not move",
                   ski_object_text(object));
    if (!ski_class_moves(object->of->class))
        ski_misuse("skua_migrate: %s cannot move: its class does not say how to pack it; give the "
                   "class a `pup` (skua_pup_plain if its bytes may be copied), or, in an interface "
                   "file, a `state` or [migratable]",
                   ski_object_text(object));
    if (object->state != SKI_ALIVE && object->state != SKI_LEAVING)
        return;
    object->to = pe;
    ski_object_change(object, pe == object->of->self->pe ? SKI_ALIVE : SKI_LEAVING);
    if (object->state)
        ski_object_settle(object);
}

void ski_depart(struct ski_object *object)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);
    struct luggage luggage = {object->next, object->seen, object->moves + 1, object->enrolled};
    struct news    news    = {object->to, object->moves + 1};
    size_t         head    = sizeof luggage + object->enrolled * SKI_ENROLLED_BYTES, bytes;
    skua_msg      *msg;
    char          *data;

    ski_lanes_withdraw(object); /* before its memory is looked at */
    bytes = ski_pup_measure(all->class, object + 1);
    msg   = skua_msg_alloc(head + bytes);
    data  = skua_msg_data(msg);
    memcpy(data, &luggage, sizeof luggage);
    ski_sections_pack(object, data + sizeof luggage);
    ski_pup_pack(all->class, object + 1, data + head, bytes);
    ski_object_change(object, SKI_LEFT); /* first: the class's function may look */
    ski_object_destroy(object);
    ski_reducing_left(object);
    ski_directory_set(&all->directory, &index, 0);
    believe(all, &index, &news);
    msg->handler = SKI_HANDLER_MIGRATE;
    msg->source  = all->self->pe;
    ski_msg_post(all->self, object->to, SKI_HANDLER_MIGRATE, ski_msg_address(msg, all->id, &index));
    ski_everyone_left(object, &index);
    ski_sections_left(object);
    ski_object_discard(object, SKI_LEFT);
}

/* Whether an element that is said to come can: it is of a kind that moves and not here, and is not
 * further in its reductions and sections than any can be. */
static bool migration_can_arrive(const struct ski_collection *all, const skua_index *index,
                                 const struct luggage *luggage, size_t bytes)
{
    return luggage->sections <= bytes / SKI_ENROLLED_BYTES && luggage->sections <= UINT16_MAX &&
           (all->kind == SKI_ARRAY || all->kind == SKI_CHARES) && !ski_here(all, index) &&
           ski_reducing_in_reach(all, luggage->next);
}

void ski_on_migrate(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    struct luggage         luggage;
    struct ski_object     *object;
    const char            *at = skua_msg_data(msg);
    size_t                 left;

    if (!ski_about(msg, sizeof luggage, &all, &index))
        return;
    memcpy(&luggage, at, sizeof luggage);
    at += sizeof luggage;
    left = msg->bytes - sizeof luggage;
    if (!migration_can_arrive(all, &index, &luggage, left)) {
        ski_far_drop(all->self, msg);
        return;
    }
    object        = ski_object_add(all, &index);
    object->next  = luggage.next;
    object->moves = luggage.moves;
    ski_object_enter(object); /* it stays until we are through, whatever a reduction sets off */
    for (uint32_t i = 0; i < luggage.sections; i++, at += SKI_ENROLLED_BYTES)
        ski_sections_came(object, at);
    left -= luggage.sections * SKI_ENROLLED_BYTES;
    ski_pup_unpack(all->class, object + 1, at, left);
    ski_everyone_came(object, luggage.seen, msg->source); /* first: a report says what was heard */
    ski_reducing_came(object);
    if (ski_home(all, &index) != all->self->pe)
        tell(all, ski_home(all, &index), &index, &(struct news){all->self->pe, luggage.moves});
    ski_object_leave(object);
    skua_msg_free(msg);
}
