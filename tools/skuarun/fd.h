/* SPDX-License-Identifier: Apache-2.0 */
/* fd.h - descriptors that are -1 once they are closed. */
#ifndef SKUARUN_FD_H
#define SKUARUN_FD_H

#include <unistd.h>

static inline void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

#endif
