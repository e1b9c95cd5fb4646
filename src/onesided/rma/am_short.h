/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_short.h - the short path of small puts that follow each other to a PE of another host.
 *
 * In a burst the next request joins the message of earlier ones, which waits for the network
 * (am_request.h).  Such a put is one block of a common region, has no parameters and nothing to
 * wait for, so nothing has to be decided about it: it is counted, recorded and written.  Everything
 * else, errors included, is left to the general path (transfer.c).
 */
#ifndef SKI_AM_SHORT_H
#define SKI_AM_SHORT_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/onesided.h>

#define SKI_AM_SHORT_MOST 64 /* bytes of data */

/** Begins a put of @p bytes, which no caller waits for.  Returns false if the put does not take
 * this path; then nothing has been done, and the general path begins the put. */
bool ski_am_put_short(const char *call, skua_gaddr to, const void *from, size_t bytes);

#endif
