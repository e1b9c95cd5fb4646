/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.h - packing and unpacking: one function describes what an object consists of.
 *
 * It is called three times for a journey: to measure, to pack, and, on the other side in
 * zeroed memory, to unpack:
 *
 *     static void pup(skua_pup *p, void *self)
 *     {
 *         struct block *b = self;
 *
 *         skua_pup_value(p, &b->n);
 *         skua_pup_memory(p, &b->u, b->n * sizeof *b->u);
 *     }
 *
 * A length is pupped before what it measures.  After packing, the object is given back
 * by its class's `destroy`, as when it is deleted: what was allocated is freed there.
 */
#ifndef SKUA_PUP_H
#define SKUA_PUP_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

typedef struct skua_pup skua_pup;

/** @p bytes at @p data. */
SKUA_API void skua_pup_bytes(skua_pup *p, void *data, size_t bytes);

/** One variable. */
#define skua_pup_value(p, variable) skua_pup_bytes((p), (variable), sizeof *(variable))

/** A pointer to memory of malloc(): unpacking allocates it.  NULL with 0 bytes. */
SKUA_API void skua_pup_memory(skua_pup *p, void *pointer, size_t bytes);

SKUA_API bool skua_pup_unpacking(const skua_pup *p);

/**
 * The `pup` of a class whose objects may be copied byte by byte, all of their memory: no pointers,
 * nothing that is valid on one PE only.  A class has to say so by naming this function; one
 * without a `pup` does not move.  @p self is the whole object.
 */
SKUA_API void skua_pup_plain(skua_pup *p, void *self);

SKUA_END_DECLS

#endif
