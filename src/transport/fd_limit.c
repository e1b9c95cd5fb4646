/* SPDX-License-Identifier: Apache-2.0 */
/* fd_limit.c - see fd_limit.h. */
#include "transport/fd_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#define FD_RESERVE_MAX 256

size_t ski_fd_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

bool ski_fd_limit_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool ski_fd_is_reserved(int fd)
{
    size_t limit = ski_fd_limit();

    return (size_t)fd >= limit - (limit / 4 < FD_RESERVE_MAX ? limit / 4 : FD_RESERVE_MAX);
}

bool ski_fd_exhausted(void)
{
    int  fd  = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool out = fd < 0 && (errno == EMFILE || errno == ENFILE);

    if (fd >= 0)
        close(fd);
    return out;
}
