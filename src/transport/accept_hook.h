/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h - connections that a library accepts, looked at before the library sees them.
 *
 * UCX and libfabric accept whoever connects, as fast as they can, and close a connection when a
 * PE makes progress.  When a process has no descriptor left UCX closes the socket that it listens
 * at, for good.  So their calls of accept() are led here: the entry for it in the library's table
 * of imported functions is replaced, and that of no other library.
 *
 *   - A connection that is over already, and by which nothing has come, is closed.
 *   - Others are closed while the process has no more descriptors than are left to the job
 *     (files.h).  A peer that this happens to tries again.
 *   - The library never hears that there are too many open files.
 *
 * A connection that stays, and speaks the library's protocol, cannot be told from a peer's.
 */
#ifndef SKI_ACCEPT_H
#define SKI_ACCEPT_H

#include <stdbool.h>

struct ski_net;

/** Lead accept() of a library that is loaded, whose file name begins with @p library, here; false:
 *  it does not call that. */
bool ski_accept_hook(const struct ski_net *net, const char *library);

/** Let libraries call what they called before: this code may be unloaded. */
void ski_accept_unhook(void);

#endif
