/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_short.h - the short path of small puts that follow each other to a PE of another host.
 *
 * In a burst the next request joins the message of earlier ones, which waits for the network
 * (am_request.h).  Such a put is one block of a common region, has no parameters and nothing to
 * wait for, so nothing has to be decided about it: it is counted, recorded and written.  Puts on
 * the same PE and region that are in flight together are parts of one request, which ends with the
 * last of them.  Everything else, errors included, is left to the general path (transfer.c).
 */
#ifndef SKI_AM_SHORT_H
#define SKI_AM_SHORT_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/onesided.h>

/** Begins a put of @p bytes, which no caller waits for.  Returns false if it has done nothing: the
 * general path begins the put then. */
bool ski_am_put_short(const char *call, skua_gaddr to, const void *from, size_t bytes);

/** Begins a put of @p bytes, which may be 0, with the notification that @p params ask for, which no
 *  caller waits for.  Returns false if it has done nothing: the general path begins the put then.
 */
bool ski_am_put_notify(const char *call, skua_gaddr to, const void *from, size_t bytes,
                       const skua_rma_params *params);

#endif
