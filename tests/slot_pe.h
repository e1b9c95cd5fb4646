/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_pe.h - for unit tests of slots: the PEs of a job in one process, without threads or
 * schedulers.  A PE has what slots need: its number, the job, the host and the reader of its inbox.
 */
#ifndef SLOT_PE_H
#define SLOT_PE_H

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "core/pe/pe.h"

/** Returns a job of @p pes PEs; ends the test program if there is no memory. */
static struct ski_job *slot_job_create(int pes)
{
    struct ski_job_params plan = {.pes = pes, .pes_per_process = pes, .pin = "none"};
    struct ski_arena     *arena;
    struct ski_job       *job;
    int                   fd;

    if (ski_config_load() != SKUA_OK ||
        ski_arena_create((size_t)64 << 20, 0, 0, &arena, &fd) != SKUA_OK ||
        ski_job_create(arena, &plan, &job) != SKUA_OK || ski_host_create(job, 16) != SKUA_OK)
        abort();
    return job;
}

/** Returns PE @p pe of a job of slot_job_create(), which free() frees. */
static struct ski_pe *slot_pe_create(struct ski_job *job, int pe)
{
    struct ski_host *host = job->host;
    struct ski_pe   *self = NULL;

    if (posix_memalign((void **)&self, SKI_CACHE_LINE, sizeof *self) != 0)
        abort();
    memset(self, 0, sizeof *self);
    ski_reader_init(&self->reader, ski_host_inbox(host, pe), host->cells);
    self->pe      = pe;
    self->pes     = job->pes;
    self->index   = pe;
    self->first   = job->run_first;
    self->near    = (uint32_t)job->run_pes;
    self->inboxes = host->inboxes;
    self->stride  = host->stride;
    self->job     = job;
    self->host    = host;
    return self;
}

#endif
