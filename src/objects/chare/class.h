/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class.h - the classes of a program, and their entries.
 *
 * An entry is a handler (core/pe/handler.h) too, whose function is that of all entries
 * (invoke.c): a message names the entry by the handler's number, and the names of both
 * are compared between processes at start along with the rest.
 */
#ifndef SKI_CLASS_H
#define SKI_CLASS_H

#include <skua/landing.h>
#include <skua/object.h>

#include "base/arch.h"

struct ski_class {
    skua_class_def def;
    uint32_t       id;
    const char    *given; /* its name, as registered */
};

/* Flags of entries whose messages create elements: they matter where there is none. */
#define SKI_ENTRY_CREATES ((unsigned)(SKUA_ENTRY_CREATE_HOME | SKUA_ENTRY_CREATE_HERE))

/* One of skua_landing_register(). */
#define SKI_ENTRY_LANDS 0x10000u

struct ski_entry {
    const struct ski_class *of;     /* NULL: the number is that of a handler   */
    skua_method_fn          plain;  /* its method, if that is all there is to it */
    skua_entry_fn           entry;  /* one of the two */
    skua_method_fn          method; /* ... is NULL    */
    const char             *name;
    _Alignas(16) unsigned flags;
    skua_land_fn land; /* to 64 bytes: found by a shift */
};

_Static_assert(sizeof(struct ski_entry) == 64, "see above");

/* By the number of the handler, all that there can be: pages that are not used cost
 * nothing, and nothing need be compared before one looks. */
extern struct ski_entry *ski_entries;

/** Make the table, if it is not there. */
void ski_entries_init(void);

/** Whether objects of a class can be packed: it says how, or there is nothing to pack. */
static inline bool ski_class_moves(const struct ski_class *class)
{
    return class->def.pup || class->def.bytes == 0;
}

/** A class by its number, or NULL. */
const struct ski_class *ski_class_find(uint32_t id);

/** An entry that came from the program; ends the job if there is no such. */
SKI_COLD _Noreturn void ski_entry_unknown(const char *call, skua_entry entry);

static inline const struct ski_entry *ski_entry_find(const char *call, skua_entry entry)
{
    if (SKI_UNLIKELY(entry.id > UINT16_MAX || !ski_entries || !ski_entries[entry.id].of))
        ski_entry_unknown(call, entry);
    return &ski_entries[entry.id];
}

#endif
