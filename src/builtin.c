/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c - the runtime's own handlers, of all layers (core/pe/builtin.h). */
#include "core/pe/builtin.h"

#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "objects/chare/creation.h"
#include "objects/chare/dead_letter.h"
#include "objects/services/detector.h"
#include "objects/location/forward_window.h"
#include "objects/services/idle_report.h"
#include "objects/location/claim.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/insertion.h"
#include "objects/location/location.h"
#include "objects/location/migration.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_reduction.h"
#include "objects/collective/section_multicast.h"
#include "objects/collective/section_reduction.h"
#include "objects/collective/section_tree.h"
#include "objects/zerocopy/nocopy.h"
#include "objects/services/program.h"
#include "objects/services/quiescence.h"
#include "objects/chare/seed.h"
#include "objects/services/termination.h"
#include "onesided/region/symmetric_alloc.h"
#include "onesided/buffer/buffer.h"
#include "onesided/channel/channel.h"
#include "onesided/sync/lock_remote.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/rma_driver.h"

const struct ski_builtin ski_builtin[SKI_HANDLERS] = {
    [SKI_HANDLER_NONE]      = {"skua.none", ski_handler_unknown, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_THREAD]    = {"skua.thread", ski_on_thread, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_RESUME]    = {"skua.resume", ski_on_resume, sizeof(void *), SKI_ADDRESS_NONE},
    [SKI_HANDLER_COMPLETE]  = {"skua.complete", ski_on_complete, SKI_COMPLETE_LEAST,
                               SKI_ADDRESS_NONE},
    [SKI_HANDLER_BUNDLE]    = {"skua.bundle", ski_handler_unknown, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_BROADCAST] = {"skua.broadcast", ski_on_broadcast, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_BROADCAST_HERE]    = {"skua.broadcast-here", ski_on_broadcast_here, SKI_NEVER_FAR,
                                       SKI_ADDRESS_NONE},
    [SKI_HANDLER_BROADCAST_DONE]    = {"skua.broadcast-done", ski_on_broadcast_done, sizeof(void *),
                                       SKI_ADDRESS_NONE},
    [SKI_HANDLER_BROADCAST_SEGMENT] = {"skua.broadcast-segment", ski_on_broadcast_segment,
                                       SKI_SEGMENT_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_REDUCE]    = {"skua.reduce", ski_on_reduce, SKI_REDUCE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_RESULT]    = {"skua.result", ski_on_result, SKI_REDUCE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_CREDIT]    = {"skua.credit", ski_on_credit, SKI_CREDIT_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_BLOCKS]    = {"skua.blocks", ski_on_blocks, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_NOTIFIED]  = {"skua.notified", ski_on_notified, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_REQUEST]   = {"skua.request", ski_on_request, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_PLACED]    = {"skua.placed", ski_on_placed, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SERVED]    = {"skua.served", ski_on_served, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_AGREE]     = {"skua.agree", ski_on_agree, SKI_AGREE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_ROUND]     = {"skua.round", ski_on_round, sizeof(uint32_t), SKI_ADDRESS_NONE},
    [SKI_HANDLER_LOCK]      = {"skua.lock", ski_on_lock, SKI_LOCK_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_RMA]       = {"skua.rma", ski_on_rma, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_BUFFER]    = {"skua.buffer", ski_on_buffer, SKI_BUFFER_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_CHANNEL]   = {"skua.channel", ski_on_channel, SKI_CHANNEL_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_QUIET_ASK] = {"skua.quiet-ask", ski_on_quiet_ask, SKI_QUIET_ASK_LEAST,
                               SKI_ADDRESS_NONE},
    [SKI_HANDLER_QUIET_WAVE]   = {"skua.quiet-wave", ski_on_wave, SKI_WAVE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_QUIET_REPORT] = {"skua.quiet-report", ski_on_report, SKI_REPORT_LEAST,
                                  SKI_ADDRESS_NONE},
    [SKI_HANDLER_DETECT_START] = {"skua.detect-start", ski_on_detect_start, SKI_DETECT_START_LEAST,
                                  SKI_ADDRESS_NONE},
    [SKI_HANDLER_DETECT_END]   = {"skua.detect-end", ski_on_detect_end, SKI_DETECT_END_LEAST,
                                  SKI_ADDRESS_NONE},
    [SKI_HANDLER_IDLE_ASK]     = {"skua.idle-ask", ski_on_idle_ask, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_IDLE_TEXT]    = {"skua.idle-text", ski_on_idle_text, SKI_IDLE_TEXT_LEAST,
                                  SKI_ADDRESS_NONE},
    [SKI_HANDLER_READONLY]     = {"skua.readonly", ski_on_readonly, SKI_READONLY_LEAST,
                                  SKI_ADDRESS_NONE},
    [SKI_HANDLER_PARTS]        = {"skua.parts", ski_on_parts, SKI_PARTS_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_EXIT]         = {"skua.exit", ski_on_exit, sizeof(int32_t), SKI_ADDRESS_NONE},
    [SKI_HANDLER_GONE]         = {"skua.gone", ski_on_gone, sizeof(int32_t), SKI_ADDRESS_NONE},
    [SKI_HANDLER_BYE]          = {"skua.bye", ski_on_bye, sizeof(int32_t), SKI_ADDRESS_NONE},
    [SKI_HANDLER_CREATE]       = {"skua.create", ski_on_create, SKI_CREATE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_ADOPT]        = {"skua.adopt", ski_on_adopt, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SEED]         = {"skua.seed", ski_on_seed, SKI_INSERT_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_SEED_GROW] = {"skua.seed-grow", ski_on_seed_grow, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SEED_ASK]  = {"skua.seed-ask", ski_on_seed_ask, SKI_SEED_ASK_LEAST,
                               SKI_ADDRESS_NONE},
    [SKI_HANDLER_SEED_NONE] = {"skua.seed-none", ski_on_seed_none, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SEED_KNOWN] = {"skua.seed-known", ski_on_seed_known, 0, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SEED_GREW]  = {"skua.seed-grew", ski_on_seed_grew, SKI_LOCATED_LEAST,
                                SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_INQUIRY] = {"skua.inquiry", ski_on_inquiry, SKI_INQUIRY_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_INSERT]  = {"skua.insert", ski_on_insert, SKI_INSERT_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_CLAIM]   = {"skua.claim", ski_on_claim, SKI_CLAIM_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_CLAIMED] = {"skua.claimed", ski_on_claimed, SKI_LOCATED_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_DELETE]  = {"skua.delete", ski_on_delete, 0, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_LOCATED] = {"skua.located", ski_on_located, SKI_LOCATED_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_MIGRATE] = {"skua.migrate", ski_on_migrate, SKI_MIGRATE_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_PROBE]   = {"skua.probe", ski_on_probe, SKI_PROBE_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_PROBED]  = {"skua.probed", ski_on_probed, SKI_PROBED_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_BACKLOG] = {"skua.backlog", ski_on_backlog, SKI_NEVER_FAR, SKI_ADDRESS_NONE},
    [SKI_HANDLER_EVERYONE_ROOT] = {"skua.everyone-root", ski_on_everyone_root, SKI_EVERYONE_LEAST,
                                   SKI_ADDRESS_NONE},
    [SKI_HANDLER_EVERYONE]      = {"skua.everyone", ski_on_everyone, SKI_EVERYONE_LEAST,
                                   SKI_ADDRESS_NONE},
    [SKI_HANDLER_EVERYONE_CAME] = {"skua.everyone-came", ski_on_everyone_came,
                                   SKI_EVERYONE_CAME_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_EVERYONE_LATE] = {"skua.everyone-late", ski_on_everyone_late, SKI_EVERYONE_LEAST,
                                   SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_CLOSING] = {"skua.closing", ski_on_closing, SKI_CLOSING_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_CHECK]   = {"skua.check", ski_on_check, SKI_CHECK_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_CHECKED] = {"skua.checked", ski_on_checked, SKI_CHECK_LEAST, SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_PART]    = {"skua.part", ski_on_part, SKI_PART_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_START]   = {"skua.start", ski_on_start, SKI_START_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_FEWER]   = {"skua.fewer", ski_on_fewer, SKI_START_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SECTION_CREATE] = {"skua.section-create", ski_on_section_create,
                                    SKI_SECTION_CREATE_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SECTION_ROOT]   = {"skua.section-root", ski_on_section_root, SKI_SECTION_LEAST,
                                    SKI_ADDRESS_NONE},
    [SKI_HANDLER_SECTION] = {"skua.section", ski_on_section, SKI_SECTION_LEAST, SKI_ADDRESS_NONE},
    [SKI_HANDLER_SECTION_LATE]  = {"skua.section-late", ski_on_section_late, SKI_SECTION_LEAST,
                                   SKI_ADDRESS_OBJECT},
    [SKI_HANDLER_SECTION_PART]  = {"skua.section-part", ski_on_section_part, SKI_SECTION_PART_LEAST,
                                   SKI_ADDRESS_EITHER},
    [SKI_HANDLER_SECTION_FEWER] = {"skua.section-fewer", ski_on_section_fewer,
                                   SKI_SECTION_FEWER_LEAST, SKI_ADDRESS_EITHER},
};

