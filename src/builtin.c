/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c - the layers of the runtime, and the tables of its own handlers (handler_defs.h). */
#include "core/pe/builtin.h"

#include "balance/balance_layer.h"
#include "balance/balancer.h"
#include "balance/load_gather.h"
#include "balance/move_orders.h"
#include "balance/neighbour_rounds.h"
#include "balance/sync_point.h"
#include "checkpoint/buddy.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/restore.h"
#include "checkpoint/save_step.h"
#include "core/collective/collective.h"
#include "core/isomalloc/isomalloc.h"
#include "core/lifecycle/core_layer.h"
#include "core/pe/handler.h"
#include "objects/chare/creation.h"
#include "objects/chare/dead_letter.h"
#include "objects/services/detector.h"
#include "objects/services/finalize.h"
#include "objects/location/forward_window.h"
#include "objects/location/hold.h"
#include "objects/services/idle_report.h"
#include "objects/location/claim.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/location/migration.h"
#include "objects/location/route.h"
#include "objects/location/route_marker.h"
#include "objects/location/thread_migration.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_reduction.h"
#include "objects/collective/section_multicast.h"
#include "objects/collective/section_rebuild.h"
#include "objects/collective/section_reduction.h"
#include "objects/collective/section_reduction_member.h"
#include "objects/collective/section_tree.h"
#include "objects/zerocopy/nocopy.h"
#include "objects/zerocopy/nocopy_net.h"
#include "objects/zerocopy/object_channel.h"
#include "objects/services/program.h"
#include "objects/services/quiescence.h"
#include "objects/chare/seed.h"
#include "objects/services/termination.h"
#include "objects/objects.h"
#include "onesided/onesided.h"
#include "onesided/region/symmetric_vote.h"
#include "onesided/buffer/buffer.h"
#include "onesided/buffer/buffer_data.h"
#include "onesided/buffer/round_trip.h"
#include "onesided/channel/channel.h"
#include "onesided/sync/lock_remote.h"
#include "onesided/sync/barrier.h"
#include "onesided/sync/notify.h"
#include "onesided/team/team_send.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/am_reply.h"
#include "onesided/rma/global_copy.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/rma_driver.h"

const struct ski_builtin ski_builtin[SKI_HANDLERS] = {
#define HANDLER(id, name, function, least, flags) [id] = {name, function, least, flags},
#include "core/pe/handler_defs.h"
#undef HANDLER
};

const bool ski_builtin_runs_program[SKI_HANDLERS] = {
#define HANDLER(id, name, function, least, flags) [id] = ((flags)&SKI_HANDLES_PROGRAM) != 0,
#include "core/pe/handler_defs.h"
#undef HANDLER
};

bool ski_builtin_accepts(uint32_t handler, size_t bytes)
{
    const unsigned never = SKI_HANDLES_NO_BROADCAST | SKI_HANDLES_OBJECT | SKI_HANDLES_EITHER;

    return handler >= SKI_HANDLERS ||
           (bytes >= ski_builtin[handler].least && !(ski_builtin[handler].flags & never));
}

const struct ski_layer *const ski_layers[] = {&ski_core_layer,       &ski_onesided_layer,
                                              &ski_objects_layer,    &ski_balance_layer,
                                              &ski_checkpoint_layer, NULL};
