/* SPDX-License-Identifier: Apache-2.0 */
/* external_thread.c - see external_thread.h. */
#include "onesided/pe/external_thread.h"

#include <pthread.h>
#include <sched.h>

#include "base/assert.h"
#include "core/message/msg_counts.h"
#include "core/net/net.h"
#include "core/lifecycle/pe_run.h"
#include "core/message/send_backlog.h"
#include "core/sched/scheduler.h"

static struct ski_boot external_boot;
static void (*external_begin)(struct ski_pe *self);
static void (*external_end)(struct ski_pe *self);

static struct ski_pe  *external_pe; /* NULL: no external thread has needed it */
static pthread_mutex_t external_lock = PTHREAD_MUTEX_INITIALIZER;

/* External threads inside of a call, and whether new ones are refused. */
static _Atomic int external_inside;
#define EXTERNAL_CLOSED (1 << 30)

void ski_external_progress(void)
{
    if (pthread_mutex_trylock(&external_lock) != 0)
        return;
    if (external_pe && external_pe->net)
        ski_net_progress(external_pe);
    pthread_mutex_unlock(&external_lock);
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
    struct ski_msg_counts traffic = {1, 0};

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
    pthread_mutex_lock(&external_lock);
    if (!external_pe) {
        external_pe = ski_pe_create(&external_boot,
                                    ski_job_external_pe(external_boot.job, external_boot.process));
        external_begin(external_pe);
    }
    ski_assert(ski_pe_hidden(external_pe));
    ski_self = caller->self = external_pe;
    return true;
}

void ski_caller_leave(struct ski_caller *caller)
{
    if (!caller->external)
        return;
    ski_assert(ski_self == external_pe && caller->self == external_pe);
    while ((external_pe->queue.attention & SKI_EVENT_BACKLOG || !ski_net_drained(external_pe)) &&
           !ski_job_exiting(external_boot.job)) {
        ski_send_backlog_flush(external_pe);
        if (external_pe->net)
            ski_net_progress(external_pe);
        sched_yield();
    }
    ski_self = NULL;
    pthread_mutex_unlock(&external_lock);
    ski_external_leave();
}
