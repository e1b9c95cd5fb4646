/* SPDX-License-Identifier: Apache-2.0 */
/* lock_remote.c - see lock_remote.h. */
#include "onesided/sync/lock_remote.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"
#include "onesided/sync/notify.h"

enum { TAKE, GRANT, GIVE };

/* On the wire. */
struct lock_message {
    uint32_t kind;
    uint32_t region;
    int32_t  pe; /* of the lock; who waits, of a TAKE: see `from` */
    int32_t  from;
    uint64_t lock, ticket;
};

_Static_assert(sizeof(struct lock_message) == SKI_LOCK_LEAST, "see lock_remote.h");

/* ---- those who wait ------------------------------------------------------------------- */

struct lock_wait {
    struct lock_wait *next;
    uint64_t          ticket;
    skua_notify       granted;
};

static pthread_mutex_t   waits_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lock_wait *waits;
static uint64_t          tickets;

static void lock_wait_begin(struct lock_wait *wait)
{
    pthread_mutex_lock(&waits_lock);
    *wait = (struct lock_wait){.next = waits, .ticket = ++tickets};
    waits = wait;
    pthread_mutex_unlock(&waits_lock);
}

static void lock_wait_end(struct lock_wait *wait)
{
    struct lock_wait **at = &waits;

    pthread_mutex_lock(&waits_lock);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    pthread_mutex_unlock(&waits_lock);
}

static void lock_on_grant(const struct lock_message *ask)
{
    pthread_mutex_lock(&waits_lock);
    for (struct lock_wait *wait = waits; wait; wait = wait->next)
        if (wait->ticket == ask->ticket) {
            ski_notify_raise(&wait->granted, ask->from, 1);
            break;
        }
    pthread_mutex_unlock(&waits_lock);
}

/* ---- the owner ------------------------------------------------------------------------- */

/* Who has a lock, and who waits for it. */
struct lock_turn {
    struct lock_turn   *next;
    struct lock_message ask;
};

/* A lock that is taken; its queue begins with who has it. */
struct lock_queue {
    struct lock_queue *next;
    uint32_t           region;
    int32_t            pe;
    uint64_t           lock;
    struct lock_turn  *first, *last;
};

static _Thread_local struct lock_queue *queues; /* of this server */

static void lock_send(int pe, const struct lock_message *ask)
{
    ski_msg_post(ski_self, pe, SKI_HANDLER_LOCK,
                 ski_msg_copy(ski_self, SKI_HANDLER_LOCK, ask, sizeof *ask));
}

static void lock_grant(const struct lock_turn *turn)
{
    struct lock_message ask = turn->ask;

    ask.kind = GRANT;
    lock_send(ski_reply_pe(ski_self->job, ask.from), &ask);
}

static struct lock_queue **lock_queue_find(const struct lock_message *ask)
{
    struct lock_queue **at = &queues;

    while (*at &&
           ((*at)->region != ask->region || (*at)->lock != ask->lock || (*at)->pe != ask->pe))
        at = &(*at)->next;
    return at;
}

static void lock_on_acquire(const struct lock_message *ask)
{
    struct lock_queue **at    = lock_queue_find(ask);
    struct lock_turn   *turn  = ski_malloc(sizeof *turn);
    struct lock_queue  *queue = *at;

    *turn = (struct lock_turn){NULL, *ask};
    if (queue) {
        queue->last->next = turn;
        queue->last       = turn;
        return;
    }
    queue  = ski_malloc(sizeof *queue);
    *queue = (struct lock_queue){queues, ask->region, ask->pe, ask->lock, turn, turn};
    queues = queue;
    lock_grant(turn);
}

static void lock_on_release(const struct lock_message *ask)
{
    struct lock_queue **at = lock_queue_find(ask), *queue = *at;
    struct lock_turn   *done;

    if (!queue)
        ski_misuse("skua_unlock: lock %llu of PE %d is not taken", (unsigned long long)ask->lock,
                   ask->pe);
    done         = queue->first;
    queue->first = done->next;
    free(done);
    if (queue->first) {
        lock_grant(queue->first);
    } else {
        *at = queue->next;
        free(queue);
    }
}

void ski_on_lock(skua_msg *msg)
{
    struct lock_message ask = *(struct lock_message *)skua_msg_data(msg);

    skua_msg_free(msg);
    if ((uint32_t)ask.pe >= (uint32_t)ski_self->pes || ask.from < 0 ||
        ask.from >= ski_job_all(ski_self->job))
        return;
    switch (ask.kind) {
    case TAKE: lock_on_acquire(&ask); break;
    case GRANT: lock_on_grant(&ask); break;
    case GIVE: lock_on_release(&ask); break;
    }
}

/* ---- calls ------------------------------------------------------------------------------ */

static bool lock_send_to_owner(struct lock_message *ask)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return false;
    ask->from = caller.self->pe;
    lock_send(ski_am_server(caller.self->job, ask->pe), ask);
    ski_caller_leave(&caller);
    return true;
}

bool ski_lock_remote(skua_locks locks, int pe, size_t i)
{
    struct lock_message ask = {.kind = TAKE, .region = locks.region.id, .pe = pe, .lock = i};
    struct lock_wait    wait;
    bool                granted;

    lock_wait_begin(&wait);
    ask.ticket = wait.ticket;
    granted    = lock_send_to_owner(&ask) &&
              ski_notify_wait(ski_self, &wait.granted, 1, (struct ski_call){"skua_lock", NULL});
    lock_wait_end(&wait);
    return granted;
}

void ski_unlock_remote(skua_locks locks, int pe, size_t i)
{
    struct lock_message ask = {.kind = GIVE, .region = locks.region.id, .pe = pe, .lock = i};

    if (ski_self)
        skua_fence_all(); /* what we did is there before the next one looks */
    lock_send_to_owner(&ask);
}
