/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_params.h - what an operation asks for besides its data (skua_rma_params): its order,
 * completions at the origin, a notification and a signal at the target.
 */
#ifndef SKI_OP_PARAMS_H
#define SKI_OP_PARAMS_H

#include <skua/onesided.h>

/** Returns @p order, or the order of the setting `order` if that is SKUA_ORDER_DEFAULT. */
skua_order ski_order_or_setting(skua_order order);

/** Returns the order that an operation asks for; @p params may be NULL. */
skua_order ski_op_params_order(const skua_rma_params *params);

/** Returns whether something happens at the target after the data: a notification or a signal,
 *  which come after earlier puts whatever the order of the data. */
bool ski_op_params_at_target(const skua_rma_params *params);

/** Returns whether an operation with a notification asks for one. */
static inline bool ski_op_params_notify(const skua_rma_params *params)
{
    return params && !skua_gaddr_is_none(params->notify);
}

/** Returns what the notification is raised by. */
static inline uint64_t ski_op_params_notify_by(const skua_rma_params *params)
{
    return params->notify_add ? params->notify_add : 1;
}

/** Checks the parameters of an operation on @p pe before anything is done.  SKUA_ERR_INVAL,
 *  SKUA_ERR_ALIGN or what ski_resolve() returns, logged for @p call. */
skua_status ski_op_params_check(const char *call, const skua_rma_params *params, int pe);

/** Checks the parameters as ski_op_params_check() does, without a query to another host about the
 *  region of the notification: the target checks what this host does not know. */
skua_status ski_op_params_check_nowait(const char *call, const skua_rma_params *params, int pe);

/** Returns whether this process can raise the notification that @p params asks for, if any. */
bool ski_op_params_notify_is_direct(const skua_rma_params *params);

/** Performs what @p params request at target @p pe after the data: raises the notification, if this
 *  process reaches it, and sends the signal in the name of PE @p source. */
void ski_op_params_apply(const char *call, const skua_rma_params *params, int pe, int source);

/** Completes the operation at the origin: `local` and `remote`. */
void ski_op_params_complete(const skua_rma_params *params);

#endif
