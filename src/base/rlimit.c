/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit.c - see rlimit.h. */
#include "base/rlimit.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

static size_t rlimit_get(int resource)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

size_t ski_rlimit_addresses(void)
{
    return rlimit_get(RLIMIT_AS);
}

size_t ski_rlimit_file(void)
{
    return rlimit_get(RLIMIT_FSIZE);
}

const char *ski_rlimit_advice(int error)
{
    switch (error) {
    case EFBIG: return "; raise the limit of the size of a file (ulimit -f)";
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
