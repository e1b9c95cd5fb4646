/* SPDX-License-Identifier: Apache-2.0 */
/* pe_run.c - see pe_run.h. */
#include "core/lifecycle/pe_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/membarrier.h"
#include "base/memory.h"
#include "base/topology.h"
#include "core/collective/broadcast.h"
#include "core/collective/collective.h"
#include "core/isomalloc/isomalloc.h"
#include "core/lifecycle/crash.h"
#include "core/lifecycle/shutdown.h"
#include "core/message/ownership.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/pe/pe_data.h"
#include "core/sched/completion_tags.h"
#include "core/sched/future.h"
#include "core/sched/scheduler.h"

/* Returns the PE that alone sends to ring @p ring of the inboxes of this host. */
static int32_t pe_of_ring(uint32_t ring, const void *job)
{
    return ski_job_pe_at(job, (int)ring - 1);
}

/* Prepares for rings with sole senders: to receive from them, and to be one if @p has_ring. */
static void pe_set_sole(struct ski_pe *self, const struct ski_job *job, bool has_ring)
{
    if (!ski_membarrier_register())
        ski_fatal("membarrier(2) fails (%s) in this process of the job, but not where the job was "
                  "created; set SKUA_SENDER_RINGS=0",
                  strerror(errno));
    ski_rings_set_sole(&self->reader, pe_of_ring, job);
    self->sole = has_ring;
}

/* Initialises what this PE reads its inbox with: one ring, or several. */
static void pe_init_reader(struct ski_pe *self, const struct ski_job *job, int index)
{
    const struct ski_host *host  = job->host;
    size_t                 bytes = ski_rings_bytes(host->rings);

    if (host->rings == 1) {
        ski_reader_init(&self->reader, ski_host_inbox(host, index), host->cells);
        return;
    }
    ski_rings_init(ski_memory_checked(malloc(bytes), bytes), &self->reader,
                   ski_host_inbox(host, index), host->rings, host->cells,
                   host->sole ? ski_host_ring_of(host, index) : 0);
    if (host->sole)
        pe_set_sole(self, job, ski_host_has_ring(host, index));
    else
        ski_rings_share(&self->reader, (uint32_t)job->local_pes, (uint32_t)index);
    self->loop.slow = SKI_LOOP_RINGS;
}

struct ski_pe *ski_pe_create(const struct ski_boot *boot, int pe)
{
    struct ski_job  *job   = boot->job;
    struct ski_host *host  = job->host;
    int              index = ski_job_index(job, pe);
    size_t size = (sizeof(struct ski_pe) + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    struct ski_pe *self = ski_memory_checked(aligned_alloc(SKI_CACHE_LINE, size), size);

    ski_assert(index >= 0 && index < host->all);
    memset(self, 0, size);
    pe_init_reader(self, job, index);
    self->pe                      = pe;
    self->pes                     = job->pes;
    self->index                   = index;
    self->first                   = job->run_first;
    self->near                    = (uint32_t)job->run_pes;
    self->inboxes                 = (char *)ski_host_ring(host, 0, ski_host_ring_of(host, index));
    self->stride                  = host->stride;
    self->handler                 = ski_handlers.fn;
    self->handlers                = ski_handlers.count - 1;
    self->sendable                = self->handlers;
    self->job                     = job;
    self->host                    = host;
    self->process                 = boot->process;
    self->data                    = ski_data_of_pe();
    self->backpressure.gave_up_on = -1;
    ski_pool_init(&self->pool, &host->heaps[index]);
    if (host->checked)
        ski_ownership_begin(self);
    ski_scheduler_init(self);
    ski_completion_tags_init(self);
    ski_collectives_init(self);
    ski_isomalloc_begin(self);
    ski_net_begin(self);
    return self;
}

void ski_pe_destroy(struct ski_pe *self)
{
    ski_assert(!self->thread && !self->objects);
    ski_net_end(self);
    ski_segments_destroy(self);
    ski_collectives_destroy(self->collectives);
    ski_completion_tags_destroy(self);
    ski_futures_destroy(self);
    ski_scheduler_destroy(self);
    ski_send_backlog_destroy(&self->backlog);
    ski_timer_heap_destroy(&self->timers);
    ski_isomalloc_end(self);
    ski_stacks_destroy(&self->threads.stacks);
    ski_pool_check_end(&self->pool);
    free(self->data);
    free(self->reader.rings);
    free(self);
}

static void pe_print_stats(void)
{
    skua_stats s;

    skua_stats_get(&s, sizeof s);
    fprintf(stderr,
            "skua: PE %d: delivered %" PRIu64 ", sent %" PRIu64 " inline %" PRIu64
            " by pointer %" PRIu64 " to itself %" PRIu64 " to other hosts, backlogged %" PRIu64
            ", delayed by backpressure %" PRIu64 ", received %" PRIu64 ", dropped packets %" PRIu64
            ", longest queue %" PRIu64 ", slept %" PRIu64 ", wakeups %" PRIu64 ", threads %" PRIu64
            ", switches %" PRIu64 ", timers %" PRIu64 ", arena peak %" PRIu64
            " MiB, dropped messages %" PRIu64 ", idle %.3f s\n",
            skua_pe(), s.delivered, s.sent_inline, s.sent_pointer, s.sent_self, s.sent_net,
            s.backlogged, s.backpressure_waits, s.received, s.dropped_packets, s.queue_peak,
            s.sleeps, s.wakeups, s.threads, s.switches, s.timers, s.arena_peak >> 20,
            s.dropped_messages, 1e-9 * (double)s.idle_ns);
}

/* Objects may look at those of other PEs of the process (skua_object_local()), so they stay until
 * all PEs have stopped running. */
static void pe_end_layers(struct ski_pe_program *program, struct ski_pe *self)
{
    pthread_barrier_wait(&program->stopped);
    ski_layers_end(self);
}

static bool pe_is_hidden(const struct ski_pe_thread *t)
{
    return t->pe >= t->program->boot->job->pes;
}

void ski_pe_begin(struct ski_pe_thread *t)
{
    const struct ski_boot *boot   = t->program->boot;
    bool                   hidden = pe_is_hidden(t);
    int                    index  = ski_job_index(boot->job, t->pe);

    t->signal_stack = ski_crash_thread_begin();
    ski_topology_bind(hidden ? SKI_CPU_ANY : boot->job->cpu[index]);
    ski_span_prefer(ski_job_numa_range(boot->job, index));
    if (ski_host_shared(boot->job->host, index))
        ski_topology_short_slices();
    if (!hidden)
        ski_log_set_pe(t->pe);
    ski_self = t->self = ski_pe_create(boot, t->pe); /* its memory is near the CPU it runs on */
    ski_fiber_init(&t->self->threads.fiber, NULL, 0);
    ski_layers_begin(t->self);
}

void ski_pe_end(struct ski_pe_thread *t)
{
    ski_assert(ski_self == t->self && ski_pe_exiting(t->self));
    ski_shutdown(t->self);
    if (ski_config.stats && !pe_is_hidden(t))
        pe_print_stats();
    pe_end_layers(t->program, t->self);
    ski_self = NULL;
    ski_pe_destroy(t->self);
    t->self = NULL;
    ski_log_set_pe(-1);
    ski_crash_thread_end(t->signal_stack);
}

void ski_pe_run(struct ski_pe_thread *t)
{
    ski_pe_begin(t);
    if (!pe_is_hidden(t) && t->program->start)
        t->program->start(t->program->argc, t->program->argv);
    ski_scheduler_run(t->self);
    ski_pe_end(t);
}
