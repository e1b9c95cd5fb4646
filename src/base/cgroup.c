/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c - see cgroup.h. */
#include "base/cgroup.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rlimit.h"

#define CGROUP_PATH_MAX 4096

/* The folder of a group, from which cgroup_parent() climbs to its mount point. */
struct cgroup_path {
    char   text[CGROUP_PATH_MAX];
    size_t mount; /* bytes of the mount point at the front of text */
};

/* Reads a value of the group whose folder is @p path.  Returns false if it has none. */
typedef bool cgroup_read_fn(const char *path, uint64_t *value);

/* Reads @p count numbers at @p text.  Returns false if there are fewer. */
static bool cgroup_numbers(const char *text, uint64_t *value, int count)
{
    char *end;

    for (int i = 0; i < count; i++, text = end) {
        value[i] = strtoull(text, &end, 10); /* -1, which stands for no limit, is the largest */
        if (end == text)
            return false;
    }
    return true;
}

/* Reads @p count numbers of the file @p name in the folder @p path: those after the word @p key, or
 * the first ones if that is "".  Returns false if there are none. */
static bool cgroup_read(const char *path, const char *name, const char *key, uint64_t *value,
                        int count)
{
    char   file[CGROUP_PATH_MAX + 32], line[128];
    size_t bytes = strlen(key);
    FILE  *in;
    bool   found = false;

    snprintf(file, sizeof file, "%s/%s", path, name);
    in = fopen(file, "re");
    if (!in)
        return false;
    while (!found && fgets(line, sizeof line, in))
        if (strncmp(line, key, bytes) == 0 && (bytes == 0 || line[bytes] == ' '))
            found = cgroup_numbers(line + bytes, value, count);
    fclose(in);
    return found;
}

static bool cgroup_read_memory(const char *path, uint64_t *value)
{
    return cgroup_read(path, "memory.max", "", value, 1) ||
           cgroup_read(path, "memory.limit_in_bytes", "", value, 1);
}

static bool cgroup_read_kills(const char *path, uint64_t *value)
{
    return cgroup_read(path, "memory.events", "oom_kill", value, 1) ||
           cgroup_read(path, "memory.oom_control", "oom_kill", value, 1);
}

/* The time of a group in a period is that of a number of CPUs, at least one. */
static bool cgroup_read_cpus(const char *path, uint64_t *value)
{
    uint64_t time[2]; /* a quota and the period */

    if (!cgroup_read(path, "cpu.max", "", time, 2) &&
        !(cgroup_read(path, "cpu.cfs_quota_us", "", &time[0], 1) &&
          cgroup_read(path, "cpu.cfs_period_us", "", &time[1], 1)))
        return false;
    if (time[1] == 0)
        return false;
    *value = time[0] < time[1] ? 1 : time[0] / time[1];
    return true;
}

/* Removes the last folder of a path.  Returns false at the mount point. */
static bool cgroup_parent(struct cgroup_path *path)
{
    char *slash = strrchr(path->text + path->mount, '/');

    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Returns whether @p list, such as "cpu,cpuacct", has the word @p controller. */
static bool cgroup_lists(const char *list, const char *controller)
{
    for (const char *end;; list = end + 1) {
        end = strchrnul(list, ',');
        if ((size_t)(end - list) == strlen(controller) &&
            strncmp(list, controller, strlen(controller)) == 0)
            return true;
        if (*end == '\0')
            return false;
    }
}

/* Turns one line "id:controllers:path" into the folder of that group.  Returns false if the line
 * belongs to other controllers than @p controller. */
static bool cgroup_locate(const char *root, const char *controller, char *line,
                          struct cgroup_path *path)
{
    char *controllers = strchr(line, ':');
    char *group       = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return false;
    *group++                    = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[1] == '\0') /* version 2 */
        path->mount = (size_t)snprintf(path->text, sizeof path->text, "%s", root);
    else if (cgroup_lists(controllers + 1, controller))
        path->mount = (size_t)snprintf(path->text, sizeof path->text, "%s/%s", root, controller);
    else
        return false;
    if (path->mount < sizeof path->text && strcmp(group, "/") != 0)
        snprintf(path->text + path->mount, sizeof path->text - path->mount, "%s", group);
    return path->mount < sizeof path->text;
}

/* Calls @p take with the value of each group of @p controller and its ancestors, up to the mount
 * point. */
static void cgroup_walk(const char *root, const char *self, const char *controller,
                        cgroup_read_fn *read, void (*take)(void *arg, uint64_t value), void *arg)
{
    FILE              *in = fopen(self, "re");
    char               line[CGROUP_PATH_MAX];
    struct cgroup_path path;

    while (in && fgets(line, sizeof line, in)) {
        uint64_t value;

        if (!cgroup_locate(root, controller, line, &path))
            continue;
        do
            if (read(path.text, &value))
                take(arg, value);
        while (cgroup_parent(&path));
    }
    if (in)
        fclose(in);
}

static void cgroup_take_least(void *arg, uint64_t value)
{
    uint64_t *least = arg;

    if (value > 0 && value < *least)
        *least = value;
}

size_t ski_cgroup_memory_max(const char *root, const char *self)
{
    uint64_t least = SIZE_MAX;

    cgroup_walk(root, self, "memory", cgroup_read_memory, cgroup_take_least, &least);
    return (size_t)least;
}

int ski_cgroup_cpus(const char *root, const char *self)
{
    uint64_t least = INT_MAX;

    cgroup_walk(root, self, "cpu", cgroup_read_cpus, cgroup_take_least, &least);
    return (int)least;
}

static void cgroup_take_sum(void *arg, uint64_t value)
{
    *(uint64_t *)arg += value;
}

uint64_t ski_cgroup_oom_kills(const char *root, const char *self)
{
    uint64_t kills = 0;

    cgroup_walk(root, self, "memory", cgroup_read_kills, cgroup_take_sum, &kills);
    return kills;
}

size_t ski_memory_allowed(void)
{
    size_t host  = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t group = ski_cgroup_memory_max(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);
    size_t limit = ski_rlimit_addresses();
    size_t least = group < host ? group : host;

    return limit < least ? limit : least;
}

int ski_cpus_allowed(int cpus)
{
    static _Atomic int groups; /* 0: not yet read */

    if (atomic_load(&groups) == 0)
        atomic_store(&groups, ski_cgroup_cpus(SKI_CGROUP_ROOT, SKI_CGROUP_SELF));
    return cpus < atomic_load(&groups) ? cpus : atomic_load(&groups);
}
