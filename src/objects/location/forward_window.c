/* SPDX-License-Identifier: Apache-2.0 */
/* forward_window.c - see forward_window.h. */
#include "objects/location/forward_window.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/model/seqnum.h"

#define FORWARD_WINDOW_FIRST 16
#define FORWARD_WINDOW_MAX   65536

/* The forwarding of messages to an element that is elsewhere. */
struct ski_forward_window {
    uint32_t window;     /* at home: messages that may be sent before their arrival is known ... */
    uint32_t unknown;    /* ... and those sent since it was                                     */
    uint32_t probed;     /* the element's number of migrations at the last probe                */
    bool     probing;    /* a probe has not been answered yet                                   */
    bool     flushes;    /* it was sent since the element migrated, or messages returned        */
    bool     lost;       /* the answer was that the element is not there                        */
    bool     sent;       /* at home: messages that were sent may return                         */
    int32_t  sent_to;    /* the PE that they were sent to ...                                   */
    uint32_t sent_moves; /* ... and the element's number of migrations then             */
    struct ski_list returned; /* messages that have returned, until the probe is answered    */
    uint32_t        told_count, told_room;
    int32_t        *told; /* sources that know of the last migration, sorted */
};

/* The answer to a probe. */
struct forward_probed {
    uint32_t moves; /* migrations that the probe named */
    uint32_t here;  /* 1: the element was on the PE that answers, else 0 */
};

_Static_assert(sizeof(struct forward_probed) == SKI_PROBED_MIN, "see forward_window.h");

static struct ski_forward_window *forward_of(struct ski_absent *absent)
{
    if (!absent->forward) {
        absent->forward         = ski_calloc(1, sizeof *absent->forward);
        absent->forward->window = FORWARD_WINDOW_FIRST;
        ski_list_init(&absent->forward->returned);
    }
    return absent->forward;
}

void ski_forward_window_free(struct ski_absent *absent)
{
    if (absent->forward) {
        ski_list_prepend(&absent->held, &absent->forward->returned);
        free(absent->forward->told);
    }
    free(absent->forward);
    absent->forward = NULL;
}

/* ---- sources ------------------------------------------------------------------------ */

/* Records that a source is notified of the last migration.  Returns false if it was notified
 * before. */
static bool forward_add_told(struct ski_forward_window *f, int32_t pe)
{
    uint32_t low = 0, high = f->told_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (f->told[middle] < pe)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->told_count && f->told[low] == pe)
        return false;
    if (f->told_count == f->told_room) {
        f->told_room = f->told_room ? 2 * f->told_room : 4;
        f->told      = ski_realloc(f->told, f->told_room * sizeof *f->told);
    }
    memmove(f->told + low + 1, f->told + low, (f->told_count - low) * sizeof *f->told);
    f->told[low] = pe;
    ski_assert(low == 0 || f->told[low - 1] < pe);
    f->told_count++;
    return true;
}

/* Reports the location of the element to the PE that sent a message, once for each migration. */
static void forward_tell(struct ski_collection *all, const struct ski_absent *absent, int source)
{
    if (source != all->self->pe && source < all->self->pes &&
        forward_add_told(absent->forward, source))
        ski_location_send(all, source, &absent->index,
                          &(struct ski_location_update){absent->pe, absent->moves});
}

/* ---- at other PEs than the home ----------------------------------------------------- */

/* Sends a message on to the home, from a PE that knows where the element is. */
static void forward_away(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg,
                         int home)
{
    ski_assert(absent->pe >= 0 && absent->pe != all->self->pe);
    ski_absent_forwards(all, absent, msg);
    if (ski_job_index(all->self->job, home) < 0) /* the home does not learn the source */
        forward_tell(all, absent, msg->source);
    ski_msg_forward(all->self, home, msg);
}

/* ---- at the home -------------------------------------------------------------------- */

/* Doubles or halves the window, after a probe or a migration. */
static void forward_resize(struct ski_forward_window *f, bool larger)
{
    if (larger)
        f->window *= f->window < FORWARD_WINDOW_MAX ? 2 : 1;
    else
        f->window -= f->window / 2;
    ski_assert(f->window > 0 && f->window <= FORWARD_WINDOW_MAX);
}

/* Reduces the window to half of one that failed. */
static void forward_limit(struct ski_forward_window *f, uint64_t failed)
{
    if (f->window > failed - failed / 2)
        f->window = (uint32_t)(failed - failed / 2);
}

/* Returns whether messages have to wait at the home. */
static bool forward_blocked(const struct ski_forward_window *f)
{
    return f->probing || f->lost;
}

/* Sends a probe behind the messages that were sent last. */
static void forward_probe(struct ski_collection *all, const struct ski_absent *absent, bool flushes)
{
    struct ski_forward_window *f = absent->forward;

    ski_assert(!f->probing && f->sent);
    f->probing = true;
    f->flushes = flushes;
    f->probed  = f->sent_moves;
    ski_element_post(all->self, f->sent_to, SKI_HANDLER_FORWARD_PROBE, all->id, &absent->index,
                     &f->probed, sizeof f->probed);
}

