/* SPDX-License-Identifier: Apache-2.0 */
/* membarrier.c - see membarrier.h. */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool membarrier_call(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool ski_membarrier_register(void)
{
    return membarrier_call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

bool ski_membarrier_heavy(void)
{
    return membarrier_call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
