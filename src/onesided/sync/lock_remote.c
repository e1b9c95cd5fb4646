/* SPDX-License-Identifier: Apache-2.0 */
/* lock_remote.c - see lock_remote.h. */
#include "onesided/sync/lock_remote.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region_table.h"

enum { TAKE, GRANT, GIVE };

/* On the wire. */
struct ask {
    uint32_t kind;
    uint32_t region;
    int32_t  pe; /* of the lock; who waits, of a TAKE: see `from` */
    int32_t  from;
    uint64_t lock, ticket;
};

_Static_assert(sizeof(struct ask) == SKI_LOCK_LEAST, "see lock_remote.h");

/* ---- those who wait ------------------------------------------------------------------- */

struct wait {
    struct wait *next;
    uint64_t     ticket;
    skua_notify  granted;
};

static pthread_mutex_t waits_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wait    *waits;
static uint64_t        tickets;

static void begin_wait(struct wait *wait)
{
    pthread_mutex_lock(&waits_lock);
    *wait = (struct wait){.next = waits, .ticket = ++tickets};
    waits = wait;
    pthread_mutex_unlock(&waits_lock);
}

static void end_wait(struct wait *wait)
{
    struct wait **at = &waits;

    pthread_mutex_lock(&waits_lock);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    pthread_mutex_unlock(&waits_lock);
}

static void on_grant(const struct ask *ask)
{
    pthread_mutex_lock(&waits_lock);
    for (struct wait *wait = waits; wait; wait = wait->next)
        if (wait->ticket == ask->ticket) {
            ski_notify_raise(&wait->granted, ask->from, 1);
            break;
        }
    pthread_mutex_unlock(&waits_lock);
}

/* ---- the owner ------------------------------------------------------------------------- */

/* Who has a lock, and who waits for it. */
struct turn {
    struct turn *next;
    struct ask   ask;
};

/* A lock that is taken; its queue begins with who has it. */
struct queue {
    struct queue *next;
    uint32_t      region;
    int32_t       pe;
    uint64_t      lock;
    struct turn  *first, *last;
};

static _Thread_local struct queue *queues; /* of this server */

static void tell(int pe, const struct ask *ask)
{
    ski_msg_post(ski_self, pe, SKI_HANDLER_LOCK,
                 ski_msg_copy(ski_self, SKI_HANDLER_LOCK, ask, sizeof *ask));
}

static void grant(const struct turn *turn)
{
    struct ask ask = turn->ask;

    ask.kind = GRANT;
    tell(ski_ear(ski_self->job, ask.from), &ask);
}

static struct queue **find_queue(const struct ask *ask)
{
    struct queue **at = &queues;

    while (*at &&
           ((*at)->region != ask->region || (*at)->lock != ask->lock || (*at)->pe != ask->pe))
        at = &(*at)->next;
    return at;
}

static void on_take(const struct ask *ask)
{
    struct queue **at    = find_queue(ask);
    struct turn   *turn  = ski_malloc(sizeof *turn);
    struct queue  *queue = *at;

    *turn = (struct turn){NULL, *ask};
    if (queue) {
        queue->last->next = turn;
        queue->last       = turn;
        return;
    }
    queue  = ski_malloc(sizeof *queue);
    *queue = (struct queue){queues, ask->region, ask->pe, ask->lock, turn, turn};
    queues = queue;
    grant(turn);
}

static void on_give(const struct ask *ask)
{
    struct queue **at = find_queue(ask), *queue = *at;
    struct turn   *done;

    if (!queue)
        ski_misuse("skua_unlock: lock %llu of PE %d is not taken", (unsigned long long)ask->lock,
                   ask->pe);
    done         = queue->first;
    queue->first = done->next;
    free(done);
    if (queue->first) {
        grant(queue->first);
    } else {
        *at = queue->next;
        free(queue);
    }
}

void ski_on_lock(skua_msg *msg)
{
    struct ask ask = *(struct ask *)skua_msg_data(msg);

    skua_msg_free(msg);
    if ((uint32_t)ask.pe >= (uint32_t)ski_self->pes || ask.from < 0 ||
        ask.from >= ski_job_all(ski_self->job))
        return;
    switch (ask.kind) {
    case TAKE: on_take(&ask); break;
    case GRANT: on_grant(&ask); break;
    case GIVE: on_give(&ask); break;
    }
}

/* ---- calls ------------------------------------------------------------------------------ */

static bool say(struct ask *ask)
{
    struct ski_actor actor;

    if (!ski_act_begin(&actor))
        return false;
    ask->from = actor.self->pe;
    tell(ski_server(actor.self->job, ask->pe), ask);
    ski_act_end(&actor);
    return true;
}

bool ski_lock_far(skua_locks locks, int pe, size_t i)
{
    struct ask  ask = {.kind = TAKE, .region = locks.region.id, .pe = pe, .lock = i};
    struct wait wait;
    bool        granted;

    begin_wait(&wait);
    ask.ticket = wait.ticket;
    granted    = say(&ask) &&
              ski_notify_wait(ski_self, &wait.granted, 1, (struct ski_call){"skua_lock", NULL});
    end_wait(&wait);
    return granted;
}

void ski_unlock_far(skua_locks locks, int pe, size_t i)
{
    struct ask ask = {.kind = GIVE, .region = locks.region.id, .pe = pe, .lock = i};

    if (ski_self)
        skua_fence_all(); /* what we did is there before the next one looks */
    say(&ask);
}
