/* SPDX-License-Identifier: Apache-2.0 */
/* op_params.c - see op_params.h. */
#include "onesided/rma/op_params.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/params_check.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/resolve.h"
#include "onesided/sync/notify.h"

skua_order ski_order_or_setting(skua_order order)
{
    return order == SKUA_ORDER_DEFAULT ? (skua_order)ski_config.order : order;
}

skua_order ski_op_params_order(const skua_rma_params *params)
{
    return ski_order_or_setting(params ? params->order : SKUA_ORDER_DEFAULT);
}

bool ski_op_params_at_target(const skua_rma_params *params)
{
    return ski_op_params_notify(params) || (params && params->signal.id);
}

static skua_status op_params_check_signal(const char *call, const skua_rma_params *params)
{
    if (params->signal.id &&
        (params->signal.id < SKI_HANDLERS || params->signal.id >= ski_handlers.count))
        return ski_refuse(SKUA_ERR_INVAL, "%s: handler %u was never registered", call,
                          params->signal.id);
    if (!params->signal.id && params->signal_bytes)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: data for a signal whose handler was never registered (its id is 0)",
                          call);
    if (params->signal.id && !ski_fits_message(params->signal_data, params->signal_bytes))
        return ski_refuse(SKUA_ERR_INVAL, "%s: a signal of %zu bytes at %p is not a message", call,
                          params->signal_bytes, params->signal_data);
    return SKUA_OK;
}

/* Checks the parameters of an operation on @p pe.  Without @p wait nothing is asked of another
 * host. */
static skua_status op_params_check(const char *call, const skua_rma_params *params, int pe,
                                   bool wait)
{
    struct ski_resolved target;
    skua_status         status = SKUA_OK;

    if (params) /* the size is checked first: it shows which members exist */
        status = ski_params_status(call, "skua_rma_params", params->size, sizeof *params);
    if (status == SKUA_OK && params)
        status = op_params_check_signal(call, params);
    if (status != SKUA_OK || !ski_op_params_notify(params))
        return status;
    if (params->notify.pe != pe)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the notification is on PE %d, the data on PE %d",
                          call, params->notify.pe, pe);
    status = wait ? ski_resolve(call, params->notify, 0, sizeof(skua_notify), &target)
                  : ski_resolve_nowait(call, params->notify, 0, sizeof(skua_notify), &target);
    if (status != SKUA_OK)
        return status;
    ski_resolved_release(&target);
    if (!target.unknown && (uintptr_t)target.memory % sizeof(skua_notify))
        return ski_refuse(SKUA_ERR_ALIGN, "%s: the notification is not aligned", call);
    return SKUA_OK;
}

skua_status ski_op_params_check(const char *call, const skua_rma_params *params, int pe)
{
    return op_params_check(call, params, pe, true);
}

skua_status ski_op_params_check_nowait(const char *call, const skua_rma_params *params, int pe)
{
    return op_params_check(call, params, pe, false);
}

bool ski_op_params_notify_is_direct(const skua_rma_params *params)
{
    struct ski_resolved target;
    bool                direct;

    if (!ski_op_params_notify(params))
        return true;
    if (ski_resolve_nowait(NULL, params->notify, 0, sizeof(skua_notify), &target) != SKUA_OK)
        return false;
    direct = ski_resolved_is_direct(&target);
    ski_resolved_release(&target);
    return direct;
}

/* A signal that is sent for another PE, whose request this one serves, has that PE as its source.
 */
static void op_params_send_signal(const skua_rma_params *params, int pe, int source)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return;
    if (source == caller.self->pe) {
        skua_send_copy(pe, params->signal, params->signal_data, params->signal_bytes);
    } else {
        struct skua_msg *msg =
            ski_msg_copy(caller.self, params->signal.id, params->signal_data, params->signal_bytes);
        msg->source = source;
        ski_msg_post(caller.self, pe, params->signal.id, msg);
    }
    ski_caller_leave(&caller);
}

void ski_op_params_apply(const char *call, const skua_rma_params *params, int pe, int source)
{
    struct ski_resolved target;

    ski_assert(params);
    if (ski_op_params_notify(params) &&
        ski_resolve(call, params->notify, 0, sizeof(skua_notify), &target) == SKUA_OK) {
        if (ski_resolved_is_direct(&target) && (uintptr_t)target.memory % sizeof(skua_notify) == 0)
            ski_notify_raise((skua_notify *)(void *)target.memory, pe,
                             ski_op_params_notify_by(params));
        ski_resolved_release(&target);
    }
    if (params->signal.id)
        op_params_send_signal(params, pe, source);
}

void ski_op_params_complete(const skua_rma_params *params)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return;
    skua_complete(params->local, NULL, 0);
    skua_complete(params->remote, NULL, 0);
    ski_caller_leave(&caller);
}
