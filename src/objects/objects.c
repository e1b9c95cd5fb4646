/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - see objects.h. */
#include "objects/objects.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/chare/callback_table.h"
#include "objects/chare/creation.h"
#include "objects/chare/invoke.h"
#include "objects/chare/seed.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_reduction.h"
#include "objects/collective/section_lifecycle.h"
#include "objects/collective/section_multicast.h"
#include "objects/location/closing.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/location/migration.h"
#include "objects/location/thread_migration.h"
#include "objects/location/thread_saved.h"
#include "objects/measure/measure.h"
#include "objects/services/detector.h"
#include "objects/services/finalize.h"
#include "objects/services/host_interconnect.h"
#include "objects/services/host_topology.h"
#include "objects/services/idle_report.h"
#include "objects/services/measure_table.h"
#include "objects/services/program.h"
#include "objects/services/quiescence.h"
#include "objects/services/stream.h"
#include "objects/services/termination.h"
#include "objects/zerocopy/learned_channel.h"
#include "objects/zerocopy/learned_net.h"
#include "objects/zerocopy/nocopy.h"
#include "objects/zerocopy/nocopy_net.h"
#include "objects/zerocopy/object_channel.h"

/* The modules of this layer that observe it.  An event reaches them in this order:
 *   - channels first: no other PE writes to an element when others look at it;
 *   - broadcasts before reductions: a report of a reduction carries the number of the last known
 *     broadcast;
 *   - location after those: the home of an element learns of its arrival or destruction after all
 *     others have counted it;
 *   - then threads that have arrived with an element: what they wait for may happen when a
 * reduction continues;
 *   - termination before the services that register topics with it. */
static const struct ski_lifecycle *const objects_modules[] = {
    &ski_learned_channel_lifecycle,  &ski_object_channel_lifecycle,
    &ski_thread_migration_lifecycle, &ski_thread_saved_lifecycle,
    &ski_array_broadcast_lifecycle,  &ski_array_reduction_lifecycle,
    &ski_section_lifecycle,          &ski_section_multicast_lifecycle,
    &ski_location_lifecycle,         &ski_migration_lifecycle,
    &ski_closing_lifecycle,          &ski_insertion_lifecycle,
    &ski_callback_lifecycle,         &ski_seed_lifecycle,
    &ski_termination_lifecycle,      &ski_quiescence_lifecycle,
    &ski_detector_lifecycle,         &ski_stream_lifecycle,
    &ski_program_lifecycle,          &ski_idle_report_lifecycle,
    &ski_finalize_lifecycle,         &ski_nocopy_lifecycle,
    &ski_nocopy_net_lifecycle,
};

#define OBJECTS_MODULES (sizeof objects_modules / sizeof *objects_modules)

_Static_assert(OBJECTS_MODULES <= SKI_MODULES_MAX, "see model/lifecycle.h");

/* Begins the objects layer on @p self, also on a hidden PE (a progress thread). */
static void objects_begin(struct ski_pe *self)
{
    struct ski_objects *objects = ski_calloc(1, sizeof *objects);

    ski_entries_init();
    objects->self     = self;
    objects->creators = (uint32_t)self->pes;
    objects->entries  = ski_entries;
    objects->run      = ski_entries;
    objects->stamp    = ski_invoke_stamp(self->pe);
    objects->handlers = ski_handlers.fn;
    self->objects     = objects;
    ski_collections_begin(objects);
    for (size_t i = 0; i < OBJECTS_MODULES; i++) {
        ski_lifecycle_add(&objects->lifecycle, objects_modules[i]);
        if (objects_modules[i]->pe_begin)
            objects_modules[i]->pe_begin(objects);
    }
}

/* Ends the objects layer on @p self: destroys all objects, then frees all that modules hold. */
static void objects_end(struct ski_pe *self)
{
    struct ski_objects *objects = self->objects;

    ski_measure_destroy(self);
    ski_collections_destroy(objects);
    ski_collections_end(objects);
    for (size_t i = OBJECTS_MODULES; i-- > 0;)
        if (objects_modules[i]->pe_end)
            objects_modules[i]->pe_end(objects);
    free(objects);
    self->objects = NULL;
}

static void objects_open(const struct ski_boot *boot)
{
    ski_thread_migration_open(boot);
    ski_host_topology_open(boot);
    ski_net_set_entry_placement(&ski_learned_placement);
    ski_net_set_placement(SKI_HANDLER_NOCOPY_NET, &ski_nocopy_placement);
    ski_net_set_zcopy_send(ski_nocopy_net_send);
}

static void objects_close(void)
{
    ski_thread_migration_close();
    ski_host_topology_close();
    ski_host_interconnect_close();
}

const struct ski_layer ski_objects_layer = {
    .name         = "objects",
    .init         = ski_entries_init,
    .publish      = ski_host_interconnect_publish,
    .open         = objects_open,
    .close        = objects_close,
    .begin        = objects_begin,
    .end          = objects_end,
    .reset        = ski_measure_table_reset,
    .before_sleep = ski_idle_before_sleep,
    .before_wait  = ski_program_before_wait,
};