/* Sends a message from the home to the element. */
static void forward_post(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    struct ski_forward_window *f = absent->forward;

    ski_assert(!f->sent || (f->sent_to == absent->pe && f->sent_moves == absent->moves));
    f->sent       = true;
    f->sent_to    = absent->pe;
    f->sent_moves = absent->moves;
    msg->target |= SKI_TARGET_FORWARDED;
    ski_msg_forward(all->self, absent->pe, msg);
}

/* Sends a message from the home to the element; a probe follows the last one of a window.  The
 * source is not notified of an element that migrates faster than windows succeed, nor while
 * messages wait. */
static void forward_send(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    struct ski_forward_window *f = absent->forward;

    if (f->window >= FORWARD_WINDOW_FIRST && !absent->held.first)
        forward_tell(all, absent, msg->source);
    forward_post(all, absent, msg);
    if (++f->unknown >= f->window)
        forward_probe(all, absent, false);
}

/* Answers the report @p msg of an arrival (hold.h), behind the messages that were sent to the
 * element; drops it if the element has left since. */
static void forward_answer(struct ski_collection *all, const struct ski_absent *absent,
                           skua_msg *msg)
{
    struct ski_location_update update;

    memcpy(&update, skua_msg_data(msg), sizeof update);
    if (absent->pe == update.pe && absent->moves == update.moves)
        ski_element_post(all->self, update.pe, SKI_HANDLER_HOLD_FLUSHED, all->id, &absent->index,
                         &update.moves, sizeof update.moves);
    skua_msg_free(msg);
}

/* Sends as many of the messages that wait as may be sent. */
static void forward_pump(struct ski_collection *all, struct ski_absent *absent)
{
    skua_msg *msg;

    while (!forward_blocked(absent->forward) && (msg = ski_list_pop(&absent->held))) {
        all->self->held--;
        if (msg->handler == SKI_HANDLER_HOLD_REPORT)
            forward_answer(all, absent, msg);
        else
            forward_send(all, absent, msg);
    }
}

/* A message is back that was sent to where the element is not any more.  It waits until all are
 * back: they are before those that wait at the home. */
static void forward_return(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    struct ski_forward_window *f = absent->forward;

    msg->target &= ~SKI_TARGET_FORWARDED;
    ski_msg_hold(all->self, &f->returned, msg);
    if (f->probing)
        return;
    if (f->sent) {
        forward_probe(all, absent, true);
        return;
    }
    ski_list_prepend(&absent->held, &f->returned); /* of a less urgent priority than the probe */
    if (absent->pe >= 0)
        forward_pump(all, absent);
}

void ski_forward_window_send(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    struct ski_forward_window *f    = forward_of(absent);
    int                        home = ski_home(all, &absent->index);

    if (home != all->self->pe) {
        forward_away(all, absent, msg, home);
        return;
    }
    ski_absent_passes(all, absent, msg);
    if (msg->target & SKI_TARGET_FORWARDED)
        forward_return(all, absent, msg);
    else if (absent->pe < 0 || forward_blocked(f))
        ski_msg_hold(all->self, &absent->held, msg);
    else
        forward_send(all, absent, msg);
}

void ski_forward_window_release(struct ski_collection *all, struct ski_absent *absent)
{
    skua_msg *msg;

    ski_assert(absent->pe >= 0);
    while ((msg = ski_list_pop(&absent->held))) {
        all->self->held--;
        forward_of(absent);
        forward_post(all, absent, msg);
    }
}

void ski_forward_window_report(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    if (absent->forward && forward_blocked(absent->forward))
        ski_msg_hold(all->self, &absent->held, msg);
    else
        forward_answer(all, absent, msg);
}

bool ski_forward_window_flush(struct ski_collection *all, struct ski_absent *absent)
{
    struct ski_forward_window *f = absent->forward;

    if (f && f->sent && !f->probing)
        forward_probe(all, absent, true);
    return f && f->probing;
}

bool ski_forward_window_is_flushed(const struct ski_absent *absent)
{
    return !absent->forward || !absent->forward->probing;
}

void ski_forward_window_moved(struct ski_collection *all, struct ski_absent *absent, bool known)
{
    struct ski_forward_window *f;

    if (!absent->forward && !absent->held.first)
        return;
    f       = forward_of(absent);
    f->lost = false;
    if (!known) {
        f->told_count = 0;
        if (f->unknown > 0)
            forward_resize(f, false);
        (void)ski_forward_window_flush(all, absent);
    }
    forward_pump(all, absent);
}

/* Drops a record, on a PE other than the home, that says nothing but what the probe has settled. */
static void forward_drop_empty(struct ski_collection *all, struct ski_absent *absent)
{
    if (absent->pe != SKI_ABSENT_UNKNOWN || absent->held.first || absent->forward ||
        ski_absent_keeps(absent) || ski_home(all, &absent->index) == all->self->pe)
        return;
    ski_directory_set(&all->directory, &absent->index, 0);
    ski_absent_free(all, absent);
}

