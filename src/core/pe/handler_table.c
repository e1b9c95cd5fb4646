/* SPDX-License-Identifier: Apache-2.0 */
/* handler_table.c - see handler_table.h. */
#include "core/pe/handler_table.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

#define TABLE_BYTES (SKI_HANDLERS_MAX * sizeof(skua_handler_fn))
#define TABLE_UNIT  ((size_t)64 << 10) /* size of the file: the largest page of a processor */
#define TABLE_EACH  (TABLE_UNIT / sizeof(skua_handler_fn))

static void handler_table_fill(skua_handler_fn *at, size_t count, skua_handler_fn fn)
{
    for (size_t i = 0; i < count; i++)
        at[i] = fn;
}

/* Fills the file @p fd of TABLE_UNIT bytes with @p fn.  Returns whether it can be mapped. */
static bool handler_table_write(int fd, skua_handler_fn fn)
{
    skua_handler_fn *unit = mmap(NULL, TABLE_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (unit == MAP_FAILED)
        return false;
    handler_table_fill(unit, TABLE_EACH, fn);
    munmap(unit, TABLE_UNIT);
    return true;
}

/* Maps a file that is full of @p fn to the units of @p table.  Returns the number of entries that
 * are mapped. */
static size_t handler_table_map(skua_handler_fn *table, skua_handler_fn fn)
{
    int    fd     = memfd_create("skua-handlers", MFD_CLOEXEC);
    size_t mapped = 0;

    if (fd < 0)
        return 0;
    if (ftruncate(fd, (off_t)TABLE_UNIT) == 0 && handler_table_write(fd, fn))
        while (mapped < SKI_HANDLERS_MAX && mmap(table + mapped, TABLE_UNIT, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED)
            mapped += TABLE_EACH;
    close(fd);
    return mapped;
}

skua_handler_fn *ski_handler_table_create(skua_handler_fn fn)
{
    skua_handler_fn *table =
        mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t mapped;

    if (table == MAP_FAILED)
        ski_fatal("out of memory: mmap() has no %zu bytes for a table of handlers", TABLE_BYTES);
    mapped = handler_table_map(table, fn);
    /* What could not be mapped takes memory of the process. */
    handler_table_fill(table + mapped, SKI_HANDLERS_MAX - mapped, fn);
    return table;
}

void ski_handler_table_destroy(skua_handler_fn *table)
{
    if (table)
        munmap(table, TABLE_BYTES);
}
