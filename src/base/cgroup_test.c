/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_test.c - limits and kills of made-up control groups of both versions. */
#include "base/cgroup.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char cgroup_root[] = "/tmp/cgroup.XXXXXX";
static char self_file[64];

static void cgroup_put(const char *name, const char *text)
{
    char  path[256], *slash;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", cgroup_root, name);
    for (slash = path + strlen(cgroup_root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        tap_bad++;
}

static size_t limit_of(const char *self)
{
    cgroup_put("self", self);
    return ski_cgroup_memory_max(cgroup_root, self_file);
}

static uint64_t kills_of(const char *self)
{
    cgroup_put("self", self);
    return ski_cgroup_oom_kills(cgroup_root, self_file);
}

int main(void)
{
    char command[64];

    if (!mkdtemp(cgroup_root))
        return 1;
    snprintf(self_file, sizeof self_file, "%s/self", cgroup_root);
    cgroup_put("user/job/memory.max", "max\n");
    cgroup_put("user/memory.max", "1000\n");
    cgroup_put("user/small/memory.max", "10\n");
    cgroup_put("user/small/memory.events",
               "low 3\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 5\n");
    cgroup_put("memory/a/b/memory.limit_in_bytes", "5000\n");
    cgroup_put("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    cgroup_put("memory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");

    OK(limit_of("0::/user/job\n") == 1000, "an ancestor sets the limit");
    OK(limit_of("0::/user/small\n") == 10, "the smallest limit holds");
    OK(limit_of("0::/elsewhere\n") == SIZE_MAX, "a group that is not visible sets none");
    OK(limit_of("4:memory:/a/b\n3:cpuset:/user/small\n0::/\n") == 5000,
       "version 1, and other controllers do not count");
    OK(limit_of("nonsense\n:\n::\n9:memory\n") == SIZE_MAX, "lines that make no sense are skipped");
    OK(limit_of("") == SIZE_MAX, "no groups, no limit");
    OK(kills_of("0::/user/small\n") == 2, "kills in version 2");
    OK(kills_of("4:memory:/a/b\n0::/\n") == 7, "kills in version 1");
    OK(ski_memory_allowed() > 0 &&
           ski_memory_allowed() <= (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
       "this process may have some memory, and no more than the host has");

    snprintf(command, sizeof command, "rm -r %s", cgroup_root);
    OK(system(command) == 0, "the made-up groups are removed");
    return tap_end();
}
