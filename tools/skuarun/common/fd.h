/* SPDX-License-Identifier: Apache-2.0 */
/* fd.h - file descriptors that become -1 when they are closed. */
#ifndef SKUARUN_FD_H
#define SKUARUN_FD_H

#include <unistd.h>

/** Closes *@p fd unless it is -1, and sets it to -1. */
static inline void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

#endif
