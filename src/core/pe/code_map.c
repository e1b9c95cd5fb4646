/* SPDX-License-Identifier: Apache-2.0 */
/* code_map.c - see code_map.h. */
#include "core/pe/code_map.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define CODE_PRIME UINT64_C(0x100000001b3) /* FNV-1a */

/* A map that is being written. */
struct code_map {
    struct ski_code_object *object;
    size_t                  count, most;
};

static uint64_t code_hash(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * CODE_PRIME;
    return hash;
}

/* The segments of an object and its notes, among which is the build ID. */
static uint64_t code_contents(const struct dl_phdr_info *info)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD) {
            hash = code_hash(hash, &part->p_vaddr, sizeof part->p_vaddr);
            hash = code_hash(hash, &part->p_memsz, sizeof part->p_memsz);
        } else if (part->p_type == PT_NOTE && part->p_filesz < 4096) {
            hash = code_hash(hash, (void *)(info->dlpi_addr + part->p_vaddr), part->p_filesz);
        }
    }
    return hash;
}

/* The page of functions that the kernel maps into each process is not code of the program: no user
 * thread waits there. */
static bool code_is_of_kernel(const char *name)
{
    return strncmp(name, "linux-vdso", strlen("linux-vdso")) == 0 ||
           strncmp(name, "linux-gate", strlen("linux-gate")) == 0;
}

static int code_add(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct code_map *map   = arg;
    const char      *slash = strrchr(info->dlpi_name, '/');
    const char      *name  = slash ? slash + 1 : info->dlpi_name;

    (void)size;
    if (code_is_of_kernel(name))
        return 0;
    if (map->count < map->most) {
        struct ski_code_object *object = &map->object[map->count];

        *object =
            (struct ski_code_object){.base = info->dlpi_addr, .contents = code_contents(info)};
        snprintf(object->name, sizeof object->name, "%s", name);
    }
    map->count++;
    return 0;
}

size_t ski_code_map(struct ski_code_object *object, size_t most)
{
    struct code_map map = {object, 0, most};

    dl_iterate_phdr(code_add, &map);
    return map.count;
}

static struct ski_code_object code_find(const struct ski_code_object *map, size_t count,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(map[i].name, name, SKI_CODE_NAME) == 0)
            return map[i];
    return (struct ski_code_object){.base = 0};
}

const struct ski_code_object *ski_code_map_differs(const struct ski_code_object *theirs,
                                                   size_t count, struct ski_code_object *ours)
{
    struct ski_code_object       *here  = ski_malloc(SKI_CODE_MOST * sizeof *here);
    size_t                        most  = ski_code_map(here, SKI_CODE_MOST);
    const struct ski_code_object *found = NULL;

    for (size_t i = 0; i < count && !found; i++) {
        *ours = code_find(here, most < SKI_CODE_MOST ? most : SKI_CODE_MOST, theirs[i].name);
        if (ours->base != theirs[i].base || ours->contents != theirs[i].contents)
            found = &theirs[i];
    }
    free(here);
    return found;
}
