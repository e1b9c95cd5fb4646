/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit_test.c - the advice after a failed call names the limit; addresses that are limited. */
#include "base/rlimit.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cgroup.h"
#include "tests/tap.h"

int main(void)
{
    struct rlimit limit;

    OK(strstr(ski_rlimit_advice(EMFILE), "ulimit -n"), "too many files");
    OK(strstr(ski_rlimit_advice(EAGAIN), "ulimit -u"), "too many processes");
    OK(*ski_rlimit_advice(EACCES) == '\0', "other errors have no limit");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
        OK(*ski_rlimit_advice(ENOMEM) == '\0' && ski_rlimit_addresses() == SIZE_MAX, "no limit");
        limit.rlim_cur = (rlim_t)1 << 47; /* more than the sanitizers need */
        OK(setrlimit(RLIMIT_AS, &limit) == 0, "a limit of addresses");
        OK(strstr(ski_rlimit_advice(ENOMEM), "ulimit -v"), "is the reason that memory is short");
        OK(ski_rlimit_addresses() == (size_t)1 << 47 && ski_memory_allowed() <= (size_t)1 << 47,
           "and limits the memory of the process");
    }
    return tap_end();
}
