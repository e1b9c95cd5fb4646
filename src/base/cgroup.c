/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c - see cgroup.h. */
#include "base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_PATH_MAX 4096

/* The folder of a group, from which cgroup_parent() climbs to its mount point. */
struct cgroup_path {
    char   text[CGROUP_PATH_MAX];
    size_t mount; /* bytes of the mount point at the front of text */
};

/* A file of a group: its name, and the word before the number that it holds, if any. */
struct cgroup_file {
    const char *name, *key;
};

static const struct cgroup_file cgroup_limits[] = {{"memory.max", NULL},
                                                   {"memory.limit_in_bytes", NULL}};
static const struct cgroup_file cgroup_kills[]  = {{"memory.events", "oom_kill"},
                                                   {"memory.oom_control", "oom_kill"}};

static bool cgroup_number(const char *text, uint64_t *value)
{
    char *end;

    *value = strtoull(text, &end, 10);
    return end != text;
}

/* Reads the number of @p file in the folder @p path.  Returns false if there is none. */
static bool cgroup_read(const char *path, const struct cgroup_file *file, uint64_t *value)
{
    char  name[CGROUP_PATH_MAX + 32], line[128];
    FILE *in;
    bool  found = false;

    snprintf(name, sizeof name, "%s/%s", path, file->name);
    in = fopen(name, "re");
    if (!in)
        return false;
    while (!found && fgets(line, sizeof line, in)) {
        size_t key = file->key ? strlen(file->key) : 0;

        if (key == 0)
            found = cgroup_number(line, value);
        else if (strncmp(line, file->key, key) == 0 && line[key] == ' ')
            found = cgroup_number(line + key + 1, value);
    }
    fclose(in);
    return found;
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

/* Turns one line "id:controllers:path" into the folder of that group.  Returns false if the line
 * belongs to another controller. */
static bool cgroup_locate(const char *root, char *line, struct cgroup_path *path)
{
    char       *controllers = strchr(line, ':');
    char       *group       = controllers ? strchr(controllers + 1, ':') : NULL;
    const char *mount       = NULL;

    if (!group)
        return false;
    *group++                    = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[1] == '\0')
        mount = ""; /* version 2 */
    else if (strcmp(controllers + 1, "memory") == 0)
        mount = "/memory";
    if (!mount)
        return false;
    path->mount = (size_t)snprintf(path->text, sizeof path->text, "%s%s", root, mount);
    if (strcmp(group, "/") != 0)
        snprintf(path->text + path->mount, sizeof path->text - path->mount, "%s", group);
    return path->mount < sizeof path->text;
}

/* Calls @p take with the number of one of the two @p files in each group and its ancestors, up to
 * the mount point. */
static void cgroup_walk(const char *root, const char *self, const struct cgroup_file files[2],
                        void (*take)(void *arg, uint64_t value), void *arg)
{
    FILE              *in = fopen(self, "re");
    char               line[CGROUP_PATH_MAX];
    struct cgroup_path path;

    while (in && fgets(line, sizeof line, in)) {
        uint64_t value;

        if (!cgroup_locate(root, line, &path))
            continue;
        do
            if (cgroup_read(path.text, &files[0], &value) ||
                cgroup_read(path.text, &files[1], &value))
                take(arg, value);
        while (cgroup_parent(&path));
    }
    if (in)
        fclose(in);
}

static void cgroup_take_least(void *arg, uint64_t value)
{
    size_t *least = arg;

    if (value > 0 && value < *least)
        *least = (size_t)value;
}

size_t ski_cgroup_memory_max(const char *root, const char *self)
{
    size_t least = SIZE_MAX;

    cgroup_walk(root, self, cgroup_limits, cgroup_take_least, &least);
    return least;
}

static void cgroup_take_sum(void *arg, uint64_t value)
{
    *(uint64_t *)arg += value;
}

uint64_t ski_cgroup_oom_kills(const char *root, const char *self)
{
    uint64_t kills = 0;

    cgroup_walk(root, self, cgroup_kills, cgroup_take_sum, &kills);
    return kills;
}

size_t ski_memory_allowed(void)
{
    size_t host  = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t group = ski_cgroup_memory_max(SKI_CGROUP_ROOT, SKI_CGROUP_SELF);

    return group < host ? group : host;
}
