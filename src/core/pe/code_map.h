/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_map.h - where the program and its libraries are in a process.
 *
 * The stack of a user thread holds return addresses and may hold addresses of functions.  They are
 * valid in another process only if all code is there at the same addresses, which the kernel's
 * address space layout randomisation (ASLR) prevents by default (setting aslr).  A process sends
 * its *code map* to another one, which compares it with its own.
 *
 * Frames of code that was compiled with a stack protector also hold its canary, a random word of
 * the process.  On x86-64 the canary is part of a context (context_x86_64.S).  On aarch64 it is one
 * read-only variable of the process, so such frames are not valid in another process.
 */
#ifndef SKI_CODE_MAP_H
#define SKI_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKI_CODE_NAME 48
#define SKI_CODE_MAX  512 /* loaded objects of a process that are compared */

/* A loaded object: the program or a library. */
struct ski_code_object {
    uint64_t base;
    uint64_t contents; /* a hash of its segments and notes, such as its build ID */
    uint64_t canary;   /* a hash of the canary, where frames of this object hold it; or 0 */
    char     name[SKI_CODE_NAME]; /* the last part of its path; "" is the program  */
};

/** Writes the code map of this process to @p map, which has room for @p most objects.  Returns the
 *  number of objects of the process, which may be more than @p most. */
size_t ski_code_map(struct ski_code_object *map, size_t most);

/** Compares @p count objects of another process, @p theirs, with this one.  Returns NULL if each is
 *  loaded here, too, at the same address; else the first that is not.  *@p ours is that object in
 * this process, or has a base of 0. */
const struct ski_code_object *ski_code_map_differs(const struct ski_code_object *theirs,
                                                   size_t count, struct ski_code_object *ours);

/* The loaded objects that words of some memory point into.  A stack in a checkpoint needs these.
 * Modules (base/module.h) are left out: no user thread waits in their code, stale words may point
 * into them, and another job need not have loaded them. */
struct ski_code_scan {
    struct {
        uintptr_t from, to;
        bool      used;
    } object[SKI_CODE_MAX];
    size_t    count;
    uintptr_t lowest, highest; /* of all objects */
};

/** Begins a scan, in which no object is used. */
void ski_code_scan_begin(struct ski_code_scan *scan);

/** Marks the objects that a word of the @p bytes at @p from, aligned as words are, points into. */
void ski_code_scan_add(struct ski_code_scan *scan, const void *from, size_t bytes);

/** Writes the objects that are used to @p map, of room for SKI_CODE_MAX, if it is not NULL.
 * Returns their number. */
size_t ski_code_scan_map(const struct ski_code_scan *scan, struct ski_code_object *map);

/** Returns whether another process that is started as this one was has its code at the same
 *  addresses: the kernel does not randomise them. */
bool ski_code_is_fixed(void);

#endif
