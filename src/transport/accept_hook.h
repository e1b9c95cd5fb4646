/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_hook.h - a filter in front of the accept() of UCX and libfabric.
 *
 * These libraries accept every connection as fast as they can, and close one only when a PE makes
 * progress.  When a process has no descriptor left, UCX closes its listening socket for good.  So
 * the entry for accept() in the library's table of imported functions, and in that of no other
 * library, is replaced by a function that filters connections:
 *
 *   - A connection that the other side has closed without sending anything is closed.
 *   - Any other is closed while only descriptors reserved for the job are left (fd_limit.h); a peer
 *     that is refused in this way tries again.
 *   - The library never sees the error that there are too many open files.
 *
 * A connection that stays open and speaks the library's protocol cannot be told from a peer's.
 */
#ifndef SKI_ACCEPT_H
#define SKI_ACCEPT_H

#include <stdbool.h>

struct ski_net;

/** Replaces accept() in the loaded library whose file name begins with @p library.  Returns false
 * if it does not import accept(). */
bool ski_accept_hook(const struct ski_net *net, const char *library);

/** Restores accept() in all libraries, since this code may be unloaded. */
void ski_accept_unhook(void);

#endif
