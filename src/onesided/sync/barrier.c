/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - see barrier.h. */
#include "onesided/sync/barrier.h"

#include "base/assert.h"
#include "core/pe/handler.h"
#include "core/sched/thread.h"
#include "onesided/sync/notify.h"
#include "onesided/sync/sync_pe.h"

/* Counters of a job of several hosts: a host has fewer than 2^15 PEs ... */
#define BARRIER_RELEASED   15 /* ... after the rounds of its PEs, the counter that lets them go  */
#define BARRIER_HOST_FIRST 16 /* the first of the rounds between hosts */

static skua_notify *barrier_counter(int index, uint32_t round)
{
    ski_assert(index >= 0 && round < SKI_BARRIER_ROUNDS);
    return &ski_onesided->barrier[index].round[round];
}

static void barrier_signal(struct ski_pe *self, int pe, uint32_t round)
{
    int index = ski_job_index(self->job, pe);

    if (index >= 0)
        ski_notify_raise(barrier_counter(index, round), pe, 1);
    else
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_BARRIER_ROUND}, &round, sizeof round);
}

/* Waits for the signal of a round.  Returns false if the job ends. */
static bool barrier_await(struct ski_pe *self, uint32_t round, struct ski_call call)
{
    return ski_notify_wait(self, barrier_counter(self->index, round), ski_sync_pe(self)->barriers,
                           call);
}

/* ---- one host, or hosts of one PE ------------------------------------------------------- */

static void barrier_disseminate(struct ski_pe *self, struct ski_call call)
{
    uint32_t round = 0;

    for (int64_t step = 1; step < self->pes; step *= 2, round++) {
        barrier_signal(self, (int)((self->pe + step) % self->pes), round);
        if (!barrier_await(self, round, call))
            return;
    }
}

/* ---- several hosts ------------------------------------------------------------------------ */

/* Collects the PEs of this host in a binomial tree of their indices.  Returns the step at which
 * this PE signals its parent, or, on the first PE, the first power of two that is not below their
 * number; 0: the job ends. */
static int barrier_collect(struct ski_pe *self, struct ski_call call)
{
    uint32_t round = 0;
    int      step  = 1;

    for (; step < self->job->local_pes && !(self->index & step); step *= 2, round++)
        if (self->index + step < self->job->local_pes && !barrier_await(self, round, call))
            return 0;
    if (self->index > 0)
        barrier_signal(self, ski_job_pe_at(self->job, self->index - step), round);
    return step;
}

/* Releases the subtree of this PE, whose step is @p step. */
static void barrier_release(struct ski_pe *self, int step)
{
    while (step /= 2)
        if (self->index + step < self->job->local_pes)
            barrier_signal(self, ski_job_pe_at(self->job, self->index + step), BARRIER_RELEASED);
}

/* On the first PE of a host: exchanges signals with those of other hosts.  Returns false if the job
 * ends. */
static bool barrier_between_hosts(struct ski_pe *self, struct ski_call call)
{
    const struct ski_job *job   = self->job;
    uint32_t              round = BARRIER_HOST_FIRST;

    for (int64_t step = 1; step < job->hosts; step *= 2, round++) {
        int host = (int)((job->host_number + step) % job->hosts);

        barrier_signal(self, ski_job_host_pe(job, host, 0), round);
        if (!barrier_await(self, round, call))
            return false;
    }
    return true;
}

static SKI_COLD void barrier_of_hosts(struct ski_pe *self, struct ski_call call)
{
    int step = barrier_collect(self, call);

    if (step == 0 || !(self->index == 0 ? barrier_between_hosts(self, call)
                                        : barrier_await(self, BARRIER_RELEASED, call)))
        return;
    barrier_release(self, step);
}

/* ---- calls ----------------------------------------------------------------------------------- */

void skua_sync(void)
{
    struct ski_pe  *self = SKI_SELF();
    struct ski_call call = SKI_CALL;

    ski_onesided_pe(self)->syncing = true;
    skua_flush_all();
    ski_onesided_pe(self)->syncing = false;
    ski_sync_pe(self)->barriers++;
    if (SKI_UNLIKELY(ski_job_is_mixed(self->job)))
        barrier_of_hosts(self, call);
    else
        barrier_disseminate(self, call);
    ski_thread_send_packets(true);
}

void ski_on_barrier_round(skua_msg *msg)
{
    uint32_t round = *(uint32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (round < SKI_BARRIER_ROUNDS)
        ski_notify_raise(barrier_counter(ski_self->index, round), ski_self->pe, 1);
}
