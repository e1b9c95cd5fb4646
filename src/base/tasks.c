/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - see tasks.h. */
#include "base/tasks.h"

#include <dirent.h>

static int tasks_own;

int ski_tasks_count(void)
{
    DIR *folder = opendir("/proc/self/task");
    int  count  = 0;

    if (!folder)
        return -1;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

void ski_tasks_set_own(int count)
{
    tasks_own = count;
}

bool ski_tasks_external(void)
{
    int count = ski_tasks_count();

    return count < 0 || count > tasks_own;
}
