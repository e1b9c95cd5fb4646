/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_short.h - the fast path of small puts to a PE of another host that follow each other.
 *
 * In a burst the next request joins the message of earlier ones, which waits for the network
 * (am_request.h).  Such a put is one block of a common region, without parameters or anything to
 * wait for, so it is only counted, recorded and written.  Puts on the same PE and region that are
 * in flight together are parts of one request, which ends with the last of them.  Everything else,
 * errors included, is left to the general path (transfer.c).
 */
#ifndef SKI_AM_SHORT_H
#define SKI_AM_SHORT_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/onesided.h>

/** Begins a non-blocking put of @p bytes.  Returns false, without any effect, if the general path
 * must be used. */
bool ski_am_put_short(const char *call, skua_gaddr to, const void *from, size_t bytes);

/** Begins a non-blocking put of @p bytes, which may be 0, with the notification of @p params.
 *  Returns false, without any effect, if the general path must be used. */
bool ski_am_put_notify(const char *call, skua_gaddr to, const void *from, size_t bytes,
                       const skua_rma_params *params);

#endif
