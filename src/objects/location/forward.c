/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - see forward.h. */
#include "objects/location/forward.h"

#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/invoke.h"
#include "objects/location/location.h"
#include "objects/chare/seqnum.h"

#define WINDOW_FIRST 16
#define WINDOW_MOST  65536

/* Of an element that is elsewhere, and gets messages here. */
struct ski_forward {
    uint32_t direct;  /* elsewhere than at home: so many more may be sent after it */
    uint32_t window;  /* at home: so many may be sent without knowing ...          */
    uint32_t unknown; /* ... whether they arrive, and so many are                  */
    uint32_t probed;  /* the number of moves at the last probe                     */
    bool     probing; /* its answer has not come                                   */
    bool     lost;    /* its answer was that the element is not there              */
    uint32_t tolds, told_room;
    int32_t *told; /* sources that know of the last move, sorted */
};

/* What the answer to a probe says. */
struct probed {
    uint32_t moves; /* that the probe said */
    uint32_t here;
};

_Static_assert(sizeof(struct probed) == SKI_PROBED_LEAST, "see forward.h");

static struct ski_forward *forward_of(struct ski_absent *place)
{
    if (!place->forward) {
        place->forward = ski_calloc(1, sizeof *place->forward);

        place->forward->direct = SKI_FORWARD_DIRECT;
        place->forward->window = WINDOW_FIRST;
    }
    return place->forward;
}

void ski_forward_forget(struct ski_absent *place)
{
    if (place->forward)
        free(place->forward->told);
    free(place->forward);
    place->forward = NULL;
}

/* ---- sources --------------------------------------------------------------------------- */

/* Notes that a source is told of the last move; false: it was already. */
static bool forward_note_told(struct ski_forward *f, int32_t pe)
{
    uint32_t low = 0, high = f->tolds;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (f->told[middle] < pe)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->tolds && f->told[low] == pe)
        return false;
    if (f->tolds == f->told_room) {
        f->told_room = f->told_room ? 2 * f->told_room : 4;
        f->told      = ski_realloc(f->told, f->told_room * sizeof *f->told);
    }
    memmove(f->told + low + 1, f->told + low, (f->tolds - low) * sizeof *f->told);
    f->told[low] = pe;
    f->tolds++;
    return true;
}

static void forward_tell(struct ski_collection *all, const struct ski_absent *place, int source)
{
    if (source != all->self->pe && source < all->self->pes &&
        forward_note_told(place->forward, source))
        ski_tell(all, source, &place->index, place->pe, place->moves);
}

/* ---- at other PEs than the home -------------------------------------------------------------- */

static void forward_away(struct ski_collection *all, struct ski_absent *place, skua_msg *msg,
                         int home)
{
    struct ski_forward *f      = place->forward;
    bool                direct = f->direct > 0;

    f->direct -= direct;
    if (direct || ski_job_index(all->self->job, home) < 0) /* there its source is not known */
        forward_tell(all, place, msg->source);
    ski_pass_on(all->self, direct ? place->pe : home, msg);
}

/* ---- at the home -------------------------------------------------------------------------------
 */

static void forward_resize(struct ski_forward *f, bool larger)
{
    if (larger)
        f->window *= f->window < WINDOW_MOST ? 2 : 1;
    else
        f->window -= f->window / 2;
}

/* Whether messages have to wait. */
static bool forward_blocked(const struct ski_forward *f)
{
    return f->probing || f->lost;
}

static void forward_send(struct ski_collection *all, struct ski_absent *place, skua_msg *msg)
{
    struct ski_forward *f = place->forward;

    if (f->window >= WINDOW_FIRST && !place->held.first)
        forward_tell(all, place, msg->source);
    ski_pass_on(all->self, place->pe, msg);
    if (++f->unknown < f->window)
        return;
    f->probing = true;
    f->probed  = place->moves;
    ski_post_about(all->self, place->pe, SKI_HANDLER_PROBE, all->id, &place->index, &f->probed,
                   sizeof f->probed);
}

/* Sends messages that wait, as many as may be sent. */
static void forward_pump(struct ski_collection *all, struct ski_absent *place)
{
    skua_msg *msg;

    while (!forward_blocked(place->forward) && (msg = ski_list_pop(&place->held))) {
        all->self->held--;
        forward_send(all, place, msg);
    }
}

void ski_forward(struct ski_collection *all, struct ski_absent *place, skua_msg *msg)
{
    struct ski_forward *f    = forward_of(place);
    int                 home = ski_home(all, &place->index);

    if (home != all->self->pe)
        forward_away(all, place, msg, home);
    else if (forward_blocked(f))
        ski_hold(all->self, &place->held, msg);
    else
        forward_send(all, place, msg);
}

