/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.h - packing and unpacking of objects: one function describes the state of an object.
 *
 * The function is called three times for a migration: to compute the size, to pack and, at the
 * destination in zeroed memory, to unpack:
 *
 * @code
 *     static void pup(skua_pup *p, void *self)
 *     {
 *         struct block *b = self;
 *
 *         skua_pup_value(p, &b->n);
 *         skua_pup_memory(p, &b->u, b->n * sizeof *b->u);
 *     }
 * @endcode
 *
 * A length is processed before the data that it measures. After packing, the class's `destroy`
 * frees the memory of the object at the source, as when it is destroyed.
 */
#ifndef SKUA_PUP_H
#define SKUA_PUP_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** The state of a packing, unpacking or size computation. */
typedef struct skua_pup skua_pup;

/** Packs or unpacks @p bytes at @p data, or counts them: whichever the call of the `pup` function
 * is for. */
SKUA_API void skua_pup_bytes(skua_pup *p, void *data, size_t bytes);

/** Packs or unpacks one variable, of any type without pointers; @p variable is its address. */
#define skua_pup_value(p, variable) skua_pup_bytes((p), (variable), sizeof *(variable))

/** Packs or unpacks malloc() memory of @p bytes; @p pointer is the address of the pointer to it.
 *  Unpacking allocates the memory, or sets the pointer to NULL if @p bytes is 0. */
SKUA_API void skua_pup_memory(skua_pup *p, void *pointer, size_t bytes);

/** Returns true while the object is being unpacked. */
SKUA_API bool skua_pup_unpacking(const skua_pup *p);

/** The `pup` function of a class whose objects can be copied byte by byte: no pointers, nothing
 *  that is valid on one PE only. A class must name this function explicitly; objects of a class
 *  without a `pup` cannot migrate. @p self is the whole object. */
SKUA_API void skua_pup_plain(skua_pup *p, void *self);

SKUA_END_DECLS

#endif
