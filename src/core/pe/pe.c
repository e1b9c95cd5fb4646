/* SPDX-License-Identifier: Apache-2.0 */
/* pe.c - the life of a PE, and what it knows of itself. */
#include "core/pe/pe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/topology.h"
#include "core/collective/broadcast.h"
#include "core/pe/crash.h"
#include "core/pe/pe_data.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/net/shutdown.h"
#include "core/message/ownership.h"
#include "core/sched/scheduler.h"

_Thread_local struct ski_pe *ski_self;

void ski_not_a_pe(const char *call)
{
    ski_misuse("%s: called by a thread that is no PE, or outside of skua_main()", call);
}

struct ski_pe *ski_pe_create(const struct ski_boot *boot, int pe)
{
    struct ski_job  *job   = boot->job;
    struct ski_host *host  = job->host;
    int              index = ski_job_index(job, pe);
    size_t size = (sizeof(struct ski_pe) + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    struct ski_pe *self = ski_checked(aligned_alloc(SKI_CACHE_LINE, size), size);

    memset(self, 0, size);
    ski_reader_init(&self->reader, ski_host_inbox(host, index), host->cells);
    self->pe           = pe;
    self->pes          = job->pes;
    self->index        = index;
    self->first        = job->first;
    self->near         = (uint32_t)job->near;
    self->inboxes      = host->inboxes;
    self->stride       = host->stride;
    self->handler      = ski_handlers.fn;
    self->handlers     = ski_handlers.count - 1;
    self->sendable     = self->handlers;
    self->job          = job;
    self->host         = host;
    self->process      = boot->process;
    self->data         = ski_data_of_pe();
    self->impatient.pe = -1;
    ski_collectives_init(self);
    ski_pool_init(&self->pool, &host->heaps[index]);
    if (host->checked)
        ski_ownership_begin(self);
    ski_scheduler_init(self);
    ski_far_begin(self);
    return self;
}

void ski_pe_destroy(struct ski_pe *self)
{
    ski_far_end(self);
    ski_collectives_destroy(&self->collectives);
    ski_slots_end(&self->broadcasts, free);
    ski_segments_destroy(self);
    ski_pending_destroy(&self->pending);
    ski_timers_destroy(&self->timers);
    ski_stacks_destroy(&self->stacks);
    ski_scheduler_destroy(self);
    ski_pool_check_end(&self->pool);
    free(self->data);
    free(self);
}

static void print_stats(void)
{
    skua_stats s = skua_stats_get();

    fprintf(stderr,
            "skua: PE %d: delivered %" PRIu64 ", sent %" PRIu64 " inline %" PRIu64
            " by pointer %" PRIu64 " to itself %" PRIu64 " to other hosts, deferred %" PRIu64
            ", held back %" PRIu64 ", received %" PRIu64 ", wrong %" PRIu64
            ", longest queue %" PRIu64 ", slept %" PRIu64 ", woke others %" PRIu64
            ", threads %" PRIu64 ", switches %" PRIu64 ", timers %" PRIu64
            ", arena at most %" PRIu64 " MiB, to deleted objects %" PRIu64 "\n",
            skua_pe(), s.delivered, s.sent_inline, s.sent_pointer, s.sent_self, s.sent_far,
            s.deferred, s.held_back, s.received, s.wrong, s.queue_longest, s.sleeps, s.wakes,
            s.threads, s.switches, s.timers, s.arena_most >> 20, s.departed);
}

void ski_pe_run(const struct ski_boot *boot, int pe, const struct ski_life *life)
{
    void          *signal_stack = ski_crash_thread_begin();
    bool           hidden       = pe >= boot->job->pes;
    int            index        = ski_job_index(boot->job, pe);
    struct ski_pe *self;

    ski_topology_bind(hidden ? SKI_CPU_ANY : boot->job->cpu[index]);
    if (ski_host_shared(boot->job->host, index))
        ski_topology_short_turns();
    if (!hidden)
        ski_log_set_pe(pe);
    ski_self = self = ski_pe_create(boot, pe); /* its memory is near the CPU it runs on */
    ski_fiber_init(&self->fiber, NULL, 0);
    life->begin(self);
    if (life->start)
        life->start(life->argc, life->argv);
    ski_scheduler_run(self);
    ski_leave(self);
    if (ski_config.stats && !hidden)
        print_stats();
    life->end(self);
    ski_self = NULL;
    ski_pe_destroy(self);
    ski_crash_thread_end(signal_stack);
}

/* ---- calls --------------------------------------------------------------- */

bool ski_pe_exit(struct ski_pe *self, int code)
{
    if (!ski_job_exit(self->job, code))
        return false;
    ski_host_wake_all(self->host);
    for (int index = 0; index < self->job->pes_here; index++)
        if (index != self->index)
            ski_msg_poke(self, ski_job_pe_at(self->job, index));
    ski_pe_look_for_exit(self);
    return true;
}

void skua_exit(int code)
{
    struct ski_pe *self = SKI_SELF();

    if (ski_pe_exit(self, code))
        ski_leave_tell(self, code);
}

void skua_abort(const char *format, ...)
{
    char    text[SKI_CRASH_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ski_fatal("%s", text);
}

int skua_pe(void)
{
    return SKI_SELF()->pe;
}

int skua_pes(void)
{
    return SKI_SELF()->pes;
}

int skua_process(void)
{
    return SKI_SELF()->process;
}

int skua_processes(void)
{
    return SKI_SELF()->job->processes;
}

/* The job, which has a PE of that number. */
static struct ski_job *job_with_pe(const char *call, int pe)
{
    struct ski_pe *self = SKI_SELF();

    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
    return self->job;
}

int skua_process_of(int pe)
{
    return ski_job_process_of(job_with_pe(__func__, pe), pe);
}

bool skua_near(int pe)
{
    return ski_job_index(job_with_pe(__func__, pe), pe) >= 0;
}

static struct ski_job *job_with(const char *call, int process)
{
    struct ski_job *job = SKI_SELF()->job;

    if ((uint32_t)process >= (uint32_t)job->processes)
        ski_misuse("%s: process %d does not exist; this job has processes 0 to %d", call, process,
                   job->processes - 1);
    return job;
}

int skua_process_first(int process)
{
    return ski_job_first_pe(job_with(__func__, process), process);
}

int skua_process_pes(int process)
{
    return ski_job_pes_of(job_with(__func__, process), process);
}
