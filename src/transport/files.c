/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - see files.h. */
#include "transport/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#define RESERVE_MOST 256

size_t ski_files_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

bool ski_files_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool ski_files_is_reserved(int fd)
{
    size_t limit = ski_files_limit();

    return (size_t)fd >= limit - (limit / 4 < RESERVE_MOST ? limit / 4 : RESERVE_MOST);
}

bool ski_files_are_out(void)
{
    int  fd  = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool out = fd < 0 && (errno == EMFILE || errno == ENFILE);

    if (fd >= 0)
        close(fd);
    return out;
}
