/* SPDX-License-Identifier: Apache-2.0 */
/* code_map.c - see code_map.h. */
#include "core/pe/code_map.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>

#include "base/memory.h"
#include "base/module.h"

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

/* Returns a hash of the segments of an object and its notes, among which is the build ID. */
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

#ifdef __aarch64__
/* Looks for a relocation of @p symbol in the table of @p bytes bytes at @p table. */
static bool code_relocates(const ElfW(Rela) * table, size_t bytes, const ElfW(Sym) * symbols,
                           const char *names, const char *symbol)
{
    for (size_t i = 0; i < bytes / sizeof *table; i++) {
        size_t index = ELF64_R_SYM(table[i].r_info);

        if (index && strcmp(names + symbols[index].st_name, symbol) == 0)
            return true;
    }
    return false;
}

/* Returns whether a loaded object refers to the variable @p symbol of another object. */
static bool code_imports(const struct dl_phdr_info *info, const char *symbol)
{
    const ElfW(Dyn) *dynamic = NULL;
    const ElfW(Rela) *table  = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names        = NULL;
    size_t      bytes        = 0;

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
        switch (dynamic->d_tag) { /* glibc has relocated the addresses of all but the vDSO */
        case DT_RELA: table = (const void *)dynamic->d_un.d_ptr; break;
        case DT_RELASZ: bytes = dynamic->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const void *)dynamic->d_un.d_ptr; break;
        case DT_STRTAB: names = (const void *)dynamic->d_un.d_ptr; break;
        default: break;
        }
    return table && symbols && names && code_relocates(table, bytes, symbols, names, symbol);
}

/* The program's and Skua's frames are on the stacks of user threads. */
static uint64_t code_canary(const struct dl_phdr_info *info, const char *name)
{
    bool        has_frames = name[0] == '\0' || strncmp(name, "libskua", strlen("libskua")) == 0;
    const char *symbol     = "__stack_chk_guard";
    const void *canary =
        has_frames && code_imports(info, symbol) ? dlsym(RTLD_DEFAULT, symbol) : NULL;

    return canary ? code_hash(CODE_PRIME, canary, sizeof(uintptr_t)) | 1 : 0;
}
#else
static uint64_t code_canary(const struct dl_phdr_info *info, const char *name)
{
    (void)info, (void)name;
    return 0;
}
#endif

/* The page of functions that the kernel maps into each process is not code of the program: no user
 * thread waits there. */
static bool code_is_of_kernel(const char *name)
{
    return strncmp(name, "linux-vdso", strlen("linux-vdso")) == 0 ||
           strncmp(name, "linux-gate", strlen("linux-gate")) == 0;
}

/* Returns the last part of the path of an object. */
static const char *code_name(const struct dl_phdr_info *info)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    return slash ? slash + 1 : info->dlpi_name;
}

static struct ski_code_object code_describe(const struct dl_phdr_info *info)
{
    const char            *name   = code_name(info);
    struct ski_code_object object = {.base     = info->dlpi_addr,
                                     .contents = code_contents(info),
                                     .canary   = code_canary(info, name)};

    snprintf(object.name, sizeof object.name, "%s", name);
    return object;
}

static int code_add(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct code_map *map = arg;

    (void)size;
    if (code_is_of_kernel(code_name(info)))
        return 0;
    if (map->count < map->most)
        map->object[map->count] = code_describe(info);
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
    struct ski_code_object       *here  = ski_malloc(SKI_CODE_MAX * sizeof *here);
    size_t                        most  = ski_code_map(here, SKI_CODE_MAX);
    const struct ski_code_object *found = NULL;

    for (size_t i = 0; i < count && !found; i++) {
        *ours = code_find(here, most < SKI_CODE_MAX ? most : SKI_CODE_MAX, theirs[i].name);
        if (ours->base != theirs[i].base || ours->contents != theirs[i].contents ||
            ours->canary != theirs[i].canary)
            found = &theirs[i];
    }
    free(here);
    return found;
}

/* ---- the objects that some memory refers to ----------------------------------------------------
 */

static bool code_is_never_needed(const struct dl_phdr_info *info)
{
    return code_is_of_kernel(code_name(info)) || ski_module_has_loaded(info->dlpi_addr);
}

/* Records from where to where a code object is mapped (dl_iterate_phdr()). */
static int code_scan_extent(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct ski_code_scan *scan = arg;
    uintptr_t             from = UINTPTR_MAX, to = 0;

    (void)size;
    if (code_is_never_needed(info) || scan->count == SKI_CODE_MAX)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at           = info->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && at < from)
            from = at;
        if (part->p_type == PT_LOAD && at + part->p_memsz > to)
            to = at + part->p_memsz;
    }
    scan->object[scan->count].from   = from;
    scan->object[scan->count].to     = to;
    scan->object[scan->count++].used = false;
    scan->lowest                     = from < scan->lowest ? from : scan->lowest;
    scan->highest                    = to > scan->highest ? to : scan->highest;
    return 0;
}

void ski_code_scan_begin(struct ski_code_scan *scan)
{
    scan->count   = 0;
    scan->lowest  = UINTPTR_MAX;
    scan->highest = 0;
    dl_iterate_phdr(code_scan_extent, scan);
}

static void code_scan_word(struct ski_code_scan *scan, uintptr_t word)
{
    for (size_t i = 0; i < scan->count; i++)
        if (word >= scan->object[i].from && word < scan->object[i].to)
            scan->object[i].used = true;
}

void ski_code_scan_add(struct ski_code_scan *scan, const void *from, size_t bytes)
{
    const uintptr_t *word = from;

    for (size_t i = 0; i < bytes / sizeof *word; i++)
        if (word[i] >= scan->lowest && word[i] < scan->highest)
            code_scan_word(scan, word[i]);
}

/* Objects that are being written, as a scan has numbered them. */
struct code_scan_map {
    const struct ski_code_scan *scan;
    size_t                      number, count;
    struct ski_code_object     *map;
};

static int code_scan_write(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct code_scan_map *to = arg;

    (void)size;
    if (code_is_never_needed(info) || to->number == to->scan->count ||
        !to->scan->object[to->number++].used)
        return 0;
    if (to->map)
        to->map[to->count] = code_describe(info);
    to->count++;
    return 0;
}

size_t ski_code_scan_map(const struct ski_code_scan *scan, struct ski_code_object *map)
{
    struct code_scan_map to = {scan, 0, 0, map};

    dl_iterate_phdr(code_scan_write, &to);
    return to.count;
}

static bool code_is_fixed;

static void code_find_fixed(void)
{
    FILE *file = fopen("/proc/sys/kernel/randomize_va_space", "re");
    int   mode = file ? fgetc(file) : '1';

    if (file)
        fclose(file);
    code_is_fixed = mode == '0' || (personality(0xffffffff) & ADDR_NO_RANDOMIZE);
}

bool ski_code_is_fixed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* neither changes while a process runs */

    pthread_once(&once, code_find_fixed);
    return code_is_fixed;
}