void ski_on_probe(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *absent;
    struct forward_probed  probed = {0};
    skua_index             index;

    if (!ski_element_msg(msg, sizeof probed.moves, &all, &index))
        return;
    memcpy(&probed.moves, skua_msg_data(msg), sizeof probed.moves);
    probed.here = ski_element_here(all, &index) != NULL;
    absent      = ski_absent_find(all, &index);
    if (absent) {
        absent->returned = false; /* what the home sends next is in order */
        forward_drop_empty(all, absent);
    }
    ski_element_post(all->self, ski_home(all, &index), SKI_HANDLER_FORWARD_PROBED, all->id, &index,
                     &probed, sizeof probed);
    skua_msg_free(msg);
}

void ski_forward_window_probed(struct ski_collection *all, struct ski_absent *absent,
                               const skua_msg *msg)
{
    struct ski_forward_window *f = absent->forward;
    struct forward_probed      probed;

    memcpy(&probed, skua_msg_data((skua_msg *)msg), sizeof probed);
    if (!f || !f->probing || f->probed != probed.moves) /* the element was destroyed since */
        return;
    f->probing = false;
    f->unknown = 0;
    f->sent    = false;
    f->lost    = !probed.here && absent->moves == probed.moves;
    if (!f->flushes)
        forward_resize(f, probed.here);
    ski_list_prepend(&absent->held, &f->returned);
    if (absent->pe >= 0)
        forward_pump(all, absent);
}

/* ---- at the home, with the element -------------------------------------------------- */

/* The messages that wait at the home for an element which has arrived there. The record is the data
 * of a message from this PE to itself, the carrier, which is queued after each window of messages.
 */
struct forward_backlog {
    struct ski_list rest; /* not empty; held (msg_counts.h) */
    uint64_t        window;
};

/* Queues a window of messages ahead of the queue, and after them the carrier with the rest, if any
 * is left. */
static void forward_queue_backlog(struct ski_pe *self, skua_msg *carrier)
{
    struct forward_backlog *backlog = skua_msg_data(carrier);
    struct ski_list         some;
    struct skua_msg        *msg;

    ski_list_init(&some);
    for (uint64_t i = 0; i < backlog->window && (msg = ski_list_pop(&backlog->rest)); i++)
        ski_list_push(&some, msg);
    if (backlog->rest.first)
        ski_msg_hold(self, &some, carrier);
    else
        skua_msg_free(carrier);
    ski_msg_unhold(self, &some);
}

void ski_forward_window_arrived(struct ski_collection *all, struct ski_absent *absent)
{
    static const struct forward_backlog none;
    struct ski_pe                      *self = all->self;
    skua_msg                           *msg;
    struct forward_backlog             *backlog;

    ski_assert(!absent->forward || ski_home(all, &absent->index) == self->pe ||
               !absent->held.first);
    if (!absent->forward || !absent->held.first) {
        ski_msg_unhold(self, &absent->held);
        return;
    }
    msg             = ski_msg_copy(self, SKI_HANDLER_FORWARD_BACKLOG, &none, sizeof none);
    msg             = ski_msg_set_target(msg, all->id, &absent->index);
    backlog         = skua_msg_data(msg);
    backlog->window = absent->forward->window;
    ski_assert(backlog->window > 0);
    ski_list_init(&backlog->rest); /* in place: a list is not moved */
    ski_list_prepend(&backlog->rest, &absent->held);
    self->queue.pushed++; /* as if it had been sent and were delivered now */
    self->queue.popped++;
    forward_queue_backlog(self, msg);
}

/* Keeps the rest of a backlog whose element has left: it is forwarded, or waits at the home.  What
 * is held since then was in the queue before the carrier, so it is older. */
static void forward_backlog_left(struct ski_collection *all, const skua_index *index,
                                 struct forward_backlog *backlog)
{
    struct ski_absent *absent = ski_absent_get(all, index);
    struct ski_list   *rest   = &backlog->rest;

    for (const skua_msg *msg = rest->first; msg; msg = msg->link)
        ski_absent_passes(all, absent, msg);
    ski_list_prepend(rest, &absent->held);
    ski_list_prepend(&absent->held, rest);
    if (absent->pe >= 0) {
        forward_limit(forward_of(absent), backlog->window);
        forward_pump(all, absent);
    } else if (!ski_absent_expected(absent)) {
        /* The element does not exist: each message reports that, or creates it. */
        ski_msg_unhold(all->self, &absent->held);
    }
}

void ski_on_backlog(skua_msg *msg)
{
    struct forward_backlog *backlog = skua_msg_data(msg);
    struct ski_collection  *all     = ski_collection_find(ski_self->objects, msg->target >> 8);
    skua_index              index   = ski_msg_index(msg);

    if (all->state != SKI_ENDED && ski_element_here(all, &index)) {
        backlog->window *= backlog->window < FORWARD_WINDOW_MAX ? 2 : 1;
        forward_queue_backlog(all->self, msg);
        return;
    }
    if (all->state == SKI_ENDED)
        ski_held_discard(all->self, &backlog->rest);
    else
        forward_backlog_left(all, &index, backlog);
    skua_msg_free(msg);
}
