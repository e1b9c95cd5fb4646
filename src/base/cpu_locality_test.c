/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_locality_test.c - the locality of CPUs of a simulated host with two packages, and of this
 * host. */
#include "base/cpu_locality.h"

#include "base/fake_tree.h"
#include "tests/tap.h"

static struct fake_tree cpu_tree;

static void cpu_test_write(int cpu, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "cpu%d/%s", cpu, name);
    tap_bad += !fake_tree_write(&cpu_tree, path, text);
}

/* Two packages of four CPUs; CPUs 2n and 2n+1 are a core; each package has one cache. */
static void cpu_test_make_host(void)
{
    for (int cpu = 0; cpu < 8; cpu++) {
        char core[32];
        snprintf(core, sizeof core, "%d-%d\n", cpu / 2 * 2, cpu / 2 * 2 + 1);
        cpu_test_write(cpu, cpu < 6 ? "topology/core_cpus_list" : "topology/thread_siblings_list",
                       core);
        cpu_test_write(cpu, "topology/package_cpus_list", cpu < 4 ? "0-3\n" : "4-7\n");
        cpu_test_write(cpu, "cache/index0/level", "1\n");
        cpu_test_write(cpu, "cache/index0/shared_cpu_list", core);
        cpu_test_write(cpu, "cache/index1/level", "3\n");
        cpu_test_write(cpu, "cache/index1/shared_cpu_list", cpu < 4 ? "0-3\n" : core);
        cpu_test_write(cpu, cpu < 4 ? "node0" : "node1", "");
    }
}

static skua_nearness cpu_test_distance(int a, int b)
{
    skua_cpu from = ski_cpu_locality_read(cpu_tree.root, a),
             to   = ski_cpu_locality_read(cpu_tree.root, b);

    return ski_cpu_locality_distance(&from, &to);
}

int main(void)
{
    skua_cpu here = ski_cpu_locality_read(SKI_CPU_LOCALITY_ROOT, 0), other, absent;

    if (!fake_tree_create(&cpu_tree))
        return 1;
    cpu_test_make_host();
    other = ski_cpu_locality_read(cpu_tree.root, 5);
    OK(other.cpu == 5 && other.core == 4 && other.package == 4 && other.cache == 4 &&
           other.numa == 1,
       "CPU 5 belongs to core 4, cache 4, package 4 and node 1");
    OK(cpu_test_distance(0, 1) == SKUA_SAME_CORE, "two CPUs of a core");
    OK(cpu_test_distance(6, 7) == SKUA_SAME_CORE, "two CPUs of a core, by the older file names");
    OK(cpu_test_distance(0, 3) == SKUA_SAME_CACHE, "two CPUs that share a cache");
    OK(cpu_test_distance(4, 7) == SKUA_SAME_PACKAGE, "two CPUs of a package with a cache each");
    OK(cpu_test_distance(3, 4) == SKUA_SAME_HOST, "two CPUs of two packages");
    absent = ski_cpu_locality_read(cpu_tree.root, 99);
    OK(absent.cpu == 99 && absent.core == -1 && absent.cache == -1 && absent.package == -1 &&
           absent.numa == -1,
       "the locality of a CPU that does not exist is unknown");
    OK(ski_cpu_locality_distance(&absent, &other) == SKUA_SAME_HOST, "and so is its distance");
    OK(here.cpu == 0, "CPU 0 of this host can be read");
    OK(fake_tree_remove(&cpu_tree), "the fake tree is removed");
    return tap_end();
}
