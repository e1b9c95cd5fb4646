/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c - the runtime's own handlers, of all layers (core/builtin.h). */
#include "core/builtin.h"

#include "core/handler.h"
#include "onesided/agree.h"
#include "onesided/lock_far.h"
#include "onesided/notify.h"
#include "onesided/request.h"
#include "onesided/rma.h"

const struct ski_builtin ski_builtin[SKI_HANDLERS] = {
    [SKI_HANDLER_THREAD]         = {"skua.thread", ski_on_thread, SKI_NEVER_FAR},
    [SKI_HANDLER_RESUME]         = {"skua.resume", ski_on_resume, sizeof(void *)},
    [SKI_HANDLER_COMPLETE]       = {"skua.complete", ski_on_complete, SKI_COMPLETE_LEAST},
    [SKI_HANDLER_BROADCAST]      = {"skua.broadcast", ski_on_broadcast, 0},
    [SKI_HANDLER_BROADCAST_HERE] = {"skua.broadcast-here", ski_on_broadcast_here, SKI_NEVER_FAR},
    [SKI_HANDLER_BROADCAST_DONE] = {"skua.broadcast-done", ski_on_broadcast_done, sizeof(void *)},
    [SKI_HANDLER_REDUCE]         = {"skua.reduce", ski_on_reduce, SKI_REDUCE_LEAST},
    [SKI_HANDLER_RESULT]         = {"skua.result", ski_on_result, SKI_REDUCE_LEAST},
    [SKI_HANDLER_NOTIFIED]       = {"skua.notified", ski_on_notified, SKI_NEVER_FAR},
    [SKI_HANDLER_REQUEST]        = {"skua.request", ski_on_request, 0},
    [SKI_HANDLER_PLACED]         = {"skua.placed", ski_on_placed, SKI_NEVER_FAR},
    [SKI_HANDLER_SERVED]         = {"skua.served", ski_on_served, 0},
    [SKI_HANDLER_AGREE]          = {"skua.agree", ski_on_agree, SKI_AGREE_LEAST},
    [SKI_HANDLER_ROUND]          = {"skua.round", ski_on_round, sizeof(uint32_t)},
    [SKI_HANDLER_LOCK]           = {"skua.lock", ski_on_lock, SKI_LOCK_LEAST},
    [SKI_HANDLER_RMA]            = {"skua.rma", ski_on_rma, SKI_NEVER_FAR},
    [SKI_HANDLER_EXIT]           = {"skua.exit", ski_on_exit, sizeof(int32_t)},
    [SKI_HANDLER_GONE]           = {"skua.gone", ski_on_gone, sizeof(int32_t)},
    [SKI_HANDLER_BYE]            = {"skua.bye", ski_on_bye, sizeof(int32_t)},
};
