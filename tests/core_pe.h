/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_pe.h - for unit tests of core: a job of PEs with real inboxes and queues, in one process and
 * one thread.  The test acts as each of them in turn (core_pe_as()), and determines the order of
 * all actions; nothing runs by itself.
 *
 * Handlers are those of the test: core_handler[i] is number CORE_HANDLER + i.
 */
#ifndef CORE_PE_H
#define CORE_PE_H

#include <string.h>

#include "base/config.h"
#include "core/lifecycle/pe_run.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "tests/tap.h"

#define CORE_PES      3
#define CORE_HANDLER  SKI_HANDLERS
#define CORE_HANDLERS 4

static struct ski_pe  *core_pe[CORE_PES];
static skua_handler_fn core_handler[CORE_HANDLER + CORE_HANDLERS];

/** Acts as PE @p i from now on. */
__attribute__((unused)) static struct ski_pe *core_pe_as(int i)
{
    return ski_self = core_pe[i];
}

/** Begins the PEs, with inboxes of @p cells; ends the test program if there is no memory. */
__attribute__((unused)) static void core_pes_begin(uint32_t cells)
{
    static const struct ski_job_params plan = {
        .pes = CORE_PES, .pes_per_process = CORE_PES, .pin = "none"};
    struct ski_boot boot = {.mode = SKI_BOOT_SELF};
    int             fd;

    if (ski_config_load() != SKUA_OK ||
        ski_arena_create((size_t)64 << 20, 0, 0, &boot.arena, &fd) != SKUA_OK ||
        ski_job_create(boot.arena, &plan, &boot.job) != SKUA_OK ||
        ski_host_create(boot.job, cells) != SKUA_OK)
        abort();
    ski_handlers_init();
    for (int i = 0; i < CORE_PES; i++) {
        core_pe[i]           = ski_pe_create(&boot, i);
        core_pe[i]->handler  = core_handler;
        core_pe[i]->handlers = core_pe[i]->sendable = CORE_HANDLER + CORE_HANDLERS - 1;
    }
    core_pe_as(0);
}

/** Ends the PEs. */
__attribute__((unused)) static void core_pes_end(void)
{
    struct ski_arena *arena = core_pe[0]->job->arena;

    ski_self = NULL;
    for (int i = 0; i < CORE_PES; i++)
        ski_pe_destroy(core_pe[i]);
    ski_arena_detach(arena);
}

/** Sends a number to handler @p i on @p pe; larger than a cell if @p large. */
__attribute__((unused)) static void core_send(int pe, int i, uint64_t number, bool large)
{
    uint64_t data[16] = {number};

    skua_send_copy(pe, (skua_handler){CORE_HANDLER + (uint32_t)i}, data,
                   large ? sizeof data : sizeof *data);
}

#endif
