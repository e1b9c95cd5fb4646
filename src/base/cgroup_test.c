/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_test.c - limits and kills of simulated control groups of both versions. */
#include "base/cgroup.h"

#include <limits.h>
#include <unistd.h>

#include "base/fake_tree.h"
#include "tests/tap.h"

static struct fake_tree cgroup_tree;
static char             cgroup_self[64];

static void cgroup_test_write(const char *name, const char *text)
{
    tap_bad += !fake_tree_write(&cgroup_tree, name, text);
}

static size_t cgroup_test_limit(const char *self)
{
    cgroup_test_write("self", self);
    return ski_cgroup_memory_max(cgroup_tree.root, cgroup_self);
}

static uint64_t cgroup_test_kills(const char *self)
{
    cgroup_test_write("self", self);
    return ski_cgroup_oom_kills(cgroup_tree.root, cgroup_self);
}

static int cgroup_test_cpus(const char *self)
{
    cgroup_test_write("self", self);
    return ski_cgroup_cpus(cgroup_tree.root, cgroup_self);
}

static void cgroup_test_quotas(void)
{
    cgroup_test_write("user/job/cpu.max", "max 100000\n");
    cgroup_test_write("user/cpu.max", "350000 100000\n");
    cgroup_test_write("user/small/cpu.max", "50000 100000\n");
    cgroup_test_write("broken/cpu.max", "50000\n");
    cgroup_test_write("zero/cpu.max", "50000 0\n");
    cgroup_test_write("cpu/a/cpu.cfs_quota_us", "400000\n");
    cgroup_test_write("cpu/a/cpu.cfs_period_us", "100000\n");
    cgroup_test_write("cpu/free/cpu.cfs_quota_us", "-1\n");
    cgroup_test_write("cpu/free/cpu.cfs_period_us", "100000\n");
    OK(cgroup_test_cpus("0::/user/job\n") == 3, "whole CPUs of an ancestor's quota");
    OK(cgroup_test_cpus("0::/user/small\n") == 1, "a part of a CPU counts as one");
    OK(cgroup_test_cpus("0::/broken\n") == INT_MAX && cgroup_test_cpus("0::/zero\n") == INT_MAX,
       "a quota without a period is none");
    OK(cgroup_test_cpus("5:cpuacct,cpu:/a\n0::/\n") == 4, "version 1, of several controllers");
    OK(cgroup_test_cpus("5:cpu:/free\n4:cpuset,cpuacct:/a\n") == INT_MAX,
       "no quota in version 1, and other controllers do not count");
}

int main(void)
{
    if (!fake_tree_create(&cgroup_tree))
        return 1;
    snprintf(cgroup_self, sizeof cgroup_self, "%s/self", cgroup_tree.root);
    cgroup_test_write("user/job/memory.max", "max\n");
    cgroup_test_write("user/memory.max", "1000\n");
    cgroup_test_write("user/small/memory.max", "10\n");
    cgroup_test_write("user/small/memory.events",
                      "low 3\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 5\n");
    cgroup_test_write("memory/a/b/memory.limit_in_bytes", "5000\n");
    cgroup_test_write("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    cgroup_test_write("memory/a/b/memory.oom_control",
                      "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");

    OK(cgroup_test_limit("0::/user/job\n") == 1000, "an ancestor sets the limit");
    OK(cgroup_test_limit("0::/user/small\n") == 10, "the smallest limit holds");
    OK(cgroup_test_limit("0::/elsewhere\n") == SIZE_MAX, "a group that is not visible sets none");
    OK(cgroup_test_limit("4:memory:/a/b\n3:cpuset:/user/small\n0::/\n") == 5000,
       "version 1, and other controllers do not count");
    OK(cgroup_test_limit("nonsense\n:\n::\n9:memory\n") == SIZE_MAX, "invalid lines are skipped");
    OK(cgroup_test_limit("") == SIZE_MAX, "no groups, no limit");
    OK(cgroup_test_kills("0::/user/small\n") == 2, "kills in version 2");
    OK(cgroup_test_kills("4:memory:/a/b\n0::/\n") == 7, "kills in version 1");
    OK(ski_memory_allowed() > 0 &&
           ski_memory_allowed() <= (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
       "this process may have some memory, and no more than the host has");

    cgroup_test_quotas();
    OK(fake_tree_remove(&cgroup_tree), "the fake groups are removed");
    return tap_end();
}
