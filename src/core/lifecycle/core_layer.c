/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_layer.c - the stages of core in a process: the host's inboxes, the table of handlers, the
 * network, data of the program.  Its state on a PE is created with the PE (pe_run.c).
 */
#include "core/lifecycle/core_layer.h"

#include "base/config.h"
#include "core/collective/broadcast.h"
#include "core/collective/reduction.h"
#include "core/lifecycle/shutdown.h"
#include "core/message/ownership.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/malloc_arena.h"
#include "core/pe/pe_data.h"
#include "transport/host/host.h"

static skua_status core_create(struct ski_job *job)
{
    return ski_host_create(job, (uint32_t)ski_config.inbox_cells);
}

static struct skua_msg *core_result_placed(struct ski_pe *self, const struct skua_msg *head,
                                           const char *data, bool whole)
{
    (void)head;
    return ski_result_placed(self, data, whole);
}

/* Collectives receive large packets in place. */
static void core_set_placements(void)
{
    static const struct ski_placement segment = {.place  = ski_segment_place,
                                                 .placed = ski_segment_placed};
    static const struct ski_placement result  = {
         .place = ski_result_place, .placed = core_result_placed, .until_exit = true};

    ski_net_set_placement(SKI_HANDLER_BROADCAST_SEGMENT, &segment);
    ski_net_set_placement(SKI_HANDLER_REDUCTION_RESULT, &result);
}

static skua_status core_publish(const struct ski_boot *boot)
{
    const struct ski_host *host   = boot->job->host;
    skua_status            status = ski_handlers_agree(boot->job, boot->process);

    if (status != SKUA_OK)
        return status;
    if (host->checked)
        ski_ownership_wrap(ski_handlers.fn, SKI_HANDLERS_MAX);
    core_set_placements();
    ski_net_set_lost(ski_shutdown_peer_lost);
    return ski_net_open(boot);
}

static void core_open(const struct ski_boot *boot)
{
    ski_data_open();
    ski_malloc_arena_open(boot->job->host);
}

static void core_close(void)
{
    ski_net_close();
    ski_data_close();
}

static void core_reset(void)
{
    ski_data_reset();
    ski_ownership_unwrap(ski_handlers.fn, SKI_HANDLERS_MAX);
    ski_handlers_reset();
    ski_shutdown_reset();
    ski_host_wakeup_close();
}

const struct ski_layer ski_core_layer = {
    .name    = "core",
    .init    = ski_handlers_init,
    .create  = core_create,
    .publish = core_publish,
    .open    = core_open,
    .close   = core_close,
    .reset   = core_reset,
};
