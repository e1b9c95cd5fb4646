/* SPDX-License-Identifier: Apache-2.0 */
/* lock_remote.c - see lock_remote.h. */
#include "onesided/sync/lock_remote.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"
#include "onesided/sync/notify.h"

enum { LOCK_ACQUIRE, LOCK_GRANT, LOCK_RELEASE };

/* The message of this protocol. */
struct lock_message {
    uint32_t kind;
    uint32_t region;
    int32_t  pe; /* the PE that owns the lock */
    int32_t  from;
    uint64_t lock, ticket;
};

_Static_assert(sizeof(struct lock_message) == SKI_LOCK_MIN, "see lock_remote.h");

/* ---- waiters --------------------------------------------------------------------------- */

struct lock_wait {
    struct lock_wait *next;
    uint64_t          ticket;
    skua_notify       granted;
};

static pthread_mutex_t   waits_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lock_wait *waits;
static uint64_t          tickets;

static void lock_wait_begin(struct lock_wait *waiter)
{
    pthread_mutex_lock(&waits_lock);
    *waiter = (struct lock_wait){.next = waits, .ticket = ++tickets};
    waits   = waiter;
    pthread_mutex_unlock(&waits_lock);
}

static void lock_wait_end(struct lock_wait *waiter)
{
    struct lock_wait **at = &waits;

    pthread_mutex_lock(&waits_lock);
    while (*at != waiter) {
        ski_assert(*at);
        at = &(*at)->next;
    }
    *at = waiter->next;
    pthread_mutex_unlock(&waits_lock);
}

static void lock_on_grant(const struct lock_message *message)
{
    pthread_mutex_lock(&waits_lock);
    for (struct lock_wait *waiter = waits; waiter; waiter = waiter->next)
        if (waiter->ticket == message->ticket) {
            ski_notify_raise(&waiter->granted, message->from, 1);
            break;
        }
    pthread_mutex_unlock(&waits_lock);
}

/* ---- the owner ------------------------------------------------------------------------- */

/* One PE in the queue of a lock. */
struct lock_turn {
    struct lock_turn   *next;
    struct lock_message message;
};

/* A lock that is held; its queue begins with the holder. */
struct lock_queue {
    struct lock_queue *next;
    uint32_t           region;
    int32_t            pe;
    uint64_t           lock;
    struct lock_turn  *first, *last;
};

static _Thread_local struct lock_queue
    *queues; /* of locks that this PE or progress thread serves */

static void lock_send(int pe, const struct lock_message *message)
{
    ski_msg_post(ski_self, pe, SKI_HANDLER_LOCK,
                 ski_msg_copy(ski_self, SKI_HANDLER_LOCK, message, sizeof *message));
}

static void lock_grant(const struct lock_turn *turn)
{
    struct lock_message message = turn->message;

    message.kind = LOCK_GRANT;
    lock_send(ski_reply_pe(ski_self->job, message.from), &message);
}

static struct lock_queue **lock_queue_find(const struct lock_message *message)
{
    struct lock_queue **at = &queues;

    while (*at && ((*at)->region != message->region || (*at)->lock != message->lock ||
                   (*at)->pe != message->pe))
        at = &(*at)->next;
    return at;
}

/* Appends a request to the queue of its lock, and grants the lock if it is free. */
static void lock_on_acquire(const struct lock_message *message)
{
    struct lock_queue **at    = lock_queue_find(message);
    struct lock_turn   *turn  = ski_malloc(sizeof *turn);
    struct lock_queue  *queue = *at;

    *turn = (struct lock_turn){NULL, *message};
    if (queue) {
        queue->last->next = turn;
        queue->last       = turn;
        return;
    }
    queue  = ski_malloc(sizeof *queue);
    *queue = (struct lock_queue){queues, message->region, message->pe, message->lock, turn, turn};
    queues = queue;
    lock_grant(turn);
}

/* Ends the turn of the holder and grants the lock to the next one. */
static void lock_on_release(const struct lock_message *message)
{
    struct lock_queue **at = lock_queue_find(message), *queue = *at;
    struct lock_turn   *done;

    if (!queue)
        ski_misuse("skua_unlock: lock %llu of PE %d is not held", (unsigned long long)message->lock,
                   message->pe);
    ski_assert(queue->first && queue->last);
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

bool ski_lock_queues_exist(void)
{
    return queues != NULL;
}

void ski_lock_queues_end(void)
{
    while (queues) {
        struct lock_queue *queue = queues;

        while (queue->first) {
            struct lock_turn *turn = queue->first;

            queue->first = turn->next;
            free(turn);
        }
        queues = queue->next;
        free(queue);
    }
}

void ski_on_lock(skua_msg *msg)
{
    struct lock_message message = *(struct lock_message *)skua_msg_data(msg);

    skua_msg_free(msg);
    if ((uint32_t)message.pe >= (uint32_t)ski_self->pes || message.from < 0 ||
        message.from >= ski_job_all(ski_self->job))
        return;
    switch (message.kind) {
    case LOCK_ACQUIRE: lock_on_acquire(&message); break;
    case LOCK_GRANT: lock_on_grant(&message); break;
    case LOCK_RELEASE: lock_on_release(&message); break;
    }
}

/* ---- calls ------------------------------------------------------------------------------ */

static bool lock_send_to_owner(struct lock_message *message)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return false;
    message->from = caller.self->pe;
    lock_send(ski_am_server(caller.self->job, message->pe), message);
    ski_caller_leave(&caller);
    return true;
}

bool ski_lock_remote(skua_locks locks, int pe, size_t i)
{
    struct lock_message message = {
        .kind = LOCK_ACQUIRE, .region = locks.region.id, .pe = pe, .lock = i};
    struct lock_wait waiter;
    bool             granted;

    lock_wait_begin(&waiter);
    message.ticket = waiter.ticket;
    granted        = lock_send_to_owner(&message) &&
              ski_notify_wait(ski_self, &waiter.granted, 1, (struct ski_call){"skua_lock", NULL});
    lock_wait_end(&waiter);
    return granted;
}

void ski_unlock_remote(skua_locks locks, int pe, size_t i)
{
    struct lock_message message = {
        .kind = LOCK_RELEASE, .region = locks.region.id, .pe = pe, .lock = i};

    skua_flush_all(); /* requests in flight are complete before the next holder looks */
    lock_send_to_owner(&message);
}
