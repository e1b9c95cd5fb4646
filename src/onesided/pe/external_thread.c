/* SPDX-License-Identifier: Apache-2.0 */
/* external_thread.c - see external_thread.h. */
#include "onesided/pe/external_thread.h"

#include <pthread.h>
#include <sched.h>

#include <skua/scheduler.h>

#include "base/assert.h"
#include "core/message/inbox_send.h"
#include "core/message/msg_counts.h"
#include "core/net/net.h"
#include "core/lifecycle/pe_run.h"
#include "core/message/send_backlog.h"
#include "core/pe/layer.h"
#include "core/sched/scheduler.h"
#include "onesided/pe/onesided_pe.h"

static struct ski_boot external_boot;
static void (*external_begin)(struct ski_pe *self);
static void (*external_end)(struct ski_pe *self);

static struct ski_pe  *external_pe; /* NULL: no external thread has needed it */
static pthread_mutex_t external_lock = PTHREAD_MUTEX_INITIALIZER;

/* Operations of external_pe in flight, and 1 if messages wait; written under the lock. */
static _Atomic uint64_t external_outstanding;

#define EXTERNAL_LOOK_NS 50000 /* a PE sleeps while operations are in flight */
#define EXTERNAL_POLL    64    /* messages that a PE runs for external threads before it sleeps */

/* Messages that the PE of external threads has sent, as read by others while a thread holds the
 * lock: more than it ever sends, so that the sums of a wave cannot match, and little enough for the
 * sum over 2^24 processes. */
#define EXTERNAL_SENT_UNKNOWN (UINT64_C(1) << 40)

/* External threads inside of a call, and whether new ones are refused. */
#define EXTERNAL_CLOSED (1 << 30)
static _Atomic int external_inside = EXTERNAL_CLOSED;

void ski_external_progress(void)
{
    struct ski_pe *self = ski_self;

    if (pthread_mutex_trylock(&external_lock) != 0)
        return;
    if (external_pe && external_pe->net) {
        ski_self = external_pe; /* completions within the driver are those of this PE */
        ski_net_progress(external_pe);
        ski_self = self;
    }
    pthread_mutex_unlock(&external_lock);
}

bool ski_external_outstanding(void)
{
    /* pairs with external_publish() */
    return atomic_load_explicit(&external_outstanding, memory_order_acquire) > 0;
}

/* Under the lock.  Returns whether all messages have left; operations may be with the driver. */
static bool external_all_sent(void)
{
    return !(external_pe->queue.events & SKI_EVENT_BACKLOG) && ski_net_all_sent(external_pe);
}

/* Under the lock.  Tries to send messages that wait. */
static void external_flush(void)
{
    ski_assert(ski_self == external_pe);
    ski_send_backlog_flush(external_pe);
    if (external_pe->net)
        ski_net_progress(external_pe);
}

/* Under the lock.  The first PE of the process, which may sleep, looks after operations that are in
 * flight from now on.  A message that waits for room, such as a completion, counts as one: it may
 * be left when all operations have ended. */
static void external_publish(void)
{
    uint64_t now    = ski_onesided_pe(external_pe)->outstanding + !external_all_sent();
    uint64_t before = atomic_load_explicit(&external_outstanding, memory_order_relaxed);

    /* what the operations have written comes before; pairs with ski_external_outstanding() */
    atomic_store_explicit(&external_outstanding, now, memory_order_release);
    if (now > 0 && before == 0)
        ski_inbox_wakeup(external_pe, ski_job_first_pe(external_boot.job, external_boot.process));
}

/* Under the lock.  Returns whether something has arrived. */
static bool external_poll(void)
{
    struct ski_pe *self = ski_self;
    bool           came;

    ski_self = external_pe;
    came     = skua_poll(EXTERNAL_POLL) > 0;
    if (!external_all_sent())
        external_flush();
    external_publish();
    ski_self = self;
    return came;
}

uint64_t ski_external_before_sleep(struct ski_pe *self)
{
    bool came;

    if (!ski_external_outstanding() || ski_pe_hidden(self))
        return SKI_FOREVER;
    if (pthread_mutex_trylock(&external_lock) != 0)
        return EXTERNAL_LOOK_NS;
    came = external_pe && external_poll();
    pthread_mutex_unlock(&external_lock);
    return came ? 0 : EXTERNAL_LOOK_NS;
}

void ski_external_open(const struct ski_boot *boot, void (*begin)(struct ski_pe *self),
                       void (*end)(struct ski_pe *self))
{
    ski_assert(!external_pe);
    external_boot  = *boot;
    external_begin = begin;
    external_end   = end;
    atomic_store(&external_inside, 0);
}

void ski_external_close(void)
{
    /* The job is exiting, so none of them waits for long. */
    atomic_fetch_or(&external_inside, EXTERNAL_CLOSED);
    while (atomic_load(&external_inside) != EXTERNAL_CLOSED)
        sched_yield();
    if (external_pe) {
        external_end(external_pe);
        ski_pe_destroy(external_pe);
        external_pe = NULL;
        /* the driver is done with memory of callers; pairs with ski_external_outstanding() */
        atomic_store_explicit(&external_outstanding, 0, memory_order_release);
    }
}

bool ski_external_enter(void)
{
    if (!(atomic_fetch_add(&external_inside, 1) & EXTERNAL_CLOSED))
        return true;
    ski_external_leave();
    return false;
}

void ski_external_leave(void)
{
    int before = atomic_fetch_sub(&external_inside, 1);

    ski_assert((before & ~EXTERNAL_CLOSED) > 0);
    (void)before;
}

struct ski_msg_counts ski_external_msg_counts(void)
{
    struct ski_msg_counts traffic = {.sent = EXTERNAL_SENT_UNKNOWN, .received = 0};

    if (pthread_mutex_trylock(&external_lock) != 0)
        return traffic;
    traffic = external_pe ? ski_msg_counts_of(external_pe) : (struct ski_msg_counts){0, 0};
    pthread_mutex_unlock(&external_lock);
    return traffic;
}

bool ski_caller_enter(struct ski_caller *caller)
{
    caller->self     = ski_self;
    caller->external = !ski_self;
    if (!caller->external)
        return true;
    if (!ski_external_enter())
        return false;
    ski_caller_resume(caller);
    return true;
}

void ski_caller_resume(struct ski_caller *caller)
{
    ski_assert(caller->external && !ski_self);
    pthread_mutex_lock(&external_lock);
    if (!external_pe) {
        external_pe = ski_pe_create(&external_boot,
                                    ski_job_external_pe(external_boot.job, external_boot.process));
        external_begin(external_pe);
    }
    ski_assert(ski_pe_hidden(external_pe));
    ski_self = caller->self = external_pe;
}

/* Operations that the driver holds are not waited for: PEs of the process progress them. */
void ski_caller_pause(struct ski_caller *caller)
{
    ski_assert(caller->external && ski_self == external_pe && caller->self == external_pe);
    (void)caller;
    while (!external_all_sent() && !ski_job_exiting(external_boot.job)) {
        external_flush();
        sched_yield();
    }
    external_publish();
    ski_self = NULL;
    pthread_mutex_unlock(&external_lock);
}

void ski_caller_leave(struct ski_caller *caller)
{
    if (!caller->external)
        return;
    ski_caller_pause(caller);
    ski_external_leave();
}
