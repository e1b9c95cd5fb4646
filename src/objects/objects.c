/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - see objects.h. */
#include "objects/objects.h"

#include <stdlib.h>

#include "base/memory.h"
#include "objects/chare/class.h"
#include "objects/chare/collection.h"
#include "objects/services/detector.h"
#include "objects/chare/callback_table.h"
#include "objects/services/host_topology.h"
#include "objects/services/idle_report.h"
#include "objects/chare/invoke.h"
#include "objects/zerocopy/learned_channel.h"
#include "objects/services/program.h"
#include "objects/services/quiescence.h"
#include "objects/collective/section.h"
#include "objects/chare/seed.h"
#include "objects/services/stream.h"
#include "objects/services/termination.h"

void ski_objects_begin(struct ski_pe *self)
{
    struct ski_objects *objects = ski_calloc(1, sizeof *objects);

    ski_entries_init();
    objects->self     = self;
    objects->entries  = ski_entries;
    objects->stamp    = ski_small_stamp(self->pe);
    objects->random   = (uint64_t)self->pe << 32;
    objects->sections = ski_sections_begin();
    objects->seeds    = ski_seeds_begin();
    objects->waves    = ski_waves_begin();
    objects->quiet    = ski_quiet_begin();
    objects->detect   = ski_detect_begin();
    ski_collections_begin(objects);
    ski_streams_begin(self);
    self->objects        = objects;
    objects->idle_report = ski_idle_report_begin();
}

void ski_objects_end(struct ski_pe *self)
{
    struct ski_objects *objects = self->objects;

    ski_collections_leave(objects);
    ski_streams_end(self);
    ski_seeds_end(objects->seeds);
    ski_sections_end(objects->sections);
    ski_collections_end(objects);
    ski_lanes_end(objects);
    ski_errands_end(objects);
    ski_gate_free(objects->gate);
    ski_idle_report_end(objects->idle_report);
    ski_slots_end(&objects->parts, NULL); /* what it names goes with the arena */
    ski_detect_end(objects->detect);
    ski_quiet_end(objects->quiet);
    ski_waves_end(objects->waves);
    free(objects);
    self->objects = NULL;
}

const struct ski_layer ski_objects_layer = {
    .name         = "objects",
    .init         = ski_entries_init,
    .publish      = ski_hosts_open,
    .close        = ski_hosts_close,
    .begin        = ski_objects_begin,
    .end          = ski_objects_end,
    .before_sleep = ski_idle_before_sleep,
    .before_wait  = ski_program_before_wait,
};