void ski_forward_moved(struct ski_collection *all, struct ski_absent *place)
{
    struct ski_forward *f = place->forward;

    if (!f)
        return;
    f->tolds = 0;
    f->lost  = false;
    if (f->unknown > 0)
        forward_resize(f, false);
    forward_pump(all, place);
}

void ski_on_probe(skua_msg *msg)
{
    struct ski_collection *all;
    struct probed          probed = {0};
    skua_index             index;

    if (!ski_about(msg, sizeof probed.moves, &all, &index))
        return;
    memcpy(&probed.moves, skua_msg_data(msg), sizeof probed.moves);
    probed.here = ski_here(all, &index) != NULL;
    ski_post_about(all->self, ski_home(all, &index), SKI_HANDLER_PROBED, all->id, &index, &probed,
                   sizeof probed);
    skua_msg_free(msg);
}

void ski_on_probed(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *place;
    struct ski_forward    *f;
    struct probed          probed;
    skua_index             index;

    if (!ski_about(msg, sizeof probed, &all, &index))
        return;
    memcpy(&probed, skua_msg_data(msg), sizeof probed);
    skua_msg_free(msg);
    place = ski_absent_find(all, &index);
    f     = place ? place->forward : NULL;
    if (!f || !f->probing || f->probed != probed.moves) /* it has been here since */
        return;
    f->probing = false;
    f->unknown = 0;
    f->lost    = !probed.here && place->moves == probed.moves;
    forward_resize(f, probed.here);
    forward_pump(all, place);
}

/* ---- at the home, with the element
 * --------------------------------------------------------------- */

/* The messages that wait for an element while it is here: in a message to ourselves, which is
 * queued behind each window of them. */
struct backlog {
    struct ski_list rest; /* not empty; held (traffic.h) */
    uint64_t        window;
};

/* Queues a window of messages before what is queued by now, and the rest behind them. */
static void forward_queue_backlog(struct ski_pe *self, skua_msg *carrier)
{
    struct backlog  *backlog = skua_msg_data(carrier);
    struct ski_list  some;
    struct skua_msg *msg;

    ski_list_init(&some);
    for (uint64_t i = 0; i < backlog->window && (msg = ski_list_pop(&backlog->rest)); i++)
        ski_list_push(&some, msg);
    if (backlog->rest.first)
        ski_hold(self, &some, carrier);
    else
        skua_msg_free(carrier);
    ski_unhold(self, &some);
}

void ski_forward_arrived(struct ski_collection *all, struct ski_absent *place)
{
    static const struct backlog none;
    struct ski_pe              *self = all->self;
    skua_msg                   *msg;
    struct backlog             *backlog;

    if (!place->forward || !place->held.first) {
        ski_unhold(self, &place->held);
        return;
    }
    msg             = ski_msg_copy(self, SKI_HANDLER_BACKLOG, &none, sizeof none);
    msg             = ski_msg_address(msg, all->id, &place->index);
    backlog         = skua_msg_data(msg);
    backlog->window = place->forward->window;
    ski_list_init(&backlog->rest); /* where it stays: a list is not moved */
    ski_list_prepend(&backlog->rest, &place->held);
    self->queue.pushed++; /* as if it had been sent and were delivered now */
    self->queue.popped++;
    forward_queue_backlog(self, msg);
}

/* The element has left before it had all. */
static void forward_backlog_left(struct ski_collection *all, const skua_index *index,
                                 struct ski_list *rest)
{
    struct ski_absent *place = ski_absent_get(all, index);

    ski_list_prepend(&place->held, rest);
    if (place->pe >= 0) {
        forward_of(place);
        forward_pump(all, place);
    } else if (place->pe != SKI_PLACE_CLAIMED) {
        ski_unhold(all->self, &place->held); /* it does not exist: each says so, or creates it */
    }
}

void ski_on_backlog(skua_msg *msg)
{
    struct backlog        *backlog = skua_msg_data(msg);
    struct ski_collection *all     = ski_collection_find(ski_self->objects, msg->target >> 8);
    skua_index             index   = ski_msg_index(msg);

    if (all->state != SKI_ENDED && ski_here(all, &index)) {
        backlog->window *= backlog->window < WINDOW_MOST ? 2 : 1;
        forward_queue_backlog(all->self, msg);
        return;
    }
    if (all->state == SKI_ENDED)
        ski_discard_held(all->self, &backlog->rest);
    else
        forward_backlog_left(all, &index, &backlog->rest);
    skua_msg_free(msg);
}
