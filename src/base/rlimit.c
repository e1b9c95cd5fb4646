/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit.c - see rlimit.h. */
#include "base/rlimit.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

size_t ski_rlimit_addresses(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

const char *ski_rlimit_advice(int error)
{
    switch (error) {
    case EMFILE: return "; raise the limit of open files (ulimit -n)";
    case EAGAIN:
        return "; raise the limit of processes and threads (ulimit -u, or pids.max of the control "
               "group)";
    case ENOMEM:
        return ski_rlimit_addresses() < SIZE_MAX
                   ? "; raise the limit of the addresses of a process (ulimit -v)"
                   : "";
    default: return "";
    }
}
