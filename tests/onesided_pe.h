/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided_pe.h - for unit tests of onesided: a job of four PEs in one process without drivers or
 * threads, of which the test is PE 0.
 *
 * The PE has what the layer needs: the job, memory of the arena, a queue, and the states of the
 * layer. It has no scheduler and no inbox; messages to itself are in its queue, and it sends
 * nothing to other PEs.
 */
#ifndef ONESIDED_PE_H
#define ONESIDED_PE_H

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "onesided/onesided.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/region_table.h"
#include "tests/tap.h"

#define TEST_PES 4

static uint32_t test_removed; /* the region that an observer was notified of last */

static void test_on_removed(uint32_t id)
{
    test_removed = id;
}

static const struct ski_region_observer test_observers[] = {{.removed = test_on_removed},
                                                            {.removed = NULL}};

/** Begins as PE 0; ends the test program if there is no memory. */
__attribute__((unused)) static struct ski_pe *test_pe_begin(void)
{
    static const struct ski_job_params plan = {
        .pes = TEST_PES, .pes_per_process = TEST_PES, .pin = "none"};
    struct ski_arena *arena;
    struct ski_job   *job;
    struct ski_heap  *heap;
    struct ski_pe    *self = NULL;
    int               fd;

    if (ski_config_load() != SKUA_OK ||
        ski_arena_create((size_t)64 << 20, 0, 0, &arena, &fd) != SKUA_OK ||
        ski_job_create(arena, &plan, &job) != SKUA_OK ||
        ski_heap_create(arena, 1, &heap) != SKUA_OK || ski_onesided_create(job) != SKUA_OK ||
        posix_memalign((void **)&self, SKI_CACHE_LINE, sizeof *self) != 0)
        abort();
    memset(self, 0, sizeof *self);
    self->pes      = TEST_PES;
    self->handlers = SKI_HANDLERS;
    self->sendable = 1; /* misuse of messages is not checked */
    self->job      = job;
    ski_pool_init(&self->pool, heap);
    ski_queue_init(&self->queue);
    ski_onesided_set_job(job, 0);
    ski_regions_open(job, 0, ski_onesided->regions, test_observers);
    ski_onesided_begin(self);
    return ski_self = self;
}

/** Releases the state of test_pe_begin(). */
__attribute__((unused)) static void test_pe_end(struct ski_pe *self)
{
    struct ski_arena *arena = self->job->arena;

    ski_onesided_end(self);
    ski_queue_destroy(&self->queue);
    free(self);
    ski_self = NULL;
    ski_arena_detach(arena);
}

#endif