bool ski_builtin_takes(uint32_t handler, size_t bytes)
{
    if (handler >= SKI_HANDLERS)
        return true;
    return handler != SKI_HANDLER_BUNDLE && handler != SKI_HANDLER_BROADCAST &&
           handler != SKI_HANDLER_BROADCAST_SEGMENT && handler != SKI_HANDLER_RESULT &&
           bytes >= ski_builtin[handler].least && ski_builtin[handler].address == SKI_ADDRESS_NONE;
}

const bool ski_builtin_runs_program[SKI_HANDLERS] = {
    [SKI_HANDLER_BROADCAST] = true,     [SKI_HANDLER_BROADCAST_HERE] = true,
    [SKI_HANDLER_REDUCE] = true, /* operators */
    [SKI_HANDLER_RESULT] = true,        [SKI_HANDLER_CREDIT] = true,
    [SKI_HANDLER_BLOCKS] = true,        [SKI_HANDLER_CREATE] = true, /* constructors */
    [SKI_HANDLER_SEED_GROW] = true,     [SKI_HANDLER_INSERT] = true,
    [SKI_HANDLER_DELETE] = true,        [SKI_HANDLER_MIGRATE] = true,
    [SKI_HANDLER_EVERYONE_LATE] = true, [SKI_HANDLER_EVERYONE] = true,
    [SKI_HANDLER_PART] = true,          [SKI_HANDLER_START] = true,
    [SKI_HANDLER_FEWER] = true,         [SKI_HANDLER_SECTION] = true,
    [SKI_HANDLER_SECTION_LATE] = true,  [SKI_HANDLER_SECTION_PART] = true,
    [SKI_HANDLER_SECTION_FEWER] = true, [SKI_HANDLER_CLAIM] = true,
    [SKI_HANDLER_INQUIRY] = true, /* behind the creations that it is about */
};
