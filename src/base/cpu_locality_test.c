/* SPDX-License-Identifier: Apache-2.0 */
/* place_test.c - CPUs as the system describes them: a made-up host of two packages, and
 * this one. */
#include "base/cpu_locality.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char root[] = "/tmp/place.XXXXXX";

static void write_file(int cpu, const char *name, const char *text)
{
    char  path[256], *slash;
    FILE *file;

    snprintf(path, sizeof path, "%s/cpu%d/%s", root, cpu, name);
    for (slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        tap_bad++;
}

/* Two packages of four CPUs; CPUs 2n and 2n+1 are a core; each package has one cache. */
static void make_host(void)
{
    for (int cpu = 0; cpu < 8; cpu++) {
        char core[32];
        snprintf(core, sizeof core, "%d-%d\n", cpu / 2 * 2, cpu / 2 * 2 + 1);
        write_file(cpu, cpu < 6 ? "topology/core_cpus_list" : "topology/thread_siblings_list",
                   core);
        write_file(cpu, "topology/package_cpus_list", cpu < 4 ? "0-3\n" : "4-7\n");
        write_file(cpu, "cache/index0/level", "1\n");
        write_file(cpu, "cache/index0/shared_cpu_list", core);
        write_file(cpu, "cache/index1/level", "3\n");
        write_file(cpu, "cache/index1/shared_cpu_list", cpu < 4 ? "0-3\n" : core);
        write_file(cpu, cpu < 4 ? "node0" : "node1", "");
    }
}

static skua_nearness distance(int a, int b)
{
    skua_place from = ski_place_read(root, a), to = ski_place_read(root, b);

    return ski_place_distance(&from, &to);
}

int main(void)
{
    skua_place here = ski_place_read(SKI_PLACE_ROOT, 0), other, nowhere;
    char       command[64];

    if (!mkdtemp(root))
        return 1;
    make_host();
    other = ski_place_read(root, 5);
    OK(other.cpu == 5 && other.core == 4 && other.package == 4 && other.cache == 4 &&
           other.numa == 1,
       "CPU 5 is where it should be");
    OK(distance(0, 1) == SKUA_SAME_CORE, "two CPUs of a core");
    OK(distance(6, 7) == SKUA_SAME_CORE, "by the older names");
    OK(distance(0, 3) == SKUA_SAME_CACHE, "two that share a cache");
    OK(distance(4, 7) == SKUA_SAME_PACKAGE, "two of a package with a cache each");
    OK(distance(3, 4) == SKUA_SAME_HOST, "two packages");
    nowhere = ski_place_read(root, 99);
    OK(nowhere.cpu == 99 && nowhere.core == -1 && nowhere.cache == -1 && nowhere.package == -1 &&
           nowhere.numa == -1,
       "nothing is known of a CPU that is not there");
    OK(ski_place_distance(&nowhere, &other) == SKUA_SAME_HOST, "nor how far it is");
    OK(here.cpu == 0, "this host can be read");
    snprintf(command, sizeof command, "rm -rf %s", root);
    OK(system(command) == 0, "and the made-up one removed");
    return tap_end();
}
